//! Which form an answer takes, and which form a body is in.
//!
//! A client says in `Accept` what it can read: a format (JSON, YAML, protocol buffers) and a view of the objects (as
//! they are, as a table, metadata only). The choice is kube-apiserver's, oddities included: weights
//! order the wishes but a weight of zero does not forbid, and a wish that cannot be met is passed over
//! in silence as long as another can be.

mod accept;

#[cfg(test)]
mod on_cluster;
#[cfg(test)]
mod tests;

use serde_json::json;

use crate::refusal::Refusal;
use crate::resource::Origin;
use accept::Clause;

/// The formats that bodies are written in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Format {
    Json,
    Yaml,
    /// Which built-in kinds are told in, and metadata of all kinds; tables and custom kinds are not.
    Protobuf,
}

/// How objects are shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum View {
    /// As they are.
    Plain,
    Table(MetaVersion),
    /// `PartialObjectMetadata`: of one object, or of each event of a watch.
    Metadata(MetaVersion),
    /// `PartialObjectMetadataList`: of a list.
    MetadataList(MetaVersion),
    /// All of discovery in one document.
    AggregatedDiscovery,
}

/// The version of `meta.k8s.io` that a view is in; the two differ in name only.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum MetaVersion {
    V1,
    V1Beta1,
}

/// What a path can show.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Endpoint {
    /// Objects, which have every view but the aggregated one.
    Objects(Origin),
    /// `/api` and `/apis`.
    DiscoveryRoot,
    /// Everything else: one document, as it is.
    Document,
}

/// The form that was agreed on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Answer {
    pub(crate) format: Format,
    pub(crate) view: View,
    /// Whether JSON is indented for people.
    pub(crate) pretty: bool,
}

/// Agrees on the form of an answer. An `Accept` header that is missing or empty accepts anything.
pub(crate) fn negotiate(accept: &str, endpoint: Endpoint) -> Result<Answer, Refusal> {
    if accept.is_empty() {
        let (format, view, pretty) = (Format::Json, View::Plain, false);
        return Ok(Answer {
            format,
            view,
            pretty,
        });
    }
    let clauses = accept::clauses(accept);
    let mut answers = clauses.iter().filter_map(|clause| answer(clause, endpoint));
    answers.next().ok_or_else(Refusal::not_acceptable)
}

/// What the framework in front of kube-apiserver's built-in kinds and documents asks before anything else: that one of the
/// media types that are `available` is spelled out, or any will do. `application/*` will not.
pub(crate) fn check_essence(accept: &str, available: &str) -> Result<(), Refusal> {
    let spelled = |clause: &str| {
        let essence = clause.split(';').next().unwrap_or_default().trim();
        essence == "*/*" || available.split(", ").any(|available| available == essence)
    };
    if accept.is_empty() || accept.split(',').any(spelled) {
        return Ok(());
    }
    let refusal = Refusal {
        message: format!("406: Not Acceptable\n\nAvailable representations: {available}"),
        ..Refusal::not_acceptable()
    };
    Err(refusal.with_details(json!({})))
}

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// The same for a watch; YAML has no way to tell events apart.
pub(crate) fn negotiate_stream(accept: &str, origin: Origin) -> Result<Answer, Refusal> {
    let answer = negotiate(accept, Endpoint::Objects(origin))?;
    match answer.format {
        Format::Json | Format::Protobuf => Ok(answer),
        Format::Yaml => Err(Refusal {
            message: format!(
                "only the following media types are accepted: application/json;stream=watch, {PROTOBUF};stream=watch"
            ),
            ..Refusal::not_acceptable()
        }),
    }
}

/// The format of a body by its `Content-Type`; JSON where nothing is said.
pub(crate) fn body_format(content_type: &str) -> Result<Format, Refusal> {
    let mut parts = content_type.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default().to_ascii_lowercase();
    let mut parameters: Vec<&str> = parts.collect();
    // A semicolon at the end is forgiven, one in the middle is not.
    if parameters.last() == Some(&"") {
        parameters.pop();
    }
    let well_formed = parameters.iter().all(|parameter| parameter.contains('='));
    match essence.as_str() {
        "" if content_type.is_empty() => Ok(Format::Json),
        "application/json" if well_formed => Ok(Format::Json),
        "application/yaml" if well_formed => Ok(Format::Yaml),
        PROTOBUF if well_formed => Ok(Format::Protobuf),
        _ => Err(Refusal::unsupported_media_type(ACCEPTED)),
    }
}

