//! Writes to the Kubernetes API, counted where all of them pass: no writer has to remember it.

use http::{Method, Request, Response, StatusCode};
use kube::Client;
use kube::client::Body;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use tower::service_fn;

use super::WriteLabels;

pub(super) type Writes = Family<WriteLabels, Counter>;

/// A client like `client` that counts what it writes.
pub(super) fn counting(client: &Client, writes: &Writes) -> Client {
    let (inner, writes) = (client.clone(), writes.clone());
    let send = move |request: Request<Body>| {
        let (inner, writes) = (inner.clone(), writes.clone());
        async move {
            let write = verb(request.method()).zip(resource(request.uri().path()));
            let write = write.map(|(verb, resource)| (verb, resource.to_owned()));
            let answer = inner.send(request).await;
            if let Some((verb, resource)) = write {
                let result = result(answer.as_ref().ok().map(Response::status));
                let labels = WriteLabels {
                    resource,
                    verb,
                    result,
                };
                writes.get_or_create(&labels).inc();
            }
            answer
        }
    };
    Client::new(service_fn(send), client.default_namespace())
}

/// What is done to an object; nothing if it is only read.
fn verb(method: &Method) -> Option<&'static str> {
    let verbs = [
        (Method::POST, "create"),
        (Method::PUT, "update"),
        (Method::PATCH, "patch"),
        (Method::DELETE, "delete"),
    ];
    let mut verbs = verbs.into_iter();
    verbs.find_map(|(known, verb)| (known == *method).then_some(verb))
}

/// What is written to, in the plural as paths have it.
fn resource(path: &str) -> Option<&str> {
    let mut parts = path.trim_start_matches('/').split('/').peekable();
    // A group, or none, and its version.
    let before = if parts.next()? == "api" { 1 } else { 2 };
    let mut parts = parts.skip(before).peekable();
    let first = parts.next()?;
    if first != "namespaces" {
        return Some(first);
    }
    // What follows the namespace's name, or the Namespace itself.
    parts.nth(1).or(Some(first))
}

/// Sorted by who has to do something about it: nobody, nobody (it is tried again), a person, a person.
fn result(status: Option<StatusCode>) -> &'static str {
    match status.map(|status| status.as_u16()) {
        Some(200..300) => "ok",
        Some(404 | 409) => "stale",
        Some(400..500) => "refused",
        Some(_) | None => "failed",
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use serde_json::json;

    use super::*;

    /// Sends a request that is answered so; what was counted.
    async fn counted(method: Method, path: &str, answer: Option<u16>) -> Vec<String> {
        let service = service_fn(move |_: Request<Body>| async move {
            let status = answer.ok_or_else(|| io::Error::other("no connection"))?;
            let response = Response::builder().status(status);
            Ok::<_, io::Error>(
                response
                    .body(Body::from(json!({}).to_string().into_bytes()))
                    .unwrap(),
            )
        });
        let writes = Writes::default();
        let client = counting(&Client::new(service, "default"), &writes);
        let request = Request::builder().method(method).uri(path);
        let _answer = client.send(request.body(Body::empty()).unwrap()).await;
        let mut registry = prometheus_client::registry::Registry::default();
        registry.register("writes", "x", writes);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        let lines = text
            .lines()
            .filter_map(|line| line.strip_prefix("writes_total"));
        lines.map(str::to_owned).collect()
    }

    const RECORD: &str = "/apis/kubi.zone/v1alpha1/namespaces/web/records/www";

    #[tokio::test]
    async fn writes_are_counted_by_what_came_of_them() {
        let cases = [
            (Some(200), "ok"),
            (Some(201), "ok"),
            (Some(409), "stale"),
            (Some(404), "stale"),
            (Some(403), "refused"),
            (Some(422), "refused"),
            (Some(500), "failed"),
            (None, "failed"),
        ];
        for (answer, label) in cases {
            let line = format!("{{resource=\"records\",verb=\"patch\",result=\"{label}\"}} 1");
            assert_eq!(counted(Method::PATCH, RECORD, answer).await, [line]);
        }
    }

    #[tokio::test]
    async fn verbs_and_resources_are_told_from_requests() {
        let status = format!("{RECORD}/status?fieldManager=us");
        let cases = [
            (Method::PATCH, status.as_str(), "records", "patch"),
            (
                Method::POST,
                "/api/v1/namespaces/web/secrets",
                "secrets",
                "create",
            ),
            (
                Method::PUT,
                "/api/v1/namespaces/web",
                "namespaces",
                "update",
            ),
            (Method::DELETE, "/apis/a.b/v1/things/x", "things", "delete"),
        ];
        for (method, path, resource, verb) in cases {
            let line = format!("{{resource=\"{resource}\",verb=\"{verb}\",result=\"ok\"}} 1");
            assert_eq!(counted(method, path, Some(200)).await, [line]);
        }
    }

    #[tokio::test]
    async fn reading_is_not_writing() {
        assert_eq!(counted(Method::GET, RECORD, Some(200)).await, [""; 0]);
    }
}
