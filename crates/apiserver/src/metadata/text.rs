//! Forms that texts must have, and what the API says of texts that have not.
//!
//! Every function returns what is wrong with its text; nothing means that it has the form. The
//! words are kube-apiserver's, which shows people the pattern it checks.

/// The longest DNS name (RFC 1123).
pub(crate) const LONGEST_SUBDOMAIN: usize = 253;
/// The longest label of a DNS name, and by convention the longest name part of keys and values.
pub(crate) const LONGEST_LABEL: usize = 63;
/// The longest name of a port (RFC 6335).
const LONGEST_PORT_NAME: usize = 15;

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const KEY: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const KEY_SAYS: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start \
                        and end with an alphanumeric character";

/// `my-name`: a lower-case DNS label.
pub(crate) fn label(text: &str) -> Vec<String> {
    let mut wrong = longer_than(LONGEST_LABEL, text, "characters");
    if is_label(text) {
        return wrong;
    }
    if is_subdomain(text) {
        wrong.push("must not contain dots".to_owned());
    } else {
        let says = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters \
                    or '-', and must start and end with an alphanumeric character";
        wrong.push(pattern(says, LABEL, &["my-name", "123-abc"]));
    }
    wrong
}

/// `my-name` that begins with a letter, as the oldest rules for host names ask.
pub(crate) fn label_1035(text: &str) -> Vec<String> {
    let mut wrong = longer_than(LONGEST_LABEL, text, "characters");
    if !is_label(text) || !text.starts_with(|first: char| first.is_ascii_lowercase()) {
        let says = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', \
                    start with an alphabetic character, and end with an alphanumeric character";
        let form = "[a-z]([-a-z0-9]*[a-z0-9])?";
        wrong.push(pattern(says, form, &["my-name", "abc-123"]));
    }
    wrong
}

/// `example.com`: labels with dots between them.
pub(crate) fn subdomain(text: &str) -> Vec<String> {
    subdomain_of(text, "characters")
}

/// The API counts bytes everywhere, but only where keys and values are judged does it say so.
fn subdomain_of(text: &str, units: &str) -> Vec<String> {
    let mut wrong = longer_than(LONGEST_SUBDOMAIN, text, units);
    if !is_subdomain(text) {
        let says = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
                    characters, '-' or '.', and must start and end with an alphanumeric character";
        wrong.push(pattern(says, &subdomain_form(), &["example.com"]));
    }
    wrong
}

/// `*.example.com`
pub(crate) fn wildcard_subdomain(text: &str) -> Vec<String> {
    let mut wrong = longer_than(LONGEST_SUBDOMAIN, text, "characters");
    if !text.strip_prefix("*.").is_some_and(is_subdomain) {
        let says = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS \
                    subdomain, which must consist of lower case alphanumeric characters, '-' or \
                    '.' and end with an alphanumeric character";
        let form = format!(r"\*\.{}", subdomain_form());
        wrong.push(pattern(says, &form, &["*.example.com"]));
    }
    wrong
}

/// `example.com/MyName` or `MyName`: keys of labels and annotations, names of finalizers.
pub(crate) fn qualified_name(text: &str) -> Vec<String> {
    let examples = ["MyName", "my.name", "123-abc"];
    let mut wrong = Vec::new();
    let name = match text.split('/').collect::<Vec<_>>().as_slice() {
        [name] => *name,
        [prefix, name] => {
            match *prefix {
                "" => wrong.push("prefix part must be non-empty".to_owned()),
                prefix => {
                    let faults = subdomain_of(prefix, "bytes").into_iter();
                    wrong.extend(faults.map(|fault| format!("prefix part {fault}")));
                }
            }
            *name
        }
        _ => {
            return vec![format!(
                "a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. \
                 'example.com/MyName')",
                pattern(KEY_SAYS, KEY, &examples)
            )];
        }
    };
    if name.is_empty() {
        wrong.push("name part must be non-empty".to_owned());
    }
    let faults = longer_than(LONGEST_LABEL, name, "bytes").into_iter();
    wrong.extend(faults.map(|fault| format!("name part {fault}")));
    if !is_key(name) {
        wrong.push(format!("name part {}", pattern(KEY_SAYS, KEY, &examples)));
    }
    wrong
}

