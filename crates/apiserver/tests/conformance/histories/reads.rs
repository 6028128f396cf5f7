//! Gets, lists and watches.

use rand::Rng as _;
use serde_json::{Value, json};

use super::aim::{Aim, Outcome};
use super::author::{Author, Draft, Open};
use super::body::{escaped, parsed};

/// Label selectors, each with labels that match.
const LABEL_SELECTORS: [(&str, &str); 7] = [
    ("colour=red", r#"{"colour": "red"}"#),
    ("colour", r#"{"colour": "blue"}"#),
    ("colour!=red", "{}"),
    ("!colour", "{}"),
    ("colour in (red,blue)", r#"{"colour": "blue"}"#),
    ("colour notin (red),size", r#"{"size": "5"}"#),
    ("size>4", r#"{"size": "5"}"#),
];

/// Queries of lists that cannot be read.
const BAD_LISTS: [&str; 6] = [
    "labelSelector=colour%20in",
    "labelSelector=%3D",
    "fieldSelector=nothing.such%3Dv",
    "fieldSelector=metadata.name",
    "limit=few",
    "continue=nonsense",
];

/// Queries of lists that contradict themselves.
const INVALID_LISTS: [&str; 4] = [
    "resourceVersionMatch=Exact",
    "resourceVersionMatch=NotOlderThan",
    "resourceVersion=1&resourceVersionMatch=About",
    "sendInitialEvents=true",
];

const BAD_WATCHES: [&str; 3] = [
    "labelSelector=a%20in",
    "fieldSelector=nothing.such%3Dv",
    "timeoutSeconds=soon",
];

const INVALID_WATCHES: [&str; 3] = [
    "sendInitialEvents=true",
    "resourceVersionMatch=NotOlderThan",
    "sendInitialEvents=true&resourceVersionMatch=Exact&allowWatchBookmarks=true",
];

/// Other forms of an answer.
const VIEWS: [&str; 2] = [
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
];

/// So many watches may be open at once.
const WATCHES: usize = 3;

/// What a list or a watch is restricted to.
#[derive(Default)]
struct Selection {
    query: Vec<String>,
    matching: Value,
    name: Option<String>,
}

impl Author<'_> {
    pub(super) async fn get(&mut self, aim: Aim) -> Result<(), String> {
        let (_, path) = self.subject(aim).await?;
        let mut draft = Draft::new("GET", path);
        if self.in_hundred(25) {
            draft.query = self.not_older().await?;
        }
        if self.in_hundred(20) {
            let view = self.pick(&VIEWS)?.replace("MetadataList", "Metadata");
            draft = draft.detail("headers", json!({ "Accept": view }));
        }
        self.send(draft).await.map(drop)
    }

    pub(super) async fn list(&mut self, outcome: Outcome) -> Result<(), String> {
        let mut draft = Draft::new("GET", self.kind.path.clone());
        match outcome {
            Outcome::BadRequest => draft.query.push(self.pick(&BAD_LISTS)?.to_owned()),
            Outcome::Invalid => draft.query.push(self.pick(&INVALID_LISTS)?.to_owned()),
            Outcome::Done
            | Outcome::Created
            | Outcome::NotFound
            | Outcome::AlreadyExists
            | Outcome::Conflict
            | Outcome::Unsupported
            | Outcome::Denied
            | Outcome::Unasked
            | Outcome::Other => return self.good_list(draft).await,
        }
        self.send(draft).await.map(drop)
    }

    async fn good_list(&mut self, mut draft: Draft) -> Result<(), String> {
        if let Some((query, token)) = self.page.take() {
            draft.query = vec![query, format!("continue={{{token}}}")];
            return self.paged(draft).await;
        }
        draft.query = self.selection().query;
        match self.chance.random_range(0..10) {
            0..4 => {}
            4..7 => draft.query.extend(self.not_older().await?),
            _ => {
                if let Some(version) = self.any_version() {
                    let exact = format!("resourceVersion={{{version}}}&resourceVersionMatch=Exact");
                    draft.query.push(exact);
                }
            }
        }
        if self.in_hundred(20) {
            let view = self.pick(&VIEWS)?.replace("Metadata;", "MetadataList;");
            draft = draft.detail("headers", json!({ "Accept": view }));
        }
        // Where others have objects, too, it is up to them whether there is another page.
        if !self.kind.cluster && self.in_hundred(40) {
            let limit = self.chance.random_range(1..3);
            draft.query.insert(0, format!("limit={limit}"));
            return self.paged(draft).await;
        }
        self.send(draft).await.map(drop)
    }

    /// Sends a list that may have another page, and remembers it.
    async fn paged(&mut self, draft: Draft) -> Result<(), String> {
        let again: Vec<_> = draft
            .query
            .iter()
            .filter(|option| {
                !option.starts_with("continue=") && !option.starts_with("resourceVersion")
            })
            .cloned()
            .collect();
        let token = self.fresh("next");
        let draft = draft.detail("save", json!({ &token: "/metadata/continue" }));
        let answer = self.send(draft).await?;
        let next = answer
            .body
            .pointer("/metadata/continue")
            .and_then(Value::as_str);
        if next.is_some_and(|next| !next.is_empty()) {
            self.page = Some((again.join("&"), token));
        }
        Ok(())
    }

    pub(super) async fn watch(&mut self, outcome: Outcome) -> Result<(), String> {
        let mut draft = Draft::new("GET", self.kind.path.clone()).query(["watch=1".to_owned()]);
        let refused = match outcome {
            Outcome::BadRequest => self.pick(&BAD_WATCHES)?,
            Outcome::Invalid => self.pick(&INVALID_WATCHES)?,
            Outcome::Done
            | Outcome::Created
            | Outcome::NotFound
            | Outcome::AlreadyExists
            | Outcome::Conflict
            | Outcome::Unsupported
            | Outcome::Denied
            | Outcome::Unasked
            | Outcome::Other => return self.good_watch(draft).await,
        };
        draft.query.push(refused.to_owned());
        self.step("watch refused ", draft).await.map(drop)
    }

    async fn good_watch(&mut self, mut draft: Draft) -> Result<(), String> {
        if self.watches.len() == WATCHES {
            self.read_watches().await?;
        }
        let Selection {
            query,
            matching,
            name,
        } = self.selection();
        draft.query.extend(query);
        match self.chance.random_range(0..10) {
            0..2 => {}
            2..4 => {
                self.catch_up().await?;
                draft.query.push("resourceVersion=0".to_owned());
            }
            4..6 => draft.query.push(
                "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
                    .to_owned(),
            ),
            _ => draft.query.extend(
                self.any_version()
                    .map(|version| format!("resourceVersion={{{version}}}")),
            ),
        }
        let stream = self.fresh("w");
        let answer = self.step(&format!("watch {stream} "), draft).await?;
        if answer.code == Some(200) {
            self.watches.push(Open {
                stream,
                matching,
                name,
            });
        }
        Ok(())
    }

    /// Reads all watches up to a change that is made for it.
    pub(super) async fn read_watches(&mut self) -> Result<(), String> {
        for open in std::mem::take(&mut self.watches) {
            let end = match &open.name {
                Some(name) => self.touch(name).await?,
                None => self.finish(&open.matching).await?,
            };
            let count = self.count_events(&open.stream, &end).await;
            self.line(format!("events {}", open.stream), count.into())
                .await?;
        }
        Ok(())
    }

    /// Makes an object that a watch ends with.
    async fn finish(&mut self, matching: &Value) -> Result<String, String> {
        let name = self.fresh("end");
        let name = self.name(&name);
        let mut body = self.plain(&name);
        json_patch::merge(&mut body, matching);
        let draft = Draft::new("POST", self.kind.path.clone()).detail("body", body);
        self.send(draft).await?;
        Ok(name)
    }

    /// Changes an object that a watch is about, so that it says where to end.
    async fn touch(&mut self, name: &str) -> Result<String, String> {
        let end = self.fresh("end");
        let note = json!({ "metadata": { "annotations": { "end": &end } } });
        let draft = if self.look(name).await.is_some() {
            let draft = Draft::new("PATCH", self.path(name));
            draft.detail("type", "merge").detail("body", note)
        } else {
            let mut body = self.plain(name);
            json_patch::merge(&mut body, &note);
            Draft::new("POST", self.kind.path.clone()).detail("body", body)
        };
        self.write(draft).await?;
        Ok(end)
    }

    fn selection(&mut self) -> Selection {
        let mut selection = Selection {
            matching: json!({}),
            ..Selection::default()
        };
        let mut labels = Vec::new();
        if self.kind.cluster {
            labels.push("of={ns}".to_owned());
        }
        match self.chance.random_range(0..10) {
            0..5 => {}
            5..7 => {
                let at = self.chance.random_range(0..LABEL_SELECTORS.len());
                let (selector, matching) = LABEL_SELECTORS[at];
                labels.push(selector.to_owned());
                selection.matching = json!({ "metadata": { "labels": parsed(matching) } });
            }
            7 => {
                let name = self.name("a");
                selection
                    .query
                    .push(format!("fieldSelector=metadata.name%3D{name}"));
                selection.name = Some(name);
            }
            _ => {
                let fields = self.kind.fields.clone();
                if let Ok(field) = self.pick(&fields) {
                    let selector = escaped(&field.selector);
                    selection.query.push(format!("fieldSelector={selector}"));
                    selection.matching = field.matching;
                }
            }
        }
        if !labels.is_empty() {
            let selector = escaped(&labels.join(","));
            selection.query.push(format!("labelSelector={selector}"));
        }
        selection
    }

    /// A query for what is not older than some version, which is the present: kube-apiserver has been made to catch up.
    async fn not_older(&mut self) -> Result<Vec<String>, String> {
        self.catch_up().await?;
        let version = self.any_version().filter(|_| self.chance.random_bool(0.5));
        let version = version.map_or("0".to_owned(), |version| format!("{{{version}}}"));
        Ok(vec![format!("resourceVersion={version}")])
    }

    /// A list of the present: what kube-apiserver answers from its cache afterwards is not older.
    async fn catch_up(&mut self) -> Result<(), String> {
        let mut draft = Draft::new("GET", self.kind.path.clone());
        if self.kind.cluster {
            draft.query.push("labelSelector=of%3D{ns}".to_owned());
        }
        self.send(draft).await.map(drop)
    }
}
