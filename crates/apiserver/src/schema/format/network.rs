//! Formats of addresses and names in networks.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::LazyLock;

use regex::Regex;

static LABEL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[a-zA-Z0-9\p{S}\p{L}]([-a-zA-Z0-9\p{S}\p{L}]*[a-zA-Z0-9\p{S}\p{L}])?$")
        .expect("a pattern that the tests compile")
});
static ALONE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[a-zA-Z0-9\p{S}\p{L}]-?[a-zA-Z0-9\p{S}\p{L}]*$")
        .expect("a pattern that the tests compile")
});
static TOP: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[a-zA-Z\p{L}]+$").expect("a pattern that the tests compile"));

/// An IPv4 address, also inside an IPv6 one; leading zeros are tolerated.
pub(super) fn is_ipv4(text: &str) -> bool {
    text.contains('.') && parse_sloppy(text).is_some()
}

/// An IPv6 address.
pub(super) fn is_ipv6(text: &str) -> bool {
    text.contains(':') && text.parse::<Ipv6Addr>().is_ok()
}

/// A network: an address and how many of its bits count.
pub(crate) fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else {
        return false;
    };
    let most = match parse_sloppy(address) {
        Some(IpAddr::V4(_)) => 32,
        Some(IpAddr::V6(_)) => 128,
        None => return false,
    };
    let is_number = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
    is_number && length.parse::<u8>().is_ok_and(|length| length <= most)
}

fn parse_sloppy(text: &str) -> Option<IpAddr> {
    if text.contains(':') {
        return text.parse().ok();
    }
    let octets: Vec<&str> = text.split('.').collect();
    let plain = octets
        .iter()
        .map(|octet| {
            let is_number = !octet.is_empty() && octet.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| octet.parse::<u8>().ok()).flatten()
        })
        .collect::<Option<Vec<u8>>>()?;
    <[u8; 4]>::try_from(plain).ok().map(IpAddr::from)
}

/// A hardware address of 6, 8 or 20 bytes.
pub(super) fn is_mac(text: &str) -> bool {
    let (separator, width) = match (text.as_bytes().get(2), text.as_bytes().get(4)) {
        (Some(b':'), _) => (':', 2),
        (Some(b'-'), _) => ('-', 2),
        (_, Some(b'.')) => ('.', 4),
        (_, _) => ('.', text.len()),
    };
    let groups: Vec<&str> = text.split(separator).collect();
    let are_hex = groups
        .iter()
        .all(|group| group.len() == width && group.bytes().all(|byte| byte.is_ascii_hexdigit()));
    are_hex && matches!(groups.len() * width / 2, 6 | 8 | 20)
}

/// The name of a host. A name without a dot may have a dash only behind its first letter.
pub(super) fn is_hostname(text: &str) -> bool {
    let labels: Vec<&str> = text.split('.').collect();
    let short = text.len() <= 255 && labels.iter().all(|label| label.len() <= 63);
    let shaped = match labels.as_slice() {
        [alone] => ALONE.is_match(alone),
        [labels @ .., top] => {
            labels.iter().all(|label| LABEL.is_match(label))
                && TOP.is_match(top)
                && top.chars().count() >= 2
        }
        [] => false,
    };
    short && shaped
}

/// A mail address, with or without a name before it.
pub(super) fn is_email(text: &str) -> bool {
    let text = text.trim();
    let address = match text.strip_suffix('>') {
        Some(text) => match text.rsplit_once('<') {
            Some((_, address)) => address,
            None => return false,
        },
        None => text,
    };
    let Some((local, domain)) = address.rsplit_once('@') else {
        return false;
    };
    let is_quoted = local.len() > 2 && local.starts_with('"') && local.ends_with('"');
    let is_literal = domain.starts_with('[') && domain.ends_with(']');
    (is_quoted || is_dot_atom(local)) && (is_literal || is_dot_atom(domain))
}

fn is_dot_atom(text: &str) -> bool {
    let is_atom = |letter: char| {
        letter.is_alphanumeric() || !letter.is_ascii() || "!#$%&'*+-/=?^_`{|}~".contains(letter)
    };
    text.split('.')
        .all(|atom| !atom.is_empty() && atom.chars().all(is_atom))
}

/// An absolute URI or an absolute path.
pub(super) fn is_uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().any(|byte| byte.is_ascii_control()) {
        return false;
    }
    let Some((scheme, rest)) = split_scheme(text) else {
        return false;
    };
    let rest = rest.split_once('?').map_or(rest, |(before, _)| before);
    if text == "*" {
        return true;
    }
    if !rest.starts_with('/') {
        return !scheme.is_empty();
    }
    match rest.strip_prefix("//") {
        Some(rest) if !scheme.is_empty() => {
            let (authority, path) = match rest.find('/') {
                Some(end) => rest.split_at(end),
                None => (rest, ""),
            };
            is_authority(authority) && is_escaped_well(path)
        }
        Some(_) | None => is_escaped_well(rest),
    }
}

/// What is before the first colon if it is a scheme. Nothing if there is a colon and no scheme before it.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if place > 0 => {}
            b':' if place > 0 => return Some((&text[..place], &text[place + 1..])),
            b':' => return None,
            _ => return Some(("", text)),
        }
    }
    Some(("", text))
}

fn is_authority(authority: &str) -> bool {
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let is_user = user
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(letter));
    let (name, port) = match host.strip_prefix('[') {
        Some(literal) => match literal.rsplit_once(']') {
            Some((name, port)) => (name, port),
            None => return false,
        },
        None => host
            .find(':')
            .map_or((host, ""), |colon| host.split_at(colon)),
    };
    let is_port = port.is_empty()
        || port
            .strip_prefix(':')
            .is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
    let is_name = name.chars().all(|letter| {
        letter.is_ascii_alphanumeric()
            || !letter.is_ascii()
            || "-_.~!$&'()*+,;=:[]<>\"%".contains(letter)
    });
    is_user && is_name && is_port && is_escaped_well(user) && is_escaped_well(name)
}

/// Whether every percent sign begins the code of a byte.
fn is_escaped_well(text: &str) -> bool {
    text.split('%').skip(1).all(|after| {
        let code = after.as_bytes().get(..2);
        code.is_some_and(|code| code.iter().all(u8::is_ascii_hexdigit))
    })
}
