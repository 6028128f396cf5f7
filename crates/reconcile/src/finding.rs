//! What is found about Zones and Records, in the words of their conditions.

use api::Reason;
use api::problem::summary;

use crate::world::{Faults, Nameless};

/// A reason for programs and a message for people.
pub(crate) type Why = (Reason, String);

/// Why an object is wrong by itself.
pub(crate) fn faulty(faults: &Faults) -> Why {
    let reason = if faults.undecodable {
        Reason::Undecodable
    } else {
        Reason::Invalid
    };
    (reason, summary(&faults.problems))
}

/// Why an object has no name.
pub(crate) fn nameless(nameless: &Nameless, faults: &Faults) -> Why {
    match nameless {
        Nameless::Invalid => faulty(faults),
        Nameless::Unfit(problem) => (Reason::Invalid, problem.to_string()),
        Nameless::ParentNotFound(zone) => (
            Reason::ParentNotFound,
            format!(
                "spec.zoneRef: there is no Zone {zone}; create it or correct the reference, and this goes on by itself"
            ),
        ),
        Nameless::WaitingForParent(zone) => (
            Reason::WaitingForParent,
            format!(
                "spec.zoneRef: waits for Zone {zone}, which has no full name yet; the conditions of that Zone say why"
            ),
        ),
        Nameless::Cyclic => (
            Reason::CyclicReference,
            "spec.zoneRef: leads from Zone to Zone back to this one, so none of them has a full name; give one of them a domainName that ends in a dot"
                .into(),
        ),
    }
}

/// It is accepted, and nobody has seen it answered yet.
pub(crate) fn pending() -> Why {
    let message = "accepted, and on its way to the name server";
    (Reason::Pending, message.to_owned())
}

/// Nobody can see it answered.
pub(crate) fn no_name_server() -> Why {
    let message =
        "no name server runs in this process, so it is not known here whether it is answered";
    (Reason::NoNameServer, message.to_owned())
}
