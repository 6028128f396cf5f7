//! The same manifests sent to a real kube-apiserver and to the functions of this module: what comes
//! back must be the same.

use std::collections::{BTreeMap, BTreeSet};

use http_body_util::BodyExt as _;
use jiff::Timestamp;
use kube::Client;
use kube::client::Body;
use serde::Deserialize;
use serde_json::{Value, json};
use testkit::control_plane::{self, Identity};

use super::definitions;
use crate::builtin;
use crate::engine;
use crate::metadata;
use crate::object::{Object, ObjectExt as _};
use crate::refusal::{FieldError, Refusal};
use crate::resource::Resource;

const ACCEPTED: &str = include_str!("on_cluster/accepted.yaml");
const REFUSED: &str = include_str!("on_cluster/refused.yaml");
const CHANGES: &str = include_str!("on_cluster/changes.yaml");
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// A real API server and a namespace of our own on it.
struct Oracle {
    client: Client,
    namespace: String,
    resources: Vec<Resource>,
}

impl Oracle {
    async fn new() -> Self {
        let client = control_plane::shared().await.client(Identity::Admin);
        let namespace = testkit::namespace(&client, "builtin").await.unwrap();
        let resources = builtin::resources();
        Self {
            client,
            namespace,
            resources,
        }
    }

    async fn ask(&self, method: &str, path: &str, accept: &str, body: &Value) -> Value {
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header("accept", accept)
            .header("content-type", "application/json")
            .body(Body::from(body.to_string().into_bytes()))
            .unwrap();
        let response = self.client.send(request).await.unwrap();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        serde_json::from_slice(&bytes).unwrap()
    }

    fn resource(&self, object: &Object) -> &Resource {
        let same = |resource: &&Resource| {
            resource.api_version() == object.api_version() && resource.names.kind == object.kind()
        };
        self.resources
            .iter()
            .find(same)
            .expect("a kind that is served")
    }

    fn path(&self, resource: &Resource) -> String {
        let root = match resource.names.group.as_str() {
            "" => "/api/v1".to_owned(),
            group => format!("/apis/{group}/{}", resource.version),
        };
        let plural = &resource.names.plural;
        if resource.is_namespaced() {
            format!("{root}/namespaces/{}/{plural}", self.namespace)
        } else {
            format!("{root}/{plural}")
        }
    }

    /// The manifests of a file, in our namespace.
    fn read<T: for<'a> Deserialize<'a>>(&self, yaml: &str) -> Vec<T> {
        serde_saphyr::from_str(&yaml.replace("NAMESPACE", &self.namespace)).unwrap()
    }

    /// What we make of a manifest: the object that would be stored, or a refusal.
    fn create(&self, manifest: &Object) -> Result<Value, Refusal> {
        let resource = self.resource(manifest);
        let mut object = manifest.clone();
        if resource.is_namespaced() {
            object
                .metadata_mut()
                .insert("namespace".to_owned(), self.namespace.clone().into());
        }
        if let Some(refusal) = builtin::decode_error(resource, &object) {
            return Err(refusal);
        }
        builtin::default(resource, &mut object);
        builtin::prepare_create(resource, &mut object);
        if builtin::has_generation(resource) {
            object
                .metadata_mut()
                .insert("generation".to_owned(), 1.into());
        }
        let mut errors = metadata::validate(resource, &object);
        errors.extend(builtin::validate_create(resource, &object));
        judged(resource, object, &errors)
    }

    /// What we make of a change.
    fn update(
        &self,
        new: &Object,
        old: &Object,
        subresource: Option<&str>,
    ) -> Result<Value, Refusal> {
        let (resource, mut new) = (self.resource(new), new.clone());
        if let Some(refusal) = builtin::decode_error(resource, &new) {
            return Err(refusal);
        }
        builtin::default(resource, &mut new);
        builtin::prepare_update(resource, &mut new, old, subresource);
        if builtin::changes_generation(resource, &new, old) {
            let generation = old["metadata"]["generation"].as_i64().unwrap();
            new.metadata_mut()
                .insert("generation".to_owned(), (generation + 1).into());
        }
        let mut errors = metadata::validate_update(resource, &new, old);
        errors.extend(builtin::validate_update(resource, &new, old, subresource));
        judged(resource, new, &errors)
    }
}

