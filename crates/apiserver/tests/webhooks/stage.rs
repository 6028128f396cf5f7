//! One story, played before both APIs: what they answer and what they ask webhooks is written down and compared.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use apiserver::{AdminCredential, Apiserver, Kubeconfig, Options, Services};
use http::Request;
use kube::client::Body;
use kube::config::{self, KubeConfigOptions};
use kube::{Client, Config};
use regex::Regex;
use serde_json::{Value, json};
use testkit::control_plane::{self, Identity};
use testkit::eventually;

use crate::hooks::{Behaviour, Hooks, allow};

/// Both servers hear of a configuration within milliseconds, unless the machine is busy.
pub(crate) const SOON: Duration = Duration::from_secs(20);

/// The place of a story before one API.
pub(crate) struct Stage {
    pub(crate) client: Client,
    config: Config,
    kubeconfig: PathBuf,
    pub(crate) ns: String,
    pub(crate) hooks: Hooks,
    seen: Mutex<Vec<Value>>,
    configured: Mutex<Vec<String>>,
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) warnings: Vec<String>,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn message(&self) -> &str {
        self.body["message"].as_str().unwrap_or_default()
    }
}

/// The embedded API behind a socket.
pub(crate) struct Embedded {
    _apiserver: Apiserver,
    _folder: tempfile::TempDir,
    kubeconfig: PathBuf,
    config: Config,
}

impl Embedded {
    pub(crate) async fn open(services: Services) -> Self {
        let options = Options {
            services,
            ..Options::default()
        };
        let mut apiserver = Apiserver::open(options).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kubeconfig");
        let kubeconfig = Kubeconfig {
            path: path.clone(),
            credential: AdminCredential::Token,
        };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        apiserver.listen(listener, kubeconfig).unwrap();
        Self {
            _apiserver: apiserver,
            _folder: folder,
            config: config(&path).await,
            kubeconfig: path,
        }
    }

    pub(crate) async fn stage(&self, prefix: &str) -> Stage {
        Stage::new(self.config.clone(), &self.kubeconfig, prefix).await
    }
}

async fn config(kubeconfig: &Path) -> Config {
    let kubeconfig = config::Kubeconfig::read_from(kubeconfig).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    let mut config = config.unwrap();
    // To be told to come later is an answer, too.
    config.default_retry = false;
    config
}

/// Plays a story before both, and holds what was seen of the one against what was seen of the other.
pub(crate) async fn same(prefix: &str, story: impl AsyncFn(&Stage)) {
    let embedded = Embedded::open(Services::default()).await;
    let kubeconfig = control_plane::shared().await.kubeconfig(Identity::Admin);
    let real = config(&kubeconfig).await;
    let (ours, theirs) = tokio::join!(
        async {
            let stage = embedded.stage(prefix).await;
            story(&stage).await;
            stage.end().await
        },
        async {
            let stage = Stage::new(real, &kubeconfig, prefix).await;
            story(&stage).await;
            stage.end().await
        },
    );
    for (index, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        let differences = differences(ours, theirs, "");
        assert!(
            differences.is_empty(),
            "step {index} of {prefix} differs\n{}\n{ours}",
            differences.join("\n")
        );
    }
    assert_eq!(ours.len(), theirs.len());
}

impl Stage {
    async fn new(config: Config, kubeconfig: &Path, prefix: &str) -> Self {
        let client = Client::try_from(config.clone()).unwrap();
        let ns = testkit::namespace(&client, prefix).await.unwrap();
        Self {
            client,
            config,
            kubeconfig: kubeconfig.to_owned(),
            ns,
            hooks: Hooks::start().await,
            seen: Mutex::default(),
            configured: Mutex::default(),
        }
    }

    pub(crate) fn maps(&self) -> String {
        format!("/api/v1/namespaces/{}/configmaps", self.ns)
    }

    /// Puts a behaviour at a path of the webhook server.
    pub(crate) fn on(&self, path: &str, behaviour: Behaviour) {
        self.hooks.on(path, behaviour);
    }

