//! What DNSRecords of a policy are called: `<gateway>-<listener>`, with a hash where that is taken or too long (D1).

use dns::ownership::short_hash36;

/// The longest name that Kubernetes takes.
const CHARS_MAX: usize = 253;

/// How many characters of a hash tell one name from another.
const HASH_CHARS: usize = 6;

/// How many names are tried: nobody takes that many on purpose.
const TRIES_MAX: u32 = 64;

/// A name that is `free`. The same `seed` gives the same name for as long as that is free.
pub(crate) fn free(
    gateway: &str,
    listener: &str,
    seed: &str,
    mut free: impl FnMut(&str) -> bool,
) -> String {
    let plain = plain(gateway, listener);
    if free(&plain) {
        return plain;
    }
    let numbered = (0..TRIES_MAX).map(|number| {
        let hash = short_hash36(&format!("{seed}/{number}"), HASH_CHARS);
        with_hash(&plain, &hash)
    });
    let mut free_ones = numbered.filter(|name| free(name));
    free_ones.next().unwrap_or(plain)
}

/// Whether a record was made for a listener, by its name.
pub(crate) fn is_made_for(name: &str, gateway: &str, listener: &str) -> bool {
    let plain = plain(gateway, listener);
    let rest = name.strip_prefix(&plain);
    let hashed = |rest: &str| rest.strip_prefix('-').is_some_and(is_hash);
    rest.is_some_and(|rest| rest.is_empty() || hashed(rest)) || {
        // One that was cut to make room for its hash.
        let cut = name.len().saturating_sub(HASH_CHARS + 1);
        name.len() == CHARS_MAX && plain.as_bytes().starts_with(&name.as_bytes()[..cut])
    }
}

fn is_hash(text: &str) -> bool {
    text.len() == HASH_CHARS && text.bytes().all(|octet| octet.is_ascii_alphanumeric())
}

fn plain(gateway: &str, listener: &str) -> String {
    let name = format!("{gateway}-{listener}");
    if name.len() <= CHARS_MAX {
        name
    } else {
        let hash = short_hash36(&name, HASH_CHARS);
        with_hash(&name, &hash)
    }
}

fn with_hash(name: &str, hash: &str) -> String {
    let room = CHARS_MAX - HASH_CHARS - 1;
    let start: String = name.chars().take(room).collect();
    let start = start.trim_end_matches(['-', '.']);
    format!("{start}-{hash}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_called_after_its_gateway_and_listener_unless_somebody_else_is() {
        // D1.
        assert_eq!(free("gw", "web", "s", |_| true), "gw-web");
        let other = free("gw", "web", "s", |name| name != "gw-web");
        assert_eq!(other, free("gw", "web", "s", |name| name != "gw-web"));
        assert_eq!(other.len(), "gw-web-".len() + HASH_CHARS);
        assert!(other.starts_with("gw-web-"), "{other}");
        let third = free("gw", "web", "s", |name| name != "gw-web" && name != other);
        assert_ne!(third, other);
        assert_ne!(free("gw", "web", "t", |name| name != "gw-web"), other);
        for name in ["gw-web", &other, &third] {
            assert!(is_made_for(name, "gw", "web"), "{name}");
            assert!(!is_made_for(name, "gw", "we"), "{name}");
            assert!(!is_made_for(name, "g", "web"), "{name}");
        }
        assert!(!is_made_for("gw-web-internal", "gw", "web"));
    }

    #[test]
    fn names_that_are_too_long_are_cut_and_stay_apart() {
        let (gateway, listener) = ("g".repeat(200), "l".repeat(200));
        let name = free(&gateway, &listener, "s", |_| true);
        assert!(name.len() <= CHARS_MAX);
        assert!(is_made_for(&name, &gateway, &listener));
        let next = free(&gateway, &listener, "s", |it| it != name);
        assert!(next.len() <= CHARS_MAX && next != name);
        let other = free(&gateway, &"l".repeat(201), "s", |_| true);
        assert_ne!(name, other);
        let gateway = format!("{}.x", "g".repeat(244));
        let plain = free(&gateway, "l.l", "s", |_| true);
        let dots = free(&gateway, "l.l", "s", |it| it != plain);
        assert!(!dots.contains(".-") && !dots.contains("--"), "{dots}");
    }
}
