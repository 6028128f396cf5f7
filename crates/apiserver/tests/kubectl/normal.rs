//! Makes the output of two runs comparable: what a server, a clock or a temporary folder chose gets a name.
//!
//! Uids, resource versions, times, ages in tables, addresses, tokens, and the names of kubectl's own files. Equal uids stay
//! equal. What is JSON as a whole has its fields in the order of their names: `get --raw` prints those of the server.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Map, Value};

static UID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").expect("a constant")
});

/// What is replaced by the same name wherever it is met.
static CHOSEN: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<time>"),
        // As `describe` and `diff` write it.
        (
            r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}",
            "<time>",
        ),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}", "<time>"),
        (r#"(resourceVersion"?: ?)"\d+""#, r#"$1"<version>""#),
        (r"(Resource Version: +)\d+", "$1<version>"),
        (r"(resource version to be \d+, was )\d+", "$1<version>"),
        (r"eyJ[\w-]+\.[\w-]+\.[\w-]+", "<token>"),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC", "<time>"),
        (r"((?:127\.0\.0\.1|localhost):)\d+", "$1<port>"),
        (r"/tmp/(LIVE|MERGED)-\d+", "/tmp/$1-<number>"),
        (r"/tmp/kubectl-edit-\d+", "/tmp/kubectl-edit-<number>"),
        // A line of kubectl's log.
        (r"(?m)^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ", "$1 "),
        // The cell of a table, and the space that fills it up.
        (r"(?m)( )(?:\d+[smhd]){1,2}( |$) *", "$1<age>$2"),
        (r"(?m)( AGE ) +", "$1"),
    ]
    .map(|(pattern, name)| (Regex::new(pattern).expect("a constant"), name))
    .into()
});

/// What one side chose so far.
#[derive(Default)]
pub(crate) struct Normal {
    /// In the order in which they were met.
    uids: Vec<String>,
}

impl Normal {
    pub(crate) fn text(&mut self, text: &str) -> String {
        let text = in_order(text).unwrap_or_else(|| text.to_owned());
        let named = UID.replace_all(&text, |found: &Captures<'_>| self.uid(&found[0]));
        let mut text = named.into_owned();
        for (pattern, name) in &*CHOSEN {
            text = pattern.replace_all(&text, *name).into_owned();
        }
        sort_causes(&without_meanings(&text))
    }

    fn uid(&mut self, uid: &str) -> String {
        let known = self.uids.iter().position(|known| known == uid);
        let number = known.unwrap_or_else(|| {
            self.uids.push(uid.to_owned());
            self.uids.len() - 1
        });
        format!("<uid {}>", number + 1)
    }
}

/// A JSON object with its fields in the order of their names; nothing if it is none.
fn in_order(text: &str) -> Option<String> {
    let object: Map<String, Value> = serde_json::from_str(text).ok()?;
    serde_json::to_string_pretty(&object).ok()
}

/// Of the values that a field may have kube-apiserver tells what each means. That is nowhere but in Kubernetes' own
/// sources; the values themselves are compared.
fn without_meanings(text: &str) -> String {
    let mut within = false;
    let mut kept: Vec<&str> = Vec::new();
    for line in text.split('\n') {
        if line.ends_with("Possible enum values:") {
            within = true;
            while kept.last().is_some_and(|line| line.trim().is_empty()) {
                kept.pop();
            }
        } else if within && line.trim_start().starts_with("- `\"") {
            let end = line.rfind("\"`").map_or(line.len(), |end| end + 2);
            kept.push(&line[..end]);
            continue;
        } else if line.trim().is_empty() {
            within = false;
        } else if within {
            continue;
        }
        kept.push(line);
    }
    kept.join("\n")
}

/// The causes of a refusal have no order: the real one walks maps.
fn sort_causes(text: &str) -> String {
    let mut lines: Vec<&str> = text.split('\n').collect();
    for causes in lines.chunk_by_mut(|one, next| one.starts_with("* ") && next.starts_with("* ")) {
        causes.sort_unstable();
    }
    lines.join("\n")
}

#[test]
fn what_a_run_chose_gets_a_name() {
    for (text, expected) in [
        ("a   5s\nb   2m30s\n", "a   <age>\nb   <age>\n"),
        (
            "NAME   AGE    X\na      100s   y",
            "NAME   AGE X\na      <age> y",
        ),
        ("resourceVersion: \"12\"", "resourceVersion: \"<version>\""),
        ("https://127.0.0.1:4711/x", "https://127.0.0.1:<port>/x"),
        (
            "{\"b\":\"2026-01-02T03:04:05Z\",\"a\":1}\n",
            "{\n  \"a\": 1,\n  \"b\": \"<time>\"\n}",
        ),
        (
            "--- /tmp/LIVE-12/v1\t2026-01-02 03:04:05.678 +0000",
            "--- /tmp/LIVE-<number>/v1\t<time>",
        ),
    ] {
        assert_eq!(Normal::default().text(text), expected);
    }
    let (one, other) = (
        "00000000-0000-4000-8000-000000000001",
        "00000000-0000-4000-8000-000000000002",
    );
    let text = format!("{one} {other} {one}");
    assert_eq!(Normal::default().text(&text), "<uid 1> <uid 2> <uid 1>");
}
