//! Every key the project shares with users, peers and Kubernetes: labels, annotations, finalizers,
//! field managers, Secret types. A key that is not here is not used.
//!
//! Keys of peers keep their peers' spelling, so that objects move between the two without being
//! rewritten. Keys of our own begin with `zonewright.dev/`.

mod dns_record;
mod label_value;
pub(crate) mod parent_zone;

pub use dns_record::{dns_record_label, listener_label, service_record_label};
pub use parent_zone::{parent_zone_label, split_parent_zone_label};

/// The category of every kind of ours: `kubectl get dns` lists them all.
pub const CATEGORY: &str = "dns";

/// The namespace of `ServiceRecord`s, unless a flag says otherwise (S1).
pub const SERVICE_RECORD_NAMESPACE: &str = "cross-cluster-connectivity";

/// The label below a domain at which the proof of control may stand (V5).
pub const CHALLENGE_LABEL: &str = "_kuadrant-challenge";

/// API groups of our kinds.
pub mod group {
    /// Zone, Record, `ZoneSlice`.
    pub const KUBI_ZONE: &str = "kubi.zone";
    /// `DNSRecord`, `DNSHealthCheckProbe`, `DNSPolicy`.
    pub const KUADRANT_IO: &str = "kuadrant.io";
    /// `ServiceRecord`.
    pub const CONNECTIVITY: &str = "connectivity.tanzu.vmware.com";
    /// `DomainVerification`.
    pub const KUADRANT_DEV: &str = "kuadrant.dev";
}

/// Labels.
pub mod label {
    /// On Zones and Records: the zone that has adopted them, as `<name>.<namespace>` (Z3, R3).
    /// Output, never authority. Written and read through [`ZoneKey`](crate::ZoneKey).
    pub const PARENT_ZONE: &str = "kubi.zone/parent-zone";
    /// On Zones: the peer's `ZoneFile` that renders them. Left as it is.
    pub const ZONE_FILE: &str = "kubi.zone/zonefile";

    /// On Secrets, value `true`: the provider of `DNSRecord`s of the namespace that name none (P1).
    pub const DEFAULT_PROVIDER: &str = "kuadrant.io/default-provider";
    /// On `DNSRecord`s: the provider in use.
    pub const PROVIDER_NAME: &str = "kuadrant.io/dns-provider-name";
    /// On `DNSRecord`s made from a `DNSPolicy`: the Gateway listener they are for.
    pub const LISTENER_NAME: &str = "kuadrant.io/listener-name";
    /// On `DNSHealthCheckProbe`s: the `DNSRecord` they watch addresses for.
    pub const PROBE_OWNER: &str = "kuadrant.io/health-probes-owner";
    /// On the `DNSPolicy` `CustomResourceDefinition`: marks a Gateway API policy, value `direct`.
    pub const GATEWAY_POLICY: &str = "gateway.networking.k8s.io/policy";

    /// On sources and `ServiceRecord`s, any value: publish this (S1); on a `ServiceRecord` also:
    /// this one is ours (S5).
    pub const EXPORT: &str = "connectivity.tanzu.vmware.com/export";
    /// On `ServiceRecord`s: came from another cluster, and is not ours (S5).
    pub const IMPORTED: &str = "connectivity.tanzu.vmware.com/imported";
    /// On imported `ServiceRecord`s: the registry they came from.
    pub const REMOTE_REGISTRY: &str = "connectivity.tanzu.vmware.com/remote-registry";

    /// On Records made for a managed host: the part of it that was drawn (V1). To find them by.
    pub const MANAGED_HOST: &str = "zonewright.dev/managed-host";
    /// On Ingresses: custom hosts wait for their domain to be verified (V2).
    pub const HAS_PENDING_CUSTOM_HOSTS: &str = "kuadrant.dev/hasPendingCustomHosts";

    /// On Records made for a `DNSRecord`: its name, or a shortened form of it (P12). To find them by; whose they are is
    /// in their owner reference.
    pub const DNS_RECORD: &str = "zonewright.dev/dns-record";

    /// On Records made for a `ServiceRecord`: its name, or a shortened form of it (S9). To find them by; the host that
    /// they are for is in an annotation.
    pub const SERVICE_RECORD: &str = "zonewright.dev/service-record";

    /// On `DNSRecord`s made from a `DNSPolicy`, value `kuadrant`: they are looked after by whoever looks after the policy.
    pub const APP: &str = "app";
    /// On the same, the same value: the part of the application.
    pub const COMPONENT: &str = "app.kubernetes.io/component";
    /// On the same, the same value: the instance of the application.
    pub const INSTANCE: &str = "app.kubernetes.io/instance";
    /// On the same, the same value: the application.
    pub const NAME: &str = "app.kubernetes.io/name";
    /// On the same, the same value: what the application is a part of.
    pub const PART_OF: &str = "app.kubernetes.io/part-of";

    /// On everything we make: who made it.
    pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
}

/// Annotations.
pub mod annotation {
    /// On Zones and Records whose parent's name is too long for the label: the parent as
    /// `<namespace>/<name>` (Z3).
    pub const PARENT_ZONE_REF: &str = "kubi.zone/parent-zone-ref";

