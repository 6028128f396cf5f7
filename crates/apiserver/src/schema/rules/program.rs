//! Programs: expressions that are parsed, checked and made ready once, and evaluated under a bound.
//!
//! The interpreter of the cel crate counts nothing and cannot be stopped. So every loop is given a toll that it pays
//! on each round: once the purse is empty the toll is an error, and the evaluation ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kube_cel::cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, ListExpr, LiteralValue, SelectExpr,
    operators,
};
use kube_cel::cel::objects::Opaque;
use kube_cel::cel::parser::Parser;
use kube_cel::cel::{Context, ExecutionError, Value};

use super::check;
use super::kinds::Kind;

/// What cel-go says if an operator or function does not take what it is given.
pub(super) const NO_OVERLOAD: &str = "no such overload";
/// The variable that holds the purse.
pub(super) const PURSE: &str = "@purse";
/// The function that pays for one round of a loop.
pub(super) const TOLL: &str = "@toll";
/// The function that `map` and `filter` become.
pub(super) const COLLECT: &str = "@collect";
/// The functions that optional selection and indexing become.
pub(super) const OPTIONAL_FIELD: &str = "@optional_field";
pub(super) const OPTIONAL_INDEX: &str = "@optional_index";

/// An expression that is ready to be evaluated.
#[derive(Clone, Debug)]
pub(super) struct Program {
    expression: Arc<IdedExpr>,
    weight: Weight,
    uses_old_self: bool,
}

/// What came of an evaluation.
pub(super) struct Outcome {
    /// The value, or what went wrong in the words of cel-go.
    pub(super) found: Result<Value, String>,
    /// Nothing if it was more than allowed.
    pub(super) cost: Option<u64>,
}

impl Program {
    /// Compiles a rule, which must be true or false.
    pub(super) fn compile_rule(
        source: &str,
        kind: &Kind<'_>,
        optional_old_self: bool,
    ) -> Result<Self, String> {
        let (program, result) = compile(source, kind, optional_old_self)
            .map_err(|issues| format!("compilation failed: {issues}"))?;
        if matches!(result, Kind::Bool | Kind::Dyn) {
            Ok(program)
        } else {
            Err("cel expression must evaluate to a bool".to_owned())
        }
    }

    /// Compiles an expression over variables of its own, which must be true or false.
    pub(super) fn compile_in(source: &str, scope: Vec<(String, Kind<'_>)>) -> Result<Self, String> {
        let (program, result) = compile_scope(source, scope)
            .map_err(|issues| format!("compilation failed: {issues}"))?;
        if matches!(result, Kind::Bool | Kind::Dyn) {
            Ok(program)
        } else {
            Err(format!("must evaluate to bool but got {}", result.name()))
        }
    }

    /// Compiles an expression that computes a message.
    pub(super) fn compile_message(
        source: &str,
        kind: &Kind<'_>,
        optional_old_self: bool,
    ) -> Result<Self, String> {
        let (program, result) = compile(source, kind, optional_old_self)
            .map_err(|issues| format!("messageExpression compilation failed: {issues}"))?;
        if matches!(result, Kind::Text | Kind::Dyn) {
            Ok(program)
        } else {
            Err("messageExpression must evaluate to a string".to_owned())
        }
    }

    /// Whether it looks at the past.
    pub(super) fn uses_old_self(&self) -> bool {
        self.uses_old_self
    }

    /// Evaluates with the variables of a scope, whose values are of a size, for no more than a limit.
    pub(super) fn run(&self, scope: &Context<'_>, size: u64, limit: u64) -> Outcome {
        let purse = Arc::new(Purse {
            left: AtomicU64::new(limit),
            size,
        });
        let paid = purse.pay(self.weight);
        let mut scope = scope.new_inner_scope();
        scope.add_variable_from_value(PURSE, Value::Opaque(purse.clone()));
        let found = match paid {
            Ok(()) => scope.resolve(&self.expression),
            Err(error) => Err(error),
        };
        Outcome {
            found: found.map_err(|error| in_words(&error)),
            cost: purse.spent(limit),
        }
    }
}

/// How much work a piece of an expression is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weight {
    /// Steps.
    pub(super) steps: u64,
    /// How often a part of `self` or `oldSelf` is taken, which copies it.
    pub(super) copies: u64,
}

/// What an evaluation may still cost.
#[derive(Debug)]
pub(super) struct Purse {
    left: AtomicU64,
    size: u64,
}