fn judged(resource: &Resource, object: Object, errors: &[FieldError]) -> Result<Value, Refusal> {
    match errors {
        [] => Ok(Value::Object(object)),
        errors => Err(Refusal::invalid(
            resource.kind_subject(object.name()),
            errors,
        )),
    }
}

/// An object without what only a running API can know.
fn stable(mut object: Value) -> Value {
    let metadata = object["metadata"].as_object_mut().unwrap();
    for field in [
        "uid",
        "creationTimestamp",
        "resourceVersion",
        "managedFields",
    ] {
        metadata.remove(field);
    }
    decided_by_controllers(&mut object);
    if object["kind"] == "Service" {
        let spec = object["spec"].as_object_mut().unwrap();
        // Addresses and ports that the real API hands out, and we do not.
        if spec.get("clusterIP") != Some(&"None".into()) {
            spec.retain(|field, _| !matches!(field.as_str(), "clusterIP" | "clusterIPs"));
        }
        for port in spec
            .get_mut("ports")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            port.as_object_mut().unwrap().remove("nodePort");
        }
    }
    object
}

/// What kinds that are only stored do not get here, because nobody runs them.
fn decided_by_controllers(object: &mut Value) {
    if object["kind"] == "Node" {
        object["spec"].as_object_mut().unwrap().remove("taints");
    }
    if object["kind"] == "DaemonSet" {
        let metadata = object["metadata"].as_object_mut().unwrap();
        metadata.remove("annotations");
    }
    if object["kind"] == "Job" {
        object["spec"].as_object_mut().unwrap().remove("selector");
        object["spec"]["template"]["metadata"] = json!({});
        let metadata = object["metadata"].as_object_mut().unwrap();
        metadata.remove("labels");
    }
    if object["kind"] == "PersistentVolumeClaim" || object["kind"] == "PersistentVolume" {
        let metadata = object["metadata"].as_object_mut().unwrap();
        metadata.remove("finalizers");
        let status = object["status"].as_object_mut().unwrap();
        status.remove("lastPhaseTransitionTime");
    }
}

/// Code, reason and causes; the whole message where there are no causes.
fn essence(status: &Value) -> Value {
    let causes = status["details"]["causes"].as_array();
    let causes: Option<BTreeSet<String>> =
        causes.map(|causes| causes.iter().map(cause_text).collect());
    // Which field has the wrong type is told in words of our own.
    let message = status["message"].as_str().unwrap_or_default();
    let message =
        (causes.is_none() && !message.contains("cannot be handled as")).then_some(message);
    json!({
        "code": status["code"], "reason": status["reason"], "causes": causes, "message": message
    })
}

fn cause_text(cause: &Value) -> String {
    let text = |field: &str| cause[field].as_str().unwrap_or_default();
    let message = sorted(text("message"));
    format!("{}: {message} ({})", text("field"), text("reason"))
}

/// A message in which the fields of a value that it shows are in the order of their names.
fn sorted(message: &str) -> String {
    let Some((title, rest)) = message
        .split_once(": ")
        .filter(|(_, rest)| rest.starts_with(['{', '[']))
    else {
        return message.to_owned();
    };
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    let value = values.next().unwrap().unwrap();
    format!("{title}: {value}{}", &rest[values.byte_offset()..])
}

fn compare(ours: &Result<Value, Refusal>, theirs: &Value) -> Option<String> {
    let same = match (ours, theirs["kind"] == "Status") {
        (Ok(object), false) => (stable(object.clone()), stable(theirs.clone())),
        (Err(refusal), true) => (essence(&refusal.status()), essence(theirs)),
        (Ok(object), true) => (object.clone(), essence(theirs)),
        (Err(refusal), false) => (essence(&refusal.status()), theirs.clone()),
    };
    let (ours, theirs) = same;
    (ours != theirs).then(|| format!("  ours:   {ours}\n  theirs: {theirs}"))
}

fn report(differences: &[String]) {
    assert!(
        differences.is_empty(),
        "{} differ\n{}",
        differences.len(),
        differences.join("\n")
    );
}

#[tokio::test]
async fn accepted_manifests_become_the_same_objects() {
    let oracle = Oracle::new().await;
    let mut differences = Vec::new();
    for manifest in oracle.read::<Object>(ACCEPTED) {
        let path = format!("{}?dryRun=All", oracle.path(oracle.resource(&manifest)));
        let value = Value::Object(manifest.clone());
        let theirs = oracle.ask("POST", &path, "application/json", &value).await;
        assert_ne!(theirs["kind"], "Status", "refused: {value} {theirs}");
        let difference = compare(&oracle.create(&manifest), &theirs);
        differences.extend(difference.map(|difference| format!("{value}\n{difference}")));
    }
    report(&differences);
}

