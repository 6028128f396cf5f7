//! What the published schemas say beyond types: who may own what, how patches merge, documented
//! values. k8s-openapi leaves it out, so it is written down in `extensions.txt`.

use serde_json::{Map, Value, json};

/// The rows of `extensions.txt`.
pub(super) struct Extensions(Vec<Row>);

/// What is said of one field.
struct Row {
    /// The full name of the type.
    of: &'static str,
    /// Names of fields from the type down to the schema in question; `[]` is what a list holds, `{}` a map.
    path: Vec<&'static str>,
    words: Vec<&'static str>,
}

/// The table as it is written down.
pub(super) fn table() -> Extensions {
    Extensions::read(include_str!("extensions.txt"))
}

impl Extensions {
    fn read(text: &'static str) -> Self {
        let mut of = "";
        let mut rows = Vec::new();
        for line in text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
        {
            if !line.starts_with(' ') {
                of = line;
                continue;
            }
            let mut words = line.split_whitespace();
            let path = words
                .next()
                .expect("a line of the table that is not empty has a field");
            let path = match (path, path.strip_suffix("[]")) {
                (".", _) => Vec::new(),
                (_, Some(list)) => vec!["properties", list, "items"],
                (field, None) => match field.strip_suffix("{}") {
                    Some(map) => vec!["properties", map, "additionalProperties"],
                    None => vec!["properties", field],
                },
            };
            let words = words.collect();
            rows.push(Row { of, path, words });
        }
        Self(rows)
    }

    /// Adds what the table says to the types it speaks of.
    pub(super) fn extend(&self, types: &mut Map<String, Value>) {
        for row in &self.0 {
            let schema = types.get_mut(row.of).and_then(|of| descend(of, &row.path));
            let schema = schema.expect("a row of the table names a field that its type has");
            for word in &row.words {
                say(word, schema);
            }
        }
    }
}

fn descend<'a>(schema: &'a mut Value, path: &[&str]) -> Option<&'a mut Map<String, Value>> {
    let found = path
        .iter()
        .try_fold(schema, |schema, step| schema.get_mut(step));
    found.and_then(Value::as_object_mut)
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
