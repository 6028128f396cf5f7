//! `matchConditions`: expressions that decide whether a webhook is asked.
//!
//! They see `object`, `oldObject` and `request`. There is no `authorizer` here, because there is no authorization.

use serde_json::Value;

use super::hook::FailurePolicy;
use crate::schema::{Expression, Variables};

/// What expressions may name.
const VARIABLES: [&str; 3] = ["object", "oldObject", "request"];
/// What one condition may cost: kube-apiserver's bound, meant for a tenth of a second.
const MAX_COST: u64 = 1_000_000;
/// What all conditions of one webhook may cost: kube-apiserver's bound, meant for a quarter of a second.
const MAX_TOTAL_COST: u64 = 2_500_000;

/// A condition. One that does not compile was written by another release, and fails whenever it is asked.
#[derive(Debug)]
pub(crate) struct Condition {
    source: String,
    expression: Result<Expression, String>,
}

/// Whether a webhook is asked.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Matched {
    Yes,
    No,
    /// Nobody knows, and the webhook must not be left out.
    Unclear(String),
}

/// Compiles an expression. The error says what is wrong with it.
pub(crate) fn compile(source: &str) -> Result<Expression, String> {
    Expression::compile(source, &VARIABLES)
}

impl Condition {
    pub(crate) fn new(source: String) -> Self {
        let expression = compile(&source);
        Self { source, expression }
    }

    fn judge(
        &self,
        variables: &Variables,
        budget: u64,
    ) -> Result<(Result<bool, String>, u64), String> {
        let named =
            |fault: String| format!("expression '{}' resulted in error: {fault}", self.source);
        let expression = match &self.expression {
            Ok(expression) => expression,
            Err(fault) => return Ok((Err(fault.clone()), budget)),
        };
        let judged = expression.judge(variables, MAX_COST, budget);
        match judged.left {
            Some(left) => Ok((judged.holds.map_err(named), left)),
            None if budget > MAX_COST => {
                let fault = "operation cancelled: actual cost limit exceeded".to_owned();
                Ok((Err(named(fault)), budget - MAX_COST))
            }
            None => Err("validation failed due to running out of cost budget, no further validation rules will be run".to_owned()),
        }
    }
}

/// Whether all conditions hold. One that does not is enough to leave the webhook out, whatever the others come to; one
/// that cannot be judged counts as the webhook's failure.
pub(crate) fn all_hold(
    conditions: &[Condition],
    policy: FailurePolicy,
    object: &Value,
    old: &Value,
    request: &Value,
) -> Matched {
    let variables = Variables::new([("object", object), ("oldObject", old), ("request", request)]);
    let mut faults = Vec::new();
    let mut budget = MAX_TOTAL_COST;
    for condition in conditions {
        match condition.judge(&variables, budget) {
            Ok((Ok(false), _)) => return Matched::No,
            Ok((Ok(true), left)) => budget = left,
            Ok((Err(fault), left)) => {
                faults.push(fault);
                budget = left;
            }
            Err(fault) => {
                faults = vec![fault];
                break;
            }
        }
    }
    match (faults.as_slice(), policy) {
        ([], _) => Matched::Yes,
        (_, FailurePolicy::Ignore) => Matched::No,
        ([one], FailurePolicy::Fail) => Matched::Unclear(one.clone()),
        (several, FailurePolicy::Fail) => Matched::Unclear(format!("[{}]", several.join(", "))),
    }
}
