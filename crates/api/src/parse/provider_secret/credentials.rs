//! What each provider wants to be given.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dns::Name;

use super::super::object_name::{is_label, is_subdomain};
use super::{Data, ProviderKind};

/// How to get in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Credentials {
    /// Amazon Route 53.
    Aws(Aws),
    /// A name server that takes updates.
    Rfc2136(Rfc2136),
    /// Zones of the same cluster, which need none.
    Zone,
    /// Memory, which needs none.
    InMemory,
}

/// Access to Amazon Route 53.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Aws {
    /// Who asks; nothing: whoever the process is to Amazon.
    pub keys: Option<StaticKeys>,
    /// Where the service is asked.
    pub region: String,
    /// Another service that speaks like it.
    pub endpoint: Option<String>,
}

/// Keys of an account at Amazon.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StaticKeys {
    /// The key's name.
    pub id: String,
    /// The key.
    pub secret: Confidential,
}

/// Access to a name server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rfc2136 {
    /// A host or an address, with its port.
    pub host: String,
    /// The port.
    pub port: u16,
    /// What messages are signed with.
    pub key: Tsig,
}

/// A key that both sides have (RFC 8945).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Tsig {
    /// What both sides call it.
    pub name: Name,
    /// The key, in base64.
    pub secret: Confidential,
    /// How it is used.
    pub algorithm: TsigAlgorithm,
}

/// How a key signs messages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TsigAlgorithm {
    /// `hmac-sha256`, as RFC 8945 §6 wants it.
    Sha256,
    /// `hmac-sha384`
    Sha384,
    /// `hmac-sha512`
    Sha512,
    /// `hmac-sha1`, which old servers have.
    Sha1,
}

/// A text that is never shown.
#[derive(Clone, Eq, PartialEq)]
pub struct Confidential(String);

const AWS_ACCESS_KEY_ID: &str = "AWS_ACCESS_KEY_ID";
const AWS_SECRET_ACCESS_KEY: &str = "AWS_SECRET_ACCESS_KEY";
const AWS_REGION: &str = "AWS_REGION";
const AWS_ENDPOINT_URL: &str = "AWS_ENDPOINT_URL";
const SERVER: &str = "SERVER";
const TSIG_NAME: &str = "TSIG_NAME";
const TSIG_SECRET: &str = "TSIG_SECRET";
const TSIG_ALGORITHM: &str = "TSIG_ALGORITHM";

/// Where Route 53 lives: its zones are global.
const AWS_REGION_DEFAULT: &str = "us-east-1";
const DNS_PORT: u16 = 53;

impl Confidential {
    /// Keeps a text.
    pub fn new(text: String) -> Confidential {
        Confidential(text)
    }

