//! Requests for tokens: tokens of service accounts, for those who ask for them.

use std::sync::{Arc, OnceLock};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::face::tokens::{Grant, ISSUER, Tokens};
use crate::key::Key;
use crate::refusal::{FieldError, FieldPath, Refusal, Subject};

/// How long a token lasts when nobody says, as kube-apiserver has it.
const LIFETIME: i64 = 3600;
/// The shortest and the longest that may be asked for.
const SHORTEST: i64 = 600;
const LONGEST: i64 = 1 << 32;

/// Signs tokens, once there is a key to sign them with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signer(Arc<OnceLock<Arc<Tokens>>>);

impl Signer {
    /// Signs with this key from now on.
    pub(crate) fn set(&self, tokens: &Arc<Tokens>) {
        self.0.get_or_init(|| Arc::clone(tokens));
    }

    /// The answer to a request for a token of the service account at `key`.
    pub(crate) fn answer(
        &self,
        key: &Key,
        uid: &str,
        request: &Value,
        id: Uuid,
        now: Timestamp,
    ) -> Result<Value, Refusal> {
        let tokens = self.0.get().ok_or_else(|| {
            Refusal::unavailable("nobody listens here, so there is no key to sign tokens with")
        })?;
        let spec = &request["spec"];
        let seconds = spec["expirationSeconds"].as_i64().unwrap_or(LIFETIME);
        check(seconds)?;
        let expires = now
            .saturating_add(SignedDuration::from_secs(seconds))
            .unwrap_or(Timestamp::MAX);
        let mut audiences: Vec<String> = spec["audiences"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|audience| audience.as_str().map(str::to_owned))
            .collect();
        if audiences.is_empty() {
            audiences.push(ISSUER.to_owned());
        }
        let grant = Grant {
            namespace: &key.place.namespace,
            name: &key.place.name,
            uid,
            audiences: &audiences,
            expires,
            id,
        };
        let token = tokens.issue(&grant, now);
        let to_the_second = |time: Timestamp| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        Ok(json!({
            "kind": "TokenRequest",
            "apiVersion": "authentication.k8s.io/v1",
            "metadata": {
                "name": &*key.place.name,
                "namespace": &*key.place.namespace,
                "uid": uid,
                "creationTimestamp": to_the_second(now),
            },
            "spec": { "audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": null },
            "status": { "token": token, "expirationTimestamp": to_the_second(expires) },
        }))
    }
}

/// A token lasts neither too short nor too long.
fn check(seconds: i64) -> Result<(), Refusal> {
    let detail = if seconds < SHORTEST {
        "may not specify a duration less than 10 minutes"
    } else if seconds > LONGEST {
        "may not specify a duration larger than 2^32 seconds"
    } else {
        return Ok(());
    };
    let error = FieldError::invalid(FieldPath::of("spec.expirationSeconds"), seconds, detail);
    let subject = Subject {
        group: "authentication.k8s.io",
        what: "TokenRequest",
        name: "",
    };
    Err(Refusal::invalid(subject, &[error]))
}
