//! JSON values in an order, and when two of them are the same.
//!
//! Numbers are compared by what they are worth, so that `1` and `1.0` are one entry of a set.

use std::cmp::Ordering;
use std::fmt;

use serde_json::{Number, Value};

/// A value that tells entries of a list apart. In practice a scalar, but nothing forbids others.
#[derive(Clone, Debug)]
pub(crate) struct Scalar(pub(crate) Value);

/// Whether two values are equal, whichever way their numbers are written.
pub(crate) fn same(left: &Value, right: &Value) -> bool {
    compare(left, right).is_eq()
}

impl Ord for Scalar {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(&self.0, &other.0)
    }
}

impl PartialOrd for Scalar {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for Scalar {}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

/// As JSON, with whole numbers as integers and without `<`, `>` and `&`: as Go writes it.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
                Some(float) if float.fract() == 0.0 && float.abs() < WRITTEN_WITHOUT_EXPONENT => {
                    write!(f, "{float:.0}")
                }
                Some(_) | None => write!(f, "{number}"),
            },
            other @ (Value::Null
            | Value::Bool(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_)) => f.write_str(
                &other
                    .to_string()
                    .replace('<', "\\u003c")
                    .replace('>', "\\u003e")
                    .replace('&', "\\u0026")
                    .replace('\u{2028}', "\\u2028")
                    .replace('\u{2029}', "\\u2029"),
            ),
        }
    }
}

/// From here on Go writes floating-point numbers with an exponent.
const WRITTEN_WITHOUT_EXPONENT: f64 = 1e21;

/// Numbers, texts, booleans, lists, objects, null; each in its own order.
fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare_numbers(left, right),
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Array(left), Value::Array(right)) => {
            let mut pairs = left
                .iter()
                .zip(right)
                .map(|(left, right)| compare(left, right));
            pairs
                .find(|order| order.is_ne())
                .unwrap_or_else(|| left.len().cmp(&right.len()))
        }
        (Value::Object(left), Value::Object(right)) => {
            let pairs = left.iter().zip(right);
            let mut pairs = pairs
                .map(|(left, right)| left.0.cmp(right.0).then_with(|| compare(left.1, right.1)));
            pairs
                .find(|order| order.is_ne())
                .unwrap_or_else(|| left.len().cmp(&right.len()))
        }
        (left, right) => rank(left).cmp(&rank(right)),
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    }
}

fn compare_numbers(left: &Number, right: &Number) -> Ordering {
    match (whole(left), whole(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        (Some(left), None) => compare_whole(left, float(right)),
        (None, Some(right)) => compare_whole(right, float(left)).reverse(),
        (None, None) => float(left).total_cmp(&(float(right) + 0.0)),
    }
}

fn whole(number: &Number) -> Option<i128> {
    number
        .as_i64()
        .map(i128::from)
        .or_else(|| number.as_u64().map(i128::from))
}

/// Minus zero is zero.
fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or_default() + 0.0
}

/// Exactly, where converting the integer would round it.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a float beyond the integers saturates"
)]
fn compare_whole(whole: i128, float: f64) -> Ordering {
    let floor = float.floor();
    whole.cmp(&(floor as i128)).then_with(|| {
        if float > floor {
            Ordering::Less
        } else {
            Ordering::Equal
        }
    })
}
