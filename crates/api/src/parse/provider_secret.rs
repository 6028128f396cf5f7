//! From a Secret to the provider it stands for: which zone, which names, which credentials (P1, P2).
//!
//! This is the one place where such Secrets are judged. Whether the zone is there, and whether the credentials are any
//! good, only the provider knows.

mod credentials;

use std::collections::BTreeMap;
use std::fmt;

use dns::Name;
use k8s_openapi::api::core::v1::Secret;

use super::collect::Collect;
use super::fqdn;
use crate::problem::{FieldPath, Problem};
use crate::well_known::{secret_key, secret_type};

pub use credentials::{Aws, Confidential, Credentials, Rfc2136, StaticKeys, Tsig, TsigAlgorithm};

/// What a provider Secret says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProviderSecret {
    /// The zone and the names it may be used for; nothing: to be found by asking the provider.
    pub place: Option<Place>,
    /// How to get in.
    pub credentials: Credentials,
}

/// A zone at a provider, and the names in it that a Secret is for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Place {
    /// What the provider calls the zone.
    pub zone: String,
    /// The names.
    pub domain: Domain,
}

/// The names that a Secret is for.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Domain {
    /// A name and everything below it: `a.b.com`.
    AtOrBelow(Name),
    /// What is below a name, the wildcard included: `*.a.b.com`.
    Below(Name),
}

/// Who a Secret's `type` says that it is for.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum ProviderKind {
    /// Amazon Route 53.
    Aws,
    /// A name server that takes updates.
    Rfc2136,
    /// Zones of the same cluster.
    Zone,
    /// Memory.
    InMemory,
}

/// What stands in the way of using a Secret.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TypeError {
    /// A provider that is planned.
    #[error("Secrets of type {0} are not supported yet")]
    NotSupported(String),
    /// Not a provider's.
    #[error(
        "a Secret of type {0:?} is no provider's; the types are kuadrant.io/aws, kuadrant.io/rfc2136, kuadrant.io/zone and kuadrant.io/inmemory"
    )]
    Unknown(String),
}

impl ProviderKind {
    /// All there are.
    pub const ALL: [ProviderKind; 4] = [
        ProviderKind::Aws,
        ProviderKind::Rfc2136,
        ProviderKind::Zone,
        ProviderKind::InMemory,
    ];

    /// The `type` of its Secrets.
    pub const fn secret_type(self) -> &'static str {
        match self {
            ProviderKind::Aws => secret_type::AWS,
            ProviderKind::Rfc2136 => secret_type::RFC2136,
            ProviderKind::Zone => secret_type::ZONE,
            ProviderKind::InMemory => secret_type::IN_MEMORY,
        }
    }

    /// What flags and labels call it.
    pub const fn name(self) -> &'static str {
        match self {
            ProviderKind::Aws => "aws",
            ProviderKind::Rfc2136 => "rfc2136",
            ProviderKind::Zone => "zone",
            ProviderKind::InMemory => "inmemory",
        }
    }

    /// Who a type is for.
    pub fn of_type(text: &str) -> Result<ProviderKind, TypeError> {
        let planned = [
            secret_type::GCP,
            secret_type::AZURE,
            secret_type::CLOUDFLARE,
            secret_type::WEBHOOK,
        ];
        let known = ProviderKind::ALL.into_iter();
        match known.into_iter().find(|kind| kind.secret_type() == text) {
            Some(kind) => Ok(kind),
            None if planned.contains(&text) => Err(TypeError::NotSupported(text.to_owned())),
            None => Err(TypeError::Unknown(text.to_owned())),
        }
    }
}

impl Domain {
    /// Whether the Secret may be used for a name.
    pub fn contains(&self, name: &Name) -> bool {
        match self {
            Domain::AtOrBelow(domain) => name.is_at_or_below(domain),
            Domain::Below(domain) => name.is_below(domain),
        }
    }

    /// The name that the domain begins at.
    pub fn base(&self) -> &Name {
        match self {
            Domain::AtOrBelow(domain) | Domain::Below(domain) => domain,
        }
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Domain::AtOrBelow(domain) => domain.fmt(f),
            Domain::Below(domain) => write!(f, "*.{domain}"),
        }
    }
}

