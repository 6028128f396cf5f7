//! What sources are to be told: we have no condition on them.

use api::Reason;
use api::problem::{FieldPath, Problem};
use dns::Name;

use super::names::bare;
use super::source::{Asked, SourceNode};
use super::{Claim, SourceKey, SourceKind};

/// Something that a source should know about itself.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Note {
    /// The source.
    pub source: SourceKey,
    /// Its uid.
    pub uid: String,
    /// Why, for programs.
    pub reason: Reason,
    /// Why, for people.
    pub message: String,
}

impl Note {
    fn new(source: &SourceKey, uid: &str, reason: Reason, message: String) -> Note {
        Note {
            source: source.clone(),
            uid: uid.to_owned(),
            reason,
            message,
        }
    }

    /// Another namespace has the host. Which one is nobody's business.
    pub(super) fn refused(claim: &Claim, host: &Name) -> Note {
        let message = format!(
            "{} is not published for this object: another namespace has it, or a wildcard above it, or has proven that the domain is its own, and keeps it for as long as it asks for it",
            bare(host)
        );
        Note::new(&claim.source, claim.age.uid(), Reason::FqdnClaimed, message)
    }

    /// An object of somebody else's has the name of the ServiceRecord.
    pub(super) fn taken(claim: &Claim, host: &Name) -> Note {
        let message = format!(
            "{} is not published: its ServiceRecord would have the name of an object that was made by someone else; remove that one, or hand it over with the annotation zonewright.dev/adopt: \"true\"",
            bare(host)
        );
        Note::new(&claim.source, claim.age.uid(), Reason::NameTaken, message)
    }
}

/// What is wrong with a source by itself.
pub(super) fn troubles(key: &SourceKey, node: &SourceNode) -> Vec<Note> {
    if !node.asks() {
        return Vec::new();
    }
    let note = |(reason, message)| Note::new(key, node.age.uid(), reason, message);
    let reading = &node.reading;
    let fault = node.fault.iter();
    let fault = fault.map(|fault| (Reason::Undecodable, fault.clone()));
    let hosts = reading.hosts.iter().filter_map(|it| unfit(key.kind, it));
    let odd = reading.odd.iter().map(|it| odd(it));
    let all = fault.chain(reading.complaints.iter().cloned());
    all.chain(hosts).chain(odd).map(note).collect()
}

fn unfit(kind: SourceKind, asked: &Asked) -> Option<(Reason, String)> {
    let at = FieldPath::root("host");
    match &asked.host {
        Err(error) => {
            let reason = if error.is_too_long() {
                Reason::FqdnTooLong
            } else {
                Reason::Invalid
            };
            Some((reason, Problem::new(&at, error, &asked.text).to_string()))
        }
        Ok(host) if kind == SourceKind::Ingress && host.is_wildcard() => {
            let message = format!(
                "{} is published, and DNS answers for any number of labels below it; this Ingress serves exactly one",
                bare(host)
            );
            Some((Reason::WildcardScopeMismatch, message))
        }
        Ok(_) => None,
    }
}

fn odd(address: &str) -> (Reason, String) {
    let at = FieldPath::root("status");
    let problem = Problem::new(
        &at,
        "is neither an address nor a host, so it is left out",
        address,
    );
    (Reason::Invalid, problem.to_string())
}
