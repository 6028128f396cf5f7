//! Functions of expressions: those of kube-cel, and what it lacks or does in another way than cel-go.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use kube_cel::KubeCelExt;
use kube_cel::cel::common::ast::{Expr, IdedExpr};
use kube_cel::cel::extractors::{Arguments, This};
use kube_cel::cel::objects::{Key, Map, Opaque, OptionalValue};
use kube_cel::cel::{Context, ExecutionError, FunctionContext, ResolveResult, Value};

use super::program::{COLLECT, OPTIONAL_FIELD, OPTIONAL_INDEX, PURSE, Purse, TOLL, Weight, weigh};
use crate::schema::pattern::Pattern;

/// How many patterns are remembered: more than all kinds of a server with many definitions have.
const MAX_PATTERNS: usize = 512;
/// Kinds that expressions can name.
const KINDS: [&str; 9] = [
    "bool",
    "bytes",
    "double",
    "int",
    "list",
    "map",
    "null_type",
    "string",
    "uint",
];

/// All functions, without variables of an object.
pub(super) fn base() -> &'static Context<'static> {
    static BASE: LazyLock<Context<'static>> = LazyLock::new(|| {
        let mut context = Context::default().with_all();
        context.add_function("size", size);
        context.add_function("matches", matches);
        context.add_function("split", split);
        context.add_function("type", kind_of);
        context.add_function("dyn", |value: Value| -> ResolveResult { Ok(value) });
        context.add_function(TOLL, toll);
        context.add_function(COLLECT, collect);
        context.add_function(OPTIONAL_FIELD, optional_part);
        context.add_function(OPTIONAL_INDEX, optional_part);
        context.add_function("all", all);
        context.add_function("exists", exists);
        context.add_function("exists_one", exists_one);
        context.add_function("existsOne", exists_one);
        context.add_function("transformList", transform_list);
        context.add_function("transformMap", transform_map);
        context.add_function("sortBy", sort_by);
        context.add_function("optMap", optional_map);
        context.add_function("optFlatMap", optional_flat_map);
        for kind in KINDS {
            context.add_variable_from_value(kind, kind_value(kind));
        }
        context
    });
    &BASE
}

/// A value that may be missing.
pub(super) fn optional(value: Option<Value>) -> Value {
    let optional = value.map_or_else(OptionalValue::none, OptionalValue::of);
    Value::Opaque(Arc::new(optional))
}

/// A pattern, compiled once for all its uses. Nothing if it is none.
pub(super) fn pattern(source: &str) -> Option<Pattern> {
    static PATTERNS: Mutex<BTreeMap<String, Pattern>> = Mutex::new(BTreeMap::new());
    let mut patterns = PATTERNS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pattern) = patterns.get(source) {
        return Some(pattern.clone());
    }
    let pattern = Pattern::parse(source).ok()?;
    if patterns.len() >= MAX_PATTERNS {
        patterns.clear();
    }
    patterns.insert(source.to_owned(), pattern.clone());
    Some(pattern)
}

/// A kind as a value.
#[derive(Debug, Eq, PartialEq)]
struct KindName(&'static str);

impl Opaque for KindName {
    fn runtime_type_name(&self) -> &'static str {
        "type"
    }
}

fn kind_value(name: &'static str) -> Value {
    Value::Opaque(Arc::new(KindName(name)))
}

#[expect(
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    reason = "the form of a registered function"
)]
fn kind_of(value: Value) -> ResolveResult {
    let name = match value {
        Value::List(_) => "list",
        Value::Map(_) => "map",
        Value::Int(_) => "int",
        Value::UInt(_) => "uint",
        Value::Float(_) => "double",
        Value::String(_) => "string",
        Value::Bytes(_) => "bytes",
        Value::Bool(_) => "bool",
        Value::Null => "null_type",
        Value::Duration(_) => "duration",
        Value::Timestamp(_) => "timestamp",
        Value::Function(..) | Value::Opaque(_) => "opaque",
    };
    Ok(kind_value(name))
}

