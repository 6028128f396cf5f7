//! The paths of a kind and what can be done at each.

use serde_json::{Map, Value, json};

use super::components::{
    DELETE_OPTIONS, GROUP_VERSION_KIND, PATCH, SCALE, STATUS, TOKEN_REQUEST, list_name, reference,
    schema_name,
};
use super::parameters;
use crate::discovery::{Subresource, subresources, verbs};
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
    let below = subresources(resource).into_iter().map(|subresource| {
        let path = format!("{one}/{}", subresource.name);
        let operations = below(resource, &subresource);
        (path, item(operations, &with_name))
    });
    let mut paths: Map<String, Value> = below.collect();
    if resource.is_namespaced() {
        paths.insert(format!("{base}/{plural}"), item(everywhere(resource), &[]));
    }
    paths.insert(one, item(single(resource), &with_name));
    paths.insert(all, item(collection(resource), in_path));
    paths.retain(|_, item| item.as_object().is_some_and(|item| item.len() > 1));
    paths
}

/// Operations by method.
type Operations = Vec<(&'static str, Value)>;

/// A path: its operations, and what they have in common.
fn item(operations: Operations, in_path: &[&str]) -> Value {
    let operations = operations.into_iter();
    let operations = operations.map(|(method, operation)| (method.to_owned(), operation));
    let shared = ("parameters".to_owned(), parameters::shared(in_path));
    operations.chain([shared]).collect()
}

fn everywhere(resource: &Resource) -> Operations {
    if !verbs(resource).contains(&"list") {
        return Vec::new();
    }
    let call = Call {
        suffix: "ForAllNamespaces",
        ..Call::new(resource, "list", "list", "")
    };
    let mut get = call.operation(&parameters::query(&parameters::LIST), &list_name(resource));
    get["description"] = format!("list objects of kind {}", resource.names.kind).into();
    vec![("get", get)]
}

fn collection(resource: &Resource) -> Operations {
    let (scope, own) = (scope_word(resource), schema_name(resource));
    let gather = format!("Collection{scope}");
    let list = parameters::query(&parameters::LIST);
    let write = parameters::query(&parameters::WRITE);
    let operation = |verb: &&str| {
        let call = |verb, action, what| Call::new(resource, verb, action, what);
        Some(match *verb {
            "list" => {
                let call = call("list", "list", scope);
                ("get", call.operation(&list, &list_name(resource)))
            }
            "create" => {
                let post = call("create", "post", scope).operation(&write, &own);
                ("post", with_body(post, JSON_BODIES, &own))
            }
            "deletecollection" => {
                let call = call("delete", "deletecollection", &gather);
                let delete = call.operation(&list, STATUS);
                ("delete", with_body(delete, JSON_BODIES, DELETE_OPTIONS))
            }
            _ => return None,
        })
    };
    verbs(resource).iter().filter_map(operation).collect()
}

fn single(resource: &Resource) -> Operations {
    let own = Below {
        verbs: verbs(resource),
        suffix: "",
        body: schema_name(resource),
    };
    let mut operations = own.operations(resource);
    if verbs(resource).contains(&"delete") {
        let call = Call::new(resource, "delete", "delete", scope_word(resource));
        let delete = call.operation(&parameters::query(&parameters::DELETE), STATUS);
        let delete = with_body(delete, JSON_BODIES, DELETE_OPTIONS);
        operations.push(("delete", delete));
    }
    operations
}

fn below(resource: &Resource, subresource: &Subresource) -> Operations {
    let suffix = camel_case(subresource.name);
    let (scope, write) = (scope_word(resource), parameters::query(&parameters::WRITE));
    let kind = subresource.kind.unwrap_or_default();
    let (group, version) = subresource.group_version.unwrap_or_default();
    let of_kind = json!({ "group": group, "version": version, "kind": kind });
    if !subresource.verbs.contains(&"create") {
        let own = Below {
            verbs: subresource.verbs,
            suffix: &suffix,
            body: match kind {
                "" => schema_name(resource),
                _ => SCALE.to_owned(),
            },
        };
        let mut operations = own.operations(resource);
        for (_, operation) in operations.iter_mut().filter(|_| !kind.is_empty()) {
            operation[GROUP_VERSION_KIND] = of_kind.clone();
        }
        return operations;
    }
    // Of these there is one: a question that is sent and answered.
    let call = Call {
        suffix: &suffix,
        ..Call::new(resource, "create", "post", scope)
    };
    let mut post = call.operation(&write, TOKEN_REQUEST);
    post[GROUP_VERSION_KIND] = of_kind;
    vec![("post", with_body(post, JSON_BODIES, TOKEN_REQUEST))]
}

/// What an object and its status have in common: reading, replacing, patching.
struct Below<'a> {
    verbs: &'a [&'a str],
    suffix: &'a str,
    body: String,
}

impl Below<'_> {
    fn operations(&self, resource: &Resource) -> Operations {
        let (scope, own) = (scope_word(resource), &self.body);
        let call = |verb, action| Call {
            suffix: self.suffix,
            ..Call::new(resource, verb, action, scope)
        };
        let operation = |verb: &&str| {
            Some(match *verb {
                "get" => {
                    let read = parameters::query(&parameters::READ);
                    ("get", call("read", "get").operation(&read, own))
                }
                "update" => {
                    let write = parameters::query(&parameters::WRITE);
                    let put = call("replace", "put").operation(&write, own);
                    ("put", with_body(put, JSON_BODIES, own))
                }
                "patch" => {
                    let change = parameters::query(&parameters::PATCH);
                    let patch = call("patch", "patch").operation(&change, own);
                    ("patch", with_body(patch, patches(resource), PATCH))
                }
                _ => return None,
            })
        };
        self.verbs.iter().filter_map(operation).collect()
    }
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

impl<'a> Call<'a> {
    fn new(resource: &'a Resource, verb: &'a str, action: &'a str, what: &'a str) -> Self {
        Self {
            resource,
            verb,
            action,
            what,
            suffix: "",
        }
    }

    fn operation(&self, parameters: &Value, answer: &str) -> Value {
        let names = &self.resource.names;
        let (group, version) = (names.group.as_str(), self.resource.version.as_str());
        let trimmed = group.strip_suffix(".k8s.io").unwrap_or(group);
        let words = camel_case(if group.is_empty() { "core" } else { trimmed });
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
            GROUP_VERSION_KIND: {
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
