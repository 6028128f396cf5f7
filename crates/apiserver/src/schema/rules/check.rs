//! Whether an expression can be evaluated: every field, variable and function that it names exists, and what it
//! compares and adds is of the same kind.
//!
//! The interpreter would only notice when it gets there. What is not known for certain is let through; what is known
//! to fail is refused in the words of cel-go's checker.

mod signatures;

use std::collections::BTreeMap;

use kube_cel::cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, SelectExpr, operators,
};

use self::signatures::{Form, Gives};
use super::functions;
use super::kinds::Kind;

/// Line and column, from 1.
type Position = (isize, isize);

const START: Position = (1, 1);

/// What is known about an expression that can be evaluated.
pub(super) struct Checked<'s> {
    pub(super) kind: Kind<'s>,
    pub(super) uses_old_self: bool,
}

/// The variables of a rule about a value of a kind.
pub(super) fn about_self<'s>(kind: &Kind<'s>, optional_old_self: bool) -> Vec<(String, Kind<'s>)> {
    let old = if optional_old_self {
        Kind::Optional(Box::new(kind.clone()))
    } else {
        kind.clone()
    };
    vec![
        ("self".to_owned(), kind.clone()),
        ("oldSelf".to_owned(), old),
    ]
}

/// Checks an expression over variables. The error is all issues, as cel-go prints them.
pub(super) fn check<'s>(
    source: &str,
    expression: &IdedExpr,
    scope: Vec<(String, Kind<'s>)>,
) -> Result<Checked<'s>, String> {
    let mut checker = Checker {
        source,
        scope,
        issues: Vec::new(),
        uses_old_self: false,
        met: BTreeMap::new(),
    };
    let kind = checker.kind(expression);
    let uses_old_self = checker.uses_old_self;
    if checker.issues.is_empty() {
        Ok(Checked {
            kind,
            uses_old_self,
        })
    } else {
        checker.issues.sort_by_key(|(position, _)| *position);
        let print = |(position, message): &(_, String)| issue(source, *position, message);
        Err(checker
            .issues
            .iter()
            .map(print)
            .collect::<Vec<_>>()
            .join("\n"))
    }
}

/// An issue at a line and column, with the line and a mark below it.
pub(super) fn issue(source: &str, (line, column): Position, message: &str) -> String {
    let row = usize::try_from(line - 1).unwrap_or_default();
    let text = source.lines().nth(row).unwrap_or_default();
    let dots = ".".repeat(usize::try_from(column - 1).unwrap_or_default());
    format!("ERROR: <input>:{line}:{column}: {message}\n | {text}\n | {dots}^")
}

