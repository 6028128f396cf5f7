//! Expressions about things that no schema describes, such as a request.
//!
//! They are compiled and evaluated as rules are; only their variables are others, and nothing is known of their values
//! before they are there.

use kube_cel::cel;
use serde_json::Value;

use super::kinds::Kind;
use super::program::{Outcome, Program};
use super::{functions, values};

/// A compiled expression that is true or false.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    program: Program,
}

/// What the variables of expressions stand for.
pub(crate) struct Variables {
    values: Vec<(&'static str, cel::Value)>,
    /// How much there is to copy whenever a part of them is looked at.
    size: u64,
}

/// What came of an expression.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Judgement {
    /// Whether it holds, or what went wrong in the words of cel-go.
    pub(crate) holds: Result<bool, String>,
    /// What is left of the budget; nothing if it was overspent.
    pub(crate) left: Option<u64>,
}

impl Expression {
    /// Compiles an expression over these variables. The error says what is wrong with it.
    pub(crate) fn compile(source: &str, variables: &[&str]) -> Result<Self, String> {
        let scope = variables
            .iter()
            .map(|name| ((*name).to_owned(), Kind::Dyn))
            .collect();
        let program = Program::compile_in(source, scope)?;
        Ok(Self { program })
    }

    /// Evaluates it for no more than `limit`, out of a budget.
    pub(crate) fn judge(&self, variables: &Variables, limit: u64, budget: u64) -> Judgement {
        let mut scope = functions::base().new_inner_scope();
        for (name, value) in &variables.values {
            scope.add_variable_from_value(*name, value.clone());
        }
        let Outcome { found, cost } = self.program.run(&scope, variables.size, limit.min(budget));
        let holds = match found {
            Ok(cel::Value::Bool(holds)) => Ok(holds),
            Ok(_) => Err("cel expression must evaluate to a bool".to_owned()),
            Err(fault) => Err(fault),
        };
        Judgement {
            holds,
            left: cost.map(|cost| budget - cost),
        }
    }
}

impl Variables {
    /// Nothing is null.
    pub(crate) fn new(given: [(&'static str, &Value); 3]) -> Self {
        let mut size = 0;
        let values = given
            .map(|(name, value)| (name, values::plain(value, &mut size)))
            .into();
        Self { values, size }
    }
}