impl Purse {
    /// Takes out what a piece of work costs.
    pub(super) fn pay(&self, weight: Weight) -> Result<(), ExecutionError> {
        let cost = weight.steps + weight.copies.saturating_mul(self.size);
        let take = |left: u64| left.checked_sub(cost.max(1));
        let paid = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        if paid.is_ok() {
            return Ok(());
        }
        self.left.store(0, Ordering::Relaxed);
        Err(ExecutionError::function_error(
            TOLL,
            "actual cost limit exceeded",
        ))
    }

    /// What was spent; nothing if it was all.
    fn spent(&self, limit: u64) -> Option<u64> {
        match self.left.load(Ordering::Relaxed) {
            0 => None,
            left => Some(limit - left),
        }
    }
}

impl PartialEq for Purse {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Purse {}

impl Opaque for Purse {
    fn runtime_type_name(&self) -> &'static str {
        "purse"
    }
}

fn compile<'s>(
    source: &str,
    kind: &Kind<'s>,
    optional_old_self: bool,
) -> Result<(Program, Kind<'s>), String> {
    compile_scope(source, check::about_self(kind, optional_old_self))
}

fn compile_scope<'s>(
    source: &str,
    scope: Vec<(String, Kind<'s>)>,
) -> Result<(Program, Kind<'s>), String> {
    let expression = Parser::new()
        .enable_optional_syntax(true)
        .parse(source)
        .map_err(|errors| {
            let errors = errors.errors.iter();
            let issues = errors.map(|error| check::issue(source, error.pos, &error.msg));
            issues.collect::<Vec<_>>().join("\n")
        })?;
    let checked = check::check(source, &expression, scope)?;
    let weight = weigh(&expression);
    let program = Program {
        expression: Arc::new(prepare(expression)),
        weight,
        uses_old_self: checked.uses_old_self,
    };
    Ok((program, checked.kind))
}

/// The work of evaluating an expression once. The rounds of loops pay for themselves.
pub(super) fn weigh(expression: &IdedExpr) -> Weight {
    let mut weight = Weight {
        steps: 1,
        copies: u64::from(takes_from_self(expression)),
    };
    each_child(expression, &mut |child| {
        let child = weigh(child);
        weight.steps += child.steps;
        weight.copies += child.copies;
    });
    weight
}

fn takes_from_self(expression: &IdedExpr) -> bool {
    let operand = match &expression.expr {
        Expr::Select(select) if !select.test => Some(select.operand.as_ref()),
        Expr::Call(call) if call.func_name == operators::INDEX => call.args.first(),
        Expr::Select(_)
        | Expr::Call(_)
        | Expr::Unspecified
        | Expr::Comprehension(_)
        | Expr::Ident(_)
        | Expr::List(_)
        | Expr::Literal(_)
        | Expr::Map(_)
        | Expr::Struct(_) => None,
    };
    operand.is_some_and(|operand| is_self(operand) || takes_from_self(operand))
}

fn is_self(expression: &IdedExpr) -> bool {
    let whole = ["self", "oldSelf", "object", "oldObject", "request"];
    matches!(&expression.expr, Expr::Ident(name) if whole.contains(&name.as_str()))
}

fn each_child<'e>(expression: &'e IdedExpr, visit: &mut impl FnMut(&'e IdedExpr)) {
    match &expression.expr {
        Expr::Call(call) => {
            call.target.as_deref().into_iter().for_each(&mut *visit);
            call.args.iter().for_each(visit);
        }
        Expr::Comprehension(comprehension) => {
            visit(&comprehension.iter_range);
            visit(&comprehension.accu_init);
            visit(&comprehension.result);
        }
        Expr::List(list) => list.elements.iter().for_each(visit),
        Expr::Map(map) => {
            for entry in &map.entries {
                if let EntryExpr::MapEntry(entry) = &entry.expr {
                    visit(&entry.key);
                    visit(&entry.value);
                }
            }
        }
        Expr::Select(select) => visit(&select.operand),
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) | Expr::Struct(_) => {}
    }
}

/// Puts tolls into loops and replaces what the interpreter does in another way than cel-go.
fn prepare(expression: IdedExpr) -> IdedExpr {
    let IdedExpr { id, expr } = expression;
    let expr = match expr {
        Expr::Call(call) => Expr::Call(prepare_call(call)),
        Expr::Comprehension(comprehension) => prepare_loop(*comprehension),
        Expr::List(list) => Expr::List(ListExpr {
            elements: list.elements.into_iter().map(prepare).collect(),
            ..list
        }),
        Expr::Map(mut map) => {
            for entry in &mut map.entries {
                if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                    entry.key = prepare(std::mem::take(&mut entry.key));
                    entry.value = prepare(std::mem::take(&mut entry.value));
                }
            }
            Expr::Map(map)
        }
        Expr::Select(select) => Expr::Select(SelectExpr {
            operand: Box::new(prepare(*select.operand)),
            ..select
        }),
        other @ (Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) | Expr::Struct(_)) => other,
    };
    IdedExpr { id, expr }
}