struct Checker<'a, 's> {
    source: &'a str,
    /// Variables, the innermost last.
    scope: Vec<(String, Kind<'s>)>,
    issues: Vec<(Position, String)>,
    uses_old_self: bool,
    /// How often a word of the source was met: the parser does not tell where an expression is, so the first one
    /// that is met is taken for the first one that is written.
    met: BTreeMap<String, usize>,
}

impl<'s> Checker<'_, 's> {
    fn kind(&mut self, expression: &IdedExpr) -> Kind<'s> {
        match &expression.expr {
            Expr::Literal(literal) => literal_kind(literal),
            Expr::Ident(name) => self.variable(name),
            Expr::Select(select) => self.select(select),
            Expr::Call(call) => self.call(call),
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
            Expr::List(list) => {
                let kinds: Vec<_> = list.elements.iter().map(|each| self.kind(each)).collect();
                Kind::List(Box::new(joined(kinds)))
            }
            Expr::Map(map) => {
                let mut kinds = Vec::new();
                for entry in &map.entries {
                    if let EntryExpr::MapEntry(entry) = &entry.expr {
                        self.kind(&entry.key);
                        kinds.push(self.kind(&entry.value));
                    }
                }
                Kind::Map(Box::new(joined(kinds)))
            }
            Expr::Struct(made) => {
                let at = self.meet(&made.type_name, 0);
                self.undeclared(&made.type_name, at)
            }
            Expr::Unspecified => self.undeclared("", START),
        }
    }

    fn variable(&mut self, name: &str) -> Kind<'s> {
        let at = self.meet(name, 0);
        let known = self.scope.iter().enumerate().rev();
        let known = known.into_iter().find(|(_, (known, _))| known == name);
        if let Some((index, (_, kind))) = known {
            // The second variable of all is `oldSelf`; one of that name in a loop is another.
            self.uses_old_self |= index == 1;
            return kind.clone();
        }
        match name {
            "bool" | "bytes" | "double" | "int" | "list" | "map" | "null_type" | "string"
            | "uint" => Kind::Type,
            _ => self.undeclared(name, at),
        }
    }

    fn select(&mut self, select: &SelectExpr) -> Kind<'s> {
        let operand = self.kind(&select.operand);
        let field = self.field(&operand, &select.field);
        if select.test { Kind::Bool } else { field }
    }

    fn field(&mut self, of: &Kind<'s>, name: &str) -> Kind<'s> {
        let at = self.meet(&format!(".{name}"), 0);
        if let Some(kind) = of.field(name) {
            return kind;
        }
        let has_fields = matches!(
            of,
            Kind::Object(_) | Kind::Resource(_) | Kind::Metadata | Kind::Optional(_)
        );
        let message = if has_fields {
            format!("undefined field '{name}'")
        } else {
            format!("type '{}' does not support field selection", of.name())
        };
        self.issues.push((at, message));
        Kind::Dyn
    }

    fn call(&mut self, call: &CallExpr) -> Kind<'s> {
        match call.func_name.as_str() {
            operators::CONDITIONAL => self.conditional(call),
            operators::LOGICAL_AND | operators::LOGICAL_OR => {
                for argument in &call.args {
                    self.must_be_bool(argument);
                }
                Kind::Bool
            }
            operators::LOGICAL_NOT => {
                self.operator(call, |kinds| kinds.iter().all(is_bool), |_| Kind::Bool)
            }
            operators::NOT_STRICTLY_FALSE | operators::IN => {
                self.operator(call, |_| true, |_| Kind::Bool)
            }
            operators::EQUALS | operators::NOT_EQUALS => {
                self.operator(call, are_equatable, |_| Kind::Bool)
            }
            operators::LESS
            | operators::LESS_EQUALS
            | operators::GREATER
            | operators::GREATER_EQUALS => self.operator(call, are_ordered, |_| Kind::Bool),
            operators::ADD
            | operators::SUBSTRACT
            | operators::MULTIPLY
            | operators::DIVIDE
            | operators::MODULO
            | operators::NEGATE => self.operator(call, are_summable, sum_kind),
            operators::INDEX => self.operator(call, is_indexable, entry_kind),
            operators::OPT_INDEX => self.operator(
                call,
                |_| true,
                |kinds| Kind::Optional(Box::new(entry_kind(kinds))),
            ),
            operators::OPT_SELECT => self.optional_select(call),
            _ => self.function(call),
        }
    }

    fn operator(
        &mut self,
        call: &CallExpr,
        takes: impl Fn(&[Kind<'s>]) -> bool,
        gives: impl Fn(&[Kind<'s>]) -> Kind<'s>,
    ) -> Kind<'s> {
        let kinds: Vec<Kind<'s>> = call.args.iter().map(|arg| self.kind(arg)).collect();
        if !takes(&kinds) {
            let names: Vec<String> = kinds.iter().map(Kind::name).collect();
            let (function, names) = (&call.func_name, names.join(", "));
            let sign = function.trim_matches('_');
            let message =
                format!("found no matching overload for '{function}' applied to '({names})'");
            let at = self.meet(sign, 0);
            self.issues.push((at, message));
        }
        gives(&kinds)
    }

    fn must_be_bool(&mut self, expression: &IdedExpr) {
        let kind = self.kind(expression);
        if !is_bool(&kind) {
            let message = format!("expected type 'bool' but found '{}'", kind.name());
            self.issues.push((self.place_of(expression), message));
        }
    }

    fn conditional(&mut self, call: &CallExpr) -> Kind<'s> {
        let kinds: Vec<Kind<'s>> = call.args.iter().map(|arg| self.kind(arg)).collect();
        match kinds.as_slice() {
            [_, one, other] => one.clone().join(other),
            _ => Kind::Dyn,
        }
    }

    fn optional_select(&mut self, call: &CallExpr) -> Kind<'s> {
        let [operand, field] = call.args.as_slice() else {
            return Kind::Dyn;
        };
        let operand = self.kind(operand);
        let Expr::Literal(LiteralValue::String(name)) = &field.expr else {
            return Kind::Dyn;
        };
        let found = self.field(&operand, name.inner());
        if matches!(found, Kind::Optional(_)) {
            found
        } else {
            Kind::Optional(Box::new(found))
        }
    }

    fn comprehension(&mut self, comprehension: &ComprehensionExpr) -> Kind<'s> {
        let range = self.kind(&comprehension.iter_range);
        let (_, entry) = self.loop_kinds(&range, &comprehension.iter_range);
        let accumulated = self.kind(&comprehension.accu_init);
        let outside = self.scope.len();
        let is_map = matches!(range, Kind::Map(_));
        let entry = if is_map { Kind::Text } else { entry };
        self.scope
            .push((comprehension.accu_var.clone(), accumulated));
        self.scope.push((comprehension.iter_var.clone(), entry));
        self.kind(&comprehension.loop_cond);
        self.scope[outside].1 = self.kind(&comprehension.loop_step);
        self.scope.truncate(outside + 1);
        let result = self.kind(&comprehension.result);
        self.scope.truncate(outside);
        result
    }

    /// The kinds of place and entry, or key and value, that a loop goes through.
    fn loop_kinds(&mut self, range: &Kind<'s>, expression: &IdedExpr) -> (Kind<'s>, Kind<'s>) {
        if let Kind::List(entries) = range {
            return (Kind::Int, entries.as_ref().clone());
        }
        if let Kind::Map(values) = range {
            return (Kind::Text, values.as_ref().clone());
        }
        if !matches!(range, Kind::Dyn) {
            let message = format!(
                "expression of type '{}' cannot be range of a comprehension (must be list, map, or dynamic)",
                range.name()
            );
            self.issues.push((self.place_of(expression), message));
        }
        (Kind::Dyn, Kind::Dyn)
    }

    fn function(&mut self, call: &CallExpr) -> Kind<'s> {
        let namespaced = match call.target.as_deref() {
            Some(IdedExpr {
                expr: Expr::Ident(prefix),
                ..
            }) if !self.scope.iter().any(|(name, _)| name == prefix) => {
                Some(format!("{prefix}.{}", call.func_name))
            }
            _ => None,
        };
        if let Some(kind) = self.native_loop(call) {
            return kind;
        }
        let known = namespaced.filter(|name| signatures::find(name).is_some());
        let (name, form, target) = if let Some(name) = known {
            (name, Form::Global, None)
        } else {
            let target = call.target.as_deref().map(|target| self.kind(target));
            let is_method = target.is_some();
            let form = if is_method {
                Form::Method
            } else {
                Form::Global
            };
            (call.func_name.clone(), form, target)
        };
        let opening = format!("{}(", call.func_name);
        let at = self.meet(&opening, opening.len() - 1);
        let arguments: Vec<Kind<'s>> = call.args.iter().map(|arg| self.kind(arg)).collect();
        let Some(signature) = signatures::find(&name) else {
            return self.undeclared(&name, at);
        };
        let of_text = signature.of_text && form == Form::Method;
        let takes_target = match &target {
            Some(target) => !of_text || matches!(target, Kind::Text | Kind::Dyn),
            None => true,
        };
        if !signature.takes(form, arguments.len()) || !takes_target {
            self.no_overload(&name, target.as_ref(), &arguments, at);
        }
        self.check_pattern(call, at);
        gives(signature.gives, target, &arguments)
    }

    fn no_overload(
        &mut self,
        name: &str,
        target: Option<&Kind<'s>>,
        arguments: &[Kind<'s>],
        at: Position,
    ) {
        let arguments: Vec<String> = arguments.iter().map(Kind::name).collect();
        let applied = match target {
            Some(target) => format!("{}.({})", target.name(), arguments.join(", ")),
            None => format!("({})", arguments.join(", ")),
        };
        let message = format!("found no matching overload for '{name}' applied to '{applied}'");
        self.issues.push((at, message));
    }

    /// Patterns that are written out must be patterns.
    fn check_pattern(&mut self, call: &CallExpr, (line, column): Position) {
        if let ("matches", Some(pattern)) = (call.func_name.as_str(), call.args.last())
            && let Expr::Literal(LiteralValue::String(pattern)) = &pattern.expr
            && functions::pattern(pattern.inner()).is_none()
        {
            let behind = (line, column + 1);
            self.issues
                .push((behind, "invalid matches argument".to_owned()));
        }
    }

    /// Loops over two variables and their like, which the parser takes for calls of functions.
    fn native_loop(&mut self, call: &CallExpr) -> Option<Kind<'s>> {
        let target = call.target.as_deref()?;
        match (call.func_name.as_str(), call.args.as_slice()) {
            ("all" | "exists" | "exists_one" | "existsOne", [one, two, predicate]) => {
                self.over_pairs(target, one, two, &[predicate]);
                Some(Kind::Bool)
            }
            ("transformList", [one, two, bodies @ ..]) if matches!(bodies.len(), 1 | 2) => {
                let bodies: Vec<_> = bodies.iter().collect();
                let made = self.over_pairs(target, one, two, &bodies);
                Some(Kind::List(Box::new(made)))
            }
            ("transformMap", [one, two, bodies @ ..]) if matches!(bodies.len(), 1 | 2) => {
                let bodies: Vec<_> = bodies.iter().collect();
                let made = self.over_pairs(target, one, two, &bodies);
                Some(Kind::Map(Box::new(made)))
            }
            ("sortBy", [variable, key]) => {
                let range = self.kind(target);
                let (_, entry) = self.loop_kinds(&range, target);
                self.inside(&[(variable, entry)], &[key]);
                Some(range)
            }
            (name @ ("optMap" | "optFlatMap"), [variable, expression]) => {
                let value = value_kind(Some(self.kind(target)));
                let made = self.inside(&[(variable, value)], &[expression]);
                let is_flat = name == "optFlatMap";
                Some(if is_flat {
                    made
                } else {
                    Kind::Optional(Box::new(made))
                })
            }
            _ => None,
        }
    }

    fn over_pairs(
        &mut self,
        range: &IdedExpr,
        one: &IdedExpr,
        two: &IdedExpr,
        bodies: &[&IdedExpr],
    ) -> Kind<'s> {
        let kind = self.kind(range);
        let (key, value) = self.loop_kinds(&kind, range);
        self.inside(&[(one, key), (two, value)], bodies)
    }

    /// The kind of the last of several expressions that see more variables.
    fn inside(&mut self, variables: &[(&IdedExpr, Kind<'s>)], bodies: &[&IdedExpr]) -> Kind<'s> {
        let outside = self.scope.len();
        for (variable, kind) in variables {
            if let Expr::Ident(name) = &variable.expr {
                self.scope.push((name.clone(), kind.clone()));
            } else {
                let message = "argument must be a simple name".to_owned();
                self.issues.push((START, message));
            }
        }
        let kinds: Vec<_> = bodies.iter().map(|body| self.kind(body)).collect();
        self.scope.truncate(outside);
        kinds.into_iter().last().unwrap_or(Kind::Dyn)
    }

    fn undeclared(&mut self, name: &str, at: Position) -> Kind<'s> {
        let message = format!("undeclared reference to '{name}' (in container '')");
        self.issues.push((at, message));
        Kind::Dyn
    }

    /// Notes that a word was met, and returns where it is, or so many bytes behind.
    fn meet(&mut self, word: &str, behind: usize) -> Position {
        let times = self.met.entry(word.to_owned()).or_default();
        *times += 1;
        let nth = *times - 1;
        self.occurrence(word, nth, behind)
    }

    /// Where an expression is whose words were met just now.
    fn place_of(&self, expression: &IdedExpr) -> Position {
        let word = match &expression.expr {
            Expr::Ident(name) => name.clone(),
            Expr::Select(select) => format!(".{}", select.field),
            Expr::Call(call) => format!("{}(", call.func_name),
            Expr::Unspecified
            | Expr::Comprehension(_)
            | Expr::List(_)
            | Expr::Literal(_)
            | Expr::Map(_)
            | Expr::Struct(_) => return START,
        };
        let behind = if word.ends_with('(') {
            word.len() - 1
        } else {
            0
        };
        let nth = self.met.get(&word).map_or(0, |times| times - 1);
        self.occurrence(&word, nth, behind)
    }

    fn occurrence(&self, word: &str, nth: usize, behind: usize) -> Position {
        let is_letter = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
        let mut whole = self.source.match_indices(word).filter(|(start, _)| {
            let before = self.source[..*start].chars().next_back();
            let after = self.source[start + word.len()..].chars().next();
            let starts = !word.starts_with(is_letter) || !before.is_some_and(is_letter);
            let ends = !word.ends_with(is_letter) || !after.is_some_and(is_letter);
            starts && ends
        });
        let at = whole.nth(nth).map_or(0, |(start, _)| start + behind);
        let before = &self.source[..at];
        let line = before.matches('\n').count() + 1;
        let last = before.chars().rev().take_while(|letter| *letter != '\n');
        let number = |count| isize::try_from(count).unwrap_or(isize::MAX);
        (number(line), number(last.count() + 1))
    }
}

fn literal_kind<'s>(literal: &LiteralValue) -> Kind<'s> {
    match literal {
        LiteralValue::Boolean(_) => Kind::Bool,
        LiteralValue::Bytes(_) => Kind::Bytes,
        LiteralValue::Double(_) => Kind::Double,
        LiteralValue::Int(_) => Kind::Int,
        LiteralValue::Null => Kind::Null,
        LiteralValue::String(_) => Kind::Text,
        LiteralValue::UInt(_) => Kind::Uint,
    }
}

fn joined(kinds: Vec<Kind<'_>>) -> Kind<'_> {
    kinds
        .into_iter()
        .reduce(|one, other| one.join(&other))
        .unwrap_or(Kind::Dyn)
}

fn is_bool(kind: &Kind<'_>) -> bool {
    matches!(kind, Kind::Bool | Kind::Dyn)
}

fn are_equatable(kinds: &[Kind<'_>]) -> bool {
    match kinds {
        [one, other] if one.is_scalar() && other.is_scalar() => one.name() == other.name(),
        _ => true,
    }
}

fn are_ordered(kinds: &[Kind<'_>]) -> bool {
    match kinds {
        [one, other] if one.is_number() && other.is_number() => true,
        kinds => are_equatable(kinds),
    }
}

fn are_summable(kinds: &[Kind<'_>]) -> bool {
    let is_time = |kind: &Kind<'_>| matches!(kind, Kind::Timestamp | Kind::Duration);
    match kinds {
        [one, other] if is_time(one) && is_time(other) => true,
        [Kind::Bool, _] | [_, Kind::Bool] => false,
        kinds => are_equatable(kinds),
    }
}

fn sum_kind<'s>(kinds: &[Kind<'s>]) -> Kind<'s> {
    match kinds {
        [Kind::Timestamp, Kind::Timestamp] => Kind::Duration,
        [Kind::Timestamp, _] | [_, Kind::Timestamp] => Kind::Timestamp,
        [Kind::List(one), Kind::List(other)] => match (one.as_ref(), other.as_ref()) {
            (Kind::Dyn, known) | (known, Kind::Dyn) => Kind::List(Box::new(known.clone())),
            (one, other) => Kind::List(Box::new(one.clone().join(other))),
        },
        [one, other] => one.clone().join(other),
        [one] => one.clone(),
        _ => Kind::Dyn,
    }
}

fn is_indexable(kinds: &[Kind<'_>]) -> bool {
    match kinds {
        [Kind::List(_), place] => {
            matches!(place, Kind::Int | Kind::Uint | Kind::Double | Kind::Dyn)
        }
        [Kind::Map(_), key] => matches!(key, Kind::Text | Kind::Dyn),
        [of, _] => matches!(of, Kind::Dyn | Kind::Optional(_)),
        _ => false,
    }
}

fn entry_kind<'s>(kinds: &[Kind<'s>]) -> Kind<'s> {
    match kinds {
        [Kind::List(of) | Kind::Map(of), ..] => of.as_ref().clone(),
        _ => Kind::Dyn,
    }
}