/// Texts are measured in characters.
fn size(This(this): This<Value>) -> ResolveResult {
    let size = match &this {
        Value::List(list) => list.len(),
        Value::Map(map) => map.map.len(),
        Value::String(text) => text.chars().count(),
        Value::Bytes(bytes) => bytes.len(),
        Value::Function(..)
        | Value::Int(_)
        | Value::UInt(_)
        | Value::Float(_)
        | Value::Bool(_)
        | Value::Duration(_)
        | Value::Timestamp(_)
        | Value::Opaque(_)
        | Value::Null => return Err(ExecutionError::NoSuchOverload),
    };
    Ok(Value::Int(i64::try_from(size).unwrap_or(i64::MAX)))
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the form of a registered function"
)]
fn matches(This(text): This<Arc<String>>, source: Arc<String>) -> ResolveResult {
    let pattern = pattern(&source)
        .ok_or_else(|| ExecutionError::function_error("matches", "invalid regular expression"))?;
    Ok(Value::Bool(pattern.is_match(&text)))
}

/// Nothing as the separator parts all characters; a limit that is negative is none.
fn split(This(text): This<Arc<String>>, Arguments(arguments): Arguments) -> ResolveResult {
    let (separator, limit) = match arguments.as_slice() {
        [Value::String(separator)] => (separator, -1),
        [Value::String(separator), Value::Int(limit)] => (separator, *limit),
        _ => return Err(ExecutionError::NoSuchOverload),
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let parts: Vec<String> = match (limit, separator.as_str()) {
        (0, _) => Vec::new(),
        (limit, "") => {
            let places = text.char_indices().map(|(place, _)| place);
            let ends = places.clone().skip(1).take(limit - 1).chain([text.len()]);
            places
                .zip(ends)
                .map(|(from, to)| text[from..to].to_owned())
                .collect()
        }
        (limit, separator) => text.splitn(limit, separator).map(str::to_owned).collect(),
    };
    let parts = parts.into_iter().map(|part| Value::String(Arc::new(part)));
    Ok(Value::List(Arc::new(parts.collect())))
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the form of a registered function"
)]
fn toll(purse: Value, steps: i64, copies: i64) -> ResolveResult {
    let weight = Weight {
        steps: steps.unsigned_abs(),
        copies: copies.unsigned_abs(),
    };
    as_purse(&purse)?.pay(weight)?;
    Ok(Value::Bool(true))
}

fn as_purse(value: &Value) -> Result<&Purse, ExecutionError> {
    let Value::Opaque(opaque) = value else {
        return Err(ExecutionError::NoSuchOverload);
    };
    opaque.downcast_ref().ok_or(ExecutionError::NoSuchOverload)
}

/// A loop of its own over expressions that were not evaluated.
struct Loop<'c> {
    context: &'c Context<'c>,
    purse: Value,
    weight: Weight,
    variables: Vec<String>,
}

impl<'c> Loop<'c> {
    /// A loop with so many variables, of which each round evaluates what is behind them.
    fn new(context: &'c FunctionContext<'c, '_>, variables: usize) -> Result<Self, ExecutionError> {
        let names = context.args.iter().take(variables).map(name);
        let mut weight = Weight::default();
        for body in context.args.iter().skip(variables) {
            let body = weigh(body);
            weight.steps += body.steps;
            weight.copies += body.copies;
        }
        let purse = IdedExpr {
            id: 0,
            expr: Expr::Ident(PURSE.to_owned()),
        };
        Ok(Self {
            context: context.ptx,
            purse: context.ptx.resolve(&purse)?,
            weight,
            variables: names.collect::<Result<_, _>>()?,
        })
    }

    /// The scope of one round.
    fn round(&self, values: Vec<Value>) -> Result<Context<'c>, ExecutionError> {
        as_purse(&self.purse)?.pay(self.weight)?;
        let mut scope = self.context.new_inner_scope();
        for (name, value) in self.variables.iter().zip(values) {
            scope.add_variable_from_value(name.clone(), value);
        }
        Ok(scope)
    }
}

fn name(expression: &IdedExpr) -> Result<String, ExecutionError> {
    let Expr::Ident(name) = &expression.expr else {
        return Err(ExecutionError::NoSuchOverload);
    };
    Ok(name.clone())
}

