//! Typed clients speak protocol buffers with the embedded API.
//!
//! They are Kubernetes' own, octet for octet, for every kind: a program that is made of its sources (`conformance/wire`) writes
//! objects by chance and reads them back.

use apiserver::{Apiserver, Options};
use futures_util::StreamExt as _;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Request, Response};
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use wire::TypeMeta;

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn open() -> (Apiserver, Client) {
    let apiserver = Apiserver::open(Options::default()).await.expect("it opens");
    let client = apiserver.client();
    (apiserver, client)
}

async fn ask(client: &Client, method: &str, path: &str, body: Vec<u8>) -> Response<Body> {
    let request = Request::builder().method(method).uri(path);
    let accept = "application/vnd.kubernetes.protobuf,application/json";
    let request = request
        .header(ACCEPT, accept)
        .header(CONTENT_TYPE, PROTOBUF);
    let request = request.body(Body::from(body)).expect("it is a request");
    client.send(request).await.expect("it is answered")
}

/// The code, the type and the object of an answer.
async fn answered(answer: Response<Body>) -> (u16, String, Value) {
    let (head, body) = answer.into_parts();
    let content_type = head.headers[CONTENT_TYPE].to_str().expect("it is text");
    let body = body.collect().await.expect("it comes whole").to_bytes();
    let object = wire::decode(&body, TypeMeta::default()).expect("it is an object");
    (head.status.as_u16(), content_type.to_owned(), object)
}

fn map(name: &str) -> Vec<u8> {
    let object = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name }, "data": { "k": "v" } });
    wire::encode(&object).expect("it is built in")
}

#[tokio::test]
async fn an_object_is_made_read_listed_watched_and_deleted_in_protocol_buffers() {
    let (_apiserver, client) = open().await;
    let check = async |method: &str, path: &str, body: Vec<u8>, expected: u16| {
        let (code, content_type, object) = answered(ask(&client, method, path, body).await).await;
        assert_eq!((code, &*content_type), (expected, PROTOBUF), "{object}");
        object
    };
    let made = check("POST", MAPS, map("a"), 201).await;
    assert_eq!(made["data"], json!({ "k": "v" }));
    let one = format!("{MAPS}/a");
    assert_eq!(check("GET", &one, Vec::new(), 200).await, made);
    let selected = format!("{MAPS}?fieldSelector=metadata.name=a");
    let list = check("GET", &selected, Vec::new(), 200).await;
    let mut item = made.clone();
    let fields = item.as_object_mut().expect("it is an object");
    fields.retain(|field, _| !["apiVersion", "kind"].contains(&&**field));
    assert_eq!(list["kind"], "ConfigMapList");
    assert_eq!(list["items"], json!([item]));
    let exists = check("POST", MAPS, map("a"), 409).await;
    assert_eq!(exists["reason"], "AlreadyExists");

    let revision = made["metadata"]["resourceVersion"]
        .as_str()
        .expect("it has one");
    let watch = format!("{MAPS}?watch=1&resourceVersion={revision}");
    let watch = ask(&client, "GET", &watch, Vec::new()).await;
    let streamed = format!("{PROTOBUF};stream=watch");
    assert_eq!(watch.headers()[CONTENT_TYPE], *streamed);
    let options = json!({ "kind": "DeleteOptions", "gracePeriodSeconds": 0 });
    let options = wire::encode(&options).expect("every group has it");
    check("DELETE", &one, options, 200).await;
    let (mut pieces, mut come, mut events) =
        (watch.into_body().into_data_stream(), Vec::new(), Vec::new());
    while events.is_empty() {
        let piece = pieces
            .next()
            .await
            .expect("it goes on")
            .expect("it goes well");
        come.extend_from_slice(&piece);
        events = wire::decode_frames(&mut come).expect("they are frames");
    }
    assert_eq!(events[0]["type"], "DELETED");
    assert_eq!(events[0]["object"]["metadata"]["name"], "a");
    assert_eq!(events[0]["object"]["kind"], "ConfigMap");
}

