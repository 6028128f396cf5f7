//! What an API says to a trial.

use http::Request;
use kube::Client;
use kube::core::Status;
use serde_json::{Value, json};

use crate::corpus::Trial;

/// What an API said.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Verdict {
    pub(super) accepted: bool,
    /// Field and message of each cause of a refusal, in the order of the alphabet.
    pub(super) causes: Vec<(String, String)>,
}

/// Sends a trial. Nothing is changed but what a change needs to start from, which gets a name made
/// of `index`.
pub(super) async fn judge(
    client: &Client,
    namespace: &str,
    index: usize,
    trial: &Trial,
) -> Verdict {
    let name = format!("cel-{index}");
    let folder = if trial.namespaced {
        format!("{}/namespaces/{namespace}/{}", trial.root, trial.plural)
    } else {
        format!("{}/{}", trial.root, trial.plural)
    };
    let mut object = object(trial, &name, &trial.new);
    let Some(before) = &trial.old else {
        return verdict(send(client, "POST", &format!("{folder}?dryRun=All"), &object).await);
    };
    let created = send(client, "POST", &folder, &self::object(trial, &name, before)).await;
    let created =
        created.unwrap_or_else(|status| panic!("{trial}: there is nothing to change: {status:?}"));
    object["metadata"]["resourceVersion"] = created["metadata"]["resourceVersion"].clone();
    let subresource = if trial.of_status { "/status" } else { "" };
    let path = format!("{folder}/{name}{subresource}?dryRun=All");
    verdict(send(client, "PUT", &path, &object).await)
}

fn object(trial: &Trial, name: &str, content: &Value) -> Value {
    let api_version = trial.root.trim_start_matches("/apis/");
    let mut object =
        json!({ "apiVersion": api_version, "kind": trial.kind, "metadata": { "name": name } });
    json_patch::merge(&mut object, content);
    object
}

async fn send(
    client: &Client,
    method: &str,
    path: &str,
    body: &Value,
) -> Result<Value, Box<Status>> {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("Content-Type", "application/json")
        .body(body.to_string().into_bytes())
        .expect("the request is well formed");
    match client.request(request).await {
        Ok(answer) => Ok(answer),
        Err(kube::Error::Api(status)) => Err(status),
        Err(error) => panic!("{method} {path}: {error}"),
    }
}

fn verdict(answer: Result<Value, Box<Status>>) -> Verdict {
    let Err(status) = answer else {
        return Verdict {
            accepted: true,
            causes: Vec::new(),
        };
    };
    let causes = status
        .details
        .into_iter()
        .flat_map(|details| details.causes);
    let mut causes: Vec<_> = causes.map(|cause| (cause.field, cause.message)).collect();
    causes.sort();
    Verdict {
        accepted: false,
        causes,
    }
}
