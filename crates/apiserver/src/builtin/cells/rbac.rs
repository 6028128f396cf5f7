//! Rows of role bindings.

use serde_json::Value;

use crate::builtin::fields::Fields as _;
use crate::object::{Object, ObjectExt as _};

pub(super) fn binding(object: &Object, since: String) -> Vec<Value> {
    let role = format!(
        "{}/{}",
        object.text("roleRef.kind"),
        object.text("roleRef.name")
    );
    let accounts = subjects(object, "ServiceAccount", |subject| {
        format!("{}/{}", subject.text("namespace"), subject.text("name"))
    });
    let name = |subject: &Value| subject.text("name").to_owned();
    vec![
        object.name().into(),
        role.into(),
        since.into(),
        subjects(object, "User", name).into(),
        subjects(object, "Group", name).into(),
        accounts.into(),
    ]
}

fn subjects(object: &Object, kind: &str, show: impl Fn(&Value) -> String) -> String {
    let all = object.list("subjects").iter();
    let shown: Vec<String> = all
        .filter(|subject| subject.text("kind") == kind)
        .map(show)
        .collect();
    shown.join(", ")
}
