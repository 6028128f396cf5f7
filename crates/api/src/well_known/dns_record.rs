//! How a `DNSRecord` or a `ServiceRecord` is spelled in the label of the Records made for it (P12, S9), and a listener in
//! that of the `DNSRecord`s made for it (D1).

use super::label_value::{LABEL_CHARS_MAX, shortened};

/// The label value for a `DNSRecord`: its name, or a shortened form of it with a hash.
pub fn dns_record_label(name: &str) -> String {
    if name.len() <= LABEL_CHARS_MAX {
        return name.to_owned();
    }
    shortened(name, name)
}

/// The label value for a listener: its name, or a shortened form of it with a hash.
pub fn listener_label(name: &str) -> String {
    dns_record_label(name)
}

/// The label value for a `ServiceRecord`: its name, or a shortened form of it with a hash.
pub fn service_record_label(name: &str) -> String {
    dns_record_label(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_too_long_for_a_label_is_shortened() {
        let fits = "a".repeat(63);
        assert_eq!(dns_record_label(&fits), fits);
        assert_eq!(dns_record_label("www.example.org"), "www.example.org");
        // Labels are stored in clusters: the spelling must never change.
        assert_eq!(
            dns_record_label(&format!("{}.example.org", "a".repeat(60))),
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-9ac38f76db70cffd6f76256ac6e54103"
        );
        let longest = dns_record_label(&"a".repeat(253));
        assert_eq!(longest.len(), 63);
        assert_ne!(longest, dns_record_label(&"a".repeat(252)));
    }
}
