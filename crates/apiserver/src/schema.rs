//! Structural schemas: what an object of a kind may look like.
//!
//! A schema is compiled once, when its kind appears, and then asked four things: which fields are unknown
//! ([`prune`](Schema::prune)), what is left out ([`default`](Schema::default_fields)), whether a value keeps the rules
//! ([`validate`](Schema::validate)), and how lists and maps merge (the fields of [`Schema`] itself, which patches and
//! managed fields walk).
//!
//! ```text
//! openAPIV3Schema ─► read ─► structural ─► openapi ─► defaults ─► rules ─► Schema
//!                    types   what may      lists,      do they     CEL
//!                            be nested     maps, …     fit?
//! ```
//!
//! Whatever [`compile_at`](Schema::compile_at) accepts is enforced; a construct that could not be is refused there.

mod defaults;
mod embedded;
mod format;
mod keywords;
mod lists;
#[cfg(test)]
mod on_cluster;
mod openapi;
mod pattern;
mod prune;
mod read;
mod rules;
mod structural;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::Value;

pub(crate) use format::is_cidr;
pub(crate) use keywords::Keywords;
pub(crate) use rules::{Expression, Rule, Variables};

use crate::refusal::{Fault, FieldError, FieldPath};

/// One node of a structural schema.
#[expect(
    clippy::struct_excessive_bools,
    reason = "the keywords are flags, and independent of each other"
)]
#[derive(Clone, Debug, Default)]
pub(crate) struct Schema {
    /// Nothing where any type may stand, as with `x-kubernetes-int-or-string`.
    pub(crate) kind: Option<Type>,
    pub(crate) nullable: bool,
    pub(crate) properties: BTreeMap<String, Schema>,
    /// What the values of a map must be.
    pub(crate) additional: Option<Box<Schema>>,
    /// `additionalProperties: false`: fields beside `properties` are kept and refused.
    pub(crate) closed: bool,
    pub(crate) items: Option<Box<Schema>>,
    pub(crate) default: Option<Value>,
    pub(crate) list: ListKind,
    pub(crate) map: MapKind,
    pub(crate) preserve_unknown: bool,
    pub(crate) int_or_string: bool,
    /// A text with a format, such as a time: server-side apply takes any scalar for it.
    pub(crate) any_scalar: bool,
    pub(crate) embedded_resource: bool,
    /// How strategic merge patches treat a list of a built-in kind.
    pub(crate) merge: Option<Merge>,
    /// Whether they replace an object of a built-in kind as a whole.
    pub(crate) replaced: bool,
    /// What a value of the right type must keep besides.
    pub(crate) keywords: Keywords,
    /// `x-kubernetes-validations`.
    pub(crate) rules: Vec<Rule>,
    /// Whether this node or one below has rules; spares the walk where there are none.
    pub(crate) ruled: bool,
}

/// JSON types as schemas name them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Type {
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
}

/// Who may own what inside a list.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) enum ListKind {
    /// The list as a whole.
    #[default]
    Atomic,
    /// Each value, which occurs once.
    Set,
    /// Each entry, told apart by the values of these fields.
    Map(Vec<String>),
}

/// Who may own what inside an object or map.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum MapKind {
    /// Each field.
    #[default]
    Granular,
    /// The object as a whole.
    Atomic,
}

/// A list whose patches are merged entry by entry.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Merge {
    /// The field that tells entries apart; nothing for lists of plain values.
    pub(crate) key: Option<String>,
    /// `retainKeys`: fields that the patch does not name go.
    pub(crate) retain_keys: bool,
}

impl Schema {
    /// Reads `openAPIV3Schema`. Errors are at paths relative to it.
    #[cfg(test)]
    pub(crate) fn compile(open_api_v3_schema: &Value) -> Result<Self, Vec<FieldError>> {
        Self::compile_at(open_api_v3_schema, &FieldPath::root())
    }

