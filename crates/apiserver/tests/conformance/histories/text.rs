//! A history as it would be written in `conformance/api`.

use std::fmt::Write as _;

use serde_json::Value;

/// Words that YAML takes for something else.
const TAKEN: [&str; 10] = [
    "true", "false", "null", "yes", "no", "on", "off", "y", "n", "end",
];

/// The sequence as text.
pub(crate) fn sequence(name: &str, steps: &[Value]) -> String {
    let mut text = format!("name: {name}\nsteps:\n");
    for step in steps {
        let line = match step.as_object() {
            Some(step) => {
                let lines = step.iter();
                let lines: Vec<_> = lines
                    .map(|(title, details)| format!("{title}: {}", flow(details)))
                    .collect();
                lines.concat()
            }
            None => step.as_str().unwrap_or_default().to_owned(),
        };
        let _infallible = writeln!(text, "- {line}");
    }
    text
}

/// The steps without what they save for nobody, and with the codes that were answered.
pub(crate) fn tidied(steps: &[Value], codes: &[Option<u16>]) -> Vec<Value> {
    let mut tidied = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let later = Value::from(&steps[at + 1..]).to_string();
        let mut step = step.clone();
        let refused = codes.get(at).copied().flatten().filter(|code| *code >= 300);
        if let (Some(code), Value::String(title)) = (refused, &step) {
            step = serde_json::json!({ title: { "code": code } });
        } else if let Some(details) = details(&mut step) {
            details.extend(refused.map(|code| ("code".to_owned(), code.into())));
        }
        drop_unused(&mut step, &later);
        tidied.push(step);
    }
    tidied
}

fn drop_unused(step: &mut Value, later: &str) {
    let Some(details) = details(step) else {
        return;
    };
    if let Some(Value::Object(save)) = details.get_mut("save") {
        let is_used = |name: &str| {
            later.contains(&format!("{{{name}}}")) || later.contains(&format!("\"of\":\"{name}\""))
        };
        save.retain(|name, _| is_used(name));
        if save.is_empty() {
            details.remove("save");
        }
    }
    if details.is_empty()
        && let Value::Object(map) = &*step
    {
        let title = map.keys().next().cloned().unwrap_or_default();
        *step = Value::String(title);
    }
}

fn details(step: &mut Value) -> Option<&mut serde_json::Map<String, Value>> {
    step.as_object_mut()?.values_mut().next()?.as_object_mut()
}

fn flow(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let fields = map.iter();
            let fields: Vec<_> = fields
                .map(|(key, value)| format!("{}: {}", word(key), flow(value)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
        Value::String(text) => word(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// Without quotes where YAML reads the same.
fn word(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_./-$".contains(letter);
    let begins =
        text.starts_with(|letter: char| letter.is_ascii_alphabetic() || "/$".contains(letter));
    if begins && text.chars().all(plain) && !TAKEN.contains(&text.to_lowercase().as_str()) {
        text.to_owned()
    } else {
        Value::from(text).to_string()
    }
}