/// kube-apiserver breaks the connection.
#[tokio::test]
async fn objects_of_custom_kinds_are_not_read_in_protocol_buffers() {
    let (_apiserver, client) = open().await;
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "things.example.dev" },
        "spec": {
            "group": "example.dev",
            "scope": "Namespaced",
            "names": { "plural": "things", "kind": "Thing" },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": { "type": "object" } },
            }],
        },
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let definition = wire::encode(&definition).expect("it is built in");
    let made = ask(&client, "POST", definitions, definition).await;
    assert_eq!(made.status(), 201);
    let things = "/apis/example.dev/v1/namespaces/default/things";
    testkit::eventually(std::time::Duration::from_secs(20), "the kind", async || {
        let answer = ask(&client, "POST", things, map("a")).await;
        if answer.status() == 404 {
            return Err("not served yet");
        }
        let (code, _, status) = answered(answer).await;
        let message = "the body of the request was in an unknown format - accepted media types include: \
                       application/json, application/yaml";
        assert_eq!((code, &status["message"]), (415, &message.into()));
        Ok(())
    })
    .await
    .expect("it is served");
}

#[tokio::test]
async fn there_are_protocol_buffers_for_every_built_in_kind_and_its_list() {
    let (_apiserver, client) = open().await;
    let (_, _, groups) = answered(ask(&client, "GET", "/apis", Vec::new()).await).await;
    let groups = groups["groups"].as_array().expect("there are some");
    let versions = groups
        .iter()
        .filter_map(|group| group["versions"].as_array());
    let mut paths: Vec<String> = versions
        .flatten()
        .map(|version| {
            format!(
                "/apis/{}",
                version["groupVersion"].as_str().expect("it has one")
            )
        })
        .collect();
    assert!(paths.len() > 5, "{paths:?}");
    paths.push("/api/v1".to_owned());
    for path in paths {
        let (_, _, list) = answered(ask(&client, "GET", &path, Vec::new()).await).await;
        let here = list["groupVersion"].as_str().expect("it has one");
        for resource in list["resources"].as_array().expect("there are some") {
            let text = |field: &str| resource[field].as_str().unwrap_or_default();
            let version = match (text("group"), text("version")) {
                (_, "") => here.to_owned(),
                ("", version) => version.to_owned(),
                (group, version) => format!("{group}/{version}"),
            };
            let is_known = |kind: &str| {
                let api_version = &version;
                wire::is_known(TypeMeta { api_version, kind })
            };
            let kind = text("kind");
            assert!(is_known(kind), "{version} {kind}");
            let verbs = resource["verbs"].as_array().expect("there are some");
            if verbs.contains(&"list".into()) {
                assert!(is_known(&format!("{kind}List")), "{version} {kind}List");
            }
        }
    }
}

mod on_cluster {
    use std::path::PathBuf;
    use std::process::Command;

    use serde_json::{Value, json};
    use testkit::control_plane::clients;
    use wire::{TypeMeta, decode, encode, normalise};

    /// What the objects are drawn from.
    const SEEDS: [&str; 2] = ["1", "2"];

    /// How many of each kind. The first is empty.
    const EACH: &str = "8";

    fn kubernetes(arguments: &[&str]) -> String {
        let program: PathBuf =
            clients::wire().unwrap_or_else(|error| panic!("no clients: {error}"));
        let output = Command::new(program).args(arguments).output();
        let output = output.expect("it runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("it prints text")
    }

    fn octets(hex: &str) -> Vec<u8> {
        let octet = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("it is hex");
        (0..hex.len()).step_by(2).map(octet).collect()
    }

    #[test]
    fn objects_by_chance_are_written_and_read_as_kubernetes_does() {
        for seed in SEEDS {
            let lines = kubernetes(&["objects", seed, EACH]);
            assert!(lines.lines().count() > 1_000);
            let mut last = "";
            for line in lines.lines() {
                let [kind, written, from, to] = *line.split('\t').collect::<Vec<_>>() else {
                    panic!("{line}");
                };
                let from: Value = serde_json::from_str(from).unwrap();
                let to: Value = serde_json::from_str(to).unwrap();
                // The form of what is written is that of what is written again, and the first is that of nothing.
                let text = |field: &str| to[field].as_str().unwrap_or_default();
                let [api_version, name] = ["apiVersion", "kind"].map(text);
                let of = TypeMeta {
                    api_version,
                    kind: name,
                };
                let mut form = from.clone();
                if kind != last {
                    form = json!({ "apiVersion": api_version, "kind": name });
                }
                last = kind;
                let object = form.as_object_mut().unwrap();
                assert_eq!(normalise(of, object), Ok(()), "{kind}: {from}");
                assert_eq!(form, from, "{kind}");
                let octets = octets(written);
                assert_eq!(encode(&from).as_ref(), Some(&octets), "{kind}: {from}");
                let read = decode(&octets, TypeMeta::default());
                assert_eq!(read, Ok(to), "{kind}: {written}");
            }
        }
    }
}
