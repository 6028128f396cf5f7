//! What is found about Zones and Records, in the words of their conditions.

use api::problem::summary;
use api::{Reason, ZoneKey};
use dns::Name;

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

/// Publishing is left to another cluster, which none does yet.
pub(crate) fn delegated() -> Why {
    let message = "spec.delegate: publishing on behalf of other clusters is not supported yet";
    (Reason::NotSupported, message.to_owned())
}

/// A relative name that was probably meant as a full one, and what it became (R1).
pub(crate) fn looks_full(parent: &ZoneKey, name: &Name) -> Why {
    let message = format!(
        "spec.domainName: already ends in the name of Zone {parent}, which is put behind it all the same: this is {name}; if it was meant as it stands, end it with a dot"
    );
    (Reason::LooksFull, message)
}

/// Several remarks as one: the reason of the first, the texts of all.
pub(crate) fn first_of(remarks: impl IntoIterator<Item = Why>) -> Option<Why> {
    let mut remarks = remarks.into_iter();
    let (reason, mut text) = remarks.next()?;
    for (_, more) in remarks {
        text.push_str("; ");
        text.push_str(&more);
    }
    Some((reason, text))
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
