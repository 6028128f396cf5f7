//! The endpoints of one host, from where its Gateway is reached (D5).
//!
//! ```text
//! simple                    load-balanced                          TTL
//! H  A, AAAA  addresses     H               CNAME  klb.C           300
//! H  CNAME    host          klb.C           CNAME  <geo>.klb.C     300, by geo-code, once more for everyone else
//!                           <geo>.klb.C     CNAME  <cl>-<gw>.klb.C  60, by weight; or a host of the Gateway's
//!                           <cl>-<gw>.klb.C A, AAAA  addresses      60
//! ```
//!
//! `C` is the host without its `*`. Names, identifiers and TTLs are the peer's to the letter: Gateways of clusters that
//! run it share the same names. What it does not know is AAAA.

use std::collections::BTreeSet;
use std::net::IpAddr;

use api::dns_record::{Endpoint, ProviderSpecificProperty};
use api::parse::dns_policy::LoadBalancing;
use api::parse::fqdn;
use api::parse::target::Target;
use dns::Name;
use dns::ownership::short_hash36;

/// How long answers that name a Gateway's addresses may be cached.
const TTL: i64 = 60;

/// How long answers that lead to one Gateway among many may be cached.
const SHARED_TTL: i64 = 300;

/// How many characters of a hash stand for a cluster and for a Gateway.
const CODE_CHARS: usize = 6;

/// Where a Gateway is reached, sorted, each once.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Addresses {
    ips: BTreeSet<IpAddr>,
    hosts: BTreeSet<Name>,
}

/// How a host's traffic is shared.
#[derive(Clone, Copy, Debug)]
pub enum Sharing<'a> {
    /// It is all this Gateway's.
    Simple,
    /// With other Gateways.
    Balanced {
        /// How.
        rule: &'a LoadBalancing,
        /// What stands for this Gateway among them: see [`code`].
        code: &'a str,
    },
}

impl Addresses {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ips.is_empty() && self.hosts.is_empty()
    }

    /// Hosts that cannot be published without load balancing: a name has one CNAME at most, and none beside addresses.
    pub fn surplus(&self) -> impl Iterator<Item = &Name> {
        let published = usize::from(self.ips.is_empty());
        self.hosts.iter().skip(published)
    }
}

impl FromIterator<Target> for Addresses {
    fn from_iter<I: IntoIterator<Item = Target>>(targets: I) -> Addresses {
        let mut addresses = Addresses::default();
        for target in targets {
            match target {
                Target::Address(ip) => {
                    addresses.ips.insert(ip);
                }
                Target::Host(host) => {
                    addresses.hosts.insert(host);
                }
            }
        }
        addresses
    }
}

/// What stands for a Gateway of a cluster among all that share a host.
pub fn code(cluster: &str, gateway: &str, namespace: &str) -> String {
    let cluster = short_hash36(cluster, CODE_CHARS);
    let gateway = short_hash36(&format!("{gateway}-{namespace}"), CODE_CHARS);
    format!("{cluster}-{gateway}")
}

/// The endpoints that lead from a host to a Gateway, in the peer's order.
pub fn endpoints(host: &Name, addresses: &Addresses, sharing: Sharing<'_>) -> Vec<Endpoint> {
    if addresses.is_empty() {
        return Vec::new();
    }
    let mut endpoints = match sharing {
        Sharing::Simple => simple(host, addresses),
        Sharing::Balanced { rule, code } => balanced(host, addresses, rule, code),
    };
    endpoints.sort_by_cached_key(|endpoint| {
        let place = format!("{}{}", endpoint.dns_name, endpoint.set_identifier);
        (place, endpoint.record_type.clone())
    });
    endpoints
}

fn simple(host: &Name, addresses: &Addresses) -> Vec<Endpoint> {
    let host = text(host);
    match addresses.hosts.first() {
        Some(target) if addresses.ips.is_empty() => vec![cname(&host, TTL, &text(target))],
        Some(_) | None => at_addresses(&host, &addresses.ips),
    }
}

fn balanced(host: &Name, addresses: &Addresses, rule: &LoadBalancing, code: &str) -> Vec<Endpoint> {
    let shared = format!("klb.{}", text(&fqdn::base(host)));
    let place = format!("{}.{shared}", rule.spelled.to_ascii_lowercase());
    let own = format!("{code}.{shared}");
    let mut endpoints = at_addresses(&own, &addresses.ips);
    let own = (!addresses.ips.is_empty()).then_some(own);
    for target in own.into_iter().chain(addresses.hosts.iter().map(text)) {
        let share = cname(&place, TTL, &target);
        endpoints.push(routed(share, &target, "weight", &rule.weight.to_string()));
    }
    let geo = |identifier: &str, code: &str| {
        let here = cname(&shared, SHARED_TTL, &place);
        routed(here, identifier, "geo-code", code)
    };
    endpoints.push(geo(&rule.spelled, &rule.spelled));
    if rule.default_geo {
        endpoints.push(geo("default", "*"));
    }
    endpoints.push(cname(&text(host), SHARED_TTL, &shared));
    endpoints
}

