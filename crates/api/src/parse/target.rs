//! What something is reached at: an address, or a host that resolves to some.

use std::fmt;
use std::net::IpAddr;

use dns::{Name, NameError};

/// An address, or a host that resolves to some.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Target {
    /// An IP address.
    Address(IpAddr),
    /// A host.
    Host(Name),
}

impl Target {
    /// Reads an address or a host; wildcards are neither.
    pub fn parse(text: &str) -> Result<Target, NameError> {
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Target::Address(address));
        }
        match dns::host_name(text)? {
            name if name.is_wildcard() => Err(NameError::Wildcard),
            name if name.spells_address() => Err(NameError::Address),
            name => Ok(Target::Host(name)),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Address(address) => address.fmt(f),
            Target::Host(name) => name.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_hosts_are_told_apart() {
        let cases = [
            ("192.0.2.1", "192.0.2.1"),
            ("2001:DB8::1", "2001:db8::1"),
            ("LB.example.com", "lb.example.com."),
            ("lb.example.com.", "lb.example.com."),
            (
                "lb-1.eu-west-1.elb.example.com",
                "lb-1.eu-west-1.elb.example.com.",
            ),
            ("localhost", "localhost."),
        ];
        for (text, target) in cases {
            assert_eq!(
                Target::parse(text).map(|target| target.to_string()),
                Ok(target.to_owned())
            );
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let cases = [
            "",
            " ",
            "*.example.com",
            "192.0.2.1:443",
            "192.0.2.256",
            "192.0.2.1.",
            "fe80::1%eth0",
            "[2001:db8::1]",
            "10.0.0.0/8",
            "https://lb.example.com",
            "a b",
        ];
        for text in cases {
            assert!(Target::parse(text).is_err(), "{text:?}");
        }
    }
}
