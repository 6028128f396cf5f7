//! The paths of a kind and what can be done at each.

use serde_json::{Map, Value, json};

use super::components::{DELETE_OPTIONS, PATCH, STATUS, list_name, reference, schema_name};
use super::parameters;
use crate::resource::{Origin, Resource};

/// All paths of a kind.
pub(super) fn paths(resource: &Resource) -> Map<String, Value> {
    let base = match resource.names.group.as_str() {
        "" => format!("/api/{}", resource.version),
        group => format!("/apis/{group}/{}", resource.version),
    };
    let plural = &resource.names.plural;
    let (all, in_path): (String, &[&str]) = if resource.is_namespaced() {
        (
            format!("{base}/namespaces/{{namespace}}/{plural}"),
            &["namespace"],
        )
    } else {
        (format!("{base}/{plural}"), &[])
    };
    let with_name: Vec<&str> = std::iter::once("name")
        .chain(in_path.iter().copied())
        .collect();
    let one = format!("{all}/{{name}}");
    let mut paths = Map::new();
    if resource.is_namespaced() {
        paths.insert(format!("{base}/{plural}"), everywhere(resource));
    }
    if resource.subresources.status {
        paths.insert(format!("{one}/status"), status(resource, &with_name));
    }
    paths.insert(all, collection(resource, in_path));
    paths.insert(one, single(resource, &with_name));
    paths
}

fn everywhere(resource: &Resource) -> Value {
    let call = Call {
        resource,
        verb: "list",
        action: "list",
        what: "",
        suffix: "ForAllNamespaces",
    };
    let mut get = call.operation(&parameters::query(&parameters::LIST), &list_name(resource));
    get["description"] = format!("list objects of kind {}", resource.names.kind).into();
    json!({ "get": get, "parameters": parameters::shared(&[]) })
}

fn collection(resource: &Resource, in_path: &[&str]) -> Value {
    let scope = scope_word(resource);
    let call = |verb, action, what| Call {
        resource,
        verb,
        action,
        what,
        suffix: "",
    };
    let list = parameters::query(&parameters::LIST);
    let write = parameters::query(&parameters::WRITE);
    let post = call("create", "post", scope).operation(&write, &schema_name(resource));
    let gather = format!("Collection{scope}");
    json!({
        "get": call("list", "list", scope).operation(&list, &list_name(resource)),
        "post": with_body(post, JSON_BODIES, &schema_name(resource)),
        "delete": with_body(
            call("delete", "deletecollection", &gather).operation(&list, STATUS),
            JSON_BODIES,
            DELETE_OPTIONS,
        ),
        "parameters": parameters::shared(in_path),
    })
}

fn single(resource: &Resource, in_path: &[&str]) -> Value {
    let mut item = readable(resource, in_path, "");
    let scope = scope_word(resource);
    let call = Call {
        resource,
        verb: "delete",
        action: "delete",
        what: scope,
        suffix: "",
    };
    let delete = call.operation(&parameters::query(&parameters::DELETE), STATUS);
    item["delete"] = with_body(delete, JSON_BODIES, DELETE_OPTIONS);
    item
}

fn status(resource: &Resource, in_path: &[&str]) -> Value {
    readable(resource, in_path, "Status")
}

/// What an object and its status have in common: reading, replacing, patching.
fn readable(resource: &Resource, in_path: &[&str], suffix: &str) -> Value {
    let scope = scope_word(resource);
    let own = schema_name(resource);
    let call = |verb, action| Call {
        resource,
        verb,
        action,
        what: scope,
        suffix,
    };
    let put = call("replace", "put").operation(&parameters::query(&parameters::WRITE), &own);
    let patch = call("patch", "patch").operation(&parameters::query(&parameters::PATCH), &own);
    json!({
        "get": call("read", "get").operation(&parameters::query(&parameters::READ), &own),
        "put": with_body(put, JSON_BODIES, &own),
        "patch": with_body(patch, patches(resource), PATCH),
        "parameters": parameters::shared(in_path),
    })
}

const JSON_BODIES: &[&str] = &["application/json", "application/yaml"];

fn patches(resource: &Resource) -> &'static [&'static str] {
    match resource.origin {
        Origin::Builtin => &[
            "application/apply-patch+yaml",
            "application/json-patch+json",
            "application/merge-patch+json",
            "application/strategic-merge-patch+json",
        ],
        Origin::Custom => &[
            "application/apply-patch+yaml",
            "application/json-patch+json",
            "application/merge-patch+json",
        ],
    }
}

fn scope_word(resource: &Resource) -> &'static str {
    if resource.is_namespaced() {
        "Namespaced"
    } else {
        ""
    }
}

/// An operation, by the parts of its name.
struct Call<'a> {
    resource: &'a Resource,
    /// The first word of the operation's id.
    verb: &'a str,
    /// `x-kubernetes-action`
    action: &'a str,
    /// `Namespaced`, `CollectionNamespaced` or nothing.
    what: &'a str,
    /// `Status`, `ForAllNamespaces` or nothing.
    suffix: &'a str,
}

impl Call<'_> {
    fn operation(&self, parameters: &Value, answer: &str) -> Value {
        let names = &self.resource.names;
        let (group, version) = (names.group.as_str(), self.resource.version.as_str());
        let words = camel_case(if group.is_empty() { "core" } else { group });
        let Self {
            verb, what, suffix, ..
        } = self;
        let id = format!(
            "{verb}{words}{}{what}{}{suffix}",
            camel_case(version),
            names.kind
        );
        json!({
            "tags": [format!("{}_{version}", lower_first(&words))],
            "description": format!("{verb} {}", names.kind),
            "operationId": id,
            "parameters": parameters,
            "responses": {
                "200": { "description": "OK", "content": content(JSON_BODIES, answer) },
                "401": { "description": "Unauthorized" },
            },
            "x-kubernetes-action": self.action,
            "x-kubernetes-group-version-kind": {
                "group": group,
                "version": version,
                "kind": names.kind,
            },
        })
    }
}

fn with_body(mut operation: Value, media_types: &[&str], schema: &str) -> Value {
    operation["requestBody"] = json!({ "content": content(media_types, schema) });
    operation
}

fn content(media_types: &[&str], schema: &str) -> Value {
    let entry = |media_type: &&str| {
        let schema = json!({ "schema": reference(schema) });
        ((*media_type).to_owned(), schema)
    };
    Value::Object(media_types.iter().map(entry).collect())
}

/// `ViewsExampleOrg` from `views.example.org`
fn camel_case(dotted: &str) -> String {
    let word = |word: &str| {
        let mut chars = word.chars();
        let first = chars.next().into_iter().flat_map(char::to_uppercase);
        first.chain(chars).collect::<String>()
    };
    dotted.split(['.', '-']).map(word).collect()
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().into_iter().flat_map(char::to_lowercase);
    first.chain(chars).collect()
}