/// A set of each family that there are addresses of.
fn at_addresses(name: &str, ips: &BTreeSet<IpAddr>) -> Vec<Endpoint> {
    let set = |rtype: &str, of_family: fn(&IpAddr) -> bool| {
        let targets: Vec<String> = ips
            .iter()
            .filter(|ip| of_family(ip))
            .map(ToString::to_string)
            .collect();
        (!targets.is_empty()).then(|| endpoint(name, rtype, TTL, targets))
    };
    [set("A", IpAddr::is_ipv4), set("AAAA", IpAddr::is_ipv6)]
        .into_iter()
        .flatten()
        .collect()
}

fn cname(name: &str, ttl: i64, target: &str) -> Endpoint {
    endpoint(name, "CNAME", ttl, vec![target.to_owned()])
}

fn endpoint(name: &str, rtype: &str, ttl: i64, targets: Vec<String>) -> Endpoint {
    Endpoint {
        dns_name: name.to_owned(),
        record_type: rtype.to_owned(),
        record_ttl: Some(ttl),
        targets,
        ..Endpoint::default()
    }
}

fn routed(endpoint: Endpoint, identifier: &str, property: &str, value: &str) -> Endpoint {
    Endpoint {
        set_identifier: identifier.to_owned(),
        provider_specific: vec![ProviderSpecificProperty {
            name: property.to_owned(),
            value: value.to_owned(),
        }],
        ..endpoint
    }
}

