//! Why a name server did not do as asked, and which error that is.

use std::io;
use std::time::Duration;

use domain::base::iana::Rcode;
use domain::tsig::ValidationError;
use egress::EgressError;
use provider::Error;

use super::transfer::TransferError;

/// What came instead of a good answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    /// The server must not be connected to.
    #[error(transparent)]
    Egress(#[from] EgressError),
    /// Nobody took the connection.
    #[error("cannot connect to the name server")]
    Connect(#[source] io::Error),
    /// It ended before the answer did.
    #[error("the connection to the name server broke: {0}")]
    Cut(io::ErrorKind),
    /// It lasted longer than anybody waits.
    #[error("the name server did not finish its answer within {} seconds", .0.as_secs())]
    Slow(Duration),
    /// Octets that are no answer to what was asked.
    #[error("what the name server sent is no answer")]
    Garbage,
    /// More octets than any zone that we read.
    #[error("the name server sent more than {0} octets")]
    Endless(usize),
    /// The answer is not by whoever has the key, or the server thinks so of us.
    #[error("{}", explain(*.why, *.rcode))]
    Signature {
        /// What the library says.
        why: ValidationError,
        /// What the answer says.
        rcode: Rcode,
    },
    /// The answer is genuine, and says no.
    #[error("the name server answers {0}{hint}", hint = hint(*.0))]
    Rcode(Rcode),
    /// What was transferred is no zone.
    #[error(transparent)]
    Transfer(#[from] TransferError),
}

impl Fault {
    /// What a signature that does not hold comes to. A plain no is believed without one: servers that do not understand
    /// a message, or do not have the zone, do not sign that (RFC 8945 §5.2, and Knot). Whoever could forge it could as
    /// well forge BADKEY, which nobody can sign; and it never says that something was done.
    pub(super) fn of_signature(why: ValidationError, rcode: Rcode) -> Result<(), Fault> {
        match (why, rcode) {
            (
                ValidationError::ServerUnsigned,
                Rcode::FORMERR | Rcode::SERVFAIL | Rcode::NOTIMP | Rcode::REFUSED | Rcode::NOTAUTH,
            ) => Ok(()),
            (why, rcode) => Err(Fault::Signature { why, rcode }),
        }
    }
}

/// The kind is the same wherever a connection broke, the words are not.
impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        Fault::Cut(error.kind())
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Error {
        match &fault {
            Fault::Egress(EgressError::Address(_) | EgressError::Host(_))
            | Fault::Rcode(Rcode::REFUSED) => denied(fault),
            Fault::Signature { why, .. } => match why {
                ValidationError::ServerBadKey
                | ValidationError::ServerBadSig
                | ValidationError::ServerBadTime { .. } => denied(fault),
                ValidationError::ServerUnsigned
                | ValidationError::BadAlg
                | ValidationError::BadOther
                | ValidationError::BadSig
                | ValidationError::BadTrunc
                | ValidationError::BadKey
                | ValidationError::BadTime
                | ValidationError::FormErr
                | ValidationError::TooManyUnsigned => unclear(fault),
            },
            Fault::Rcode(Rcode::NOTAUTH | Rcode::NOTZONE) => Error::Missing,
            Fault::Rcode(Rcode::FORMERR | Rcode::NOTIMP) => refused(&fault),
            Fault::Rcode(_)
            | Fault::Egress(EgressError::NoAddress(_))
            | Fault::Connect(_)
            | Fault::Cut(_)
            | Fault::Slow(_)
            | Fault::Garbage
            | Fault::Endless(_)
            | Fault::Transfer(_) => unclear(fault),
        }
    }
}

fn denied(fault: Fault) -> Error {
    Error::Denied(Box::new(fault))
}

fn unclear(fault: Fault) -> Error {
    Error::Unclear(Box::new(fault))
}

fn refused(fault: &Fault) -> Error {
    let reason = fault.to_string();
    Error::Refused { reason }
}

/// What a person can do about an answer.
fn hint(rcode: Rcode) -> &'static str {
    match rcode {
        Rcode::REFUSED => ": its rules do not let this key transfer or update the zone",
        Rcode::NOTIMP => ": it takes no updates",
        _ => "",
    }
}

