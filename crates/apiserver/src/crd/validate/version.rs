//! What each version says: its schema, subresources, columns and selectable fields.

use std::sync::LazyLock;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinitionVersion, SelectableField,
};
use regex::Regex;
use serde_json::Value;

use super::{columns, subresources, text};
use crate::crd::{has_status, schema_of, selectable};
use crate::object::Object;
use crate::refusal::{FieldError, FieldPath};
use crate::schema::Schema;

/// The versions of a definition.
pub(super) struct Versions<'a> {
    pub(super) definition: &'a Object,
    pub(super) all: &'a [CustomResourceDefinitionVersion],
}

/// What a version says, or all versions say together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Part {
    Schema,
    Subresources,
    Columns,
    SelectableFields,
}

impl Part {
    /// In the order in which they are judged.
    const ALL: [Self; 4] = [
        Self::Schema,
        Self::Subresources,
        Self::Columns,
        Self::SelectableFields,
    ];

    /// Whether two versions say the same. An empty list and none are the same.
    fn is_same(
        self,
        one: &CustomResourceDefinitionVersion,
        other: &CustomResourceDefinitionVersion,
    ) -> bool {
        match self {
            Self::Schema => one.schema == other.schema,
            Self::Subresources => one.subresources == other.subresources,
            Self::Columns => columns(one) == columns(other),
            Self::SelectableFields => selectable_fields(one) == selectable_fields(other),
        }
    }
}

impl Versions<'_> {
    /// What is wrong with what only one version says.
    pub(super) fn each(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        for (index, version) in self.all.iter().enumerate() {
            let at = FieldPath::of("spec.versions").index(index);
            errors.extend(version_name(&version.name, at.field("name")));
            errors.extend(deprecation(version, &at.field("deprecationWarning")));
            let parts = Part::ALL
                .into_iter()
                .filter(|part| !self.have_in_common(*part));
            errors.extend(parts.flat_map(|part| self.part(part, index, version, &at)));
        }
        errors
    }

    /// What is wrong with what all versions say.
    pub(super) fn common(&self) -> Vec<FieldError> {
        let Some(first) = self.all.first() else {
            return Vec::new();
        };
        let at = FieldPath::of("spec");
        let parts = Part::ALL
            .into_iter()
            .filter(|part| self.have_in_common(*part));
        parts
            .flat_map(|part| self.part(part, 0, first, &at))
            .collect()
    }

    fn have_in_common(&self, part: Part) -> bool {
        self.all
            .windows(2)
            .all(|pair| part.is_same(&pair[0], &pair[1]))
    }

    fn part(
        &self,
        part: Part,
        index: usize,
        version: &CustomResourceDefinitionVersion,
        at: &FieldPath,
    ) -> Vec<FieldError> {
        match part {
            Part::Schema => self.schema(index, at),
            Part::Subresources => subresources::validate(version, &at.field("subresources")),
            Part::Columns => columns::validate(version, &at.field("additionalPrinterColumns")),
            Part::SelectableFields => {
                self.selectable_fields(index, version, &at.field("selectableFields"))
            }
        }
    }

    fn schema(&self, index: usize, at: &FieldPath) -> Vec<FieldError> {
        let Some(schema) = schema_of(self.definition, index) else {
            return Vec::new();
        };
        let (field, with_status) = if self.have_in_common(Part::Schema) {
            ("validation", self.all.iter().any(has_status))
        } else {
            ("schema", has_status(&self.all[index]))
        };
        let at = at.field(field).field("openAPIV3Schema");
        let mut errors = Vec::new();
        if with_status {
            errors.extend(root_with_status(schema, &at));
        }
        errors.extend(Schema::compile_at(schema, &at).err().into_iter().flatten());
        errors
    }

    /// Fields can be selected only where schema and fields stand together: both common to all
    /// versions, or both in this one.
    fn selectable_fields(
        &self,
        index: usize,
        version: &CustomResourceDefinitionVersion,
        at: &FieldPath,
    ) -> Vec<FieldError> {
        let fields = selectable_fields(version);
        if fields.is_empty() {
            return Vec::new();
        }
        let are_common = self.have_in_common(Part::SelectableFields);
        let together = are_common == self.have_in_common(Part::Schema);
        if let Some(schema) = schema_of(self.definition, index).filter(|_| together) {
            // A schema that is wrong has been told already.
            let schema = Schema::compile_at(schema, at).ok();
            return schema
                .map_or_else(Vec::new, |schema| selectable::validate(fields, &schema, at));
        }
        let detail = if are_common {
            "may only be set when validations.schema is included"
        } else {
            "may only be set when `version.schema.openAPIV3Schema` is not included"
        };
        vec![FieldError::invalid(at.clone(), "", detail)]
    }
}

