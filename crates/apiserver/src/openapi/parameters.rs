//! The parameters of operations. kubectl looks for `dryRun` and `fieldValidation` by name before
//! it relies on them.

use serde_json::{Value, json};

/// A parameter of the query: its name, its type and what it is for.
type Parameter = (&'static str, &'static str, &'static str);

const DRY_RUN: Parameter = (
    "dryRun",
    "string",
    "When present, indicates that modifications should not be persisted. Valid values are: - All: all dry run stages will be processed",
);
const FIELD_MANAGER: Parameter = (
    "fieldManager",
    "string",
    "The name of the actor that is making these changes, of at most 128 printable characters. Required for apply requests.",
);
const FIELD_VALIDATION: Parameter = (
    "fieldValidation",
    "string",
    "What becomes of unknown and duplicate fields. Valid values are: - Ignore: they are dropped. - Warn: they are dropped with a warning; this is the default. - Strict: the request is refused.",
);
const FORCE: Parameter = (
    "force",
    "boolean",
    "Whether an apply request takes over fields that others own. Must be unset for other patches.",
);
const PRETTY: Parameter = (
    "pretty",
    "string",
    "If 'true', then the output is pretty printed.",
);

/// What creating and replacing take.
pub(super) const WRITE: [Parameter; 3] = [DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION];
/// What patching takes.
pub(super) const PATCH: [Parameter; 4] = [DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION, FORCE];
/// What reading one object takes.
pub(super) const READ: [Parameter; 1] = [(
    "resourceVersion",
    "string",
    "The revision that the answer must be at or after.",
)];
/// What deleting one object takes.
pub(super) const DELETE: [Parameter; 4] = [
    DRY_RUN,
    (
        "gracePeriodSeconds",
        "integer",
        "The seconds before the object is deleted; zero means at once.",
    ),
    (
        "orphanDependents",
        "boolean",
        "Deprecated: please use the PropagationPolicy. Whether dependents are left behind.",
    ),
    (
        "propagationPolicy",
        "string",
        "What becomes of dependents: 'Orphan', 'Background' or 'Foreground'.",
    ),
];
/// What listing and deleting many take.
pub(super) const LIST: [Parameter; 10] = [
    (
        "allowWatchBookmarks",
        "boolean",
        "Whether a watch also tells of revisions without changes.",
    ),
    (
        "continue",
        "string",
        "Where an earlier list ended, as that list told.",
    ),
    (
        "fieldSelector",
        "string",
        "Which objects to return, by their fields. Defaults to everything.",
    ),
    (
        "labelSelector",
        "string",
        "Which objects to return, by their labels. Defaults to everything.",
    ),
    (
        "limit",
        "integer",
        "The largest number of objects to return.",
    ),
    (
        "resourceVersion",
        "string",
        "The revision that the answer is about.",
    ),
    (
        "resourceVersionMatch",
        "string",
        "How resourceVersion is applied to lists.",
    ),
    (
        "sendInitialEvents",
        "boolean",
        "Whether a watch begins with the objects that are there.",
    ),
    (
        "timeoutSeconds",
        "integer",
        "The time after which the call ends, whether or not it is done.",
    ),
    (
        "watch",
        "boolean",
        "Whether changes follow as a stream of events.",
    ),
];

/// Parameters of the query as `OpenAPI` writes them.
pub(super) fn query(parameters: &[Parameter]) -> Value {
    parameters.iter().map(parameter).collect()
}

/// The parameters that all operations of a path share: those in the path, and `pretty`.
pub(super) fn shared(in_path: &[&str]) -> Value {
    let in_path = in_path.iter().map(|name| {
        let description = match *name {
            "namespace" => "object name and auth scope, such as for teams and projects",
            _ => "name of the object",
        };
        json!({
            "name": name,
            "in": "path",
            "description": description,
            "required": true,
            "schema": { "type": "string", "uniqueItems": true },
        })
    });
    in_path.chain([parameter(&PRETTY)]).collect()
}

fn parameter(&(name, kind, description): &Parameter) -> Value {
    json!({
        "name": name,
        "in": "query",
        "description": description,
        "schema": { "type": kind, "uniqueItems": true },
    })
}
