//! Domains that nobody can prove to be theirs, whatever stands in DNS (V9).

use api::Reason;
use api::parse::fqdn;
use dns::{Name, PublicSuffix};

use super::ManagedDomain;

/// The domain of Services, unless a cluster was set up otherwise. Below `local.`, and named for itself in messages.
const CLUSTER_DOMAIN: &str = "cluster.local.";

/// Names that are not found by walking down from the roots, or belong to the infrastructure: RFC 6761 and the registry that
/// it began, RFC 6762, 7686, 9476, and `internal.`, which ICANN keeps for private use. Not `test.` and `example.` with its like:
/// programs are to treat them as any other name (RFC 6761 §6.2, §6.5), and they exist where somebody serves them.
const SPECIAL_USE: [&str; 7] = [
    "localhost.",
    "local.",
    "invalid.",
    "onion.",
    "alt.",
    "arpa.",
    "internal.",
];

/// Why a domain cannot be claimed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Refusal {
    /// Others have names below it.
    PublicSuffix,
    /// Ours to give, host by host.
    Managed,
    /// Names of Services.
    Cluster,
    /// Nobody's.
    SpecialUse,
}

impl Refusal {
    /// For programs.
    pub const fn reason(self) -> Reason {
        match self {
            Refusal::PublicSuffix => Reason::PublicSuffix,
            Refusal::Managed | Refusal::Cluster | Refusal::SpecialUse => Reason::ReservedDomain,
        }
    }

    /// For people: the rule, and what to do.
    pub const fn rule(self) -> &'static str {
        match self {
            Refusal::PublicSuffix => {
                "is a public suffix, below which anybody may have names, so nobody can prove it; use a domain below it"
            }
            Refusal::Managed => {
                "is in the managed domain, where every Ingress gets a host of its own; leave the host out, or use a domain of your own"
            }
            Refusal::Cluster => {
                "is in the cluster's domain, which belongs to Services; use a domain of your own"
            }
            Refusal::SpecialUse => {
                "is a special-use name, which nobody owns; use a domain of your own"
            }
        }
    }
}

/// Whether nobody can claim a domain; the domain of a wildcard is the name without the `*`.
pub fn judge(name: &Name, managed: &ManagedDomain) -> Option<Refusal> {
    let domain = fqdn::base(name);
    if domain.is_at_or_below(&managed.domain) {
        return Some(Refusal::Managed);
    }
    if domain.is_at_or_below(&well_known(CLUSTER_DOMAIN)) {
        return Some(Refusal::Cluster);
    }
    if SPECIAL_USE
        .iter()
        .any(|it| domain.is_at_or_below(&well_known(it)))
    {
        return Some(Refusal::SpecialUse);
    }
    PublicSuffix::of(&domain).map(|_| Refusal::PublicSuffix)
}

fn well_known(text: &str) -> Name {
    Name::parse(text).expect("a name of ours can be read")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Option<Refusal> {
        let managed = ManagedDomain {
            domain: Name::parse("apps.example.net.").unwrap(),
            tls_secret: None,
        };
        judge(&Name::parse(text).unwrap(), &managed)
    }

    #[test]
    fn nobody_can_claim_what_many_or_none_can_own() {
        // V9.
        use Refusal::{Cluster, Managed, PublicSuffix, SpecialUse};
        let cases = [
            ("com.", PublicSuffix),
            ("co.uk.", PublicSuffix),
            ("*.co.uk.", PublicSuffix),
            ("github.io.", PublicSuffix),
            ("apps.example.net.", Managed),
            ("a.apps.example.net.", Managed),
            ("*.apps.example.net.", Managed),
            ("cluster.local.", Cluster),
            ("api.default.svc.cluster.local.", Cluster),
            ("printer.local.", SpecialUse),
            ("localhost.", SpecialUse),
            ("x.onion.", SpecialUse),
            ("4.3.2.1.in-addr.arpa.", SpecialUse),
            ("home.arpa.", SpecialUse),
            ("corp.internal.", SpecialUse),
        ];
        for (text, refusal) in cases {
            assert_eq!(check(text), Some(refusal), "{text}");
        }
    }

    #[test]
    fn what_one_owner_can_have_is_not_refused() {
        let cases = [
            "example.com.",
            "example.co.uk.",
            "me.github.io.",
            "*.example.com.",
            "example.net.",
            "badapps.example.net.",
            "shop.test.",
        ];
        for text in cases {
            assert_eq!(check(text), None, "{text}");
        }
    }
}