    /// The text, for whom it was given for.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Confidential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl Credentials {
    /// What stands for the account: the same credentials give the same text, and the text gives nothing away.
    pub fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new_derive_key("zonewright provider credentials");
        let mut add = |text: &str| {
            hasher.update(&text.len().to_le_bytes());
            hasher.update(text.as_bytes());
        };
        add(self.kind().name());
        match self {
            Credentials::Aws(aws) => {
                add(aws.keys.as_ref().map_or("", |keys| &keys.id));
                add(aws.keys.as_ref().map_or("", |keys| keys.secret.expose()));
                add(&aws.region);
                add(aws.endpoint.as_deref().unwrap_or_default());
            }
            Credentials::Rfc2136(access) => {
                add(&access.host);
                add(&access.port.to_string());
                add(&access.key.name.to_string());
                add(access.key.secret.expose());
                add(&format!("{:?}", access.key.algorithm));
            }
            Credentials::Zone | Credentials::InMemory => {}
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Whose they are.
    pub const fn kind(&self) -> ProviderKind {
        match self {
            Credentials::Aws(_) => ProviderKind::Aws,
            Credentials::Rfc2136(_) => ProviderKind::Rfc2136,
            Credentials::Zone => ProviderKind::Zone,
            Credentials::InMemory => ProviderKind::InMemory,
        }
    }
}

pub(super) fn parse(data: &mut Data, kind: ProviderKind) -> Option<Credentials> {
    match kind {
        ProviderKind::Aws => aws(data).map(Credentials::Aws),
        ProviderKind::Rfc2136 => rfc2136(data).map(Credentials::Rfc2136),
        ProviderKind::Zone => Some(Credentials::Zone),
        ProviderKind::InMemory => Some(Credentials::InMemory),
    }
}

/// What the provider can call a zone.
pub(super) fn check_zone_id(kind: ProviderKind, text: &str) -> Result<(), String> {
    match kind {
        ProviderKind::Aws => {
            let id = text.strip_prefix("/hostedzone/").unwrap_or(text);
            let plain = |octet: u8| octet.is_ascii_alphanumeric();
            let good = !id.is_empty() && id.len() <= 32 && id.bytes().all(plain);
            good.then_some(()).ok_or_else(|| {
                "must be the id of a hosted zone, such as Z0123456789ABCDEFGHIJ".into()
            })
        }
        ProviderKind::Rfc2136 | ProviderKind::InMemory => {
            let name =
                dns::host_name(text).map_err(|rule| format!("must be the zone's name: {rule}"));
            name.map(drop)
        }
        ProviderKind::Zone => {
            let (namespace, name) = text.split_once('/').unwrap_or(("default", text));
            let good = is_label(namespace) && is_subdomain(name);
            good.then_some(())
                .ok_or_else(|| "must be the name of a Zone, or <namespace>/<name>".into())
        }
    }
}

fn aws(data: &mut Data) -> Option<Aws> {
    let (id, key) = (
        data.optional(AWS_ACCESS_KEY_ID),
        data.optional(AWS_SECRET_ACCESS_KEY),
    );
    let keys = match (id, key) {
        (Some(id), Some(key)) => Ok(Some(StaticKeys {
            id,
            secret: Confidential(key),
        })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(AWS_SECRET_ACCESS_KEY),
        (None, Some(_)) => Err(AWS_ACCESS_KEY_ID),
    };
    let other =
        "the other half of the access key, or leave both out to use the identity of this process";
    let keys = keys.map_err(|missing| data.required(missing, other)).ok();
    let region = data.optional(AWS_REGION);
    let region = region.unwrap_or_else(|| AWS_REGION_DEFAULT.to_owned());
    let plain = |octet: u8| octet.is_ascii_alphanumeric() || octet == b'-';
    let checked = region.bytes().all(plain).then_some(());
    let checked = checked.ok_or("must be a region, such as us-east-1");
    let region = data.read(AWS_REGION, &region, checked).map(|()| region);
    let endpoint = endpoint(data);
    if let (Some(None), Some(_)) = (&keys, &endpoint) {
        let rule = "only goes together with keys of its own: the identity of this process is not shown to others";
        let field = Data::field(AWS_ENDPOINT_URL);
        data.problems.refuse_bare(&field, rule);
    }
    Some(Aws {
        keys: keys?,
        region: region?,
        endpoint,
    })
}

/// Where else to ask. Whether that is allowed is judged by whoever connects.
fn endpoint(data: &mut Data) -> Option<String> {
    let text = data.optional(AWS_ENDPOINT_URL)?;
    let url: Result<http::Uri, _> = text.parse();
    let is_good = |url: &http::Uri| {
        let plain = url.authority().is_some_and(|it| !it.as_str().contains('@'));
        let scheme = matches!(url.scheme_str(), Some("http" | "https"));
        plain && scheme && matches!(url.path(), "" | "/") && url.query().is_none()
    };
    let checked = url.ok().filter(is_good).map(drop);
    let checked = checked.ok_or("must be https://<host>[:<port>], without anything behind it");
    data.read(AWS_ENDPOINT_URL, &text, checked).map(|()| text)
}

fn rfc2136(data: &mut Data) -> Option<Rfc2136> {
    let server = data.required(
        SERVER,
        "the name server that takes updates, as <host>:<port>",
    );
    let server = server.and_then(|text| data.read(SERVER, &text, host_and_port(&text)));
    let name = data.required(TSIG_NAME, "the name of the TSIG key");
    let name = name.and_then(|text| data.read(TSIG_NAME, &text, key_name(&text)));
    let secret = data.required(TSIG_SECRET, "the TSIG key in base64");
    let secret = secret.and_then(|text| {
        let checked = key_octets(&text);
        data.read_confidential(TSIG_SECRET, checked)
            .map(|()| Confidential(text))
    });
    let algorithm = match data.optional(TSIG_ALGORITHM) {
        Some(text) => data.read(TSIG_ALGORITHM, &text, algorithm(&text)),
        None => Some(TsigAlgorithm::Sha256),
    };
    let (host, port) = server?;
    Some(Rfc2136 {
        host,
        port,
        key: Tsig {
            name: name?,
            secret: secret?,
            algorithm: algorithm?,
        },
    })
}

fn host_and_port(text: &str) -> Result<(String, u16), &'static str> {
    const RULE: &str = "must be a host or an address with its port, such as ns1.example.org:53, 192.0.2.53:53 or [2001:db8::53]:53";
    if let Ok(address) = text.parse::<std::net::IpAddr>() {
        return Ok((address.to_string(), DNS_PORT));
    }
    if let Ok(address) = text.parse::<std::net::SocketAddr>() {
        return (address.port() != 0)
            .then(|| (address.ip().to_string(), address.port()))
            .ok_or(RULE);
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) => (
            host,
            port.parse().ok().filter(|port| *port != 0).ok_or(RULE)?,
        ),
        None => (text, DNS_PORT),
    };
    let host = dns::host_name(host).map_err(|_| RULE)?;
    if host.is_wildcard() || host.spells_address() {
        return Err(RULE);
    }
    Ok((host.to_string().trim_end_matches('.').to_owned(), port))
}

fn key_name(text: &str) -> Result<Name, dns::NameError> {
    match Name::parse(text) {
        Err(dns::NameError::NotAbsolute) => Name::parse(&format!("{text}.")),
        read => read,
    }
}

fn key_octets(text: &str) -> Result<(), &'static str> {
    match STANDARD.decode(text) {
        Ok(octets) if octets.is_empty() => Err("must not be empty"),
        Ok(_) => Ok(()),
        Err(_) => Err("must be base64, as the server's configuration has it"),
    }
}

fn algorithm(text: &str) -> Result<TsigAlgorithm, &'static str> {
    match text.trim_end_matches('.').to_ascii_lowercase().as_str() {
        "hmac-sha256" => Ok(TsigAlgorithm::Sha256),
        "hmac-sha384" => Ok(TsigAlgorithm::Sha384),
        "hmac-sha512" => Ok(TsigAlgorithm::Sha512),
        "hmac-sha1" => Ok(TsigAlgorithm::Sha1),
        _ => Err("must be hmac-sha256, hmac-sha384, hmac-sha512 or hmac-sha1"),
    }
}
