//! Annotations of Ingresses that name hosts beside the rules, as the controllers of Ingresses read them.
//!
//! A gate that looks at rules only has a window beside it: an alias in an annotation serves a host just as well. Lists of
//! hosts are judged host by host; pieces of configuration cannot be judged.

/// What an annotation can do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Power {
    /// It lists hosts, between commas or white space.
    Hosts,
    /// It can say anything.
    Configuration,
}

/// The annotations that can add a host, by what they can do.
pub(super) const POWERS: [(&str, Power); 17] = [
    ("nginx.ingress.kubernetes.io/server-alias", Power::Hosts),
    ("haproxy-ingress.github.io/server-alias", Power::Hosts),
    ("konghq.com/host-aliases", Power::Hosts),
    ("external-dns.alpha.kubernetes.io/hostname", Power::Hosts),
    (
        "external-dns.alpha.kubernetes.io/internal-hostname",
        Power::Hosts,
    ),
    ("cert-manager.io/common-name", Power::Hosts),
    ("cert-manager.io/alt-names", Power::Hosts),
    (
        "nginx.ingress.kubernetes.io/server-snippet",
        Power::Configuration,
    ),
    (
        "nginx.ingress.kubernetes.io/configuration-snippet",
        Power::Configuration,
    ),
    (
        "nginx.ingress.kubernetes.io/auth-snippet",
        Power::Configuration,
    ),
    (
        "nginx.ingress.kubernetes.io/stream-snippet",
        Power::Configuration,
    ),
    (
        "nginx.ingress.kubernetes.io/modsecurity-snippet",
        Power::Configuration,
    ),
    ("nginx.org/server-snippets", Power::Configuration),
    ("nginx.org/location-snippets", Power::Configuration),
    (
        "haproxy-ingress.github.io/server-alias-regex",
        Power::Configuration,
    ),
    (
        "haproxy-ingress.github.io/config-backend",
        Power::Configuration,
    ),
    (
        "haproxy-ingress.github.io/config-frontend",
        Power::Configuration,
    ),
];

/// The hosts of a list.
pub(super) fn hosts(list: &str) -> impl Iterator<Item = &str> {
    let between = |it: char| it == ',' || it == ';' || it.is_whitespace();
    list.split(between).filter(|host| !host.is_empty())
}