/// Reads a Secret, or names every field that is missing or wrong. With `discovery` one that names neither zone nor domain
/// is whole: its zone is found by asking.
pub fn parse(secret: &Secret, discovery: bool) -> Result<ProviderSecret, Vec<Problem>> {
    let mut problems = Collect::default();
    let field = FieldPath::root("type");
    let kind = secret.type_.as_deref().unwrap_or_default();
    let kind = problems.check(&field, kind, ProviderKind::of_type(kind));
    let mut data = Data {
        values: read(secret, &mut problems),
        problems,
    };
    let place = place(&mut data, kind, discovery);
    let credentials = kind.and_then(|kind| credentials::parse(&mut data, kind));
    let secret = credentials.map(|credentials| ProviderSecret { place, credentials });
    data.problems.finish(secret)
}

/// The names that a Secret is for, whatever else is wrong with it; nothing if it does not say.
pub fn domain(secret: &Secret) -> Option<Domain> {
    let values = read(secret, &mut Collect::default());
    read_domain(values.get(secret_key::DOMAIN_NAME)?).ok()
}

/// The fields of a Secret on their way to become something.
struct Data {
    values: BTreeMap<String, String>,
    problems: Collect,
}

impl Data {
    fn field(key: &str) -> FieldPath {
        FieldPath::root("data").field(key)
    }

    /// A value that may be missing.
    fn optional(&self, key: &str) -> Option<String> {
        self.values
            .get(key)
            .filter(|text| !text.is_empty())
            .cloned()
    }

    /// A value that must be there.
    fn required(&mut self, key: &str, what: &str) -> Option<String> {
        let value = self.optional(key);
        if value.is_none() {
            let rule = format!("is missing; it must hold {what}");
            self.problems.refuse_bare(&Data::field(key), rule);
        }
        value
    }

    /// A value that is no secret, read as something.
    fn read<T>(
        &mut self,
        key: &str,
        text: &str,
        result: Result<T, impl fmt::Display>,
    ) -> Option<T> {
        self.problems.check(&Data::field(key), text, result)
    }

    /// A value that nobody may see, read as something.
    fn read_confidential<T>(
        &mut self,
        key: &str,
        result: Result<T, impl fmt::Display>,
    ) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(rule) => {
                self.problems.refuse_bare(&Data::field(key), rule);
                None
            }
        }
    }
}

/// Spaces and line ends around a value come from how it was written, never from what it is.
fn read(secret: &Secret, problems: &mut Collect) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    for (key, octets) in secret.data.iter().flatten() {
        match str::from_utf8(&octets.0) {
            Ok(text) => {
                let text = text.trim_start_matches('\u{feff}').trim();
                values.insert(key.clone(), text.to_owned());
            }
            Err(_) => problems.refuse_bare(&Data::field(key), "must be text in UTF-8"),
        }
    }
    // As applied by hand, before the API has moved it.
    for (key, text) in secret.string_data.iter().flatten() {
        values.insert(key.clone(), text.trim().to_owned());
    }
    values
}

fn place(data: &mut Data, kind: Option<ProviderKind>, discovery: bool) -> Option<Place> {
    let (zone, domain) = (secret_key::ZONE_ID, secret_key::DOMAIN_NAME);
    if discovery && data.optional(zone).is_none() && data.optional(domain).is_none() {
        return None;
    }
    let zone_id = data.required(zone, "what the provider calls the zone");
    let zone_id = zone_id.and_then(|text| {
        let checked = kind.map_or(Ok(()), |kind| credentials::check_zone_id(kind, &text));
        data.read(zone, &text, checked).map(|()| text)
    });
    let name = data.required(domain, "the domain that the Secret is for");
    let name = name.and_then(|text| data.read(domain, &text, read_domain(&text)));
    Some(Place {
        zone: zone_id?,
        domain: name?,
    })
}

fn read_domain(text: &str) -> Result<Domain, dns::NameError> {
    let name = dns::host_name(text)?;
    Ok(if name.is_wildcard() {
        Domain::Below(fqdn::base(&name))
    } else {
        Domain::AtOrBelow(name)
    })
}

#[cfg(test)]
mod tests;
