//! The JSON paths of printer columns, in the dialect that Kubernetes gave them:
//! `.spec.color`, `.status.conditions[?(@.type=="Ready")].status`, `..name`, `.spec.ports[-1]`.
//!
//! It is close to the JSON path that others know and not the same: comparisons of different types
//! are errors, dots inside `['…']` still separate, and a quoted text stands for itself. Only what
//! one column can hold is here; the loops of kubectl's templates are not.

mod parse;

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::Value;

/// A path that was understood.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JsonPath(Vec<Step>);

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(String),
    Wildcard,
    /// `..`: the value and everything in it.
    Descend,
    Slice(Slice),
    Union(Vec<JsonPath>),
    Filter(Filter),
    /// A value that stands for itself, as in the right half of a filter.
    Literal(Value),
    /// A word without meaning: known when parsed, an error when used.
    Word,
}

/// `[from:to:step]`
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Slice {
    from: Option<i64>,
    to: Option<i64>,
    step: Option<i64>,
    /// `[3]`: only one, and then `to` is nothing.
    single: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Filter {
    left: JsonPath,
    test: Test,
}

#[derive(Clone, Debug, PartialEq)]
enum Test {
    /// The left side finds anything.
    Exists,
    Compare(Comparison, JsonPath),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// An operator that does not exist: known when parsed, an error when used.
    Unknown,
}

/// A path that cannot be followed in this object, such as an index into a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Astray;

type Found<'a> = Vec<Cow<'a, Value>>;

impl JsonPath {
    /// The first value that the path leads to, if any.
    pub(crate) fn first<'a>(&self, root: &'a Value) -> Option<Cow<'a, Value>> {
        let found = self.follow(vec![Cow::Borrowed(root)]).ok()?;
        found.into_iter().next()
    }

    fn follow<'a>(&self, from: Found<'a>) -> Result<Found<'a>, Astray> {
        let steps = self.0.iter();
        steps
            .into_iter()
            .try_fold(from, |values, step| step.take(values))
    }
}

impl Step {
    fn take<'a>(&self, from: Found<'a>) -> Result<Found<'a>, Astray> {
        match self {
            Self::Field(name) => Ok(from
                .into_iter()
                .filter_map(|value| field(value, name))
                .collect()),
            Self::Wildcard => Ok(from.into_iter().flat_map(children).collect()),
            Self::Descend => Ok(descend(from)),
            Self::Slice(slice) => slice.take(from),
            Self::Union(paths) => {
                let parts: Result<Vec<_>, _> =
                    paths.iter().map(|path| path.follow(from.clone())).collect();
                Ok(parts?.into_iter().flatten().collect())
            }
            Self::Filter(filter) => filter.take(from),
            Self::Literal(value) => Ok(vec![Cow::Owned(value.clone())]),
            Self::Word => Err(Astray),
        }
    }
}

fn field<'a>(value: Cow<'a, Value>, name: &str) -> Option<Cow<'a, Value>> {
    match value {
        Cow::Borrowed(value) => value.get(name).map(Cow::Borrowed),
        Cow::Owned(mut value) => value.get_mut(name).map(|value| Cow::Owned(value.take())),
    }
}

fn children(value: Cow<'_, Value>) -> Found<'_> {
    match value {
        Cow::Borrowed(Value::Array(items)) => items.iter().map(Cow::Borrowed).collect(),
        Cow::Borrowed(Value::Object(fields)) => fields.values().map(Cow::Borrowed).collect(),
        Cow::Owned(Value::Array(items)) => items.into_iter().map(Cow::Owned).collect(),
        Cow::Owned(Value::Object(fields)) => fields
            .into_iter()
            .map(|(_, value)| Cow::Owned(value))
            .collect(),
        Cow::Borrowed(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_))
        | Cow::Owned(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            Vec::new()
        }
    }
}

/// The values that hold others, each before what is in it. Objects are no deeper than what the
/// API reads.
fn descend(from: Found<'_>) -> Found<'_> {
    let mut found = Vec::new();
    for value in from {
        let inner = children(value.clone());
        if !inner.is_empty() {
            found.push(value);
            found.extend(descend(inner));
        }
    }
    found
}

impl Slice {
    fn take(self, from: Found<'_>) -> Result<Found<'_>, Astray> {
        let mut found = Vec::new();
        for value in from {
            match value.as_ref() {
                Value::Null => {}
                Value::Array(items) => {
                    let Some(range) = self.range(items.len())? else {
                        return Ok(found);
                    };
                    let step = usize::try_from(self.step.unwrap_or(1)).map_err(|_| Astray)?;
                    if step == 0 {
                        return Err(Astray);
                    }
                    let items = children(value).into_iter();
                    found.extend(items.skip(range.start).take(range.len()).step_by(step));
                }
                Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                    return Err(Astray);
                }
            }
        }
        Ok(found)
    }

    /// The places that are meant in a list of this length; nothing if that is no place at all.
    fn range(self, length: usize) -> Result<Option<std::ops::Range<usize>>, Astray> {
        let length = i64::try_from(length).map_err(|_| Astray)?;
        let from_the_end = |at: i64| {
            if at < 0 {
                at.saturating_add(length)
            } else {
                at
            }
        };
        let from = from_the_end(self.from.unwrap_or(0));
        let to = match self.to {
            _ if self.single => from.saturating_add(1),
            Some(to) => from_the_end(to),
            None => length,
        };
        if from == to {
            return Ok(None);
        }
        if from < 0 || from > to || to > length {
            return Err(Astray);
        }
        let index = |at: i64| usize::try_from(at).map_err(|_| Astray);
        Ok(Some(index(from)?..index(to)?))
    }
}

impl Filter {
    fn take<'a>(&self, from: Found<'a>) -> Result<Found<'a>, Astray> {
        let mut found = Vec::new();
        for value in from {
            if !value.is_array() {
                return Err(Astray);
            }
            for item in children(value) {
                if self.keeps(&item)? {
                    found.push(item);
                }
            }
        }
        Ok(found)
    }

    fn keeps(&self, item: &Value) -> Result<bool, Astray> {
        let side = |path: &JsonPath| path.follow(vec![Cow::Owned(item.clone())]);
        match &self.test {
            Test::Exists => Ok(side(&self.left).is_ok_and(|found| !found.is_empty())),
            Test::Compare(comparison, right) => {
                match (side(&self.left)?.as_slice(), side(right)?.as_slice()) {
                    ([left], [right]) => comparison.holds(left, right),
                    ([], _) | (_, []) => Ok(false),
                    _ => Err(Astray),
                }
            }
        }
    }
}

impl Comparison {
    fn holds(self, left: &Value, right: &Value) -> Result<bool, Astray> {
        let order = || order(left, right).ok_or(Astray);
        let equal = || match (left, right) {
            (Value::Bool(left), Value::Bool(right)) => Ok(left == right),
            _ => Ok(order()? == Ordering::Equal),
        };
        match self {
            Self::Equal => equal(),
            Self::NotEqual => equal().map(|equal| !equal),
            Self::Less => Ok(order()?.is_lt()),
            Self::LessOrEqual => Ok(order()?.is_le()),
            Self::Greater => Ok(order()?.is_gt()),
            Self::GreaterOrEqual => Ok(order()?.is_ge()),
            Self::Unknown => Err(Astray),
        }
    }
}

/// The order of two texts, two integers or two fractions; an integer and a fraction have none.
fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            (None, None) => left.as_f64()?.partial_cmp(&right.as_f64()?),
            (Some(_), None) | (None, Some(_)) => None,
        },
        _ => None,
    }
}
