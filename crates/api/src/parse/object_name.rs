//! The names Kubernetes gives objects: RFC 1123 labels and subdomains, in lower case.

const LABEL_CHARS_MAX: usize = 63;
const SUBDOMAIN_CHARS_MAX: usize = 253;

/// Whether a text can be the name of a Namespace.
pub(super) fn is_label(text: &str) -> bool {
    text.len() <= LABEL_CHARS_MAX && is_part(text)
}

/// Whether a text can be the name of most other objects. Unlike in DNS, one part alone may take all
/// the characters.
pub fn is_subdomain(text: &str) -> bool {
    text.len() <= SUBDOMAIN_CHARS_MAX && text.split('.').all(is_part)
}

fn is_part(text: &str) -> bool {
    let allowed = |octet: u8| octet.is_ascii_lowercase() || octet.is_ascii_digit() || octet == b'-';
    !text.is_empty() && text.bytes().all(allowed) && !text.starts_with('-') && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_what_only_looks_like_one() {
        let longest = "a".repeat(253);
        for name in ["a", "0", "example-org", "example.org", "a.b-c.d1", &longest] {
            assert!(is_subdomain(name), "{name}");
        }
        let too_long = "a".repeat(254);
        let others = [
            "", ".", "a.", ".a", "a..b", "-a", "a-", "A", "a_b", "ns/a", "a b", "*", "ä",
        ];
        for other in others.into_iter().chain([too_long.as_str()]) {
            assert!(!is_subdomain(other), "{other}");
        }
        assert!(is_label(&"a".repeat(63)));
        for other in ["a.b", &"a".repeat(64), "", "team-*"] {
            assert!(!is_label(other), "{other}");
        }
    }
}
