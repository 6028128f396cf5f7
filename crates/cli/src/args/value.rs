//! What flags mean: texts into types, or a reason that says what to write instead.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr as _;
use std::time::Duration;

use dns::{Name, NameError};
use ipnet::IpNet;
use tracing_subscriber::EnvFilter;

/// The port of name servers.
pub(super) const DNS_PORT: u16 = 53;
/// The longest name of an object.
const OBJECT_NAME_MAX: usize = 253;
/// The longest name of a namespace.
const NAMESPACE_MAX: usize = 63;

/// An object in a namespace.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct NamespacedName {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// A host to connect to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Endpoint {
    Name(Name),
    Address(IpAddr),
}

/// A time such as `5m` or `50ms`, longer than none.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let duration = api::go_duration::parse(text).map_err(|error| error.to_string())?;
    if duration.is_positive() {
        Ok(duration.unsigned_abs())
    } else {
        Err("a duration must be longer than 0s".to_owned())
    }
}

/// A range of addresses; an address alone is a range of one.
pub(super) fn address_range(text: &str) -> Result<IpNet, String> {
    let range = match text.parse::<IpAddr>() {
        Ok(address) => return Ok(address.into()),
        Err(_) => text.parse::<IpNet>(),
    };
    let range = range.map_err(|_| "write a range such as 10.0.0.0/8 or fd00::/8".to_owned())?;
    if range == range.trunc() {
        Ok(range)
    } else {
        Err(format!("the range is {}", range.trunc()))
    }
}

/// The address of a name server, with or without a port.
pub(super) fn name_server(text: &str) -> Result<SocketAddr, String> {
    match text.parse::<IpAddr>() {
        Ok(address) => Ok((address, DNS_PORT).into()),
        Err(_) => text.parse().map_err(|_| {
            "write an address such as 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]:53".to_owned()
        }),
    }
}

/// A host by its name or address.
pub(super) fn endpoint(text: &str) -> Result<Endpoint, String> {
    match text.parse::<IpAddr>() {
        Ok(address) => Ok(Endpoint::Address(address)),
        Err(_) => dns::host_name(text)
            .map(Endpoint::Name)
            .map_err(|error| error.to_string()),
    }
}

/// A domain name that may lack its final dot.
pub(super) fn domain(text: &str) -> Result<Name, String> {
    let name = match Name::parse(text) {
        Err(NameError::NotAbsolute) => Name::parse(&format!("{text}.")),
        read => read,
    };
    name.map_err(|error| format!("\"{text}\" is no name: {error}"))
}

/// The name of an object: a host name in lower case.
pub(super) fn object_name(text: &str) -> Result<String, String> {
    let is_good = text.split('.').all(is_label) && text.len() <= OBJECT_NAME_MAX;
    is_good.then(|| text.to_owned()).ok_or_else(|| {
        "write the name of an object: lower case letters, digits, '-' and '.'".to_owned()
    })
}

/// The name of a namespace: one label.
pub(super) fn namespace(text: &str) -> Result<String, String> {
    (is_label(text) && text.len() <= NAMESPACE_MAX)
        .then(|| text.to_owned())
        .ok_or_else(|| {
            "write the name of a namespace: lower case letters, digits and '-'".to_owned()
        })
}

/// `namespace/name`
pub(super) fn namespaced_name(text: &str) -> Result<NamespacedName, String> {
    let (first, second) = text
        .split_once('/')
        .ok_or("write a namespace and a name, such as ingress/gateway")?;
    Ok(NamespacedName {
        namespace: namespace(first)?,
        name: object_name(second)?,
    })
}

/// What to log, checked but kept as text: the filter itself can be used only once.
pub(super) fn log_filter(text: &str) -> Result<String, String> {
    match EnvFilter::from_str(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn is_label(text: &str) -> bool {
    let is_plain = |octet: u8| octet.is_ascii_lowercase() || octet.is_ascii_digit();
    let octets = text.as_bytes();
    octets.first().copied().is_some_and(is_plain)
        && octets.last().copied().is_some_and(is_plain)
        && octets.iter().all(|&octet| is_plain(octet) || octet == b'-')
}

/// As URLs have hosts: without a final dot.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Endpoint::Name(name) => f.write_str(name.to_string().trim_end_matches('.')),
            Endpoint::Address(address) => address.fmt(f),
        }
    }
}

impl fmt::Display for NamespacedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}
