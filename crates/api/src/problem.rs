//! What is wrong with an object: the field, the rule, and the value that broke it.
//!
//! A [`Problem`] is an answer for the author of a manifest. It never carries a value in full:
//! values come from strangers, so they are shortened and escaped before they reach a log, a
//! condition or a terminal.

use std::fmt;

/// How many characters of an offending value a problem shows: a whole host name, and a glimpse of
/// anything longer.
const VALUE_CHARS_MAX: usize = 256;

/// How long a summary may be. `metav1.Condition` allows 32768; nobody reads that much, and many
/// conditions share one object.
const SUMMARY_CHARS_MAX: usize = 4096;

/// One thing that is wrong with an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Where, as a path such as `spec.delegations[0].records[1].pattern`.
    pub field: String,
    /// The rule that does not hold, in lower case, without the value.
    pub message: String,
    /// What was found instead, shortened and escaped; absent where the fault is that nothing is
    /// there.
    pub value: Option<String>,
}

impl Problem {
    /// A field whose value breaks a rule.
    pub fn new(field: &FieldPath, message: impl fmt::Display, value: impl fmt::Display) -> Self {
        Self {
            field: field.to_string(),
            message: message.to_string(),
            value: Some(shown(&value.to_string())),
        }
    }

    /// A fault without an offending value: something is missing, or two fields do not go together.
    pub fn bare(field: &FieldPath, message: impl fmt::Display) -> Self {
        Self {
            field: field.to_string(),
            message: message.to_string(),
            value: None,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)?;
        match &self.value {
            Some(value) => write!(f, ": got \"{value}\""),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Problem {}

/// All problems in one bounded line, for a condition's message.
pub fn summary(problems: &[Problem]) -> String {
    let mut line = String::new();
    for (index, problem) in problems.iter().enumerate() {
        let next = problem.to_string();
        if index > 0 {
            if line.chars().count() + next.chars().count() > SUMMARY_CHARS_MAX {
                let left = problems.len() - index;
                return format!("{line}; and {left} more");
            }
            line.push_str("; ");
        }
        line.push_str(&next);
    }
    line
}

/// A value as a problem shows it: control and other unprintable characters escaped, at most
/// [`VALUE_CHARS_MAX`] characters of it, with a mark where it was cut.
fn shown(value: &str) -> String {
    let mut text = String::new();
    let mut characters = value.chars();
    for character in characters.by_ref().take(VALUE_CHARS_MAX) {
        // `escape_debug` knows control characters, quotes, backslashes and the invisible parts of
        // Unicode. The value stands in double quotes, so a single one is harmless.
        match character {
            '\'' => text.push('\''),
            other => text.extend(other.escape_debug()),
        }
    }
    if characters.next().is_some() {
        text.push('…');
    }
    text
}

/// The way to a field of an object, built step by step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPath(String);

impl FieldPath {
    /// A field at the top of the object, such as `metadata` or `spec`.
    pub fn root(field: &str) -> Self {
        Self(field.to_owned())
    }

    /// The object's `spec`.
    pub fn spec() -> Self {
        Self::root("spec")
    }

    /// A field of the object this path leads to.
    #[must_use]
    pub fn field(&self, name: &str) -> Self {
        Self(format!("{}.{name}", self.0))
    }

    /// An item of the list this path leads to.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    /// A key of the map this path leads to, such as
    /// `metadata.annotations["kubi.zone/parent-zone-ref"]`.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        Self(format!("{}[\"{}\"]", self.0, shown(key)))
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_reads_as_field_rule_and_value() {
        let field = FieldPath::spec()
            .field("delegations")
            .index(0)
            .field("records")
            .index(1)
            .field("pattern");
        let cases = [
            (
                Problem::new(&field, "must not be empty", ""),
                "spec.delegations[0].records[1].pattern: must not be empty: got \"\"",
            ),
            (
                Problem::bare(
                    &FieldPath::spec().field("zoneRef"),
                    "is needed for a relative domainName",
                ),
                "spec.zoneRef: is needed for a relative domainName",
            ),
            (
                Problem::new(
                    &FieldPath::root("metadata")
                        .field("annotations")
                        .key("a/b\n"),
                    "must be true",
                    "no",
                ),
                "metadata.annotations[\"a/b\\n\"]: must be true: got \"no\"",
            ),
        ];
        for (problem, text) in cases {
            assert_eq!(problem.to_string(), text);
        }
    }

    #[test]
    fn offending_values_are_escaped_and_cut() {
        let cases = [
            ("plain", "plain".to_owned()),
            ("a\nb\0c\u{1b}[31m", "a\\nb\\0c\\u{1b}[31m".to_owned()),
            ("it's", "it's".to_owned()),
            ("say \"hi\" \\", "say \\\"hi\\\" \\\\".to_owned()),
            // Characters that would turn or hide the text around them.
            ("\u{202e}gro", "\\u{202e}gro".to_owned()),
            ("zero\u{200b}width", "zero\\u{200b}width".to_owned()),
            ("bücher", "bücher".to_owned()),
        ];
        for (value, text) in cases {
            assert_eq!(shown(value), text, "{value:?}");
        }
        assert_eq!(
            shown(&"é".repeat(VALUE_CHARS_MAX)),
            "é".repeat(VALUE_CHARS_MAX)
        );
        assert_eq!(
            shown(&"é".repeat(VALUE_CHARS_MAX + 1)),
            format!("{}…", "é".repeat(VALUE_CHARS_MAX))
        );
    }

    #[test]
    fn a_summary_names_all_problems_until_it_would_grow_too_long() {
        let problem = |n: usize| Problem::bare(&FieldPath::spec().field("a").index(n), "is wrong");
        assert_eq!(summary(&[]), "");
        assert_eq!(summary(&[problem(0)]), "spec.a[0]: is wrong");
        assert_eq!(
            summary(&[problem(0), problem(1)]),
            "spec.a[0]: is wrong; spec.a[1]: is wrong"
        );

        let many: Vec<Problem> = (0..5000).map(problem).collect();
        let line = summary(&many);
        assert!(
            line.chars().count() < SUMMARY_CHARS_MAX + 32,
            "{}",
            line.len()
        );
        let named = line.matches("is wrong").count();
        assert!(
            line.ends_with(&format!("; and {} more", many.len() - named)),
            "{line}"
        );
    }
}
