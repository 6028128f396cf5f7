//! One cell: the value that a path leads to, made to fit the type of its column.

use jiff::Timestamp;
use serde_json::Value;

use super::json_path::JsonPath;
use crate::duration::age;
use crate::resource::Column;

/// The cell of a column; null where there is nothing, or nothing that fits.
pub(super) fn at(path: &JsonPath, object: &Value, column: &Column, now: Timestamp) -> Value {
    let Some(value) = path.first(object) else {
        return Value::Null;
    };
    match column.kind.as_str() {
        "string" => text(&value).into(),
        "integer" => integer(&value),
        "number" => number(&value),
        "boolean" => value.as_bool().map_or(Value::Null, Value::from),
        "date" => value
            .as_str()
            .map_or(Value::Null, |text| date(text, now).into()),
        _ => Value::Null,
    }
}

/// Any value as text, in the way of Go, in which the original thinks.
fn text(value: &Value) -> String {
    match value {
        Value::Null => "<no value>".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            Some(fraction) if !number.is_i64() => go_float(fraction),
            Some(_) | None => number.to_string(),
        },
        Value::Array(_) | Value::Object(_) => go_json(value),
    }
}

/// The shortest form that reads back the same, with an exponent for the very large and small.
fn go_float(fraction: f64) -> String {
    let scientific = format!("{fraction:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..21).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
        }
        Ok(_) | Err(_) => fraction.to_string(),
    }
}

/// JSON that could stand in a web page: Go escapes what HTML would notice.
fn go_json(value: &Value) -> String {
    let escapes = [('<', "\\u003c"), ('>', "\\u003e"), ('&', "\\u0026")];
    let json = value.to_string();
    escapes
        .iter()
        .fold(json, |json, (plain, escaped)| json.replace(*plain, escaped))
}

/// Fractions lose what comes after the point; what is out of range becomes the smallest integer, as
/// the original's processor has it.
fn integer(value: &Value) -> Value {
    match (value.as_i64(), value.as_f64()) {
        (Some(whole), _) => whole.into(),
        (None, Some(fraction)) => truncate(fraction).into(),
        (None, None) => Value::Null,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the range is looked at just before"
)]
fn truncate(fraction: f64) -> i64 {
    /// 2^63, the first that is too large.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&fraction) {
        fraction as i64
    } else {
        i64::MIN
    }
}

/// A number that is whole is shown without a point.
fn number(value: &Value) -> Value {
    match value.as_f64() {
        Some(fraction) if !value.is_i64() && fraction.fract() == 0.0 && fraction.abs() < 1e15 => {
            truncate(fraction).into()
        }
        Some(_) => value.clone(),
        None => Value::Null,
    }
}

fn date(text: &str, now: Timestamp) -> String {
    if text.is_empty() || text == "null" {
        return "<unknown>".to_owned();
    }
    // RFC 3339 to the letter: jiff also reads a blank for the `T`, and lower case.
    let strict = text.as_bytes().get(10) == Some(&b'T') && !text.ends_with('z');
    match text.parse::<Timestamp>() {
        Ok(time) if strict => age(time, now),
        Ok(_) | Err(_) => "<invalid>".to_owned(),
    }
}
