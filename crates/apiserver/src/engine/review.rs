//! Reviews: questions about the one who asks, which are answered and forgotten.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Answer, Call, Content};
use crate::builtin::published;
use crate::refusal::Refusal;
use crate::request::Verb;
use crate::resource::{Names, Origin, Resource, Scope, Subresources};
use crate::schema::Schema;

/// Who am I?
const WHO: &str = "SelfSubjectReview";
/// May I?
const MAY: &str = "SelfSubjectAccessReview";

/// The kinds of reviews.
pub(super) fn resources() -> impl Iterator<Item = Resource> {
    [
        ("authentication", WHO, "selfsubjectreviews"),
        ("authorization", MAY, "selfsubjectaccessreviews"),
    ]
    .into_iter()
    .map(|(package, kind, plural)| resource(package, kind, plural))
}

/// The answer to a review, if the kind is one.
pub(super) fn answer(resource: &Resource, call: &Call) -> Option<Result<Answer, Refusal>> {
    let status = match resource.names.kind.as_str() {
        WHO => who(call),
        // Whoever is known may do everything: admission decides.
        MAY => json!({ "allowed": true }),
        _ => return None,
    };
    if call.verb != Verb::Create {
        return Some(Err(Refusal::method_not_allowed()));
    }
    let sent = call.body.as_ref().map(|body| &body.value);
    let mut value = json!({
        "kind": resource.names.kind,
        "apiVersion": resource.api_version(),
        "metadata": { "creationTimestamp": null },
        "status": status,
    });
    if let Some(spec) = sent.and_then(|sent| sent.get("spec")) {
        value["spec"] = spec.clone();
    }
    let content = Content::Document { code: 201, value };
    Some(Ok(Answer::plain(content)))
}

fn who(call: &Call) -> Value {
    json!({ "userInfo": call.user.info() })
}

fn resource(package: &str, kind: &str, plural: &str) -> Resource {
    let published = published::reference(&format!("io.k8s.api.{package}.v1.{kind}"));
    let schema = Schema {
        preserve_unknown: true,
        ..Schema::default()
    };
    Resource {
        names: Names {
            group: format!("{package}.k8s.io"),
            plural: plural.to_owned(),
            singular: kind.to_lowercase(),
            kind: kind.to_owned(),
            list_kind: format!("{kind}List"),
            short_names: Vec::new(),
            categories: Vec::new(),
        },
        scope: Scope::Cluster,
        version: "v1".to_owned(),
        schema: Arc::new(schema),
        openapi: Arc::new(published),
        columns: Arc::new([]),
        selectable_fields: Arc::new([]),
        subresources: Subresources::default(),
        deprecation: None,
        has_siblings: false,
        origin: Origin::Builtin,
    }
}