#[tokio::test]
async fn refused_manifests_are_refused_for_the_same_causes() {
    let oracle = Oracle::new().await;
    let mut differences = Vec::new();
    for manifest in oracle.read::<Object>(REFUSED) {
        let path = format!("{}?dryRun=All", oracle.path(oracle.resource(&manifest)));
        let value = Value::Object(manifest.clone());
        let theirs = oracle.ask("POST", &path, "application/json", &value).await;
        assert_eq!(theirs["status"], "Failure", "accepted: {value}");
        let difference = compare(&oracle.create(&manifest), &theirs);
        differences.extend(difference.map(|difference| format!("{value}\n{difference}")));
    }
    report(&differences);
}

/// A change and, if it is one of a subresource, of which.
#[derive(Deserialize)]
struct Case {
    old: Object,
    change: Value,
    subresource: Option<String>,
}

#[tokio::test]
async fn changes_are_answered_alike() {
    let oracle = Oracle::new().await;
    let mut differences = Vec::new();
    for Case {
        mut old,
        change,
        subresource,
    } in oracle.read::<Case>(CHANGES)
    {
        old.metadata_mut()
            .insert("generateName".to_owned(), "case-".into());
        let path = oracle.path(oracle.resource(&old));
        let created = oracle
            .ask("POST", &path, "application/json", &Value::Object(old))
            .await;
        let old = created.as_object().unwrap();
        assert!(!old.name().is_empty(), "{created}");

        let mut new = created.clone();
        json_patch::merge(&mut new, &change);
        let below = subresource
            .as_ref()
            .map_or_else(String::new, |name| format!("/{name}"));
        let path = format!("{path}/{}{below}?dryRun=All", old.name());
        let theirs = oracle.ask("PUT", &path, "application/json", &new).await;
        let ours = oracle.update(new.as_object().unwrap(), old, subresource.as_deref());
        let difference = compare(&ours, &theirs);
        differences.extend(difference.map(|difference| format!("{change}\n{difference}")));
    }
    report(&differences);
}

/// What the real API answers to a new object, as a table.
#[tokio::test]
async fn tables_have_the_same_columns_and_cells() {
    let oracle = Oracle::new().await;
    let mut differences = Vec::new();
    for manifest in oracle.read::<Object>(ACCEPTED) {
        let resource = oracle.resource(&manifest);
        let path = format!("{}?dryRun=All", oracle.path(resource));
        let table = oracle
            .ask("POST", &path, TABLE, &Value::Object(manifest.clone()))
            .await;
        assert_eq!(table["kind"], "Table", "{manifest:?}: {table}");
        let row = &table["rows"][0];
        let created = row["object"]["metadata"]["creationTimestamp"].clone();
        let now: Timestamp = created.as_str().unwrap().parse().unwrap();
        let mut object = oracle
            .create(&manifest)
            .unwrap()
            .as_object()
            .unwrap()
            .clone();
        object
            .metadata_mut()
            .insert("creationTimestamp".to_owned(), created);
        let ours = json!([
            columns(resource),
            young(builtin::cells(resource, &object, now).unwrap()),
        ]);
        let theirs = json!([
            table["columnDefinitions"],
            young(row["cells"].as_array().unwrap().clone()),
        ]);
        if ours != theirs && !allocated(&manifest) {
            differences.push(format!("  ours:   {ours}\n  theirs: {theirs}"));
        }
    }
    report(&differences);
}

/// Whether a row tells of addresses and ports that the real API hands out, or of what a controller needs.
fn allocated(manifest: &Object) -> bool {
    if ["Job", "HorizontalPodAutoscaler"].contains(&manifest.kind()) {
        return true;
    }
    let spec = &manifest.get("spec").cloned().unwrap_or_default();
    manifest.kind() == "Service" && spec["clusterIP"] != "None" && spec["type"] != "ExternalName"
}

fn columns(resource: &Resource) -> Vec<Value> {
    let column = |column: &crate::resource::Column| {
        json!({
            "name": column.name, "type": column.kind, "format": column.format,
            "description": column.description, "priority": column.priority
        })
    };
    resource.columns.iter().map(column).collect()
}

