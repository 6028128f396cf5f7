//! `AdmissionReview`: the question that is sent, and what is read from the answer.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::attributes::{Attributes, Invocation};
use super::hook::{Hook, ReviewVersion};
use super::registry::Phase;
use crate::object::{Object, ObjectExt as _};

/// A question to one webhook.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) hook: Arc<Hook>,
    pub(crate) phase: Phase,
    pub(crate) uid: String,
    version: ReviewVersion,
    pub(crate) body: Bytes,
}

/// An answer as it came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reply {
    pub(crate) code: u16,
    pub(crate) content_type: Option<String>,
    pub(crate) body: Bytes,
}

/// What an answer says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Response {
    pub(crate) allowed: bool,
    /// What is answered to the sender where it is not allowed.
    pub(crate) status: Option<Object>,
    /// A JSON patch.
    pub(crate) patch: Option<Bytes>,
    pub(crate) patch_type: String,
    pub(crate) warnings: Vec<String>,
}

impl ReviewVersion {
    fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "admission.k8s.io/v1",
            Self::V1Beta1 => "admission.k8s.io/v1beta1",
        }
    }
}

impl Question {
    /// Nothing if the webhook does not know a review that is spoken here.
    pub(crate) fn new(
        phase: Phase,
        attributes: &Attributes,
        invocation: &Invocation,
        uid: String,
    ) -> Option<Self> {
        let Invocation { hook, resource } = invocation;
        let version = hook.review?;
        let mut request = attributes.request(resource);
        request.insert("uid".into(), uid.as_str().into());
        request.insert("object".into(), attributes.object_in(resource));
        request.insert("oldObject".into(), attributes.old_in(resource));
        let review = json!({
            "kind": "AdmissionReview",
            "apiVersion": version.api_version(),
            "request": request,
        });
        Some(Self {
            hook: Arc::clone(hook),
            phase,
            uid,
            version,
            body: review.to_string().into(),
        })
    }

    /// What an answer says, or why it says nothing.
    pub(crate) fn read(&self, reply: &Reply) -> Result<Response, String> {
        let review =
            decode(reply, self.version).map_err(|why| format!("failed to call webhook: {why}"))?;
        self.verify(&review)
            .map_err(|why| format!("received invalid webhook response: {why}"))
    }

    fn verify(&self, review: &Object) -> Result<Response, String> {
        let absent = || "webhook response was absent".to_owned();
        let response = review.get("response").and_then(Value::as_object);
        let response = response.ok_or_else(absent)?;
        let text = |field: &str| response.get(field).and_then(Value::as_str);
        let patch = response.get("patch").filter(|patch| !is_nothing(patch));
        let patch_type = text("patchType");
        if self.version == ReviewVersion::V1 {
            self.check_identity(review, text("uid").unwrap_or_default())?;
            check_patch(self.phase, patch.is_some(), patch_type)?;
        }
        let patch = patch.filter(|_| self.phase == Phase::Mutating);
        let patch = patch.map(octets).transpose()?;
        Ok(Response {
            allowed: response.get("allowed") == Some(&Value::Bool(true)),
            status: response.get("status").and_then(Value::as_object).cloned(),
            patch,
            patch_type: match self.version {
                ReviewVersion::V1 => patch_type.unwrap_or_default().to_owned(),
                // The older version has one kind of patch, whatever it is called.
                ReviewVersion::V1Beta1 => "JSONPatch".to_owned(),
            },
            warnings: texts(response.get("warnings")),
        })
    }

    fn check_identity(&self, review: &Object, uid: &str) -> Result<(), String> {
        if uid != self.uid {
            return Err(format!("expected response.uid={:?}, got {uid:?}", self.uid));
        }
        let wanted = self.version.api_version();
        if (review.api_version(), review.kind()) != (wanted, "AdmissionReview") {
            let found = match review.api_version() {
                version if version.contains('/') => version.to_owned(),
                version => format!("/{version}"),
            };
            return Err(format!(
                "expected webhook response of {wanted}, Kind=AdmissionReview, got {found}, Kind={}",
                review.kind()
            ));
        }
        Ok(())
    }
}

fn check_patch(phase: Phase, has_patch: bool, patch_type: Option<&str>) -> Result<(), String> {
    let wrong = match (phase, has_patch, patch_type) {
        (Phase::Mutating, true, None) => {
            "webhook returned response.patch but not response.patchType"
        }
        (Phase::Mutating, false, Some(_)) => {
            "webhook returned response.patchType but not response.patch"
        }
        (Phase::Mutating, true, Some("")) => "webhook returned invalid response.patchType of \"\"",
        (Phase::Validating, true, _) => "validating webhook may not return response.patch",
        (Phase::Validating, false, Some(_)) => {
            "validating webhook may not return response.patchType"
        }
        (Phase::Mutating, true, Some(_)) | (_, false, None) => return Ok(()),
    };
    Err(wrong.to_owned())
}