/// Whether JSON is indented: because the query says so, or because the client is a browser or one
/// of the tools that people read from directly. `query` is the value of `pretty`, if it is there.
pub(crate) fn is_pretty(query: Option<&str>, user_agent: &str) -> bool {
    match query {
        Some(text) if !text.is_empty() => ["1", "t", "T", "true", "TRUE", "True"].contains(&text),
        Some(_) | None => ["curl", "Wget", "Mozilla/5.0"]
            .iter()
            .any(|name| user_agent.starts_with(name)),
    }
}

impl Format {
    /// The `Content-Type` of answers.
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Yaml => "application/yaml",
            Self::Protobuf => PROTOBUF,
        }
    }

    /// The `Content-Type` of watches.
    pub(crate) fn stream_type(self) -> String {
        match self {
            Self::Json => self.content_type().to_owned(),
            Self::Yaml | Self::Protobuf => format!("{};stream=watch", self.content_type()),
        }
    }
}

impl Answer {
    /// The `Content-Type` of the answer; only the aggregated view shows in it.
    pub(crate) fn content_type(self) -> String {
        let format = self.format.content_type();
        match self.view {
            View::AggregatedDiscovery => {
                format!("{format};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
            }
            View::Plain | View::Table(_) | View::Metadata(_) | View::MetadataList(_) => {
                format.to_owned()
            }
        }
    }
}

impl MetaVersion {
    /// `meta.k8s.io/v1`
    pub(crate) fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "meta.k8s.io/v1",
            Self::V1Beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

/// What objects of custom kinds may be in.
pub(crate) const TEXT: &str = "application/json, application/yaml";

/// What bodies may be in, and answers.
pub(crate) const ACCEPTED: &str =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";

/// The form that one clause asks for, if it can be had here.
fn answer(clause: &Clause<'_>, endpoint: Endpoint) -> Option<Answer> {
    let format = match (clause.kind, clause.subtype) {
        ("application", "json" | "*") | ("*", "*") => Format::Json,
        ("application", "yaml") => Format::Yaml,
        ("application", "vnd.kubernetes.protobuf") => Format::Protobuf,
        _ => return None,
    };
    let served = |key: &str, values: &[&str]| {
        let value = clause.parameter(key).unwrap_or_default();
        value.is_empty() || values.contains(&value)
    };
    let versions: &[&str] = match endpoint {
        Endpoint::Objects(_) => &["v1"],
        Endpoint::DiscoveryRoot | Endpoint::Document => &[],
    };
    if !served("stream", &["watch"]) || !served("sv", versions) {
        return None;
    }
    // YAML cannot be streamed at all.
    if format == Format::Yaml && !served("stream", &[]) {
        return None;
    }
    let view = view(clause, endpoint)?;
    if format == Format::Protobuf && !has_protobuf(view, endpoint) {
        return None;
    }
    let pretty = clause.parameter("pretty") == Some("1");
    Some(Answer {
        format,
        view,
        pretty,
    })
}

/// Whether a view can be told in protocol buffers.
fn has_protobuf(view: View, endpoint: Endpoint) -> bool {
    match view {
        View::Plain => endpoint != Endpoint::Objects(Origin::Custom),
        View::Table(_) => false,
        View::Metadata(_) | View::MetadataList(_) | View::AggregatedDiscovery => true,
    }
}

fn view(clause: &Clause<'_>, endpoint: Endpoint) -> Option<View> {
    let [group, version, kind] = ["g", "v", "as"].map(|key| clause.parameter(key));
    if group.is_none() && version.is_none() && kind.is_none() {
        return Some(View::Plain);
    }
    match (endpoint, group?, version?, kind?) {
        (Endpoint::Objects(_), "meta.k8s.io", version, kind) => meta_view(version, kind),
        (Endpoint::DiscoveryRoot, "apidiscovery.k8s.io", "v2", "APIGroupDiscoveryList") => {
            Some(View::AggregatedDiscovery)
        }
        (Endpoint::Objects(_) | Endpoint::DiscoveryRoot | Endpoint::Document, _, _, _) => None,
    }
}

fn meta_view(version: &str, kind: &str) -> Option<View> {
    let version = match version {
        "v1" => MetaVersion::V1,
        "v1beta1" => MetaVersion::V1Beta1,
        _ => return None,
    };
    match kind {
        "Table" => Some(View::Table(version)),
        "PartialObjectMetadata" => Some(View::Metadata(version)),
        "PartialObjectMetadataList" => Some(View::MetadataList(version)),
        _ => None,
    }
}
