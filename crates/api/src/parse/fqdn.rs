//! Hosts that are published: canonical, and with a place in the public tree of names.
//!
//! Stricter than [`dns::host_name`], which also takes `localhost`. Whether a name is reserved is judged where the
//! list is.

use dns::{Name, NameError, PublicSuffix};

/// Why a text is no host that could be published.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum FqdnError {
    /// Not a host name at all.
    #[error(transparent)]
    Name(#[from] NameError),
    /// `localhost`, or `*.com`.
    #[error("a host must have at least two labels, a leading \"*\" not counted")]
    SingleLabel,
    /// `10.0.0.256`, or `app.1`.
    #[error("the last label of a host must not be a number")]
    NumericTop,
    /// `*.co.uk`.
    #[error("a wildcard must not stand for everybody's names below a public suffix")]
    WildcardOfSuffix,
}

impl FqdnError {
    /// Whether the name, or a label of it, is longer than DNS allows.
    pub fn is_too_long(&self) -> bool {
        matches!(
            self,
            Self::Name(NameError::TooLong { .. } | NameError::LabelTooLong { .. })
        )
    }
}

/// Reads a host, optionally with a leftmost `*`, with or without the final dot.
pub fn parse(text: &str) -> Result<Name, FqdnError> {
    let name = dns::host_name(text)?;
    let base = base(&name);
    if base.label_count() < 2 {
        return Err(FqdnError::SingleLabel);
    }
    // Whoever owns a name may have all of it, although they give parts of it to others.
    if name.is_wildcard() && PublicSuffix::of(&base) == Some(PublicSuffix::Registry) {
        return Err(FqdnError::WildcardOfSuffix);
    }
    let top = name.labels().next_back().unwrap_or_default();
    if top.iter().all(u8::is_ascii_digit) {
        return Err(FqdnError::NumericTop);
    }
    Ok(name)
}

/// The name without a leading `*`: `example.org.` of `*.example.org.`.
pub fn base(name: &Name) -> Name {
    if name.is_wildcard() {
        name.parent().expect("a wildcard has a label to drop")
    } else {
        name.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_into_one_canonical_form() {
        // K5, S6.
        let cases = [
            ("app.example.com", "app.example.com."),
            ("app.example.com.", "app.example.com."),
            ("APP.Example.COM", "app.example.com."),
            ("bücher.example", "xn--bcher-kva.example."),
            ("XN--BCHER-KVA.example", "xn--bcher-kva.example."),
            ("*.example.com", "*.example.com."),
            ("*.github.io", "*.github.io."),
            ("1.example.com", "1.example.com."),
            ("123.local", "123.local."),
            ("4.3.2.1.in-addr.arpa", "4.3.2.1.in-addr.arpa."),
        ];
        for (text, name) in cases {
            assert_eq!(
                parse(text).map(|name| name.to_string()),
                Ok(name.to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_host_is_refused() {
        let cases = [
            "",
            ".",
            "*",
            "*.",
            "localhost",
            "com",
            "*.com",
            "*.co.uk",
            "a..example.com",
            ".example.com",
            "-a.example.com",
            "a-.example.com",
            "a_b.example.com",
            "a.*.example.com",
            "*a.example.com",
            "*.*.example.com",
            "10.0.0.1",
            "10.0.0.256",
            "1.2.3.4.",
            "app.123",
            "2001:db8::1",
            "[2001:db8::1]",
            "https://app.example.com",
            "app.example.com/path",
            "app.example.com:443",
            " app.example.com",
            "app.example.com ",
            "app.example.com\n",
            "app.\0.com",
            "app\\.example.com",
            "pаypal.com",
            "app。example。com",
        ];
        for text in cases {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn names_too_long_for_dns_are_told_apart() {
        let label = |length: usize| "a".repeat(length);
        let name =
            |last: usize| format!("{}.{}.{}.{}", label(63), label(63), label(63), label(last));
        assert_eq!(name(61).len(), 253);
        assert!(parse(&name(61)).is_ok());
        assert!(parse(&format!("{}.", name(61))).is_ok());
        assert!(parse(&name(62)).unwrap_err().is_too_long());
        assert!(parse(&format!("{}.example.com", label(63))).is_ok());
        assert!(
            parse(&format!("{}.example.com", label(64)))
                .unwrap_err()
                .is_too_long()
        );
        assert!(!parse("localhost").unwrap_err().is_too_long());
    }
}