/// The value of a label: may be empty.
pub(crate) fn label_value(text: &str) -> Vec<String> {
    let mut wrong = longer_than(LONGEST_LABEL, text, "bytes");
    if !text.is_empty() && !is_key(text) {
        let says = format!(
            "a valid label must be an empty string or {}",
            &KEY_SAYS["must ".len()..]
        );
        let form = format!("({KEY})?");
        wrong.push(pattern(&says, &form, &["MyValue", "my_value", "12345"]));
    }
    wrong
}

/// Whatever can stand between two slashes of a path.
pub(crate) fn path_segment(text: &str) -> Vec<String> {
    match text {
        "." | ".." => vec![format!("may not be '{text}'")],
        text => path_segment_prefix(text),
    }
}

/// The beginning of a segment of a path.
pub(crate) fn path_segment_prefix(text: &str) -> Vec<String> {
    let found = ["/", "%"].into_iter().filter(|bad| text.contains(bad));
    found
        .map(|bad| format!("may not contain '{bad}'"))
        .collect()
}

/// A key in the data of a `Secret` or `ConfigMap`, which becomes the name of a file.
pub(crate) fn data_key(text: &str) -> Vec<String> {
    let mut wrong = longer_than(LONGEST_SUBDOMAIN, text, "characters");
    if text.is_empty() || !text.bytes().all(is_key_byte) {
        let says = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
        let examples = ["key.name", "KEY_NAME", "key-name"];
        wrong.push(pattern(says, "[-._a-zA-Z0-9]+", &examples));
    }
    match text {
        "." | ".." => wrong.push(format!("must not be '{text}'")),
        text if text.starts_with("..") => wrong.push("must not start with '..'".to_owned()),
        _ => {}
    }
    wrong
}

/// The name of a port (an IANA service name).
pub(crate) fn port_name(text: &str) -> Vec<String> {
    let mut wrong = longer_than(LONGEST_PORT_NAME, text, "characters");
    let mut say = |fault: bool, says: &str| {
        if fault {
            wrong.push(says.to_owned());
        }
    };
    let in_set = |byte: u8| byte == b'-' || byte.is_ascii_lowercase() || byte.is_ascii_digit();
    say(
        text.is_empty() || !text.bytes().all(in_set),
        "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
    );
    let letter = |byte: u8| byte.is_ascii_lowercase();
    say(
        !text.bytes().any(letter),
        "must contain at least one letter (a-z)",
    );
    say(text.contains("--"), "must not contain consecutive hyphens");
    let edge = text.starts_with('-') || text.ends_with('-');
    say(edge, "must not begin or end with a hyphen");
    wrong
}

/// A port's number.
pub(crate) fn port_number(port: i64) -> Option<String> {
    (!(1..=65535).contains(&port)).then(|| in_range(1, 65535))
}

/// `must be between 1 and 3, inclusive`
pub(crate) fn in_range(low: i64, high: i64) -> String {
    format!("must be between {low} and {high}, inclusive")
}

/// `says (e.g. 'a', or 'b', regex used for validation is 'form')`
pub(crate) fn pattern(says: &str, form: &str, examples: &[&str]) -> String {
    let used = format!("regex used for validation is '{form}')");
    if examples.is_empty() {
        return format!("{says} ({used}");
    }
    let examples: Vec<String> = examples
        .iter()
        .map(|example| format!("'{example}', "))
        .collect();
    format!("{says} (e.g. {}{used}", examples.join(" or "))
}

fn longer_than(most: usize, text: &str, units: &str) -> Vec<String> {
    let too_long = text.len() > most;
    let says = || format!("must be no more than {most} {units}");
    too_long.then(says).into_iter().collect()
}

fn subdomain_form() -> String {
    format!(r"{LABEL}(\.{LABEL})*")
}

fn is_label(text: &str) -> bool {
    let alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    let ends = bytes.first().zip(bytes.last());
    ends.is_some_and(|(first, last)| alphanumeric(*first) && alphanumeric(*last))
        && bytes
            .iter()
            .all(|byte| alphanumeric(*byte) || *byte == b'-')
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn is_key(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = bytes.first().zip(bytes.last());
    let edge = |byte: &u8| byte.is_ascii_alphanumeric();
    ends.is_some_and(|(first, last)| edge(first) && edge(last))
        && bytes.iter().all(|byte| is_key_byte(*byte))
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}
