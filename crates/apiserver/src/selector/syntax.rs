//! What may be a label's key and value, and what is said about one that may not.

const NAME_RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_RULE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const SUBDOMAIN_RULE: &str = r"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/// The longest name of a label and the longest value, as Kubernetes has it.
const NAME_MAX: usize = 63;
/// The longest prefix: the longest name in DNS.
const SUBDOMAIN_MAX: usize = 253;

/// Everything that is wrong with a label's key.
pub(super) fn key_problems(key: &str) -> Vec<String> {
    match key.split('/').collect::<Vec<_>>().as_slice() {
        [name] => name_problems(name),
        [prefix, name] => {
            let mut problems = prefix_problems(prefix);
            problems.extend(name_problems(name));
            problems
        }
        _ => vec![format!(
            "a valid label key {NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        )],
    }
}

/// Everything that is wrong with a label's value.
pub(super) fn value_problems(value: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if value.len() > NAME_MAX {
        problems.push(too_long(NAME_MAX));
    }
    if !value.is_empty() && !is_name(value) {
        problems.push(VALUE_RULE.to_owned());
    }
    problems
}

fn name_problems(name: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if name.len() > NAME_MAX {
        problems.push(format!("name part {}", too_long(NAME_MAX)));
    }
    if !is_name(name) {
        problems.push(format!("name part {NAME_RULE}"));
    }
    problems
}

fn prefix_problems(prefix: &str) -> Vec<String> {
    if prefix.is_empty() {
        return vec!["prefix part must be non-empty".to_owned()];
    }
    let mut problems = Vec::new();
    if prefix.len() > SUBDOMAIN_MAX {
        problems.push(format!("prefix part {}", too_long(SUBDOMAIN_MAX)));
    }
    if !prefix.split('.').all(is_dns_label) {
        problems.push(format!("prefix part {SUBDOMAIN_RULE}"));
    }
    problems
}

fn too_long(max: usize) -> String {
    format!("must be no more than {max} bytes")
}

fn is_name(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let ends = |c: char| c.is_ascii_alphanumeric();
    text.starts_with(ends) && text.ends_with(ends) && text.chars().all(inner)
}

fn is_dns_label(text: &str) -> bool {
    let ends = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.starts_with(ends) && text.ends_with(ends) && text.chars().all(|c| ends(c) || c == '-')
}
