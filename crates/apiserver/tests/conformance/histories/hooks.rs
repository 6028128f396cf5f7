//! The webhooks that writes of histories meet.
//!
//! One server on loopback is asked by both APIs about every object with the label `hook`, whose value says what becomes of a write
//! (see [`Effect`]). What it answers depends on nothing but the question, so both APIs are told the same; what it was asked is
//! compared, too, but for who asks.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Request;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use testkit::webhooks::{Behaviour, Hooks, judge};
use tokio::net::TcpSocket;

/// The label that makes an object concern webhooks.
pub(crate) const LABEL: &str = "hook";

/// A webhook refuses to let an object go if it is given this many seconds for it.
pub(crate) const GRACE: i64 = 7;

/// How long an API may take to hear of webhooks.
const SOON: Duration = Duration::from_secs(20);

/// The two APIs, as they are told apart by whoever is asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Asker {
    Ours,
    Theirs,
}

/// What webhooks do with a write that may be carried out.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Effect {
    /// Two of them change the object, the first once more after the second.
    Changed,
    /// Its sender is warned, by one that may change it and by one that may not.
    Warned,
    /// Nobody listens where the webhook is said to be, and that is to be ignored.
    Ignored,
}

/// The webhook server and a port at which nobody listens.
pub(crate) struct World {
    hooks: Hooks,
    dead: u16,
    /// Keeps the port from being given to somebody who listens.
    _taken: TcpSocket,
    asked: Mutex<Vec<(String, Value)>>,
}

impl Effect {
    pub(crate) const ALL: [Self; 3] = [Self::Changed, Self::Warned, Self::Ignored];

    /// The value of the label.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Changed => "change",
            Self::Warned => "warn",
            Self::Ignored => "ignored",
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Changed => "changed",
            Self::Warned => "warned",
            Self::Ignored => "ignored",
        })
    }
}

impl Asker {
    fn word(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Theirs => "theirs",
        }
    }
}

impl World {
    pub(crate) async fn start() -> Arc<Self> {
        let hooks = Hooks::start().await;
        for asker in [Asker::Ours, Asker::Theirs] {
            for (word, behaviour) in behaviours() {
                hooks.on(&format!("/{}/{word}", asker.word()), behaviour);
            }
        }
        let taken = TcpSocket::new_v4().expect("there are sockets");
        let anywhere = "127.0.0.1:0".parse().expect("an address");
        taken.bind(anywhere).expect("a port is free");
        let dead = taken.local_addr().expect("it is bound").port();
        Arc::new(Self {
            hooks,
            dead,
            _taken: taken,
            asked: Mutex::default(),
        })
    }

    /// Tells an API of the webhooks, and returns when it asks them.
    pub(crate) async fn install(&self, asker: Asker, client: &Client) {
        let base = "/apis/admissionregistration.k8s.io/v1";
        for (kind, webhooks) in [
            ("Mutating", self.mutating(asker)),
            ("Validating", self.validating(asker)),
        ] {
            let configuration = json!({
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": format!("{kind}WebhookConfiguration"),
                "metadata": { "name": "histories" },
                "webhooks": webhooks,
            });
            let path = format!("{base}/{}webhookconfigurations", kind.to_lowercase());
            let code = post(client, &path, &configuration).await;
            assert_eq!(code, 201, "webhooks are configured");
        }
        let path = "/api/v1/namespaces/default/configmaps?dryRun=All";
        for (word, refused) in [("lost", 500), ("deny", 403)] {
            let probe = json!({ "metadata": { "name": "probe", "labels": { LABEL: word } } });
            let waited = testkit::eventually(SOON, "webhooks in force", async || {
                match post(client, path, &probe).await {
                    code if code == refused => Ok(()),
                    code => Err(format!("{word}: {code}")),
                }
            });
            waited.await.unwrap_or_else(|overdue| panic!("{overdue}"));
        }
    }

    /// What an API has asked about objects of a namespace since this was last called, webhook by webhook. What controllers do
    /// is left out: it happens at a time of their own.
    pub(crate) fn asked(&self, asker: Asker, ns: &str) -> Vec<Value> {
        let mut all = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(self.hooks.asked());
        let prefix = format!("/{}/", asker.word());
        let (mine, others) = std::mem::take(&mut *all)
            .into_iter()
            .partition(|(path, review)| path.starts_with(&prefix) && is_about(review, ns));
        *all = others;
        drop(all);
        let mine: Vec<(String, Value)> = mine;
        let mut mine: Vec<(String, Value)> = of_last_attempts(mine)
            .into_iter()
            .filter(|(_, review)| is_by_a_person(review))
            .map(|(path, review)| (path.replacen(&prefix, "", 1), review))
            .collect();
        // Those that may only refuse are asked at once.
        mine.sort_by(|(one, _), (other, _)| one.cmp(other));
        let question = |(word, mut review): (String, Value)| {
            let mut request = review["request"].take();
            if let Some(request) = request.as_object_mut() {
                request.remove("userInfo");
            }
            json!({ "webhook": word, "request": request })
        };
        mine.into_iter().map(question).collect()
    }

    fn mutating(&self, asker: Asker) -> Vec<Value> {
        let mut first = self.webhook(asker, "change", "change");
        first["reinvocationPolicy"] = "IfNeeded".into();
        let second = self.webhook(asker, "late", "change");
        let ignored = self.lost("ignored", "Ignore");
        let lost = self.lost("lost", "Fail");
        vec![
            first,
            second,
            self.webhook(asker, "warn", "warn"),
            ignored,
            lost,
        ]
    }

