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

/// A delegated record or policy is so from its creation on: nobody becomes one later.
pub(crate) const DELEGATE_IS_NOT_SET_LATER: Rule = (
    "has(oldSelf.delegate) || !has(self.delegate) || self.delegate == false",
    "delegate can't be set to true if unset",
);

/// And nobody ceases to be one.
pub(crate) const DELEGATE_IS_NOT_UNSET: Rule = (
    "!has(oldSelf.delegate) || oldSelf.delegate == false || has(self.delegate)",
    "delegate can't be unset if true",
);
