//! What happens when the API has enough, with one that does as it is told.

use std::sync::atomic::{AtomicUsize, Ordering};

use http::{Method, Request, Response};
use kube::client::Body;
use serde_json::json;
use tower::service_fn;

use super::super::objects::Identity;
use super::super::read;
use super::*;

fn objects(count: usize) -> Objects {
    let records = (0..count).map(|number| format!("h{number} A 192.0.2.1"));
    let records = records.collect::<Vec<_>>().join("\n");
    let file = format!("$ORIGIN example.org.\n$TTL 1\n@ SOA ns noc 1 2 3 4 5\n{records}");
    let identity = Identity {
        zone: "example-org".to_owned(),
        namespace: "dns".to_owned(),
    };
    read(file.as_bytes(), None, &identity).unwrap().1
}

/// An API that is empty, and takes what `takes` says of the writes it has counted so far.
fn api(takes: impl Fn(usize) -> u16 + Clone + Send + 'static) -> Cluster {
    let writes = std::sync::Arc::new(AtomicUsize::new(0));
    let service = service_fn(move |request: Request<Body>| {
        let is_list = request.uri().path().ends_with("/records");
        let code = match *request.method() {
            Method::GET if is_list => 200,
            Method::GET => 404,
            _ => takes(writes.fetch_add(1, Ordering::Relaxed)),
        };
        let body = json!({ "code": code, "message": format!("said {code}"), "reason": "Test", "items": [] });
        let response = Response::builder()
            .status(code)
            .body(Body::from(body.to_string().into_bytes()));
        async { Ok::<_, std::convert::Infallible>(response.unwrap()) }
    });
    Cluster::made_up(kube::Client::new(service, "default"))
}

#[tokio::test]
async fn what_the_api_refuses_does_not_keep_the_others_out() {
    let cluster = api(|write| if write == 5 { 422 } else { 201 });
    let outcome = apply(&cluster, &objects(100)).await.unwrap();
    assert_eq!((outcome.zone, outcome.created), (Change::Created, 99));
    let refused: Vec<&str> = outcome
        .refused
        .iter()
        .map(|refusal| refusal.why.as_str())
        .collect();
    assert_eq!(refused, ["said 422"]);
}

#[tokio::test]
async fn an_api_that_breaks_down_is_not_asked_for_the_rest() {
    let cluster = api(|write| if write < 50 { 201 } else { 500 });
    let error = apply(&cluster, &objects(1_000)).await.unwrap_err();
    let told = format!("{error:#}");
    assert_eq!(
        told,
        "stopped after 49 of 1000 records; run it again to go on: said 500"
    );
}

#[tokio::test]
async fn without_the_zone_no_record_is_written() {
    let cluster = api(|write| {
        if write == 0 {
            403
        } else {
            panic!("a record was written")
        }
    });
    let error = apply(&cluster, &objects(3)).await.unwrap_err();
    assert_eq!(error.to_string(), "zone dns/example-org: said 403");
}
