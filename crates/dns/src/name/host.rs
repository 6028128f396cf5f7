//! Host names as Ingresses, Gateways and certificates spell them.

use std::net::{IpAddr, Ipv6Addr};

use super::{Name, NameError, text};

/// Reads a host: letters, digits and hyphens, with or without the final dot,
/// optionally with a leftmost `*`. Unicode labels become A-labels, and nothing
/// is escaped.
pub fn host_name(host: &str) -> Result<Name, NameError> {
    match host {
        "" | "." => return Err(not_host(host.as_bytes())),
        _ if host.contains('\\') => return Err(text::character('\\')),
        _ if host.parse::<IpAddr>().is_ok() => return Err(NameError::Address),
        _ => {}
    }
    let labels = text::labels(host)?.labels;
    for (position, label) in labels.iter().enumerate() {
        host_label(label, position)?;
        text::check_a_label(label)?;
    }
    match labels.as_slice() {
        [only] if only.as_ref() == b"*" => Err(NameError::Wildcard),
        labels => match Name::from_labels(labels, &Name::root())? {
            name if name.spells_address() => Err(NameError::Address),
            name => Ok(name),
        },
    }
}

impl Name {
    /// Whether the name can be a host's: letters, digits and inner hyphens
    /// (RFC 1123 §2.1), a leftmost `*` allowed.
    pub fn is_host(&self) -> bool {
        self.labels()
            .enumerate()
            .all(|(position, label)| host_label(label, position).is_ok())
    }

    /// Whether the whole name reads like an IP address, a right or a wrong one:
    /// a mistake wherever a name is meant. `10.0.0.1.example.org.` is a name.
    pub fn spells_address(&self) -> bool {
        const IPV4_LABELS: usize = 4;
        let number = |label: &[u8]| label.iter().all(u8::is_ascii_digit);
        let labels: Vec<_> = self.labels().map(String::from_utf8_lossy).collect();
        (labels.len() == IPV4_LABELS && self.labels().all(number))
            || labels.join(".").parse::<Ipv6Addr>().is_ok()
    }
}

fn host_label(label: &[u8], position: usize) -> Result<(), NameError> {
    if position == 0 && label == b"*" {
        return Ok(());
    }
    if label.contains(&b'*') {
        return Err(NameError::Wildcard);
    }
    if !label
        .iter()
        .all(|octet| octet.is_ascii_alphanumeric() || *octet == b'-')
    {
        return Err(not_host(label));
    }
    if label.starts_with(b"-") || label.ends_with(b"-") {
        return Err(text::hyphen(label));
    }
    Ok(())
}

fn not_host(label: &[u8]) -> NameError {
    NameError::NotHost {
        label: text::shown(label),
    }
}
