//! Keywords: what a value must be besides known, judged in the order and in the words of kube-apiserver.
//!
//! The order matters twice: users see the errors in it, and of the alternatives of `anyOf` and `oneOf` the one is
//! shown that got furthest, which is counted in steps.

mod numbers;

use serde_json::Value;

use super::format::Format;
use super::lists::OldEntries;
use super::pattern::Pattern;
use super::{Schema, Type};
use crate::object::Object;
use crate::refusal::{Fault, FieldError, FieldPath};

/// What a value of the right type must keep.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keywords {
    pub(crate) required: Vec<String>,
    /// `enum`.
    pub(crate) allowed: Vec<Value>,
    pub(crate) pattern: Option<Pattern>,
    pub(crate) format: Option<Format>,
    pub(crate) minimum: Option<Bound>,
    pub(crate) maximum: Option<Bound>,
    pub(crate) multiple_of: Option<f64>,
    pub(crate) min_length: Option<usize>,
    pub(crate) max_length: Option<usize>,
    pub(crate) min_items: Option<usize>,
    pub(crate) max_items: Option<usize>,
    pub(crate) min_properties: Option<usize>,
    pub(crate) max_properties: Option<usize>,
    pub(crate) all_of: Vec<Schema>,
    pub(crate) any_of: Vec<Schema>,
    pub(crate) one_of: Vec<Schema>,
    pub(crate) not: Option<Box<Schema>>,
}

/// `minimum` or `maximum`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    pub(crate) value: f64,
    /// The bound itself is not allowed.
    pub(crate) exclusive: bool,
}

/// Judges a value at a path; what equals the old value is tolerated.
pub(super) fn judge(
    schema: &Schema,
    value: &Value,
    old: Option<&Value>,
    path: &FieldPath,
) -> Vec<FieldError> {
    let place = Place {
        value,
        old,
        path: String::new(),
    };
    let verdict = judge_place(schema, &place);
    let prefixed = |mut error: FieldError| {
        error.path = match error.path.as_str() {
            "" => path.clone(),
            below => path.field(below),
        };
        error
    };
    verdict.errors.into_iter().map(prefixed).collect()
}

/// A value, what it was before, and where it is: dots before fields and keys of maps alike.
struct Place<'a> {
    value: &'a Value,
    /// Nothing if there was none, or if it cannot be told which one it was.
    old: Option<&'a Value>,
    path: String,
}

/// What was found wrong, and how many steps it took.
#[derive(Default)]
struct Verdict {
    errors: Vec<FieldError>,
    steps: usize,
}

impl Verdict {
    fn add(&mut self, error: FieldError) {
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    fn merge(&mut self, other: Self) {
        self.steps += other.steps;
        for error in other.errors {
            self.add(error);
        }
    }

    /// One more step that applied.
    fn step(&mut self, other: Self) {
        self.merge(other);
        self.steps += 1;
    }

    fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }
}

impl Place<'_> {
    /// An error about the value; the message names the path a second time.
    fn fault(&self, fault: Fault, what: &str) -> FieldError {
        let detail = format!("{} in body {what}", self.path);
        FieldError::new(self.field(), fault, detail)
    }

    fn invalid(&self, shown: impl Into<Value>, what: &str) -> FieldError {
        self.fault(Fault::Invalid(shown.into()), what)
    }

    /// An error that kube-apiserver cannot place.
    fn unplaced(what: String) -> FieldError {
        FieldError::invalid(FieldPath::root(), "", what)
    }

    fn field(&self) -> FieldPath {
        FieldPath::of(self.path.trim_start_matches('.'))
    }

    fn below(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }
}

fn judge_place(schema: &Schema, place: &Place<'_>) -> Verdict {
    let mut verdict = if place.value.is_null() {
        judge_null(schema, place)
    } else {
        judge_value(schema, place)
    };
    if !verdict.is_valid() && place.old == Some(place.value) {
        verdict.errors.clear();
    }
    verdict
}

fn judge_null(schema: &Schema, place: &Place<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    let types = types(schema);
    if types.is_empty() || schema.nullable {
        verdict.steps += 1;
    } else {
        verdict.add(wrong_type(place, &types.join(","), "null"));
    }
    verdict.merge(judge_enum(&schema.keywords, place));
    verdict
}

fn judge_value(schema: &Schema, place: &Place<'_>) -> Verdict {
    let keywords = &schema.keywords;
    let mut verdict = Verdict::default();
    if !types(schema).is_empty() || keywords.format.is_some() {
        verdict.step(judge_type(schema, place));
    }
    verdict.step(judge_junctors(keywords, place));
    match place.value {
        Value::String(text) => {
            verdict.step(judge_text(keywords, text, place));
            if let Some(format) = &keywords.format
                && format.is_of_text()
            {
                verdict.step(judge_format(format, text, place));
            }
        }
        Value::Number(number) => verdict.step(numbers::judge(schema, number, place)),
        Value::Array(list) => verdict.step(judge_list(schema, list, place)),
        Value::Object(_) | Value::Bool(_) | Value::Null => {}
    }
    verdict.step(judge_enum(keywords, place));
    if let Value::Object(object) = place.value {
        verdict.step(judge_object(schema, object, place));
    }
    verdict.steps += 1;
    verdict
}

