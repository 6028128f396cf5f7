//! Rules: `x-kubernetes-validations`, written in CEL.
//!
//! They are compiled with the schema and judged after everything else, on objects whose shape is known to be right.
//! A rule sees the value of its node as `self` and, on updates, the value from before as `oldSelf`; of the object's
//! metadata it sees nothing but the names. What an update did not touch may go on breaking a rule that does not look
//! at the past.

mod check;
mod expression;
mod functions;
mod kinds;
mod program;
mod values;

pub(crate) use self::expression::{Expression, Variables};

use kube_cel::cel;
use serde_json::Value;

use self::kinds::Kind;
use self::program::{Outcome, Program};
use super::lists::OldEntries;
use super::read::{child, children, flag, get, text};
use super::{ListKind, Schema, Type};
use crate::object::Object;
use crate::refusal::{Fault, FieldError, FieldPath};

/// What one rule may cost, in steps of its evaluation: kube-apiserver's bound, meant for a tenth of a second.
const MAX_RULE_COST: u64 = 1_000_000;
/// What all rules of one object may cost: kube-apiserver's bound, meant for a second.
const MAX_OBJECT_COST: u64 = 10_000_000;
/// The longest message that a rule may compute, in bytes: kube-apiserver's bound.
const MAX_MESSAGE: usize = 5 * 1024;

/// One compiled rule.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    program: Program,
    message: Option<Program>,
    /// What is said if there is no computed message.
    text: String,
    /// What the rule is called where it cannot be evaluated.
    name: String,
    reason: Reason,
    /// Where below the node the error is, if not at the node.
    field_path: String,
    /// Judged on creation too, with an `oldSelf` that may have no value.
    optional_old_self: bool,
}

/// What kind of error it is to break a rule.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Reason {
    Invalid,
    Forbidden,
    Required,
    Duplicate,
}

