//! Schemas from `OpenAPI` documents, read far enough for patches and managed fields.

use serde_json::{Map, Value};

use crate::object::Object;
use crate::schema::{ListKind, MapKind, Merge, Schema, Type};

/// A kind in the document of its group and version.
pub(crate) struct Published {
    pub(super) document: Value,
    pub(super) definition: String,
}

impl Published {
    pub(crate) fn schema(&self) -> Schema {
        read(&self.document, self.root())
    }

    /// The object of this kind that has nothing in it, as Go writes it: structs are always there,
    /// and so are lists that may not be left out.
    pub(crate) fn empty(&self) -> Object {
        empty(&self.document, self.root())
    }

    fn root(&self) -> &Value {
        definition(&self.document, &self.definition)
    }
}

/// A schema without references.
pub(crate) fn read_schema(schema: &Value) -> Schema {
    read(&Value::Null, schema)
}

fn definition<'a>(document: &'a Value, name: &str) -> &'a Value {
    document
        .pointer(&format!("/components/schemas/{name}"))
        .unwrap_or_else(|| panic!("no {name}"))
}

/// The schema that a property stands for, behind `allOf` and `$ref`.
fn resolve<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let target = schema.pointer("/allOf/0").unwrap_or(schema);
    match target["$ref"].as_str() {
        Some(reference) => definition(document, reference.rsplit('/').next().unwrap()),
        None => target,
    }
}

fn read(document: &Value, schema: &Value) -> Schema {
    let target = resolve(document, schema);
    let child = |schema: &Value| read(document, schema);
    let children = |fields: &Map<String, Value>| {
        fields
            .iter()
            .map(|(name, schema)| (name.clone(), child(schema)))
            .collect()
    };
    let is = |name: &str| target[name] == Value::Bool(true);
    Schema {
        kind: kind(target["type"].as_str()),
        nullable: is("nullable"),
        properties: target["properties"]
            .as_object()
            .map(children)
            .unwrap_or_default(),
        additional: target
            .get("additionalProperties")
            .filter(|it| it.is_object())
            .map(child)
            .map(Box::new),
        items: target.get("items").map(child).map(Box::new),
        default: schema.get("default").cloned(),
        list: list(schema, target),
        map: match either(schema, target, "x-kubernetes-map-type").and_then(Value::as_str) {
            Some("atomic") => MapKind::Atomic,
            _ => MapKind::Granular,
        },
        preserve_unknown: is("x-kubernetes-preserve-unknown-fields"),
        int_or_string: is("x-kubernetes-int-or-string"),
        any_scalar: target["type"] == "string"
            && !matches!(target["format"].as_str(), None | Some("" | "byte")),
        embedded_resource: is("x-kubernetes-embedded-resource"),
        merge: merge(schema),
        ..Schema::default()
    }
}

fn either<'a>(schema: &'a Value, target: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get(name).or_else(|| target.get(name))
}

fn kind(name: Option<&str>) -> Option<Type> {
    Some(match name? {
        "object" => Type::Object,
        "array" => Type::Array,
        "string" => Type::String,
        "integer" => Type::Integer,
        "number" => Type::Number,
        "boolean" => Type::Boolean,
        other => panic!("no such type: {other}"),
    })
}

fn list(schema: &Value, target: &Value) -> ListKind {
    let keys = |keys: &Value| serde_json::from_value(keys.clone()).unwrap();
    match either(schema, target, "x-kubernetes-list-type").and_then(Value::as_str) {
        Some("map") => ListKind::Map(keys(&schema["x-kubernetes-list-map-keys"])),
        Some("set") => ListKind::Set,
        Some(_) => ListKind::Atomic,
        // Older lists say it only in the words of strategic merge patches.
        None => match merge(schema) {
            Some(Merge { key: Some(key), .. }) => ListKind::Map(vec![key]),
            Some(Merge { key: None, .. }) => ListKind::Set,
            None => ListKind::Atomic,
        },
    }
}

fn merge(schema: &Value) -> Option<Merge> {
    let strategies = schema["x-kubernetes-patch-strategy"].as_str()?;
    let key = schema["x-kubernetes-patch-merge-key"]
        .as_str()
        .map(str::to_owned);
    let retain_keys = strategies.contains("retainKeys");
    strategies
        .starts_with("merge")
        .then_some(Merge { key, retain_keys })
}

fn empty(document: &Value, schema: &Value) -> Object {
    let schema = resolve(document, schema);
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let fields = schema["properties"].as_object().into_iter().flatten();
    fields
        .filter_map(|(name, field)| {
            let is_struct = field["default"].as_object().is_some_and(Map::is_empty);
            let is_written = field["type"] == "array" && required.contains(&name.as_str());
            match (is_struct, is_written) {
                (true, _) => Some((name.clone(), Value::Object(empty(document, field)))),
                (false, true) => Some((name.clone(), Value::Null)),
                (false, false) => None,
            }
        })
        .collect()
}