/// The types a node allows, by name.
fn types(schema: &Schema) -> Vec<&'static str> {
    if schema.int_or_string {
        vec!["integer", "string"]
    } else {
        schema.kind.map(Type::name).into_iter().collect()
    }
}

fn judge_type(schema: &Schema, place: &Place<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    match type_fault(schema, place) {
        Some(error) => verdict.add(error),
        None => verdict.steps += 1,
    }
    verdict
}

fn type_fault(schema: &Schema, place: &Place<'_>) -> Option<FieldError> {
    let types = types(schema);
    let (name, capacity) = type_of(place.value);
    let counts_whole = types.contains(&"integer") || types.contains(&"number");
    let fits = types.contains(&name)
        || (name == "number" && types.contains(&"integer") && numbers::is_whole(place.value))
        || (name == "integer" && types.contains(&"number"));
    let is_sequence = place.value.is_string() || place.value.is_array();
    match &schema.keywords.format {
        Some(format) if !is_sequence && !fits && format.name() != capacity => {
            Some(wrong_type(place, format.name(), capacity))
        }
        Some(_) if is_sequence && !counts_whole => None,
        Some(_) | None if fits => None,
        Some(_) | None => Some(wrong_type(place, &types.join(","), name)),
    }
}

/// The JSON type of a value and, for numbers, how it is held.
fn type_of(value: &Value) -> (&'static str, &'static str) {
    match value {
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::Number(number) if number.is_i64() => ("integer", "int64"),
        Value::Number(_) => ("number", "float64"),
        Value::String(_) => ("string", ""),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
    }
}

fn wrong_type(place: &Place<'_>, want: &str, got: &str) -> FieldError {
    let what = format!("must be of type {want}: {got:?}");
    place.fault(Fault::TypeInvalid(got.into()), &what)
}

fn judge_junctors(keywords: &Keywords, place: &Place<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    if !keywords.any_of.is_empty() {
        verdict.merge(judge_any(&keywords.any_of, place));
    }
    if !keywords.one_of.is_empty() {
        verdict.merge(judge_one(&keywords.one_of, place));
    }
    if !keywords.all_of.is_empty() {
        verdict.merge(judge_all(&keywords.all_of, place));
    }
    if let Some(not) = &keywords.not
        && judge_nested(not, place).is_valid()
    {
        verdict.add(Place::unplaced(format!(
            "{:?} must not validate the schema (not)",
            place.path
        )));
    }
    verdict.steps += 1;
    verdict
}

/// Below junctors nothing is compared with what was before.
fn judge_nested(schema: &Schema, place: &Place<'_>) -> Verdict {
    let place = Place {
        value: place.value,
        old: None,
        path: place.path.clone(),
    };
    judge_place(schema, &place)
}

fn judge_any(alternatives: &[Schema], place: &Place<'_>) -> Verdict {
    let mut best: Option<Verdict> = None;
    for alternative in alternatives {
        let verdict = judge_nested(alternative, place);
        if verdict.is_valid() {
            return verdict;
        }
        best = Some(further(best, verdict));
    }
    let mut verdict = Verdict::default();
    verdict.add(Place::unplaced(format!(
        "{:?} must validate at least one schema (anyOf)",
        place.path
    )));
    verdict.merge(best.unwrap_or_default());
    verdict
}

fn judge_one(alternatives: &[Schema], place: &Place<'_>) -> Verdict {
    let mut valid = Vec::new();
    let mut best = None;
    for alternative in alternatives {
        let verdict = judge_nested(alternative, place);
        if verdict.is_valid() {
            valid.push(verdict);
        } else if valid.is_empty() {
            best = Some(further(best, verdict));
        }
    }
    let found = match valid.len() {
        1 => return valid.pop().unwrap_or_default(),
        0 => "Found none valid".to_owned(),
        count => format!("Found {count} valid alternatives"),
    };
    let mut verdict = Verdict::default();
    verdict.add(Place::unplaced(format!(
        "{:?} must validate one and only one schema (oneOf). {found}",
        place.path
    )));
    if valid.is_empty() {
        verdict.merge(best.unwrap_or_default());
    }
    verdict
}

fn judge_all(parts: &[Schema], place: &Place<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    let mut valid = 0;
    for part in parts {
        let part = judge_nested(part, place);
        valid += usize::from(part.is_valid());
        verdict.merge(part);
    }
    if valid != parts.len() {
        let none = if valid == 0 { ". None validated" } else { "" };
        verdict.add(Place::unplaced(format!(
            "{:?} must validate all the schemas (allOf){none}",
            place.path
        )));
    }
    verdict
}