/// What a signature that does not hold means for a person. What the library says of times differs from one attempt to
/// the next, and is left out.
fn explain(why: ValidationError, rcode: Rcode) -> String {
    match why {
        ValidationError::ServerBadKey => {
            // Knot says so of good keys, too, which its rules do not let at the zone.
            "the name server takes no such key for this zone (BADKEY): compare TSIG_NAME and TSIG_ALGORITHM with its \
             configuration, and its rules for the zone"
                .to_owned()
        }
        ValidationError::ServerBadSig => {
            "the name server has another secret for this key (BADSIG): compare TSIG_SECRET with its configuration"
                .to_owned()
        }
        ValidationError::ServerBadTime { .. } => {
            "the clocks of the name server and of this machine differ by more than five minutes (BADTIME): set them"
                .to_owned()
        }
        ValidationError::ServerUnsigned => {
            format!("the name server answers {rcode}, and does not sign it")
        }
        ValidationError::BadAlg
        | ValidationError::BadOther
        | ValidationError::BadSig
        | ValidationError::BadTrunc
        | ValidationError::BadKey
        | ValidationError::BadTime
        | ValidationError::FormErr
        | ValidationError::TooManyUnsigned => {
            format!("the signature of the answer does not hold: {why}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::rdata::tsig::Time48;

    /// The story of an error behind its kind.
    fn story(fault: Fault) -> String {
        Error::from(fault).story()
    }

    #[test]
    fn an_answer_is_sorted_by_what_can_be_done_next() {
        // D22.
        let rows = [
            (Rcode::NOTAUTH, "there is no such zone"),
            (Rcode::NOTZONE, "there is no such zone"),
            (
                Rcode::REFUSED,
                "access is denied: the name server answers REFUSED: its rules",
            ),
            (
                Rcode::FORMERR,
                "the provider refused: the name server answers FORMERR",
            ),
            (
                Rcode::NOTIMP,
                "the provider refused: the name server answers NOTIMP: it takes no",
            ),
            (
                Rcode::SERVFAIL,
                "there was no clear answer: the name server answers SERVFAIL",
            ),
            (
                Rcode::masked_from_int(15),
                "there was no clear answer: the name server answers 15",
            ),
        ];
        for (rcode, expected) in rows {
            let story = story(Fault::Rcode(rcode));
            assert!(story.starts_with(expected), "{rcode}: {story}");
        }
    }

    #[test]
    fn a_signature_that_does_not_hold_is_sorted_by_who_is_at_fault() {
        let times = ValidationError::ServerBadTime {
            client: Time48::from_u64(1),
            server: Time48::from_u64(2),
        };
        let rows = [
            (
                ValidationError::ServerBadKey,
                Rcode::NOTAUTH,
                "access is denied",
            ),
            (
                ValidationError::ServerBadSig,
                Rcode::NOTAUTH,
                "access is denied",
            ),
            (times, Rcode::NOTAUTH, "access is denied"),
            (
                ValidationError::ServerUnsigned,
                Rcode::NOERROR,
                "there was no clear answer",
            ),
            (
                ValidationError::BadSig,
                Rcode::NOERROR,
                "there was no clear answer",
            ),
            (
                ValidationError::BadTime,
                Rcode::NOERROR,
                "there was no clear answer",
            ),
        ];
        for (why, rcode, expected) in rows {
            let story = story(Fault::of_signature(why, rcode).unwrap_err());
            assert!(story.starts_with(expected), "{why:?}: {story}");
        }
    }

    #[test]
    fn an_address_that_is_not_allowed_is_denied_in_the_words_of_the_rule() {
        let address = EgressError::Address([10, 0, 0, 1].into());
        assert_eq!(
            story(Fault::Egress(address)),
            "access is denied: 10.0.0.1 is not a public address; the operator can allow it with --allow-address"
        );
        let nobody = EgressError::NoAddress("ns.example".to_owned());
        assert_eq!(
            story(Fault::Egress(nobody)),
            "there was no clear answer: ns.example has no address"
        );
    }
}
