//! What ServiceRecords and their Records are called.
//!
//! ```text
//! app.example.com         app.example.com                      the peer's: the host itself (S1)
//! *.apps.example.com      wildcard-0123456789.apps.example.com no object can be called `*`
//! *.very.long.…           wildcard-0123…cdef                   the other form would be too long
//! app.example.com         app.example.com-0123456789-0         a Record: neither type nor data is in its name, for both
//!                                                              may change in place
//! ```

use std::fmt::Write as _;

use api::parse::fqdn;
use dns::Name;
use sha2::{Digest as _, Sha256};

/// The longest name that Kubernetes takes.
const CHARS_MAX: usize = 253;

/// Hexadecimal digits that tell names apart which otherwise say what they are for.
const HASH_CHARS: usize = 10;

/// Hexadecimal digits that tell names apart by themselves: 128 bit.
const LONG_HASH_CHARS: usize = 32;

/// The longest part of a host in the names of Records: 253 characters less two dashes, the hash and a number, and some to
/// spare.
const START_CHARS_MAX: usize = 200;

const WILDCARD: &str = "wildcard-";

/// A host as people write it, without the dot at the end.
pub(super) fn bare(host: &Name) -> String {
    host.to_string().trim_end_matches('.').to_owned()
}

/// The name of a host's ServiceRecord. None is left for a host that is spelled like that of a wildcard: with one name for
/// both, each would take the other's for an edit of its own.
pub(super) fn service_record(host: &Name) -> Option<String> {
    let text = bare(host);
    if host.is_wildcard() {
        return Some(wildcard(&text));
    }
    behind_wildcard(&text).is_none().then_some(text)
}

/// The host whose ServiceRecord has this name, if the name alone can tell.
pub(super) fn host_of(name: &str) -> Option<Name> {
    behind_wildcard(name).or_else(|| fqdn::parse(name).ok().filter(|host| bare(host) == name))
}

/// What the names of a host's Records begin with; a dash and a number follow.
pub(super) fn stem(host: &Name) -> String {
    let text = bare(host);
    let start = text.replacen('*', "wildcard", 1);
    let start: String = start.chars().take(START_CHARS_MAX).collect();
    let start = start.trim_end_matches(['.', '-']);
    format!("{start}-{}", digest(&text, HASH_CHARS))
}

/// Whether a Record could have been named by us. All others can be forgotten.
pub(super) fn is_like_ours(name: &str) -> bool {
    let mut parts = name.rsplitn(3, '-');
    let number = parts.next().unwrap_or_default();
    let hash = parts.next().unwrap_or_default();
    let is_hash = hash.len() == HASH_CHARS && hash.bytes().all(|it| it.is_ascii_hexdigit());
    is_hash && !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit())
}

fn wildcard(text: &str) -> String {
    let parent = text.trim_start_matches("*.");
    let name = format!("{WILDCARD}{}.{parent}", digest(text, HASH_CHARS));
    if name.len() <= CHARS_MAX {
        name
    } else {
        format!("{WILDCARD}{}", digest(text, LONG_HASH_CHARS))
    }
}

fn behind_wildcard(name: &str) -> Option<Name> {
    let (_, parent) = name.strip_prefix(WILDCARD)?.split_once('.')?;
    let host = fqdn::parse(&format!("*.{parent}")).ok()?;
    (wildcard(&bare(&host)) == name).then_some(host)
}

fn digest(text: &str, chars: usize) -> String {
    let mut hex = String::new();
    for octet in Sha256::digest(text.as_bytes()) {
        // Writing to a text cannot fail.
        let _ = write!(hex, "{octet:02x}");
    }
    hex.truncate(chars);
    hex
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> Name {
        fqdn::parse(text).unwrap()
    }

    #[test]
    fn a_service_record_is_called_as_its_host() {
        // S1, S6. Names are stored in clusters: the spelling must never change.
        let cases = [
            ("app.example.com", "app.example.com"),
            ("App.Example.COM.", "app.example.com"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("*.apps.example.com", "wildcard-a303882f63.apps.example.com"),
        ];
        for (text, name) in cases {
            assert_eq!(service_record(&host(text)).as_deref(), Some(name));
            assert_eq!(host_of(name), Some(host(text)), "{name}");
        }
        assert_eq!(
            host_of("wildcard-0123456789.apps.example.com"),
            Some(host("wildcard-0123456789.apps.example.com"))
        );
        assert_eq!(host_of("App.example.com"), None);
        assert_eq!(host_of("any-name"), None);
    }

    #[test]
    fn no_host_can_take_the_name_of_a_wildcard() {
        let name = service_record(&host("*.apps.example.com")).unwrap();
        assert_eq!(service_record(&host(&name)), None);
    }

    #[test]
    fn names_of_the_longest_hosts_are_names() {
        // N5.
        let parent = format!("{0}.{0}.{0}.{1}", "a".repeat(63), "a".repeat(59));
        let wildcard = host(&format!("*.{parent}"));
        let name = service_record(&wildcard).unwrap();
        assert_eq!(name.len(), "wildcard-".len() + LONG_HASH_CHARS);
        assert_eq!(host_of(&name), None, "an annotation tells");
        let whole = host(&format!("{parent}aa"));
        assert_eq!(service_record(&whole).unwrap().len(), 253);
        for host in [&wildcard, &whole] {
            let record = format!("{}-1000", stem(host));
            assert!(
                record.len() <= CHARS_MAX && is_like_ours(&record),
                "{record}"
            );
        }
    }

    #[test]
    fn names_of_records_tell_their_hosts_apart() {
        let stems =
            ["a.example.com", "*.example.com", "wildcard.example.com"].map(|it| stem(&host(it)));
        assert!(stems[0].starts_with("a.example.com-"), "{stems:?}");
        assert!(stems[1].starts_with("wildcard.example.com-"), "{stems:?}");
        assert_ne!(stems[1], stems[2]);
        for other in [
            "www",
            "app-1",
            "app-0123456789",
            "app-0123456789-x",
            "app-xyz3456789-0",
        ] {
            assert!(!is_like_ours(other), "{other}");
        }
    }
}