fn is_nothing(octets: &Value) -> bool {
    match octets {
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => true,
    }
}

/// Octets as Go reads them: base64, or one number after the other, which is how serde writes them.
fn octets(value: &Value) -> Result<Bytes, String> {
    if let Value::Array(numbers) = value {
        let octet = |number: &Value| u8::deserialize(number);
        let octets: Result<Vec<u8>, _> = numbers.iter().map(octet).collect();
        return octets.map(Bytes::from).map_err(|error| error.to_string());
    }
    let decoded = STANDARD.decode(value.as_str().unwrap_or_default());
    decoded.map(Bytes::from).map_err(|error| error.to_string())
}

fn texts(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The review in an answer, as Kubernetes' own client reads answers.
fn decode(reply: &Reply, version: ReviewVersion) -> Result<Object, String> {
    let read: Option<Value> = serde_json::from_slice(&reply.body).ok();
    let object = read.as_ref().and_then(Value::as_object);
    if !(200..=206).contains(&reply.code) {
        let told = object.filter(|object| object.kind() == "Status");
        let told = told.and_then(|status| status.get("message")?.as_str());
        return Err(told.map_or_else(|| unexpected(reply), str::to_owned));
    }
    if reply.body.is_empty() {
        let content_type = reply.content_type.as_deref().unwrap_or("application/json");
        return Err(format!(
            "0-length response with status code: {} and content type: {content_type}",
            reply.code
        ));
    }
    let object = object.ok_or_else(|| unreadable(reply, read.as_ref()))?;
    known(object, version)
}

fn known(object: &Object, version: ReviewVersion) -> Result<Object, String> {
    match (object.api_version(), object.kind()) {
        ("" | "admission.k8s.io/v1" | "admission.k8s.io/v1beta1", "" | "AdmissionReview") => {
            let said = object.api_version();
            if ["", version.api_version()].contains(&said) {
                return Ok(object.clone());
            }
            let short = |version: &str| version.rsplit('/').next().unwrap_or_default().to_owned();
            Err(format!(
                "converting ({}.AdmissionReview) to ({}.AdmissionReview): unknown conversion",
                short(said),
                short(version.api_version()),
            ))
        }
        ("v1", "Status") => {
            let message = object.get("message").and_then(Value::as_str);
            Err(message.unwrap_or_default().to_owned())
        }
        (found, kind) => Err(format!(
            "no kind {kind:?} is registered for version {found:?} in scheme \"pkg/api/legacyscheme/scheme.go:30\""
        )),
    }
}

/// The longest text of an answer that is quoted: the bound of Kubernetes' own client.
const QUOTED_MAX: usize = 2048;

/// An answer with a code that says it failed.
fn unexpected(reply: &Reply) -> String {
    let media = reply.content_type.as_deref().unwrap_or("text/plain");
    let said = if media.starts_with("text/") {
        let shown = &reply.body[..reply.body.len().min(QUOTED_MAX)];
        String::from_utf8_lossy(shown).trim().to_owned()
    } else {
        "unknown".to_owned()
    };
    match reply.code {
        400 => "the server rejected our request for an unknown reason".to_owned(),
        401 => "the server has asked for the client to provide credentials".to_owned(),
        406 if said.is_empty() || said == "unknown" => {
            "the server was unable to respond with a content type that the client supports"
                .to_owned()
        }
        403 | 406 | 415 => said,
        404 => "the server could not find the requested resource".to_owned(),
        405 => "the server does not allow this method on the requested resource".to_owned(),
        409 => "the server reported a conflict".to_owned(),
        422 => "the server rejected our request due to an error in our request".to_owned(),
        429 => "the server has received too many requests and has asked us to try again later".to_owned(),
        503 => "the server is currently unable to handle the request".to_owned(),
        504 => "the server was unable to return a response in the time allotted, but may still be processing the request".to_owned(),
        500.. => format!("an error on the server ({said:?}) has prevented the request from succeeding"),
        code => format!("the server responded with the status code {code} but did not return more information"),
    }
}

/// What does not even look like a review. Text that is no JSON is a text in YAML.
fn unreadable(reply: &Reply, read: Option<&Value>) -> String {
    let found = match read {
        Some(Value::Array(_)) => "array",
        Some(Value::Bool(_)) => "bool",
        Some(Value::Number(_)) => "number",
        Some(Value::String(_) | Value::Null | Value::Object(_)) => "string",
        None if std::str::from_utf8(&reply.body).is_ok() => "string",
        None => return "yaml: control characters are not allowed".to_owned(),
    };
    format!(
        "couldn't get version/kind; json parse error: json: cannot unmarshal {found} into Go value of type \
         struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}"
    )
}