/// Cells in which a second more or less does not matter.
fn young(cells: Vec<Value>) -> Vec<Value> {
    let cell = |cell: Value| if cell == "1s" { json!("0s") } else { cell };
    cells.into_iter().map(cell).collect()
}

#[tokio::test]
async fn resources_are_those_of_discovery() {
    let oracle = Oracle::new().await;
    for resource in &oracle.resources {
        let path = match resource.names.group.as_str() {
            "" => "/api/v1".to_owned(),
            group => format!("/apis/{group}/{}", resource.version),
        };
        let list = oracle
            .ask("GET", &path, "application/json", &Value::Null)
            .await;
        let all = list["resources"].as_array().unwrap();
        let named = |name: &str| all.iter().find(|one| one["name"] == name);
        let theirs = named(&resource.names.plural).unwrap();
        let names = &resource.names;
        let texts = |field: &str| theirs.get(field).cloned().unwrap_or(json!([]));
        let ours = json!([
            names.kind,
            names.singular,
            names.short_names,
            names.categories,
            resource.is_namespaced(),
            resource.subresources.status
        ]);
        let status = named(&format!("{}/status", names.plural)).is_some();
        let theirs = json!([
            theirs["kind"],
            theirs["singularName"],
            texts("shortNames"),
            texts("categories"),
            theirs["namespaced"],
            status
        ]);
        assert_eq!(ours, theirs);
    }
}

#[tokio::test]
async fn fields_to_select_by_are_accepted() {
    let oracle = Oracle::new().await;
    for resource in &oracle.resources {
        let known = resource.selectable_fields.iter();
        for field in known {
            let path = format!("{}?limit=1&fieldSelector={field}=a", oracle.path(resource));
            let list = oracle
                .ask("GET", &path, "application/json", &Value::Null)
                .await;
            assert_ne!(
                list["kind"], "Status",
                "{field} of {}: {list}",
                resource.names.kind
            );
        }
    }
}

/// What the table is about: everything a published schema says beyond types and descriptions.
const EXTENSIONS: [&str; 7] = [
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
    "x-kubernetes-patch-strategy",
    "x-kubernetes-patch-merge-key",
    "default",
    "enum",
];

#[tokio::test]
async fn the_table_says_what_the_real_api_says() {
    let oracle = Oracle::new().await;
    let mut theirs = BTreeMap::new();
    let kinds: Vec<Resource> = engine::permanent_kinds().collect();
    for api_version in kinds
        .iter()
        .map(Resource::api_version)
        .collect::<BTreeSet<_>>()
    {
        let root = if api_version == "v1" { "api" } else { "apis" };
        let path = format!("/openapi/v3/{root}/{api_version}");
        let document = oracle
            .ask("GET", &path, "application/json", &Value::Null)
            .await;
        let schemas = document["components"]["schemas"].as_object().unwrap();
        theirs.extend(
            schemas
                .iter()
                .map(|(name, schema)| (name.clone(), schema.clone())),
        );
    }
    let mut differences = Vec::new();
    for (name, ours) in definitions::all().types() {
        let (mut told, mut wanted) = (BTreeMap::new(), BTreeMap::new());
        facts("", ours, &mut told);
        facts("", &theirs[name], &mut wanted);
        if told != wanted {
            let only = |one: &BTreeMap<String, Value>, other: &BTreeMap<String, Value>| {
                let mut one = one.clone();
                one.retain(|path, fact| other.get(path) != Some(fact));
                one
            };
            let (told, wanted) = (only(&told, &wanted), only(&wanted, &told));
            differences.push(format!("{name}\n  ours:   {told:?}\n  theirs: {wanted:?}"));
        }
    }
    report(&differences);
}

/// Every field of a type, with what is said of it.
fn facts(path: &str, schema: &Value, all: &mut BTreeMap<String, Value>) {
    let said = EXTENSIONS.iter().filter_map(|key| {
        // That Go writes out empty values of some fields is no default anyone chose.
        let value = schema.get(*key).filter(|value| !is_zero(value))?;
        Some(((*key).to_owned(), value.clone()))
    });
    all.insert(path.to_owned(), said.collect());
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        facts(&format!("{path}.{name}"), field, all);
    }
    if let Some(items) = schema.get("items") {
        facts(&format!("{path}[]"), items, all);
    }
}

fn is_zero(value: &Value) -> bool {
    [json!(""), json!({}), json!(0), json!(false)].contains(value)
}
