//! The same headers, asked of the real API.

use testkit::control_plane::{self, Identity};

use super::tests::{OBJECTS, PROTOBUF};
use super::{Endpoint, body_format, negotiate, negotiate_stream};
use crate::refusal::Refusal;
use crate::resource::Origin;
use crate::table::fixtures::{self, Question};

const GROUP: &str = "media.example.org";
const GADGETS: &str = "/apis/media.example.org/v1/namespaces/default/gadgets";

async fn client() -> kube::Client {
    let plane = control_plane::shared().await;
    plane
        .install(&[fixtures::gadget_definition(GROUP, &[])])
        .await
        .unwrap();
    plane.client(Identity::Admin)
}

fn check(question: &str, real: (u16, String, String), ours: Result<String, Refusal>) {
    let (code, content_type, text) = real;
    match ours {
        Ok(expected) => assert_eq!((code, content_type), (200, expected), "{question}"),
        Err(refusal) => {
            let status: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
            let message = status["message"].as_str().unwrap().to_owned();
            assert_eq!(
                (code, message),
                (refusal.code, refusal.message),
                "{question}"
            );
        }
    }
}

#[tokio::test]
async fn the_form_of_lists_is_the_real_one() {
    let client = client().await;
    let accepts = OBJECTS.map(|(accept, _)| accept);
    for accept in accepts
        .into_iter()
        .chain(PROTOBUF.map(|(accept, ..)| accept))
    {
        let real = Question::get(GADGETS, accept).ask(&client).await;
        let ours = negotiate(accept, Endpoint::Objects(Origin::Custom));
        check(accept, real, ours.map(super::Answer::content_type));
    }
    for (accept, ..) in PROTOBUF {
        let path = "/api/v1/namespaces/default/configmaps";
        let real = Question::get(path, accept).ask(&client).await;
        let ours = negotiate(accept, Endpoint::Objects(Origin::Builtin));
        check(accept, real, ours.map(super::Answer::content_type));
    }
}

#[tokio::test]
async fn the_form_of_discovery_is_the_real_one() {
    let client = control_plane::shared().await.client(Identity::Admin);
    for accept in [
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json",
        "application/yaml;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
        "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/yaml",
        "application/json;as=Table;v=v1;g=meta.k8s.io",
        "application/json;sv=v1",
        "text/html",
        "*/*",
    ] {
        let real = Question::get("/apis", accept).ask(&client).await;
        let ours = negotiate(accept, Endpoint::DiscoveryRoot).map(super::Answer::content_type);
        check(accept, real, ours);
        // Built-in paths refuse this in the words of the framework below them; ours are the same
        // everywhere.
        if accept == "text/html" {
            continue;
        }
        let real = Question::get("/apis/apps/v1", accept).ask(&client).await;
        let ours = negotiate(accept, Endpoint::Document).map(super::Answer::content_type);
        check(accept, real, ours);
    }
}

#[tokio::test]
async fn the_form_of_watches_is_the_real_one() {
    let client = client().await;
    let path = format!("{GADGETS}?watch=1&timeoutSeconds=1&resourceVersion=0");
    for accept in [
        "application/json;stream=watch",
        "application/yaml",
        "text/html",
    ] {
        let real = Question::get(&path, accept).ask(&client).await;
        let ours = negotiate_stream(accept, Origin::Custom);
        let ours = ours.map(|form| form.format.stream_type());
        check(accept, real, ours);
    }
}

#[tokio::test]
async fn bodies_are_refused_in_the_real_words() {
    let client = client().await;
    for content_type in [
        "text/plain",
        "foo",
        "application/json;;",
        "application/json;x",
        "application/json-patch+json",
    ] {
        let mut question = Question::get(GADGETS, "");
        (question.method, question.content_type, question.body) = ("POST", content_type, "{}");
        let real = question.ask(&client).await;
        check(
            content_type,
            real,
            body_format(content_type).map(|_| String::new()),
        );
    }
}
