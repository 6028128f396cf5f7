//! Rules in CEL that the API server checks on every write.
//!
//! They go into a schema by `#[schemars(extend("x-kubernetes-validations" = cel::rules([…])))]`.

use serde_json::{Value, json};

/// A rule, and what it says to those who break it.
pub(crate) type Rule = (&'static str, &'static str);

/// The rules as a schema carries them.
pub(crate) fn rules<const N: usize>(rules: [Rule; N]) -> Value {
    rules
        .iter()
        .map(|(rule, message)| json!({ "rule": rule, "message": message }))
        .collect()
}