    fn validating(&self, asker: Asker) -> Vec<Value> {
        let mut keep = self.webhook(asker, "keep", "keep");
        keep["matchConditions"] =
            json!([{ "name": "goes", "expression": "request.operation == 'DELETE'" }]);
        vec![
            self.webhook(asker, "deny", "deny"),
            self.webhook(asker, "observe", "warn"),
            keep,
            self.lost("ignored", "Ignore"),
        ]
    }

    /// A webhook that is asked about objects whose label has this value, and does what `word` says.
    fn webhook(&self, asker: Asker, word: &str, value: &str) -> Value {
        let url = self.hooks.url(&format!("/{}/{word}", asker.word()));
        webhook(word, value, &url, &self.hooks.authority)
    }

    /// A webhook that is not there.
    fn lost(&self, value: &str, policy: &str) -> Value {
        let url = format!("https://127.0.0.1:{}/{value}", self.dead);
        let mut webhook = webhook(value, value, &url, &self.hooks.authority);
        webhook["failurePolicy"] = policy.into();
        webhook
    }
}

fn webhook(word: &str, value: &str, url: &str, authority: &str) -> Value {
    json!({
        "name": format!("{word}.histories.example.dev"),
        "clientConfig": { "url": url, "caBundle": authority },
        "rules": [{ "operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"] }],
        "objectSelector": { "matchLabels": { LABEL: value } },
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 10,
    })
}

fn behaviours() -> [(&'static str, Behaviour); 6] {
    [
        (
            "change",
            judge(|request| note(request, "hooked", &later(request))),
        ),
        ("late", judge(|request| note(request, "late", "yes"))),
        ("warn", judge(warn)),
        ("observe", judge(warn)),
        ("deny", judge(deny)),
        ("keep", judge(keep)),
    ]
}

/// Whether the second has changed the object already.
fn later(request: &Value) -> String {
    let late = &request["object"]["metadata"]["annotations"]["late"];
    let later = if late.is_null() { "early" } else { "late" };
    later.to_owned()
}

/// Lets it through with an annotation.
fn note(request: &Value, name: &str, value: &str) -> Value {
    if request["object"].is_null() {
        return json!({ "allowed": true });
    }
    let mut operations = Vec::new();
    if request["object"]["metadata"]["annotations"].is_null() {
        operations.push(json!({ "op": "add", "path": "/metadata/annotations", "value": {} }));
    }
    let path = format!("/metadata/annotations/{name}");
    operations.push(json!({ "op": "add", "path": path, "value": value }));
    let patch = STANDARD.encode(Value::Array(operations).to_string());
    json!({ "allowed": true, "patchType": "JSONPatch", "patch": patch })
}

fn warn(request: &Value) -> Value {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let warning = format!(
        "{} of {}",
        word(&request["operation"]),
        word(&request["kind"]["kind"])
    );
    json!({ "allowed": true, "warnings": [warning, "take care"] })
}

/// Refuses what wants to have the label, not what gets rid of it.
fn deny(request: &Value) -> Value {
    let wanted = request["object"]["metadata"]["labels"][LABEL] == "deny";
    json!({ "allowed": !wanted, "status": { "code": 403, "message": "not like this" }, "warnings": ["denied"] })
}

/// Refuses a deletion that asks for it, so that everything can be deleted in the end.
fn keep(request: &Value) -> Value {
    let wanted = request["options"]["gracePeriodSeconds"] == GRACE;
    json!({ "allowed": !wanted, "status": { "code": 403, "reason": "Forbidden", "message": "it stays" } })
}

/// Whether a question is about an object in a namespace, or one outside of namespaces that is called after it.
fn is_about(review: &Value, ns: &str) -> bool {
    let request = &review["request"];
    let beginning = format!("{ns}-");
    let begins = |value: &Value| {
        value
            .as_str()
            .is_some_and(|text| text.starts_with(&beginning))
    };
    request["namespace"] == ns
        || begins(&request["namespace"])
        || begins(&request["name"])
        || begins(&request["object"]["metadata"]["generateName"])
        || begins(&request["oldObject"]["metadata"]["name"])
}

/// Without what was asked in vain: kube-apiserver begins with what it has in its cache, and anew if that is outdated.
fn of_last_attempts(mut asked: Vec<(String, Value)>) -> Vec<(String, Value)> {
    let seen = |review: &Value| {
        let old = &review["request"]["oldObject"]["metadata"];
        let uid = old["uid"].as_str()?.to_owned();
        let version = old["resourceVersion"].as_str()?.parse::<u64>().ok()?;
        Some((uid, version))
    };
    let mut latest = BTreeMap::new();
    for (uid, version) in asked.iter().filter_map(|(_, review)| seen(review)) {
        let known = latest.entry(uid).or_insert(version);
        *known = version.max(*known);
    }
    asked.retain(|(_, review)| {
        seen(review).is_none_or(|(uid, version)| latest.get(&uid) == Some(&version))
    });
    asked
}

fn is_by_a_person(review: &Value) -> bool {
    let name = review["request"]["userInfo"]["username"].as_str();
    !name.is_some_and(|name| name.starts_with("system:"))
}

async fn post(client: &Client, path: &str, body: &Value) -> u16 {
    let request = Request::post(path)
        .header("content-type", "application/json")
        .body(Body::from(body.to_string().into_bytes()))
        .expect("a path that is written here");
    let answer = client.send(request).await;
    answer.map_or(0, |answer| answer.status().as_u16())
}