/// Of two failures the one that got further; the earlier one if they got equally far.
fn further(best: Option<Verdict>, next: Verdict) -> Verdict {
    match best {
        Some(best) if best.steps >= next.steps => best,
        Some(_) | None => next,
    }
}

fn judge_text(keywords: &Keywords, text: &str, place: &Place<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    let length = text.chars().count();
    if let Some(max) = keywords.max_length
        && length > max
    {
        let unit = if max == 1 { "byte" } else { "bytes" };
        let detail = format!("may not be more than {max} {unit}");
        verdict.add(FieldError::new(place.field(), Fault::TooLong, detail));
    } else if let Some(min) = keywords.min_length
        && length < min
    {
        verdict.add(place.invalid(text, &format!("should be at least {min} chars long")));
    } else if let Some(pattern) = &keywords.pattern
        && !pattern.is_match(text)
    {
        verdict.add(place.invalid(text, &format!("should match '{}'", pattern.source())));
    }
    verdict
}

fn judge_format(format: &Format, text: &str, place: &Place<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    if !format.allows(text) {
        verdict.add(wrong_type(place, format.name(), text));
    }
    verdict
}

fn judge_enum(keywords: &Keywords, place: &Place<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    let allowed = &keywords.allowed;
    if allowed.is_empty() || allowed.iter().any(|allowed| is_same(allowed, place.value)) {
        return verdict;
    }
    let shown: Vec<String> = allowed
        .iter()
        .map(|value| match value.as_str() {
            Some(text) => format!("{text:?}"),
            None => format!("{:?}", value.to_string()),
        })
        .collect();
    let detail = format!("supported values: {}", shown.join(", "));
    let fault = Fault::NotSupported(place.value.clone());
    verdict.add(FieldError::new(place.field(), fault, detail));
    verdict
}

/// Whether a value is the one an enum allows: 1 and 1.0 are the same, and nothing is the same as null.
fn is_same(allowed: &Value, value: &Value) -> bool {
    match (allowed, value) {
        (Value::Null, _) | (_, Value::Null) => false,
        (Value::Number(allowed), Value::Number(value)) => allowed.as_f64() == value.as_f64(),
        (allowed, value) => allowed == value,
    }
}

fn judge_list(schema: &Schema, list: &[Value], place: &Place<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    if let Some(items) = &schema.items {
        let old = OldEntries::of(&schema.list, place.old);
        for (index, value) in list.iter().enumerate() {
            let place = Place {
                value,
                old: old.of_entry(value),
                path: format!("{}[{index}]", place.path),
            };
            verdict.merge(judge_place(items, &place));
        }
    }
    let size = list.len();
    if let Some(min) = schema.keywords.min_items
        && size < min
    {
        verdict.add(place.invalid(size, &format!("should have at least {min} items")));
    }
    if let Some(max) = schema.keywords.max_items
        && size > max
    {
        verdict.add(too_many(place, size, max));
    }
    verdict.steps += 1;
    verdict
}

fn judge_object(schema: &Schema, object: &Object, place: &Place<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    let size = object.len();
    if let Some(min) = schema.keywords.min_properties
        && size < min
    {
        verdict.add(place.invalid(size, &format!("should have at least {min} properties")));
    }
    if let Some(max) = schema.keywords.max_properties
        && size > max
    {
        verdict.add(too_many(place, size, max));
    }
    verdict.merge(judge_other_fields(schema, object, place));
    for (name, property) in &schema.properties {
        if let Some(value) = object.get(name) {
            let path = match place.path.as_str() {
                "" => name.clone(),
                _ => place.below(name),
            };
            let old = old_field(place, name);
            verdict.merge(judge_place(property, &Place { value, old, path }));
        }
    }
    for name in &schema.keywords.required {
        if !object.contains_key(name) {
            let path = FieldPath::of(place.below(name).trim_start_matches('.'));
            verdict.add(FieldError::required(path, ""));
        }
    }
    verdict
}

fn judge_other_fields(schema: &Schema, object: &Object, place: &Place<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    let others = object
        .iter()
        .filter(|(name, _)| !schema.properties.contains_key(*name));
    for (name, value) in others {
        if schema.closed {
            let detail = format!("{}.{name} in body is a forbidden property", place.path);
            verdict.add(FieldError::invalid(place.field(), name.as_str(), detail));
        } else if let Some(additional) = &schema.additional {
            let (old, path) = (old_field(place, name), place.below(name));
            verdict.merge(judge_place(additional, &Place { value, old, path }));
        }
    }
    verdict
}

/// What a field was before. The object's own version and kind do not count: both objects are shown in one version.
fn old_field<'a>(place: &Place<'a>, name: &str) -> Option<&'a Value> {
    if place.path.is_empty() && matches!(name, "apiVersion" | "kind") {
        return None;
    }
    place.old?.get(name)
}

fn too_many(place: &Place<'_>, size: usize, max: usize) -> FieldError {
    let unit = if max == 1 { "item" } else { "items" };
    let detail = format!("must have at most {max} {unit}");
    FieldError::new(place.field(), Fault::TooMany(size), detail)
}
