//! What the published schemas say beyond types: who may own what, how patches merge, documented
//! values. k8s-openapi leaves it out, so it is written down in `extensions.txt`.

use serde_json::{Map, Value, json};

use super::rows;

/// Adds what the table says to the types it speaks of.
pub(super) fn extend(types: &mut Map<String, Value>) {
    for (of, line) in rows::of(include_str!("extensions.txt")) {
        let mut words = line.split_whitespace();
        let field = words.next().unwrap_or_default();
        let schema = types.get_mut(of).and_then(|of| descend(of, field));
        let schema = schema.expect("a row of the table names a field that its type has");
        words.for_each(|word| say(word, schema));
    }
}

/// The schema of a field, of what its list or map holds, or the type itself.
fn descend<'a>(schema: &'a mut Value, field: &str) -> Option<&'a mut Map<String, Value>> {
    let below = match (field.strip_suffix("[]"), field.strip_suffix("{}")) {
        (None, None) if field == "." => schema,
        (None, None) => schema.get_mut("properties")?.get_mut(field)?,
        (Some(list), _) => schema
            .get_mut("properties")?
            .get_mut(list)?
            .get_mut("items")?,
        (None, Some(map)) => {
            let map = schema.get_mut("properties")?.get_mut(map)?;
            map.get_mut("additionalProperties")?
        }
    };
    below.as_object_mut()
}

/// Puts one word of the table into a schema.
fn say(word: &str, schema: &mut Map<String, Value>) {
    let (about, what) = word
        .split_once(':')
        .expect("a word of the table has a colon");
    let mut put = |key: &str, value: Value| schema.insert(key.to_owned(), value);
    match (about, what) {
        ("list", "atomic" | "set") => {
            put("x-kubernetes-list-type", what.into());
        }
        ("list", keys) => {
            put("x-kubernetes-list-type", "map".into());
            put("x-kubernetes-list-map-keys", keys.split(',').collect());
        }
        ("map", kind) => {
            put("x-kubernetes-map-type", kind.into());
        }
        ("patch", strategy) => {
            let (strategy, key) = strategy.split_once('(').unwrap_or((strategy, ""));
            put("x-kubernetes-patch-strategy", strategy.into());
            if let Some(key) = key.strip_suffix(')') {
                put("x-kubernetes-patch-merge-key", key.into());
            }
        }
        ("default", value) => {
            put("default", value.into());
        }
        ("enum", values) => {
            put("enum", json!(values.split('|').collect::<Vec<_>>()));
        }
        ("required", "-") => {
            schema.remove("required");
        }
        ("required", fields) => {
            put("required", fields.split(',').collect());
        }
        (about, _) => unreachable!("the table has no word {about}"),
    }
}
