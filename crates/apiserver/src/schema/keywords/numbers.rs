//! Keywords of numbers.
//!
//! A whole number is compared with bounds that are cut to whole numbers; that is how kube-apiserver does it, and so
//! 1 is not less than a minimum of 1.5.

use std::fmt;

use serde_json::{Number, Value};

use super::{Bound, Place, Verdict};
use crate::refusal::{FieldError, Fraction};
use crate::schema::{Schema, Type};

/// The largest number up to which floating point can hold every whole number.
const MAX_SAFE: f64 = 9_007_199_254_740_991.0;
/// How far a number may be off a whole one and still be taken for it, relative to its size.
const TOLERANCE: f64 = 1e-9;

/// Judges a number against its type's capacity, `multipleOf`, `minimum` and `maximum`.
pub(super) fn judge(schema: &Schema, number: &Number, place: &Place<'_>) -> Verdict {
    let capacity = Capacity::of(schema);
    let number = Numeric::of(number);
    let mut verdict = Verdict::default();
    if !capacity.holds(number) {
        verdict.add(capacity.exceeded("Checked", place));
    }
    let keywords = &schema.keywords;
    if let Some(factor) = keywords.multiple_of {
        verdict.merge(bounded("MultipleOf", factor, capacity, place));
        verdict.merge(multiple(number, factor, place));
    }
    if let Some(bound) = keywords.minimum {
        verdict.merge(bounded("Minimum boundary", bound.value, capacity, place));
        verdict.merge(minimum(number, bound, place));
    }
    if let Some(bound) = keywords.maximum {
        verdict.merge(bounded("Maximum boundary", bound.value, capacity, place));
        verdict.merge(maximum(number, bound, place));
    }
    verdict.steps += 1;
    verdict
}

/// Whether a value is a number that can be taken for a whole one.
pub(super) fn is_whole(value: &Value) -> bool {
    value.as_f64().is_some_and(is_nearly_whole)
}

#[derive(Clone, Copy)]
enum Numeric {
    Whole(i64),
    Fraction(f64),
}

impl Numeric {
    fn of(number: &Number) -> Self {
        match number.as_i64() {
            Some(whole) => Self::Whole(whole),
            None => Self::Fraction(number.as_f64().unwrap_or(f64::INFINITY)),
        }
    }

    fn is_positive(self) -> bool {
        match self {
            Self::Whole(number) => number > 0,
            Self::Fraction(number) => number > 0.0,
        }
    }

    fn shown(self) -> Value {
        match self {
            Self::Whole(number) => number.into(),
            Self::Fraction(number) => number.into(),
        }
    }
}

impl fmt::Display for Numeric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(number) => number.fmt(f),
            Self::Fraction(number) => Fraction(*number).fmt(f),
        }
    }
}

/// What a type with its format can hold.
#[derive(Clone, Copy)]
struct Capacity {
    kind: Option<Type>,
    format: &'static str,
}

impl Capacity {
    fn of(schema: &Schema) -> Self {
        let kind = if schema.int_or_string {
            None
        } else {
            schema
                .kind
                .filter(|kind| matches!(kind, Type::Integer | Type::Number))
        };
        let format = schema
            .keywords
            .format
            .as_ref()
            .map_or("", |format| format.name());
        let format = match (kind, format) {
            (Some(Type::Integer), "int32") => "int32",
            (Some(Type::Integer), "int64") => "int64",
            (Some(Type::Number), "float") => "float",
            (Some(Type::Number), "double") => "double",
            _ => "",
        };
        Self { kind, format }
    }

