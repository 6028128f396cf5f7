//! Who writes, how and when.

use jiff::Timestamp;

/// A write that is about to be recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change<'a> {
    /// The name under which the client goes, see [`manager_of`](super::manager_of).
    pub(crate) manager: &'a str,
    /// The version in which the object was written.
    pub(crate) api_version: &'a str,
    /// `status`, or nothing for the object itself.
    pub(crate) subresource: &'a str,
    pub(crate) now: Timestamp,
}