    /// A webhook at a path that is asked about maps of this stage, but for what `but` says.
    pub(crate) fn webhook(&self, path: &str, but: Value) -> Value {
        let mut webhook = json!({
            "name": format!("{}.example.com", path.trim_matches('/').replace('/', "-")),
            "clientConfig": { "url": self.hooks.url(path), "caBundle": self.hooks.authority },
            "rules": [rule(&["*"], "", "configmaps")],
            "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": self.ns } },
            "objectSelector": { "matchExpressions": [{ "key": "ready", "operator": "DoesNotExist" }] },
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "timeoutSeconds": 5,
        });
        merge(&mut webhook, but);
        webhook
    }

    /// Creates a configuration and returns when it is in force.
    pub(crate) async fn configure(&self, kind: &str, name: &str, webhooks: Vec<Value>) {
        let name = format!("{}-{name}", self.ns);
        let ready = format!("/ready/{name}");
        self.on(&ready, allow());
        let selector = json!({ "matchLabels": { "ready": name }, "matchExpressions": [] });
        let probe =
            json!({ "objectSelector": selector, "name": format!("ready.{kind}.example.com") });
        let mut all = vec![self.webhook(&ready, probe)];
        all.extend(webhooks);
        let path = format!("/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations");
        let body = json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": if kind == "mutating" { "MutatingWebhookConfiguration" } else { "ValidatingWebhookConfiguration" },
            "metadata": { "name": name },
            "webhooks": all,
        });
        let created = self.quietly("POST", &path, &body, &[]).await;
        assert_eq!(created.code, 201, "{}", created.body);
        self.configured
            .lock()
            .unwrap()
            .push(format!("{path}/{name}"));
        let probe = json!({
            "metadata": { "name": "probe", "labels": { "ready": name } },
        });
        let dry = format!("{}?dryRun=All", self.maps());
        eventually(SOON, "a configuration in force", async || {
            let answer = self.quietly("POST", &dry, &probe, &[]).await;
            let asked = self.hooks.asked();
            let is_asked = asked.iter().any(|(path, _)| *path == ready);
            if is_asked {
                Ok(())
            } else {
                Err(answer.body.to_string())
            }
        })
        .await
        .unwrap();
    }

    /// Sends a request and writes down what is answered.
    pub(crate) async fn ask(&self, method: &str, path: &str, body: Value) -> Answer {
        self.ask_as(method, path, body, &[]).await
    }

    /// The same with headers.
    pub(crate) async fn ask_as(
        &self,
        method: &str,
        path: &str,
        body: Value,
        headers: &[(&str, &str)],
    ) -> Answer {
        let answer = self.quietly(method, path, &body, headers).await;
        self.note(json!({
            "asked": format!("{method} {path}"),
            "code": answer.code,
            "warnings": answer.warnings,
            "body": answer.body,
        }));
        answer
    }

    /// Sends a request that is no part of the story.
    pub(crate) async fn quietly(
        &self,
        method: &str,
        path: &str,
        body: &Value,
        headers: &[(&str, &str)],
    ) -> Answer {
        send(&self.client, method, path, body, headers).await
    }

    /// What kubectl prints, in the namespace of this stage.
    pub(crate) async fn kubectl(&self, arguments: &[&str]) -> String {
        let mut command = control_plane::shared()
            .await
            .kubectl(Identity::Admin)
            .command();
        // The last one counts.
        command.arg("--kubeconfig").arg(&self.kubeconfig);
        let cache = tempfile::tempdir().unwrap();
        command.arg("--cache-dir").arg(cache.path());
        let output = command.args(["-n", &self.ns]).args(arguments).output();
        let output = output.await.unwrap();
        let printed = [output.stdout, output.stderr].concat();
        String::from_utf8_lossy(&printed).into_owned()
    }

    /// A client that proves itself by a token.
    pub(crate) fn with_token(&self, token: &str) -> Client {
        let mut config = self.config.clone();
        config.auth_info = config::AuthInfo {
            token: Some(token.to_owned().into()),
            ..config::AuthInfo::default()
        };
        Client::try_from(config).unwrap()
    }

    /// The paths at which webhooks were asked since this was last called; what they were asked is written down.
    pub(crate) fn reviews(&self) -> Vec<(String, Value)> {
        let asked = self.hooks.asked();
        for (path, review) in &asked {
            self.note(json!({ "webhook": path, "review": review }));
        }
        asked
    }

    pub(crate) fn note(&self, mut seen: Value) {
        self.normalise(&mut seen);
        self.seen.lock().unwrap().push(seen);
    }

    async fn end(self) -> Vec<Value> {
        let configured = std::mem::take(&mut *self.configured.lock().unwrap());
        for path in configured {
            self.quietly("DELETE", &path, &Value::Null, &[]).await;
        }
        self.seen.into_inner().unwrap()
    }

    /// Names for what each server chooses itself.
    fn normalise(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.named(text),
            Value::Array(list) => list.iter_mut().for_each(|value| self.normalise(value)),
            Value::Object(fields) => {
                if let Some(version) = fields.get_mut("resourceVersion") {
                    *version = "<version>".into();
                }
                // The real admin comes from a list of tokens, which gives everybody a uid.
                if fields.get("username") == Some(&"admin".into()) {
                    fields.remove("uid");
                }
                fields.values_mut().for_each(|value| self.normalise(value));
                // They are in the order of their times, which are whole seconds.
                if let Some(Value::Array(managed)) = fields.get_mut("managedFields") {
                    managed.sort_by_key(|entry| {
                        ["operation", "manager", "subresource"].map(|key| entry[key].to_string())
                    });
                }
                // Managed fields name owners by their uids.
                let named = std::mem::take(fields).into_iter();
                *fields = named
                    .map(|(field, value)| (self.named(&field), value))
                    .collect();
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn named(&self, text: &str) -> String {
        static UID: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").unwrap()
        });
        static TIME: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z").unwrap());
        let text = text
            .replace(&self.ns, "{ns}")
            .replace(&format!(":{}", self.hooks.port()), ":{port}")
            .replace("zonewright-admin", "admin");
        let text = UID.replace_all(&text, "<uid>");
        TIME.replace_all(&text, "<time>").into_owned()
    }
}

