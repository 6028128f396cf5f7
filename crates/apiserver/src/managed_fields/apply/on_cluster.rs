//! The same applications, sent to the real API server: what they make of an object, whose its
//! fields are then and what is in the way is what it says.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::super::{Change, FieldSet, Others, Versions};
use super::tests::{open_schema, specs};
use super::{Application, apply};
use crate::object::{Object, ObjectExt as _};
use crate::patch::oracle::{Oracle, into_object};
use crate::refusal::{Refusal, Subject};
use crate::schema::Schema;

const VERSION: &str = "applied.example.com/v1";
const PATH: &str = "/apis/applied.example.com/v1/namespaces/{ns}/things";

/// So many objects, each with so many writes.
const HISTORIES: usize = 40;
const WRITES: usize = 8;

/// Something that somebody does to the object.
#[derive(Clone, Debug)]
enum Write {
    Apply { force: bool, spec: Value },
    Merge { spec: Value },
}

fn write() -> impl Strategy<Value = (&'static str, Write)> {
    let manager = prop_oneof![Just("one"), Just("two"), Just("three"), Just("kubectl")];
    let write = (0..10, any::<bool>(), any_spec()).prop_map(|(kind, force, spec)| match kind {
        0..2 => Write::Merge { spec },
        _ => Write::Apply { force, spec },
    });
    (manager, write)
}

/// A spec with fields that belong to one owner as well, some of them empty or null.
fn any_spec() -> impl Strategy<Value = Value> {
    let whole = prop_oneof![
        Just(json!({})),
        Just(json!({ "text": "x" })),
        Just(json!({ "text": "y", "time": null })),
        Just(json!({ "atomic": { "a": "b" }, "plain": ["a", "b"] })),
        Just(json!({ "atomic": { "c": "d" }, "plain": [], "set": [] })),
        Just(json!({ "granular": {}, "free": null, "count": 1 })),
        Just(json!({ "granular": null, "free": { "a": { "b": { "c": 1 } }, "b": {} } })),
        Just(json!({ "map": null })),
    ];
    (specs("[a-d]"), whole).prop_map(|(mut spec, whole)| {
        for (field, value) in into_object(whole) {
            spec[&field] = value;
        }
        spec
    })
}

#[tokio::test]
async fn histories_by_chance_are_the_same_there() {
    let oracle = Oracle::new("applied").await;
    oracle.install(definition()).await;
    let schema = Schema::compile(&open_schema()).unwrap();
    let mut runner = TestRunner::deterministic();
    let history = prop::collection::vec(write(), WRITES);
    let (mut taken, mut refused) = (0, 0);
    for number in 0..HISTORIES {
        let mut old = None;
        for (manager, write) in history.new_tree(&mut runner).unwrap().current() {
            let name = format!("h{number}");
            match step(&oracle, &schema, &name, old.as_ref(), manager, &write).await {
                Some(new) => (old, taken) = (Some(new), taken + 1),
                None => refused += 1,
            }
        }
    }
    // A history in which all goes well, or nothing does, shows little.
    assert!(
        taken > HISTORIES && refused > HISTORIES,
        "{taken} {refused}"
    );
}

/// Lets a write happen there and here; what the object is then, unless it was refused.
async fn step(
    oracle: &Oracle,
    schema: &Schema,
    name: &str,
    old: Option<&Object>,
    manager: &str,
    write: &Write,
) -> Option<Object> {
    let (spec, force, content_type) = match write {
        Write::Apply { force, spec } => (spec, *force, "application/apply-patch+yaml"),
        Write::Merge { spec } => (spec, false, "application/merge-patch+json"),
    };
    let applied = json!({
        "apiVersion": VERSION, "kind": "Thing", "metadata": { "name": name }, "spec": spec,
    });
    let force_said = if force { "&force=true" } else { "" };
    let path = format!("{PATH}/{name}?fieldManager={manager}{force_said}");
    let answer = oracle.ask("PATCH", &path, content_type, &applied).await;
    let answer = into_object(answer);
    if let Write::Apply { .. } = write {
        let ours = run(schema, old, &into_object(applied), manager, force);
        compare(&ours, &answer, old, write);
    }
    (answer.kind() != "Status").then_some(answer)
}

fn compare(ours: &Result<Object, String>, answer: &Object, old: Option<&Object>, write: &Write) {
    match ours {
        Ok(ours) => {
            assert_eq!(
                ours.get("spec"),
                answer.get("spec"),
                "{write:?}: {answer:#?}"
            );
            assert_eq!(owners(ours), owners(answer), "{write:?}: {answer:#?}");
            if let Some(old) = old {
                let unchanged = ours.get("spec") == old.get("spec") && owners(ours) == owners(old);
                let kept =
                    old.metadata_text("resourceVersion") == answer.metadata_text("resourceVersion");
                assert_eq!(unchanged, kept, "{write:?}: {answer:#?}");
            }
        }
        Err(message) => {
            let told = answer.get("message").and_then(Value::as_str);
            assert_eq!(parts(message), parts(told.unwrap_or_default()), "{write:?}");
        }
    }
}

/// The parts of a message. Several reasons to refuse an object are told in an order that is
/// different each time.
fn parts(message: &str) -> Vec<&str> {
    let parts = message.split(['[', ']']);
    let mut parts: Vec<&str> = parts.flat_map(|part| part.split(", ")).collect();
    parts.sort_unstable();
    parts
}

fn run(
    schema: &Schema,
    old: Option<&Object>,
    applied: &Object,
    manager: &str,
    force: bool,
) -> Result<Object, String> {
    let versions = Versions::new([(VERSION.to_owned(), schema)], Others::Refused);
    let application = Application {
        change: Change {
            manager,
            api_version: VERSION,
            subresource: "",
            now: jiff::Timestamp::UNIX_EPOCH,
        },
        force,
        beyond: &FieldSet::default(),
        versions: &versions,
        blank: &into_object(json!({ "apiVersion": VERSION, "kind": "Thing" })),
    };
    let new = apply(old, applied, &application).map_err(|error| error.to_string())?;
    let mut new = Value::Object(new);
    schema.default_fields(&mut new);
    let errors = schema.validate(&new, None);
    if !errors.is_empty() {
        let subject = Subject {
            group: "applied.example.com",
            what: "Thing",
            name: applied.name(),
        };
        return Err(Refusal::invalid(subject, &errors).message);
    }
    Ok(into_object(new))
}

/// Who owns what, and whether since some time, whichever that is.
fn owners(object: &Object) -> Vec<Value> {
    let entries = object
        .metadata()
        .and_then(|metadata| metadata.get("managedFields"));
    let entries = entries.and_then(Value::as_array).into_iter().flatten();
    let mut owners: Vec<Value> = entries.cloned().collect();
    for owner in &mut owners {
        owner["time"] = owner.get("time").is_some().into();
    }
    owners.sort_by_key(ToString::to_string);
    owners
}

fn definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "things.applied.example.com" },
        "spec": {
            "group": "applied.example.com",
            "scope": "Namespaced",
            "names": { "plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList" },
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": { "openAPIV3Schema": open_schema() },
            }],
        },
    })
}