/// What a loop over one variable goes through: entries of a list, keys of a map.
fn entries(range: &Value) -> Result<Vec<Value>, ExecutionError> {
    if let Value::List(list) = range {
        return Ok(list.to_vec());
    }
    Ok(pairs(range)?.into_iter().map(|(key, _)| key).collect())
}

/// What a loop over two variables goes through: places and entries, or keys and values.
fn pairs(range: &Value) -> Result<Vec<(Value, Value)>, ExecutionError> {
    if let Value::List(list) = range {
        return Ok((0..).map(Value::Int).zip(list.iter().cloned()).collect());
    }
    let Value::Map(map) = range else {
        return Err(ExecutionError::NoSuchOverload);
    };
    let sorted: BTreeMap<&Key, &Value> = map.map.iter().collect();
    let pair = |(key, value): (&Key, &Value)| (key_value(key), value.clone());
    Ok(sorted.into_iter().map(pair).collect())
}

fn key_value(key: &Key) -> Value {
    match key {
        Key::Int(key) => Value::Int(*key),
        Key::Uint(key) => Value::UInt(*key),
        Key::Bool(key) => Value::Bool(*key),
        Key::String(key) => Value::String(key.clone()),
    }
}

fn is_true(value: &Value) -> Result<bool, ExecutionError> {
    let Value::Bool(value) = value else {
        return Err(ExecutionError::NoSuchOverload);
    };
    Ok(*value)
}

/// `@collect(range, x, condition, value)`
fn collect(context: &FunctionContext<'_, '_>) -> ResolveResult {
    let [range, variable, condition, value] = context.args else {
        return Err(ExecutionError::NoSuchOverload);
    };
    let range = context.ptx.resolve(range)?;
    let rest = FunctionContext {
        args: &context.args[1..],
        ..context.clone()
    };
    let body = Loop::new(&rest, 1)?;
    name(variable)?;
    let mut found = Vec::new();
    for entry in entries(&range)? {
        let scope = body.round(vec![entry])?;
        if is_true(&scope.resolve(condition)?)? {
            found.push(scope.resolve(value)?);
        }
    }
    Ok(Value::List(Arc::new(found)))
}

/// What a predicate of two variables says about every pair; errors count only if no pair decides.
fn verdicts(
    context: &FunctionContext<'_, '_>,
    mut decides: impl FnMut(bool) -> bool,
) -> Result<(), ExecutionError> {
    let (Some(this), [_, _, predicate]) = (&context.this, context.args) else {
        return Err(ExecutionError::NoSuchOverload);
    };
    let body = Loop::new(context, 2)?;
    let mut fault = None;
    for (key, value) in pairs(this)? {
        let verdict = body.round(vec![key, value])?.resolve(predicate);
        match verdict.and_then(|verdict| is_true(&verdict)) {
            Ok(verdict) if decides(verdict) => return Ok(()),
            Ok(_) => {}
            Err(error) => fault = Some(error),
        }
    }
    fault.map_or(Ok(()), Err)
}

/// `range.all(i, x, predicate)`
fn all(context: &FunctionContext<'_, '_>) -> ResolveResult {
    let mut holds = true;
    verdicts(context, |verdict| {
        holds &= verdict;
        !verdict
    })?;
    Ok(Value::Bool(holds))
}

/// `range.exists(i, x, predicate)`
fn exists(context: &FunctionContext<'_, '_>) -> ResolveResult {
    let mut found = false;
    verdicts(context, |verdict| {
        found |= verdict;
        verdict
    })?;
    Ok(Value::Bool(found))
}

/// `range.existsOne(i, x, predicate)`
fn exists_one(context: &FunctionContext<'_, '_>) -> ResolveResult {
    let mut found = 0;
    verdicts(context, |verdict| {
        found += u64::from(verdict);
        false
    })?;
    Ok(Value::Bool(found == 1))
}

/// The pairs that a condition leaves, each with what is made of it.
fn transform(context: &FunctionContext<'_, '_>) -> Result<Vec<(Value, Value)>, ExecutionError> {
    let (condition, made) = match context.args {
        [_, _, made] => (None, made),
        [_, _, condition, made] => (Some(condition), made),
        _ => return Err(ExecutionError::NoSuchOverload),
    };
    let this = context
        .this
        .as_ref()
        .ok_or(ExecutionError::NoSuchOverload)?;
    let body = Loop::new(context, 2)?;
    let mut found = Vec::new();
    for (key, value) in pairs(this)? {
        let scope = body.round(vec![key.clone(), value])?;
        let wanted = match condition {
            Some(condition) => is_true(&scope.resolve(condition)?)?,
            None => true,
        };
        if wanted {
            found.push((key, scope.resolve(made)?));
        }
    }
    Ok(found)
}