pub(crate) async fn send(
    client: &Client,
    method: &str,
    path: &str,
    body: &Value,
    headers: &[(&str, &str)],
) -> Answer {
    let content_type = match (method, body) {
        ("PATCH", Value::Array(_)) => "application/json-patch+json",
        ("PATCH", _) => "application/merge-patch+json",
        (_, _) => "application/json",
    };
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", content_type)
        .header("user-agent", "stage/1");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let bytes = match body {
        Value::Null => Vec::new(),
        body @ (Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_)) => body.to_string().into_bytes(),
    };
    let response = client
        .send(request.body(Body::from(bytes)).unwrap())
        .await
        .unwrap();
    let code = response.status().as_u16();
    let warnings = response.headers().get_all("warning").iter();
    let warnings = warnings
        .map(|value| value.to_str().unwrap().to_owned())
        .collect();
    let bytes = response.into_body().collect_bytes().await.unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Answer {
        code,
        warnings,
        body: serde_json::from_slice(&bytes).unwrap_or(Value::String(text)),
    }
}

/// What differs, and where.
fn differences(ours: &Value, theirs: &Value, at: &str) -> Vec<String> {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let fields: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
            let nothing = Value::String("<nothing>".to_owned());
            let below = fields.into_iter().flat_map(|field| {
                let (ours, theirs) = (ours.get(field), theirs.get(field));
                let at = format!("{at}/{field}");
                differences(ours.unwrap_or(&nothing), theirs.unwrap_or(&nothing), &at)
            });
            below.collect()
        }
        (ours, theirs) if ours == theirs => Vec::new(),
        (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => {
            let pairs = ours.iter().zip(theirs).enumerate();
            let below = pairs.flat_map(|(index, (ours, theirs))| {
                differences(ours, theirs, &format!("{at}/{index}"))
            });
            below.collect()
        }
        // Which field has the wrong type is told in words of our own.
        (Value::String(ours), Value::String(theirs))
            if ours.contains("the field ") && theirs.contains("json: cannot unmarshal ") =>
        {
            Vec::new()
        }
        (ours, theirs) => vec![format!("{at}\n  ours   {ours}\n  theirs {theirs}")],
    }
}

/// A rule for one kind.
pub(crate) fn rule(operations: &[&str], group: &str, resource: &str) -> Value {
    json!({ "operations": operations, "apiGroups": [group], "apiVersions": ["*"], "resources": [resource] })
}

pub(crate) fn map(name: &str) -> Value {
    json!({ "metadata": { "name": name }, "data": { "a": "1" } })
}

fn merge(value: &mut Value, with: Value) {
    match (value, with) {
        (Value::Object(fields), Value::Object(with)) => {
            for (field, inner) in with {
                if inner.is_null() {
                    fields.remove(&field);
                } else if matches!(
                    field.as_str(),
                    "clientConfig" | "rules" | "namespaceSelector"
                ) {
                    fields.insert(field, inner);
                } else {
                    merge(fields.entry(field).or_insert(Value::Null), inner);
                }
            }
        }
        (value, with) => *value = with,
    }
}