fn columns(version: &CustomResourceDefinitionVersion) -> &[CustomResourceColumnDefinition] {
    version
        .additional_printer_columns
        .as_deref()
        .unwrap_or_default()
}

fn selectable_fields(version: &CustomResourceDefinitionVersion) -> &[SelectableField] {
    version.selectable_fields.as_deref().unwrap_or_default()
}

fn version_name(name: &str, path: FieldPath) -> Option<FieldError> {
    let wrong = text::label_1035(name);
    (!wrong.is_empty()).then(|| FieldError::invalid(path, name, wrong.join(",")))
}

/// The longest warning that clients are sent in a header.
const WARNING_LIMIT: usize = 256;

/// What can be printed: letters, marks, numbers, punctuation, symbols and the plain space.
static PRINTABLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[\pL\pM\pN\pP\pS ]*").expect("the pattern is written correctly")
});

fn deprecation(version: &CustomResourceDefinitionVersion, path: &FieldPath) -> Vec<FieldError> {
    let Some(warning) = version.deprecation_warning.as_deref() else {
        return Vec::new();
    };
    if version.deprecated != Some(true) {
        let detail = "can only be set for deprecated versions";
        return vec![FieldError::invalid(path.clone(), warning, detail)];
    }
    let mut wrong = Vec::new();
    if warning.len() > WARNING_LIMIT {
        wrong.push(format!("must be <= {WARNING_LIMIT} characters long"));
    }
    if warning.is_empty() {
        wrong.push("must not be an empty string".to_owned());
    }
    let printable = PRINTABLE.find(warning).map_or(0, |found| found.end());
    if printable < warning.len() {
        wrong.push(format!(
            "must only contain printable UTF-8 characters; non-printable character found at index \
             {printable}"
        ));
    }
    wrong
        .into_iter()
        .map(|detail| FieldError::invalid(path.clone(), warning, detail))
        .collect()
}

/// The keywords that may stand at the root of a schema whose `status` is written on its own: all
/// others would be lost when the schema of the status is taken out of it.
const ALLOWED_BESIDE_STATUS: [&str; 22] = [
    "description",
    "type",
    "format",
    "title",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "multipleOf",
    "required",
    "items",
    "properties",
    "externalDocs",
    "example",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
];

/// The same as kube-apiserver's messages list them.
const ALLOWED_BESIDE_STATUS_SHOWN: &str = "[Description Type Format Title Maximum ExclusiveMaximum \
    Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf \
    Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations]";

fn root_with_status(schema: &Value, at: &FieldPath) -> Option<FieldError> {
    if let Some(kind) = schema.get("type").and_then(Value::as_str)
        && kind != "object"
        && !kind.is_empty()
    {
        let detail = "only \"object\" is allowed as the type at the root of the schema if the \
                      status subresource is enabled";
        return Some(FieldError::invalid(at.field("type"), kind, detail));
    }
    let keywords = schema.as_object().into_iter().flatten();
    let lost: Value = keywords
        .filter(|(keyword, value)| {
            !ALLOWED_BESIDE_STATUS.contains(&keyword.as_str()) && is_set(value)
        })
        .map(|(keyword, _)| keyword.as_str())
        .collect();
    (lost != Value::Array(Vec::new())).then(|| {
        let detail = format!(
            "only {ALLOWED_BESIDE_STATUS_SHOWN} fields are allowed at the root of the schema if the \
             status subresource is enabled"
        );
        FieldError::invalid(at.clone(), lost, detail)
    })
}

/// Whether a keyword says anything.
fn is_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::String(text) => !text.is_empty(),
        Value::Number(_) | Value::Array(_) | Value::Object(_) => true,
    }
}