/// A name as endpoints spell it.
fn text(name: &Name) -> String {
    name.to_string().trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use dns::routing::Weight;

    use super::*;

    /// The cluster and Gateway of the peer's own tests.
    const CLUSTER: &str = "9c8f876c-4ddc-44a3-9842-460f97e6c037";

    fn rule(geo: &str, default_geo: bool) -> LoadBalancing {
        LoadBalancing {
            weight: Weight::new(120).unwrap(),
            geo: geo.parse().unwrap(),
            spelled: geo.to_owned(),
            default_geo,
        }
    }

    /// Endpoints as lines: name, TTL, type, targets, and in brackets the identifier and the property.
    fn check(host: &str, targets: &[&str], rule: Option<&LoadBalancing>, expected: &[&str]) {
        let code = code(CLUSTER, "gw", "web");
        let host = fqdn::parse(host).unwrap();
        let addresses = targets.iter().map(|text| Target::parse(text).unwrap());
        let sharing = rule.map_or(Sharing::Simple, |rule| Sharing::Balanced {
            rule,
            code: &code,
        });
        let endpoints = endpoints(&host, &addresses.collect(), sharing);
        let lines: Vec<String> = endpoints.iter().map(line).collect();
        let expected: Vec<String> = expected
            .iter()
            .map(|it| it.replace("CODE", &code))
            .collect();
        assert_eq!(lines, expected);
    }

    fn line(endpoint: &Endpoint) -> String {
        let mut line = format!(
            "{} {} {} {}",
            endpoint.dns_name,
            endpoint.record_ttl.unwrap(),
            endpoint.record_type,
            endpoint.targets.join(" ")
        );
        for property in &endpoint.provider_specific {
            let (identifier, name, value) =
                (&endpoint.set_identifier, &property.name, &property.value);
            line = format!("{line} [{identifier} {name}={value}]");
        }
        line
    }

    #[test]
    fn codes_are_six_characters_of_the_peers_hash() {
        // D5: its vector for an owner is the same hash.
        let whole = code(CLUSTER, "gw", "web");
        let (cluster, gateway) = whole.split_once('-').unwrap();
        assert_eq!(cluster, "32ah7x");
        assert_eq!(gateway, short_hash36("gw-web", 6));
        assert_eq!(gateway.len(), 6);
    }

    #[test]
    fn a_simple_host_has_the_addresses_of_its_gateway() {
        // D5.
        check(
            "app.example.org",
            &["192.0.2.2", "2001:db8::1", "192.0.2.1", "192.0.2.1"],
            None,
            &[
                "app.example.org 60 A 192.0.2.1 192.0.2.2",
                "app.example.org 60 AAAA 2001:db8::1",
            ],
        );
        check(
            "*.example.org",
            &["192.0.2.1"],
            None,
            &["*.example.org 60 A 192.0.2.1"],
        );
    }

    #[test]
    fn a_simple_host_has_one_alias_and_none_beside_addresses() {
        // D5.
        check(
            "app.example.org",
            &["b.lb.example.net", "a.lb.example.net"],
            None,
            &["app.example.org 60 CNAME a.lb.example.net"],
        );
        check(
            "app.example.org",
            &["lb.example.net", "192.0.2.1"],
            None,
            &["app.example.org 60 A 192.0.2.1"],
        );
        let addresses = |targets: &[&str]| -> Vec<String> {
            let targets = targets.iter().map(|text| Target::parse(text).unwrap());
            let addresses: Addresses = targets.collect();
            addresses.surplus().map(ToString::to_string).collect()
        };
        assert_eq!(addresses(&["a.example", "b.example"]), ["b.example."]);
        assert_eq!(addresses(&["a.example", "192.0.2.1"]), ["a.example."]);
        assert!(addresses(&["a.example"]).is_empty());
    }

    #[test]
    fn a_shared_host_leads_by_place_and_weight_to_the_addresses() {
        // D5: the tree of the peer, line by line.
        check(
            "app.example.org",
            &["192.0.2.1", "192.0.2.2"],
            Some(&rule("GEO-NA", true)),
            &[
                "CODE.klb.app.example.org 60 A 192.0.2.1 192.0.2.2",
                "app.example.org 300 CNAME klb.app.example.org",
                "geo-na.klb.app.example.org 60 CNAME CODE.klb.app.example.org [CODE.klb.app.example.org weight=120]",
                "klb.app.example.org 300 CNAME geo-na.klb.app.example.org [GEO-NA geo-code=GEO-NA]",
                "klb.app.example.org 300 CNAME geo-na.klb.app.example.org [default geo-code=*]",
            ],
        );
    }

    #[test]
    fn a_shared_host_leads_to_every_host_of_its_gateway_by_weight() {
        // D5: a region of a cloud is spelled as it was written.
        check(
            "app.example.org",
            &[
                "b.lb.example.net",
                "192.0.2.1",
                "2001:db8::1",
                "a.lb.example.net",
            ],
            Some(&rule("europe-west1", false)),
            &[
                "CODE.klb.app.example.org 60 A 192.0.2.1",
                "CODE.klb.app.example.org 60 AAAA 2001:db8::1",
                "app.example.org 300 CNAME klb.app.example.org",
                "europe-west1.klb.app.example.org 60 CNAME CODE.klb.app.example.org [CODE.klb.app.example.org weight=120]",
                "europe-west1.klb.app.example.org 60 CNAME a.lb.example.net [a.lb.example.net weight=120]",
                "europe-west1.klb.app.example.org 60 CNAME b.lb.example.net [b.lb.example.net weight=120]",
                "klb.app.example.org 300 CNAME europe-west1.klb.app.example.org [europe-west1 geo-code=europe-west1]",
            ],
        );
        check(
            "app.example.org",
            &["lb.example.net"],
            Some(&rule("EU", false)),
            &[
                "app.example.org 300 CNAME klb.app.example.org",
                "eu.klb.app.example.org 60 CNAME lb.example.net [lb.example.net weight=120]",
                "klb.app.example.org 300 CNAME eu.klb.app.example.org [EU geo-code=EU]",
            ],
        );
    }

    #[test]
    fn a_wildcard_and_its_base_share_everything_but_their_own_name() {
        // D5: two DNSRecords want the same of the shared names, so they do not fight.
        let tree = |host: &str| {
            let addresses = [Target::parse("192.0.2.1").unwrap()];
            let rule = rule("IE", true);
            let sharing = Sharing::Balanced {
                rule: &rule,
                code: "c-g",
            };
            let host = fqdn::parse(host).unwrap();
            let mut all = endpoints(&host, &addresses.into_iter().collect(), sharing);
            let own = text(&host);
            all.retain(|endpoint| endpoint.dns_name != own);
            all
        };
        assert_eq!(tree("*.example.org"), tree("example.org"));
        assert_eq!(tree("example.org").len(), 4);
    }

    #[test]
    fn without_an_address_there_is_nothing() {
        // D4.
        check("app.example.org", &[], None, &[]);
        check("app.example.org", &[], Some(&rule("IE", true)), &[]);
    }
}