fn prepare_call(call: CallExpr) -> CallExpr {
    let func_name = match call.func_name.as_str() {
        operators::OPT_SELECT => OPTIONAL_FIELD.to_owned(),
        operators::OPT_INDEX => OPTIONAL_INDEX.to_owned(),
        _ => call.func_name,
    };
    CallExpr {
        func_name,
        target: call.target.map(|target| Box::new(prepare(*target))),
        args: call.args.into_iter().map(prepare).collect(),
    }
}

/// A loop that builds a list becomes a call, because the interpreter would copy the list on every round.
fn prepare_loop(comprehension: ComprehensionExpr) -> Expr {
    if let Some((condition, value)) = collected(&comprehension) {
        let variable = unplaced(Expr::Ident(comprehension.iter_var));
        let args = vec![
            prepare(comprehension.iter_range),
            variable,
            prepare(condition),
            prepare(value),
        ];
        return Expr::Call(CallExpr {
            func_name: COLLECT.to_owned(),
            target: None,
            args,
        });
    }
    let weight = weigh(&comprehension.loop_step);
    let toll = call(
        TOLL,
        vec![
            unplaced(Expr::Ident(PURSE.to_owned())),
            whole(weight.steps),
            whole(weight.copies),
        ],
    );
    let stop = unplaced(Expr::Literal(LiteralValue::Boolean(false.into())));
    let condition = prepare(comprehension.loop_cond);
    Expr::Comprehension(Box::new(ComprehensionExpr {
        iter_range: prepare(comprehension.iter_range),
        accu_init: prepare(comprehension.accu_init),
        loop_cond: call(operators::CONDITIONAL, vec![toll, condition, stop]),
        loop_step: prepare(comprehension.loop_step),
        result: prepare(comprehension.result),
        iter_var: comprehension.iter_var,
        iter_var2: comprehension.iter_var2,
        accu_var: comprehension.accu_var,
    }))
}

/// Which entries a loop collects and what it makes of them, if that is what it does.
fn collected(comprehension: &ComprehensionExpr) -> Option<(IdedExpr, IdedExpr)> {
    if !matches!(comprehension.accu_init.expr, Expr::List(_)) {
        return None;
    }
    let Expr::Call(step) = &comprehension.loop_step.expr else {
        return None;
    };
    match (step.func_name.as_str(), step.args.as_slice()) {
        (operators::ADD, [_, added]) => {
            let always = unplaced(Expr::Literal(LiteralValue::Boolean(true.into())));
            Some((always, only_element(added)?))
        }
        (operators::CONDITIONAL, [condition, added, _]) => {
            let Expr::Call(add) = &added.expr else {
                return None;
            };
            Some((condition.clone(), only_element(add.args.get(1)?)?))
        }
        _ => None,
    }
}

fn only_element(list: &IdedExpr) -> Option<IdedExpr> {
    let Expr::List(list) = &list.expr else {
        return None;
    };
    list.elements.first().cloned()
}

fn call(function: &str, args: Vec<IdedExpr>) -> IdedExpr {
    unplaced(Expr::Call(CallExpr {
        func_name: function.to_owned(),
        target: None,
        args,
    }))
}

fn whole(number: u64) -> IdedExpr {
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    unplaced(Expr::Literal(LiteralValue::Int(number.into())))
}

fn unplaced(expr: Expr) -> IdedExpr {
    IdedExpr { id: 0, expr }
}

/// What went wrong, as cel-go says it.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the enum may grow, and every error can say what it is"
)]
fn in_words(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(key) => format!("no such key: {key}"),
        ExecutionError::IndexOutOfBounds(Value::Int(index)) => {
            format!("index out of bounds: {index}")
        }
        ExecutionError::DivisionByZero(_) => "division by zero".to_owned(),
        ExecutionError::RemainderByZero(_) => "modulus by zero".to_owned(),
        ExecutionError::Overflow(..) => "integer overflow".to_owned(),
        ExecutionError::FunctionError { message, .. } => message.clone(),
        ExecutionError::NoSuchOverload
        | ExecutionError::UnexpectedType { .. }
        | ExecutionError::UnsupportedTargetType { .. }
        | ExecutionError::NotSupportedAsMethod { .. }
        | ExecutionError::ValuesNotComparable(..)
        | ExecutionError::UnsupportedUnaryOperator(..)
        | ExecutionError::UnsupportedBinaryOperator(..)
        | ExecutionError::InvalidArgumentCount { .. } => NO_OVERLOAD.to_owned(),
        other => other.to_string(),
    }
}
