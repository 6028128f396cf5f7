//! Why a text or a row of octets is no record data.

use crate::Rtype;

/// The rule that record data broke. The offending text is the caller's to show.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RdataError {
    /// A type that exists in messages only.
    #[error("{0} is a meta type and cannot be zone data")]
    Meta(Rtype),
    /// A newline, a NUL or another control character.
    #[error("control character {0:?} is not allowed; inside quotes write it as \\DDD")]
    Control(char),
    /// A `;` that a zone file would take for a comment.
    #[error("an unquoted \";\" would start a comment: put the text in double quotes")]
    Comment,
    /// A quote that is not closed.
    #[error("a double quote is not closed")]
    Quote,
    /// A parenthesis without its partner.
    #[error("parentheses do not match")]
    Parenthesis,
    /// A backslash with nothing behind it.
    #[error("a backslash at the end escapes nothing")]
    Escape,
    /// Text whose words would be glued together.
    #[error(
        "text must be one word, or in double quotes with a quote inside it as \\\": \
         words beside one another are joined without a space"
    )]
    Unquoted,
    /// A letter beyond ASCII where neither a name nor a string stands.
    #[error("{0:?} is not ASCII, which only names and strings may hold")]
    NotAscii(char),
    /// The fields do not read as this type.
    #[error("{rtype} needs {form}: {why}")]
    Syntax {
        /// The type.
        rtype: Rtype,
        /// What its data looks like.
        form: &'static str,
        /// What the reader stumbled over.
        why: String,
    },
    /// A type known by name only, written in another form than RFC 3597's.
    #[error("{0} data is written in the generic form of RFC 3597, \\# <length> <hex>")]
    GenericOnly(Rtype),
    /// Octets that are not this type's data.
    #[error("not {rtype} data: {why}")]
    Wire {
        /// The type.
        rtype: Rtype,
        /// What is wrong.
        why: String,
    },
    /// More than a message can carry.
    #[error("record data has {octets} octets, at most 65535 are allowed")]
    TooLong {
        /// How many there are.
        octets: usize,
    },
    /// Well-formed, but nothing a person should publish.
    #[error("{0}")]
    Rule(String),
}
