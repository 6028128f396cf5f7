//! Answers that depend on who asks: weight and place (N6).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Makes a Record a member of a set from which each answer picks. All Records of one name and type
/// form the set, so either all of them carry `routing` or none; each answer holds one member.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Routing {
    /// What tells this member from the others of the set. Any text. Records that share it are one
    /// member: they are answered together, and have one `weight` and one `geo`. Example: `eu-1`.
    #[schemars(length(min = 1, max = 128))]
    pub set_identifier: String,
    /// How often this member is chosen, in relation to the weights of the others: of two members
    /// with 30 and 10 the first gets three answers out of four. 0 is never chosen while another
    /// member has more. Left out: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 255))]
    pub weight: Option<u32>,
    /// From where this member is asked for: a country as ISO 3166 code such as `DE`, a continent as
    /// `GEO-EU` (`AF`, `AN`, `AS`, `EU`, `NA`, `OC`, `SA`), or `*` for everyone else. Of several
    /// members the one for the smallest place is chosen. Left out: `*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geo: Option<String>,
}