/// What is inside of an optional.
fn value_kind(optional: Option<Kind<'_>>) -> Kind<'_> {
    match optional {
        Some(Kind::Optional(value)) => *value,
        Some(_) | None => Kind::Dyn,
    }
}

fn gives<'s>(gives: Gives, target: Option<Kind<'s>>, arguments: &[Kind<'s>]) -> Kind<'s> {
    match gives {
        Gives::Bool => Kind::Bool,
        Gives::Int => Kind::Int,
        Gives::Uint => Kind::Uint,
        Gives::Double => Kind::Double,
        Gives::Text => Kind::Text,
        Gives::Bytes => Kind::Bytes,
        Gives::Texts => Kind::List(Box::new(Kind::Text)),
        Gives::Ints => Kind::List(Box::new(Kind::Int)),
        Gives::Timestamp => Kind::Timestamp,
        Gives::Duration => Kind::Duration,
        Gives::Type => Kind::Type,
        Gives::Dyn => Kind::Dyn,
        Gives::Target => target.unwrap_or(Kind::Dyn),
        Gives::Entry => match target {
            Some(Kind::List(of)) => *of,
            _ => Kind::Dyn,
        },
        Gives::Value => value_kind(target),
        Gives::ValueOr => match arguments {
            [other] => value_kind(target).join(other),
            _ => Kind::Dyn,
        },
        Gives::Optional => {
            Kind::Optional(Box::new(arguments.first().cloned().unwrap_or(Kind::Dyn)))
        }
    }
}