    /// On sources and `ServiceRecord`s: an address that importing clusters use. Copied, and never published here: whoever
    /// may annotate a source must not choose where its host leads.
    pub const VIP: &str = "connectivity.tanzu.vmware.com/vip";
    /// On Services made from `ServiceRecord`s by the peer: the name they answer for. On exported Services: the hosts to
    /// publish, separated by commas (S8).
    pub const FQDN: &str = "connectivity.tanzu.vmware.com/fqdn";
    /// On `ServiceRecord`s: the port clients connect to.
    pub const SERVICE_PORT: &str = "connectivity.tanzu.vmware.com/service-port";
    /// The prefix of the annotations that travel from a source to its `ServiceRecord`.
    pub const CONNECTIVITY_PREFIX: &str = "connectivity.tanzu.vmware.com/";

    /// On Ingresses: the rules and tls entries that wait for verification, as JSON (V2). Untrusted
    /// when read back.
    pub const PENDING_CUSTOM_HOSTS: &str = "kuadrant.dev/pendingCustomHosts";
    /// On Ingresses: the hosts that were taken out (V2).
    pub const CUSTOM_HOSTS_REMOVED: &str = "kuadrant.dev/custom-hosts-status.removed";

    /// On a `DNSRecord`, the hash of its held changes; on a Namespace, `all`: let them run (P10).
    pub const APPROVE: &str = "zonewright.dev/approve";
    /// On a `DNSRecord`, `true`: release it although its Secret or zone is gone (P6).
    pub const ABANDON: &str = "zonewright.dev/abandon";
    /// Any new value, on an Ingress: check its domain now (V6); on a `DNSRecord`: read the provider
    /// back now (C5).
    pub const CHECK: &str = "zonewright.dev/check";
    /// On an Ingress: the ancestor domain to verify instead of the exact host (V2).
    pub const VERIFY_DOMAIN: &str = "zonewright.dev/verify-domain";
    /// On a `ServiceRecord` made by someone else, `true`: take it over (S5).
    pub const ADOPT: &str = "zonewright.dev/adopt";
    /// On `ServiceRecord`s that we made or took over: the objects that asked for the host, as JSON, in the form of
    /// `status.sources` (S4, S6). Who may keep a host, and whose end is the end of it, follows from this.
    pub const SOURCES: &str = "zonewright.dev/sources";
    /// On `ServiceRecord`s and the Records made for them: the host that they are for, whatever their spec says (S4, S9).
    pub const HOST: &str = "zonewright.dev/host";
    /// On exported Services: the hosts to publish, separated by commas, as external-dns has it (S8).
    pub const EXTERNAL_DNS_HOSTNAME: &str = "external-dns.alpha.kubernetes.io/hostname";
    /// On an Ingress: its managed host and the proof that we drew it (V1).
    pub const MANAGED_HOST: &str = "zonewright.dev/managed-host";
}

/// Conditions of other kinds that we write.
pub mod gateway_condition {
    /// On Gateways: which `DNSPolicy` objects affect them.
    pub const DNS_POLICY_AFFECTED: &str = "kuadrant.io/DNSPolicyAffected";
}

/// Finalizers.
pub mod finalizer {
    /// On `DNSRecord`s: goes only after a pass that found nothing left at the provider (C4).
    pub const DNS_RECORD: &str = "kuadrant.io/dns-record";
    /// On `DNSHealthCheckProbe`s.
    pub const DNS_HEALTH_CHECK_PROBE: &str = "kuadrant.io/dns-health-check-probe";
}

/// Names under which fields are written. Kubernetes shows them in `metadata.managedFields`.
pub mod field_manager {
    /// Everything the controllers write.
    pub const CONTROLLER: &str = "zonewright";
    /// What people apply through our own command line.
    pub const COMMAND_LINE: &str = "zonewright-cli";
    /// The peer's managers. Fields they own on Zones and Records are taken over by force.
    pub const PEERS: &[&str] = &[
        "kubi.zone/zone-resolver",
        "kubi.zone/record-resolver",
        "kubi.zone/ingress-resolver",
        "kubi.zone/zonefile",
    ];
}

/// The `type` of Secrets that hold a provider's credentials (P1).
pub mod secret_type {
    /// Amazon Route 53.
    pub const AWS: &str = "kuadrant.io/aws";
    /// Google Cloud DNS.
    pub const GCP: &str = "kuadrant.io/gcp";
    /// Azure DNS.
    pub const AZURE: &str = "kuadrant.io/azure";
    /// Cloudflare.
    pub const CLOUDFLARE: &str = "kuadrant.io/cloudflare";
    /// A name server that takes RFC 2136 updates.
    pub const RFC2136: &str = "kuadrant.io/rfc2136";
    /// A provider behind the external-dns webhook protocol.
    pub const WEBHOOK: &str = "kuadrant.io/webhook";
    /// Zones of this cluster.
    pub const ZONE: &str = "kuadrant.io/zone";
    /// A provider that forgets everything on restart.
    pub const IN_MEMORY: &str = "kuadrant.io/inmemory";
}

/// The keys every provider Secret carries (P2).
pub mod secret_key {
    /// The zone at the provider.
    pub const ZONE_ID: &str = "ZONE_ID";
    /// The domain the Secret may be used for.
    pub const DOMAIN_NAME: &str = "DOMAIN_NAME";
}