fn transform_list(context: &FunctionContext<'_, '_>) -> ResolveResult {
    let made = transform(context)?.into_iter().map(|(_, made)| made);
    Ok(Value::List(Arc::new(made.collect())))
}

fn transform_map(context: &FunctionContext<'_, '_>) -> ResolveResult {
    let mut made = HashMap::new();
    for (key, value) in transform(context)? {
        let key: Key = key.try_into().map_err(ExecutionError::UnsupportedKeyType)?;
        made.insert(key, value);
    }
    Ok(Value::Map(Map {
        map: Arc::new(made),
    }))
}

/// `list.sortBy(x, key)`
fn sort_by(context: &FunctionContext<'_, '_>) -> ResolveResult {
    let (Some(this), [_, key]) = (&context.this, context.args) else {
        return Err(ExecutionError::NoSuchOverload);
    };
    let body = Loop::new(context, 1)?;
    let mut keyed = Vec::new();
    for entry in entries(this)? {
        let key = body.round(vec![entry.clone()])?.resolve(key)?;
        keyed.push((key, entry));
    }
    let is_comparable = |pair: &[(Value, Value)]| pair[0].0.partial_cmp(&pair[1].0).is_some();
    if !keyed.windows(2).all(is_comparable) {
        return Err(ExecutionError::NoSuchOverload);
    }
    keyed.sort_by(|(one, _), (other, _)| {
        one.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal)
    });
    let sorted = keyed.into_iter().map(|(_, entry)| entry);
    Ok(Value::List(Arc::new(sorted.collect())))
}

/// A field or an entry that may be missing, of something that may be missing.
fn optional_part(Arguments(arguments): Arguments) -> ResolveResult {
    let [whole, part] = arguments.as_slice() else {
        return Err(ExecutionError::NoSuchOverload);
    };
    let whole = match inner(whole) {
        Some(inside) => inside,
        None => Some(whole.clone()),
    };
    let found = match (whole, part) {
        (Some(Value::Map(map)), part) => {
            let key: Result<Key, Value> = part.clone().try_into();
            key.ok().and_then(|key| map.map.get(&key).cloned())
        }
        (Some(Value::List(list)), Value::Int(index)) => usize::try_from(*index)
            .ok()
            .and_then(|index| list.get(index).cloned()),
        (None, _) => None,
        (Some(_), _) => return Err(ExecutionError::NoSuchOverload),
    };
    Ok(optional(found))
}

/// What is inside of an optional; nothing if it is none.
#[expect(
    clippy::option_option,
    reason = "no optional and an empty one are different things"
)]
fn inner(value: &Value) -> Option<Option<Value>> {
    let Value::Opaque(opaque) = value else {
        return None;
    };
    let optional = opaque.downcast_ref::<OptionalValue>()?;
    Some(optional.value().cloned())
}

/// `optional.optMap(x, expression)`
fn optional_map(context: &FunctionContext<'_, '_>) -> ResolveResult {
    match inside(context)? {
        Some(made) => Ok(optional(Some(made))),
        None => Ok(optional(None)),
    }
}

/// `optional.optFlatMap(x, expression)`
fn optional_flat_map(context: &FunctionContext<'_, '_>) -> ResolveResult {
    Ok(inside(context)?.unwrap_or_else(|| optional(None)))
}

fn inside(context: &FunctionContext<'_, '_>) -> Result<Option<Value>, ExecutionError> {
    let (Some(this), [_, expression]) = (&context.this, context.args) else {
        return Err(ExecutionError::NoSuchOverload);
    };
    match inner(this).ok_or(ExecutionError::NoSuchOverload)? {
        Some(value) => Ok(Some(
            Loop::new(context, 1)?
                .round(vec![value])?
                .resolve(expression)?,
        )),
        None => Ok(None),
    }
}
