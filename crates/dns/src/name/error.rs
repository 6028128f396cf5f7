//! Why a text is no name.

/// The rule a name broke. The offending text itself is the caller's to show.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// Nothing was written at all.
    #[error("a name must not be empty; write \"@\" for the zone itself")]
    Empty,
    /// `a..b`, a leading dot, or dots only.
    #[error("a name must not have an empty label (two dots in a row, or a dot at the start)")]
    EmptyLabel,
    /// A label over 63 octets.
    #[error("label {label:?} has {octets} octets, at most 63 are allowed (RFC 1035 §2.3.4)")]
    LabelTooLong {
        /// The label, shortened.
        label: String,
        /// How long it is.
        octets: usize,
    },
    /// A name over 255 octets in wire form.
    #[error("the name has {octets} octets on the wire, at most 255 are allowed (RFC 1035 §2.3.4)")]
    TooLong {
        /// How long it is.
        octets: usize,
    },
    /// An absolute name was needed.
    #[error("the name must be fully qualified: end it with a dot")]
    NotAbsolute,
    /// A character that has to be escaped, or is not allowed here.
    #[error("character {found:?} is not allowed in a name here; escaped it would be {escaped}")]
    Character {
        /// The character.
        found: char,
        /// How it would be written.
        escaped: String,
    },
    /// A backslash with nothing sensible behind it.
    #[error("a backslash must be followed by one ASCII character or by three digits up to 255")]
    Escape,
    /// A label that IDNA does not allow.
    #[error("label {label:?} is not a valid internationalised label (IDNA): {why}")]
    Idna {
        /// The label as written.
        label: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A hyphen at the edge of a label.
    #[error("label {label:?} must not start or end with a hyphen")]
    Hyphen {
        /// The label.
        label: String,
    },
    /// A `*` that is not the whole leftmost label.
    #[error("\"*\" must be the whole leftmost label, in front of a name")]
    Wildcard,
    /// Something other than letters, digits and hyphens in a host name.
    #[error("label {label:?} is not part of a host name: letters, digits and hyphens only")]
    NotHost {
        /// The label.
        label: String,
    },
    /// An address where a name belongs.
    #[error("an IP address, or what looks like one, is no host name")]
    Address,
    /// A relative name that ends in the zone's own name.
    #[error(
        "the relative name already ends in the zone's name and would become {doubled}; \
         end it with a dot if it is meant as it stands"
    )]
    RepeatsOrigin {
        /// What it would become.
        doubled: String,
    },
    /// Octets that are no name.
    #[error("not a name in wire form: {0}")]
    Wire(String),
}
