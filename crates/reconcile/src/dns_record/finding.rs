//! What is found about a DNSRecord, in the words of its conditions.

use api::problem::summary;
use api::{ConditionType, Finding, Problem, Reason, Status};
use dns::plan::Conflict;
use provider::Attempt;

use super::{DnsRecordView, Failure, Trouble};
use crate::finding::Why;

/// Ready and Synchronised together: what was tried did not work (P5).
pub(super) fn failed(why: Why) -> Vec<Finding> {
    let (reason, message) = why;
    vec![
        Finding::new(ConditionType::Ready, Status::False, reason, message.clone()),
        Finding::new(ConditionType::Synchronised, Status::False, reason, message),
    ]
}

pub(super) fn ready(status: Status, why: Why) -> Finding {
    Finding::new(ConditionType::Ready, status, why.0, why.1)
}

pub(super) fn synchronised(status: Status, why: Why) -> Finding {
    Finding::new(ConditionType::Synchronised, status, why.0, why.1)
}

pub(super) fn healthy((status, reason, message): (Status, Reason, String)) -> Finding {
    Finding::new(ConditionType::Healthy, status, reason, message)
}

/// Nothing is published before a target is healthy (D6).
pub(super) fn withheld() -> Why {
    let message = "Not publishing unhealthy records";
    (Reason::HealthChecksFailed, message.to_owned())
}

pub(super) fn success() -> Why {
    let message = "Provider ensured the dns record";
    (Reason::ProviderSuccess, message.to_owned())
}

pub(super) fn awaiting() -> Why {
    (Reason::AwaitingValidation, "Awaiting Validation".to_owned())
}

pub(super) fn deleting() -> Why {
    let message = "DNS records are being deleted from provider";
    (Reason::ProviderEndpointsDeletion, message.to_owned())
}

pub(super) fn exhausted(limit: u32) -> Why {
    let message = format!(
        "reached write limit to the DNS provider for the same generation of record: it was written {limit} times in a row and still is not as wanted; find out who changes or refuses it, then change the spec"
    );
    (Reason::WriteLimitReached, message)
}

/// What the provider cannot hold.
pub(super) fn refused(rules: &[String]) -> Why {
    not_ensured(&rules.join("; "))
}

pub(super) fn conflicted(conflicts: &[Conflict]) -> Why {
    let texts: Vec<String> = conflicts.iter().map(ToString::to_string).collect();
    (Reason::OwnerConflict, texts.join("; "))
}

/// What no provider knows.
pub(super) fn unroutable(problems: &[Problem]) -> Why {
    not_ensured(&summary(problems))
}

pub(super) fn complained(complaints: &[String]) -> Why {
    not_ensured(&complaints.join("; "))
}

/// In the peer's words: its users look for them.
fn not_ensured(story: &str) -> Why {
    let message = format!("The DNS provider failed to ensure the record: {story}");
    (Reason::ProviderError, message)
}

pub(super) fn held(hash: &str, sets: usize, empties: bool) -> Why {
    let why = if empties {
        "a name that is wanted would be left empty"
    } else {
        "too much has changed at once at the provider"
    };
    let message = format!(
        "{sets} record sets would be changed although nobody edited this record, and {why}; look at the zone, and to go on set annotation zonewright.dev/approve: \"{hash}\" on this record, or \"all\" on its Namespace"
    );
    (Reason::Held, message)
}

pub(super) fn contested(writer: &str) -> Why {
    let message = format!(
        "{writer} keeps changing what this record wants; it is left alone for a while: let one of the two give way, or if both have one owner id, give one of them another spec.ownerID"
    );
    (Reason::Contested, message)
}

/// A record that cannot go because of it says how it can (P6).
pub(super) fn stuck((reason, message): Why, view: &DnsRecordView) -> Why {
    if !view.deleting {
        return (reason, message);
    }
    let by_itself = if view.ending.is_some() {
        "; it goes with its namespace after a minute, and what it published stays"
    } else {
        ""
    };
    let message = format!(
        "{message}; to delete this record without removing what it published, set annotation zonewright.dev/abandon: \"true\"{by_itself}"
    );
    (reason, message)
}

/// A record that is published at the new place says why it is still at the old one (P9).
pub(super) fn left_behind((reason, message): Why) -> Why {
    let message = format!(
        "published as wanted, and still at the place that it left: {message}; to leave it there, set annotation zonewright.dev/abandon: \"true\""
    );
    (reason, message)
}

/// What a failed call means.
pub(super) fn failure(failure: &Failure, secret: &str, zone: &str) -> Why {
    let story = &failure.story;
    if !failure.way {
        return not_ensured(story);
    }
    // In the peer's words as well: what could not even be read was not found.
    let peer = match failure.attempt {
        Attempt::None => "Unable to find suitable zone in provider",
        Attempt::Refused | Attempt::Unclear => "The DNS provider failed to ensure the record",
    };
    let zone = if zone.is_empty() {
        String::new()
    } else {
        format!(" zone {zone}:")
    };
    let message = format!(
        "{peer}: Secret {secret}:{zone} {story}; correct the Secret or the zone, and this goes on by itself"
    );
    (Reason::DnsProviderError, message)
}

/// Why there is nobody to ask, in the peer's words where it has some.
pub(super) fn trouble(trouble: &Trouble) -> Why {
    let message = match trouble {
        Trouble::NoDefault => "No default provider secret labeled kuadrant.io/default-provider was found: spec.providerRef names none; name a Secret, or label one of the namespace kuadrant.io/default-provider=true".to_owned(),
        Trouble::SeveralDefaults(secrets) => format!(
            "Multiple default providers secrets found. Only one expected: spec.providerRef names none, and there are {}; name one of them, or take the label from the others",
            secrets.join(", ")
        ),
        Trouble::NoSecret(secret) => format!(
            "spec.providerRef.name: there is no Secret {secret} of a provider's type in this namespace; create it, and this goes on by itself"
        ),
        Trouble::BadSecret(secret, problems) => {
            format!("Secret {secret}: {}", summary(problems))
        }
        Trouble::NotEnabled(secret, provider) => format!(
            "provider '{provider}' not enabled: Secret {secret} is of its type; start zonewright with --provider {provider}"
        ),
        Trouble::Outside { secret, domain } => format!(
            "spec.rootHost: is outside the DOMAIN_NAME of Secret {secret}, {domain}; use another host or another Secret"
        ),
    };
    (Reason::DnsProviderError, message)
}