/// Compiles the rules of a schema that was read from a node.
pub(super) fn attach(
    schema: &mut Schema,
    node: &Object,
    path: &FieldPath,
) -> Result<(), Vec<FieldError>> {
    let mut errors = Vec::new();
    let place = Place {
        is_resource: true,
        uncorrelated: None,
    };
    attach_node(schema, node, &place, path, &mut errors);
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

/// Judges an object.
pub(super) fn judge(
    schema: &Schema,
    new: &Value,
    old: Option<&Value>,
    path: &FieldPath,
) -> Vec<FieldError> {
    let past = Past {
        old,
        kin: old,
        parent: None,
    };
    let mut walk = Walk::new();
    walk.node(schema, new, past, true, path);
    walk.errors
}

/// Judges a default at a path, as a value that was already there or one that is new.
pub(super) fn judge_default(
    schema: &Schema,
    default: &Value,
    old: Option<&Value>,
    path: &FieldPath,
) -> Vec<FieldError> {
    let past = Past {
        old,
        kin: None,
        parent: None,
    };
    let mut walk = Walk::new();
    walk.node(schema, default, past, schema.embedded_resource, path);
    walk.errors
}

/// The place that a rule's `fieldPath` names below its node, if it is a path to a field that exists.
pub(super) fn field_path(path: &str, node: &Object) -> Option<String> {
    let mut node = node;
    let mut found = FieldPath::root();
    let mut rest = path;
    while !rest.is_empty() {
        let (name, after) = path_step(rest)?;
        match (child(node, "properties"), get(node, "additionalProperties")) {
            (Some(properties), _) => {
                node = child(properties, &name)?;
                found = found.field(&name);
            }
            (None, Some(additional)) => {
                node = additional.as_object()?;
                found = found.key(&name);
            }
            (None, None) => return None,
        }
        rest = after;
    }
    Some(found.as_str().to_owned())
}

/// The first step of a path, `.name` or `['name']`, and what is behind it.
fn path_step(path: &str) -> Option<(String, &str)> {
    if let Some(named) = path.strip_prefix('.') {
        let end = named.find(['.', '[', ']']).unwrap_or(named.len());
        return (end > 0).then(|| (named[..end].to_owned(), &named[end..]));
    }
    let quoted = path.strip_prefix("['")?;
    let end = quoted
        .match_indices('\'')
        .map(|(end, _)| end)
        .find(|end| !quoted[..*end].ends_with('\\'))?;
    let after = quoted[end + 1..].strip_prefix(']')?;
    let name = quoted[..end].replace("\\'", "'").replace("\\\\", "\\");
    Some((name, after))
}

/// What is known about a node from the nodes above it.
#[derive(Clone)]
struct Place {
    is_resource: bool,
    /// The first list above whose entries have no past.
    uncorrelated: Option<FieldPath>,
}

fn attach_node(
    schema: &mut Schema,
    node: &Object,
    place: &Place,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    attach_children(schema, node, place, path, errors);
    let mut rules = Vec::new();
    for (index, source) in children(node, "x-kubernetes-validations").enumerate() {
        let path = path.field("x-kubernetes-validations").index(index);
        rules.extend(compile(schema, node, source, place, &path, errors));
    }
    schema.rules = rules;
    let below = schema.properties.values();
    let below = below
        .chain(schema.additional.as_deref())
        .chain(schema.items.as_deref());
    schema.ruled = !schema.rules.is_empty() || below.into_iter().any(|below| below.ruled);
}

fn attach_children(
    schema: &mut Schema,
    node: &Object,
    place: &Place,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    let below = |node: &Object| Place {
        is_resource: flag(node, "x-kubernetes-embedded-resource"),
        uncorrelated: place.uncorrelated.clone(),
    };
    if let (Some(additional), Some(node)) =
        (&mut schema.additional, child(node, "additionalProperties"))
    {
        let path = path.field("additionalProperties");
        attach_node(additional, node, &below(node), &path, errors);
    }
    for (name, property) in &mut schema.properties {
        if let Some(node) = child(node, "properties").and_then(|all| child(all, name)) {
            let path = path.field("properties").key(name);
            attach_node(property, node, &below(node), &path, errors);
        }
    }
    if let (Some(items), Some(node)) = (&mut schema.items, child(node, "items")) {
        let mut place = below(node);
        if !matches!(schema.list, ListKind::Map(_)) {
            place.uncorrelated.get_or_insert_with(|| path.clone());
        }
        attach_node(items, node, &place, &path.field("items"), errors);
    }
}

fn compile(
    schema: &Schema,
    node: &Object,
    source: &Object,
    place: &Place,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) -> Option<Rule> {
    let Some(kind) = Kind::of(schema, place.is_resource) else {
        let detail = "failed to convert to declType for CEL validation rules";
        errors.push(FieldError::new(path.clone(), Fault::Internal, detail));
        return None;
    };
    let optional_old_self = flag(source, "optionalOldSelf");
    let rule = text(source, "rule");
    let program = Program::compile_rule(rule, &kind, optional_old_self)
        .map_err(|detail| errors.push(refused(path.field("rule"), source, detail)))
        .ok()?;
    let message = match text(source, "messageExpression") {
        "" => None,
        expression => {
            let program = Program::compile_message(expression, &kind, optional_old_self);
            let at = path.field("messageExpression");
            program
                .map_err(|detail| errors.push(refused(at, source, detail)))
                .ok()
        }
    };
    past_is_known(&program, source, place, path, errors);
    let text_of = |field| text(source, field).trim().to_owned();
    let (name, text) = match text_of("message") {
        none if none.is_empty() => (
            rule.trim().to_owned(),
            format!("failed rule: {}", rule.trim()),
        ),
        message => (message.clone(), message),
    };
    Some(Rule {
        program,
        message,
        text,
        name,
        reason: reason(source),
        field_path: field_path(self::text(source, "fieldPath"), node).unwrap_or_default(),
        optional_old_self,
    })
}

fn past_is_known(
    program: &Program,
    source: &Object,
    place: &Place,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    match (&place.uncorrelated, program.uses_old_self()) {
        (Some(list), true) => {
            let detail = format!(
                "oldSelf cannot be used on the uncorrelatable portion of the schema within {list}"
            );
            let rule = text(source, "rule");
            errors.push(FieldError::invalid(path.field("rule"), rule, detail));
        }
        (_, false) => {
            if let Some(set) = get(source, "optionalOldSelf") {
                let detail = "may not be set if oldSelf is not used in rule";
                let at = path.field("optionalOldSelf");
                errors.push(FieldError::invalid(at, set.clone(), detail));
            }
        }
        (None, true) => {}
    }
}

fn reason(source: &Object) -> Reason {
    match text(source, "reason") {
        "FieldValueForbidden" => Reason::Forbidden,
        "FieldValueRequired" => Reason::Required,
        "FieldValueDuplicate" => Reason::Duplicate,
        _ => Reason::Invalid,
    }
}

/// A refusal of a rule, which is shown as Go shows it.
fn refused(path: FieldPath, source: &Object, detail: String) -> FieldError {
    let quoted = |field| in_go(&Value::from(text(source, field)));
    let or_null = |field| in_go(get(source, field).unwrap_or(&Value::Null));
    let shown = format!(
        r#"{{"Rule":{},"Message":{},"MessageExpression":{},"Reason":{},"FieldPath":{},"OptionalOldSelf":{}}}"#,
        quoted("rule"),
        quoted("message"),
        quoted("messageExpression"),
        or_null("reason"),
        quoted("fieldPath"),
        or_null("optionalOldSelf"),
    );
    FieldError::new(path, Fault::InvalidText(shown), detail)
}

/// JSON as Go writes it: fit for HTML.
fn in_go(value: &Value) -> String {
    value
        .to_string()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

/// What a value was before.
#[derive(Clone, Copy, Default)]
struct Past<'a> {
    /// What rules see as `oldSelf`.
    old: Option<&'a Value>,
    /// What the value is compared with to tell whether it was touched.
    kin: Option<&'a Value>,
    /// The nearest value above that can be compared, and what it was.
    parent: Option<(&'a Value, &'a Value)>,
}

impl<'a> Past<'a> {
    /// Whether nothing was changed here.
    fn is_untouched(self, value: &Value) -> bool {
        match (self.kin, self.parent) {
            (Some(old), _) => old == value,
            (None, Some((new, old))) => new == old,
            (None, None) => false,
        }
    }

    /// The past of a field of an object.
    fn field(self, object: &'a Value, name: &str) -> Self {
        let old = self.old.and_then(|old| old.get(name));
        let is_root = self.parent.is_none();
        match self.kin {
            // Both objects are shown in one version: a change of it would not be seen.
            Some(_) if is_root && matches!(name, "apiVersion" | "kind") => Self {
                old,
                ..Self::default()
            },
            Some(kin) => Self {
                old,
                kin: kin.get(name),
                parent: Some((object, kin)),
            },
            None => Self { old, ..self },
        }
    }

    /// The past of an entry of a list.
    fn entry(
        self,
        list: &'a Value,
        entry: &Value,
        old: &OldEntries<'a>,
        kin: &OldEntries<'a>,
    ) -> Self {
        let old = old.of_entry(entry);
        match self.kin {
            Some(before) => Self {
                old,
                kin: kin.of_entry(entry),
                parent: Some((list, before)),
            },
            None => Self { old, ..self },
        }
    }
}

/// A walk over an object.
struct Walk {
    errors: Vec<FieldError>,
    /// What may still be spent; nothing once it was overspent.
    left: Option<u64>,
}

impl Walk {
    fn new() -> Self {
        Self {
            errors: Vec::new(),
            left: Some(MAX_OBJECT_COST),
        }
    }

    fn node<'a>(
        &mut self,
        schema: &'a Schema,
        value: &'a Value,
        past: Past<'a>,
        is_resource: bool,
        path: &FieldPath,
    ) {
        if !schema.ruled || value.is_null() || self.left.is_none() {
            return;
        }
        self.rules(schema, value, past, is_resource, path);
        match value {
            Value::Array(list) => {
                let Some(items) = &schema.items else { return };
                let old = OldEntries::of(&schema.list, past.old);
                let kin = OldEntries::of(&schema.list, past.kin);
                for (index, entry) in list.iter().enumerate() {
                    let past = past.entry(value, entry, &old, &kin);
                    let is_resource = items.embedded_resource;
                    self.node(items, entry, past, is_resource, &path.index(index));
                }
            }
            Value::Object(object) => {
                for (name, field) in object {
                    let past = past.field(value, name);
                    if let Some(property) = schema.properties.get(name) {
                        let is_resource = property.embedded_resource;
                        self.node(property, field, past, is_resource, &path.field(name));
                    } else if let Some(additional) = &schema.additional {
                        let is_resource = additional.embedded_resource;
                        self.node(additional, field, past, is_resource, &path.key(name));
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn rules(
        &mut self,
        schema: &Schema,
        value: &Value,
        past: Past<'_>,
        is_resource: bool,
        path: &FieldPath,
    ) {
        if schema.rules.is_empty() {
            return;
        }
        let old = past.old.filter(|old| !old.is_null());
        let scene = Scene::new(schema, is_resource, value, old);
        for rule in &schema.rules {
            let needs_past = rule.program.uses_old_self() && !rule.optional_old_self;
            if self.left.is_none() || (needs_past && old.is_none()) {
                continue;
            }
            if let Some(error) = self.rule(schema, rule, &scene, value, path) {
                let is_tolerated =
                    error.tolerable && !rule.program.uses_old_self() && past.is_untouched(value);
                if !is_tolerated {
                    self.errors.push(error.error);
                }
            }
        }
    }

    fn rule(
        &mut self,
        schema: &Schema,
        rule: &Rule,
        scene: &Scene,
        value: &Value,
        path: &FieldPath,
    ) -> Option<Broken> {
        let unable = |detail: String| {
            let kind = schema.kind.map_or("", Type::name);
            Some(Broken {
                error: FieldError::invalid(path.clone(), kind, detail),
                tolerable: false,
            })
        };
        let name = &rule.name;
        let found = match self.run(&rule.program, scene, rule.optional_old_self) {
            Ok(found) => found,
            Err(Overspent::Object) => {
                return unable(
                    "validation failed due to running out of cost budget, \
                     no further validation rules will be run"
                        .to_owned(),
                );
            }
            Err(Overspent::Rule) => {
                return unable(format!(
                    "'operation cancelled: actual cost limit exceeded': no further validation rules \
                     will be run due to call cost exceeds limit for rule: {name}"
                ));
            }
        };
        match found {
            Ok(cel::Value::Bool(true)) => None,
            Ok(_) => Some(self.broken(schema, rule, scene, value, path)),
            Err(fault) if fault == program::NO_OVERLOAD => unable(format!(
                "'{fault}': call arguments did not match a supported operator, function or macro \
                 signature for rule: {name}"
            )),
            Err(fault) => unable(format!("{fault} evaluating rule: {name}")),
        }
    }

    fn broken(
        &mut self,
        schema: &Schema,
        rule: &Rule,
        scene: &Scene,
        value: &Value,
        path: &FieldPath,
    ) -> Broken {
        let computed = rule
            .message
            .as_ref()
            .and_then(|message| self.run(message, scene, rule.optional_old_self).ok());
        let detail = match computed {
            Some(Ok(cel::Value::String(text))) if is_message(text.trim()) => text.trim().to_owned(),
            Some(Ok(_) | Err(_)) | None => rule.text.clone(),
        };
        let path = match rule.field_path.as_str() {
            "" => path.clone(),
            below => path.field(below),
        };
        let is_whole = matches!(schema.kind, Some(Type::Object | Type::Array));
        let error = match rule.reason {
            Reason::Forbidden => FieldError::forbidden(path, detail),
            Reason::Required => FieldError::required(path, detail),
            Reason::Duplicate if is_whole => FieldError::new(path, Fault::DuplicateWhole, ""),
            Reason::Duplicate => FieldError::new(path, Fault::Duplicate(value.clone()), ""),
            Reason::Invalid if is_whole => FieldError::new(path, Fault::InvalidWhole, detail),
            Reason::Invalid => FieldError::invalid(path, value.clone(), detail),
        };
        Broken {
            error,
            tolerable: true,
        }
    }

    /// Evaluates a program and pays for it.
    fn run(
        &mut self,
        program: &Program,
        scene: &Scene,
        optional_old_self: bool,
    ) -> Result<Result<cel::Value, String>, Overspent> {
        let left = self.left.unwrap_or_default();
        let limit = left.min(MAX_RULE_COST);
        let Outcome { found, cost } = scene.run(program, optional_old_self, limit);
        self.left = cost.map(|cost| left.saturating_sub(cost));
        match (cost, limit < MAX_RULE_COST) {
            (Some(_), _) => Ok(found),
            (None, true) => Err(Overspent::Object),
            (None, false) => Err(Overspent::Rule),
        }
    }
}

/// A rule that does not hold.
struct Broken {
    error: FieldError,
    /// Whether the error goes away if the value was not touched.
    tolerable: bool,
}

/// Whose bound was overstepped.
enum Overspent {
    Rule,
    Object,
}

/// The values that the rules of one node see.
struct Scene {
    new: cel::Value,
    old: Option<cel::Value>,
    /// How much there is to copy whenever a part of them is looked at.
    size: u64,
}

impl Scene {
    fn new(schema: &Schema, is_resource: bool, new: &Value, old: Option<&Value>) -> Self {
        let uses_past = schema.rules.iter().any(|rule| rule.program.uses_old_self());
        let mut size = 0;
        let mut cel_value = |value| values::to_cel(schema, is_resource, value, &mut size);
        let new = cel_value(new);
        let old = old.filter(|_| uses_past).map(cel_value);
        Self { new, old, size }
    }

    fn run(&self, program: &Program, optional_old_self: bool, limit: u64) -> Outcome {
        let mut scope = functions::base().new_inner_scope();
        scope.add_variable_from_value("self", self.new.clone());
        if optional_old_self {
            scope.add_variable_from_value("oldSelf", functions::optional(self.old.clone()));
        } else if let Some(old) = &self.old {
            scope.add_variable_from_value("oldSelf", old.clone());
        }
        program.run(&scope, self.size, limit)
    }
}

fn is_message(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_MESSAGE && !text.contains('\n')
}
