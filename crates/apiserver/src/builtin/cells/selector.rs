//! Label selectors as people write them: `a=b,c in (d,e),!f`.

use serde_json::Value;

use crate::builtin::fields::Fields as _;

/// A selector's requirements, sorted by key; nothing for one that takes everything.
pub(in crate::builtin) fn shown(selector: Option<&Value>) -> String {
    let Some(selector) = selector else {
        return String::new();
    };
    let labels = selector.entries("matchLabels").map(|(key, value)| {
        let value = value.as_str().unwrap_or_default();
        (key, format!("{key}={value}"))
    });
    let expressions = selector.list("matchExpressions").iter();
    let expressions = expressions.map(|expression| (expression.text("key"), shown_one(expression)));
    let mut all: Vec<(&str, String)> = labels.chain(expressions).collect();
    all.sort_by_key(|(key, _)| *key);
    let all: Vec<String> = all.into_iter().map(|(_, shown)| shown).collect();
    all.join(",")
}

fn shown_one(expression: &Value) -> String {
    let key = expression.text("key");
    let mut values = expression.texts("values");
    values.sort_unstable();
    let values = values.join(",");
    match expression.text("operator") {
        "In" => format!("{key} in ({values})"),
        "NotIn" => format!("{key} notin ({values})"),
        "DoesNotExist" => format!("!{key}"),
        _ => key.to_owned(),
    }
}