    fn holds(self, number: Numeric) -> bool {
        match (self.kind, self.format, number) {
            (Some(Type::Integer), "int32", Numeric::Whole(number)) => i32::try_from(number).is_ok(),
            (Some(Type::Integer), "int32", Numeric::Fraction(number)) => {
                number.fract() == 0.0 && number.abs() <= f64::from(i32::MAX)
            }
            (Some(Type::Integer), _, Numeric::Fraction(number)) => {
                // 2^63 is the first that does not fit; i64::MAX itself is no floating point number.
                number.fract() == 0.0 && (-(2_f64.powi(63))..2_f64.powi(63)).contains(&number)
            }
            (Some(Type::Number), "float", Numeric::Fraction(number)) => {
                number.abs() <= f64::from(f32::MAX)
            }
            _ => true,
        }
    }

    fn exceeded(self, what: &str, place: &Place<'_>) -> FieldError {
        let kind = self.kind.map_or("", Type::name);
        let format = match self.format {
            "" => "(default format)".to_owned(),
            format => format!("with format {format}"),
        };
        let path = &place.path;
        Place::unplaced(format!(
            "{what} value must be of type {kind} {format} in {path}"
        ))
    }
}

/// Whether what a value is compared with can be held by its type.
fn bounded(what: &str, bound: f64, capacity: Capacity, place: &Place<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    if !capacity.holds(Numeric::Fraction(bound)) {
        verdict.add(capacity.exceeded(what, place));
    }
    verdict
}

fn multiple(number: Numeric, factor: f64, place: &Place<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    let (is_multiple, factor) = match number {
        Numeric::Whole(number) => {
            let factor = cut(factor);
            (factor > 0 && number % factor == 0, Numeric::Whole(factor))
        }
        Numeric::Fraction(number) => {
            let quotient = if factor < 1.0 {
                1.0 / factor * number
            } else {
                number / factor
            };
            (is_nearly_whole(quotient), Numeric::Fraction(factor))
        }
    };
    if !factor.is_positive() {
        let path = &place.path;
        let detail = format!("factor MultipleOf declared for {path} must be positive: {factor}");
        verdict.add(FieldError::invalid(place.field(), factor.shown(), detail));
    } else if !is_multiple {
        verdict.add(place.invalid(number.shown(), &format!("should be a multiple of {factor}")));
    }
    verdict
}

fn minimum(number: Numeric, bound: Bound, place: &Place<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    let (keeps, shown) = match number {
        Numeric::Whole(number) => {
            let min = cut(bound.value);
            (
                number > min || (number == min && !bound.exclusive),
                min.to_string(),
            )
        }
        Numeric::Fraction(number) => {
            let min = bound.value;
            let keeps = if bound.exclusive {
                number > min
            } else {
                number >= min
            };
            (keeps, Fraction(min).to_string())
        }
    };
    if !keeps {
        let than = if bound.exclusive {
            "than"
        } else {
            "than or equal to"
        };
        verdict.add(place.invalid(number.shown(), &format!("should be greater {than} {shown}")));
    }
    verdict
}

fn maximum(number: Numeric, bound: Bound, place: &Place<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    let (keeps, shown) = match number {
        Numeric::Whole(number) => {
            let max = cut(bound.value);
            (
                number < max || (number == max && !bound.exclusive),
                max.to_string(),
            )
        }
        Numeric::Fraction(number) => {
            let max = bound.value;
            let keeps = if bound.exclusive {
                number < max
            } else {
                number <= max
            };
            (keeps, Fraction(max).to_string())
        }
    };
    if !keeps {
        let than = if bound.exclusive {
            "than"
        } else {
            "than or equal to"
        };
        verdict.add(place.invalid(number.shown(), &format!("should be less {than} {shown}")));
    }
    verdict
}

/// Without what is behind the point, and within what 64 bits hold.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the cast saturates, which is meant"
)]
fn cut(number: f64) -> i64 {
    number as i64
}

fn is_nearly_whole(number: f64) -> bool {
    if !number.is_finite() || number.abs() > MAX_SAFE {
        return false;
    }
    let whole = number.trunc();
    let off = (number - whole).abs();
    off == 0.0 || (whole != 0.0 && off / (number.abs() + whole.abs()) < TOLERANCE)
}