    /// Reads `openAPIV3Schema`, which is at a path that some messages name.
    pub(crate) fn compile_at(
        open_api_v3_schema: &Value,
        path: &FieldPath,
    ) -> Result<Self, Vec<FieldError>> {
        let node = read::well_formed(open_api_v3_schema, path)?;
        let mut schema = read::schema(node);
        let mut errors = Vec::new();
        if openapi::is_supported(node) {
            errors = structural::check(node, path);
            if errors.is_empty() {
                errors = defaults::without_rules(&schema, path);
            }
        }
        errors.extend(openapi::check(node, path));
        if !errors.is_empty() {
            return Err(errors);
        }
        rules::attach(&mut schema, node, path)?;
        match defaults::with_rules(&schema, path) {
            errors if errors.is_empty() => Ok(schema),
            errors => Err(errors),
        }
    }

    /// Reads the schema of a published type, which is one that holds.
    pub(crate) fn of_published(schema: &Value) -> Self {
        schema.as_object().map(read::schema).unwrap_or_default()
    }

    /// Drops fields that the schema does not know, and nulls that it does not allow and has no default for.
    ///
    /// Returns the paths of unknown fields in the order in which strict field validation lists them.
    pub(crate) fn prune(&self, object: &mut Value) -> Vec<String> {
        prune::object(self, object)
    }

    /// Fills in what is left out and has a default.
    pub(crate) fn default_fields(&self, object: &mut Value) {
        defaults::fill(self, object);
    }

    /// Judges an object that is created or, with the object that it replaces, updated.
    ///
    /// What was already wrong and is not touched by an update is tolerated.
    pub(crate) fn validate(&self, new: &Value, old: Option<&Value>) -> Vec<FieldError> {
        let mut errors = keywords::judge(self, new, old, &FieldPath::root());
        errors.extend(embedded::judge(self, new));
        errors.extend(lists::judge(self, new, old));
        self.validate_rules(new, old, errors)
    }

    /// Judges a value by its keywords alone: types, fields that are required, values that are listed.
    pub(crate) fn validate_keywords(&self, value: &Value) -> Vec<FieldError> {
        keywords::judge(self, value, None, &FieldPath::root())
    }

    /// Judges an update through `/status`: the keywords of nothing but the status, and all rules.
    pub(crate) fn validate_status(&self, new: &Value, old: &Value) -> Vec<FieldError> {
        let mut errors = match (self.properties.get("status"), new.get("status")) {
            (Some(schema), Some(status)) => {
                let path = FieldPath::root().field("status");
                keywords::judge(schema, status, old.get("status"), &path)
            }
            (None, _) | (_, None) => Vec::new(),
        };
        errors.extend(lists::judge(self, new, Some(old)));
        self.validate_rules(new, Some(old), errors)
    }

    /// Rules expect objects of the right shape: after certain errors they are not looked at.
    fn validate_rules(
        &self,
        new: &Value,
        old: Option<&Value>,
        mut errors: Vec<FieldError>,
    ) -> Vec<FieldError> {
        if !self.ruled {
            return errors;
        }
        if errors.iter().any(hides_rules) {
            let unchecked = "some validation rules were not checked because the object was invalid; \
                             correct the existing errors to complete validation";
            errors.push(FieldError::invalid(
                FieldPath::root(),
                Value::Null,
                unchecked,
            ));
        } else {
            errors.extend(rules::judge(self, new, old, &FieldPath::root()));
        }
        errors
    }
}

impl Type {
    /// As schemas write it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }
}

fn hides_rules(error: &FieldError) -> bool {
    match error.fault {
        Fault::NotSupported(_)
        | Fault::Required
        | Fault::TooLong
        | Fault::TooMany(_)
        | Fault::TypeInvalid(_) => true,
        Fault::Invalid(_)
        | Fault::InvalidWhole
        | Fault::InvalidText(_)
        | Fault::Duplicate(_)
        | Fault::DuplicateText(_)
        | Fault::DuplicateWhole
        | Fault::Forbidden
        | Fault::Internal => false,
    }
}
