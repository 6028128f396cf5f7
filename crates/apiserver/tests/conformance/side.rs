//! One of the two APIs: a request goes in, an answer or a stream of lines comes out.
//!
//! Either is JSON in between. A side may speak protocol buffers all the same, as typed clients do: bodies are made octets before
//! they are sent, where they say the same then, and answers are made JSON, which has to come to the same octets again: a
//! running kube-apiserver writes what we do.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Method, Request, Response};
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use serde_json::Value;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use wire::TypeMeta;

use crate::histories::hooks::{Asker, World};

/// No answer takes longer, not even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// What objects are written in by typed clients.
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// How many octets are shown around one that differs.
const SHOWN_BEFORE: usize = 60;
const SHOWN_AFTER: usize = 140;

/// The headers of an answer that are compared.
const HEADERS: [&str; 2] = ["content-type", "warning"];

/// An API and what it is called in reports.
#[derive(Clone)]
pub(crate) struct Side {
    pub(crate) name: &'static str,
    pub(crate) client: Client,
    /// Whether it is spoken to in protocol buffers where it can be.
    pub(crate) protobuf: bool,
    /// The webhooks that it asks, and as whom.
    pub(crate) webhooks: Option<(Arc<World>, Asker)>,
}

/// An answer, before it is made comparable.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    /// Nothing if there was no answer; the body then says why.
    pub(crate) code: Option<u16>,
    pub(crate) headers: BTreeMap<&'static str, String>,
    pub(crate) body: Value,
}

/// The lines of a watch. Dropping it ends the watch.
pub(crate) struct Lines {
    coming: UnboundedReceiver<Value>,
    /// Lines that were counted and not taken yet.
    counted: VecDeque<Value>,
    reader: AbortHandle,
}

impl Side {
    /// Sends a request and reads the whole answer.
    pub(crate) async fn send(&self, request: Request<Vec<u8>>) -> Answer {
        let whole = async {
            let (mut answer, body) = self.head(request).await?;
            let bytes = body
                .collect_bytes()
                .await
                .map_err(|error| error.to_string())?;
            answer.body = read(&bytes, answer.headers.get("content-type"));
            Ok(answer)
        };
        within(whole).await.unwrap_or_else(Answer::none)
    }

    /// Sends a request and reads its lines in the background, unless it is refused.
    pub(crate) async fn watch(&self, request: Request<Vec<u8>>) -> (Answer, Option<Lines>) {
        let begun = within(async {
            let (mut answer, body) = self.head(request).await?;
            if answer.code == Some(200) {
                let frames = is_protobuf(answer.headers.get("content-type"));
                return Ok((answer, Some(Lines::of(body, frames))));
            }
            let bytes = body
                .collect_bytes()
                .await
                .map_err(|error| error.to_string())?;
            answer.body = read(&bytes, answer.headers.get("content-type"));
            Ok((answer, None))
        });
        begun.await.unwrap_or_else(|why| (Answer::none(why), None))
    }

    /// What webhooks were asked about objects of a namespace since this was last called.
    pub(crate) fn asked(&self, ns: &str) -> Vec<Value> {
        let webhooks = self.webhooks.as_ref();
        let asked = webhooks.map(|(world, asker)| world.asked(*asker, ns));
        asked.unwrap_or_default()
    }

    async fn head(&self, request: Request<Vec<u8>>) -> Result<(Answer, Body), String> {
        let request = if self.protobuf {
            in_protobuf(request)
        } else {
            request
        };
        let response: Response<Body> = self
            .client
            .send(request.map(Body::from))
            .await
            .map_err(|error| error.to_string())?;
        let (head, body) = response.into_parts();
        let code = Some(head.status.as_u16());
        Ok((
            Answer {
                code,
                headers: compared(&head.headers),
                body: Value::Null,
            },
            body,
        ))
    }
}

impl Answer {
    fn none(why: String) -> Self {
        Self {
            code: None,
            headers: BTreeMap::new(),
            body: Value::String(why),
        }
    }
}

impl Lines {
    fn of(body: Body, frames: bool) -> Self {
        let (sender, coming) = mpsc::unbounded_channel();
        let reader = tokio::spawn(read_events(body, frames, sender)).abort_handle();
        Self {
            coming,
            counted: VecDeque::new(),
            reader,
        }
    }

    /// The next line, `Ok(None)` at the end of the stream, an error when nothing came in time.
    pub(crate) async fn next(&mut self, patience: Duration) -> Result<Option<Value>, ()> {
        if let Some(line) = self.counted.pop_front() {
            return Ok(Some(line));
        }
        timeout(patience, self.coming.recv())
            .await
            .map_err(|_elapsed| ())
    }
}

impl Lines {
    /// Of the lines up to the first that `is_last`, how many count. None of them is taken.
    pub(crate) async fn count(
        &mut self,
        patience: Duration,
        counts: impl Fn(&Value) -> bool,
        is_last: impl Fn(&Value) -> bool,
    ) -> usize {
        while !self.counted.iter().any(&is_last) {
            match timeout(patience, self.coming.recv()).await {
                Ok(Some(line)) => self.counted.push_back(line),
                Ok(None) | Err(_) => break,
            }
        }
        self.counted.iter().filter(|line| counts(line)).count()
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

async fn within<T>(work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let late = |_elapsed| Err(format!("no answer within {PATIENCE:?}"));
    timeout(PATIENCE, work).await.unwrap_or_else(late)
}

fn compared(headers: &HeaderMap) -> BTreeMap<&'static str, String> {
    let mut compared = BTreeMap::new();
    for name in HEADERS {
        let values = headers.get_all(name).iter();
        let values: Vec<_> = values
            .map(|value| String::from_utf8_lossy(value.as_bytes()))
            .collect();
        if !values.is_empty() {
            compared.insert(name, values.join("\n"));
        }
    }
    compared
}

/// A request as a typed client sends it. A body that would say something else then is left as it is.
fn in_protobuf(mut request: Request<Vec<u8>>) -> Request<Vec<u8>> {
    let accepts = HeaderValue::from_static("application/vnd.kubernetes.protobuf,application/json");
    request.headers_mut().entry(ACCEPT).or_insert(accepts);
    let json = HeaderValue::from_static("application/json");
    if request.headers().get(CONTENT_TYPE) == Some(&json)
        && let Ok(mut body) = serde_json::from_slice::<Value>(request.body())
    {
        if let (&Method::DELETE, Value::Object(options)) = (request.method(), &mut body) {
            options
                .entry("kind")
                .or_insert_with(|| "DeleteOptions".into());
        }
        if let Some(octets) = wire::encode(&body)
            && wire::decode(&octets, TypeMeta::default()).is_ok_and(|read| says(&read, &body))
        {
            *request.body_mut() = octets;
            let protobuf = HeaderValue::from_static(PROTOBUF);
            request.headers_mut().insert(CONTENT_TYPE, protobuf);
        }
    }
    request
}

/// Whether all that is in `part` is in `whole`.
fn says(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => part.iter().all(|(field, part)| {
            let whole = whole.get(field);
            whole.is_some_and(|whole| says(whole, part))
        }),
        (Value::Array(whole), Value::Array(part)) => {
            whole.len() == part.len() && whole.iter().zip(part).all(|(one, other)| says(one, other))
        }
        (whole, part) => whole == part,
    }
}

fn is_protobuf(content_type: Option<&String>) -> bool {
    content_type.is_some_and(|content_type| content_type.starts_with(PROTOBUF))
}

/// JSON, YAML and protocol buffers as what they mean, anything else as text.
fn read(bytes: &[u8], content_type: Option<&String>) -> Value {
    let text = String::from_utf8_lossy(bytes);
    let yaml = content_type.is_some_and(|content_type| content_type.contains("yaml"));
    let read = if is_protobuf(content_type) {
        let read = wire::decode(bytes, TypeMeta::default());
        read.ok().map(|value| {
            let written = wire::encode(&value).unwrap_or_default();
            as_we_write(value, bytes, &written)
        })
    } else if yaml {
        let options = serde_saphyr::options! { strict_booleans: true };
        serde_saphyr::from_str_with_options(&text, options).ok()
    } else {
        serde_json::from_str(&text).ok()
    };
    read.unwrap_or_else(|| Value::String(text.into_owned()))
}

/// The events of a watch: lines, or frames.
async fn read_events(body: Body, frames: bool, sender: UnboundedSender<Value>) {
    let mut pieces = body.into_data_stream();
    let mut pending = Vec::new();
    while let Some(Ok(piece)) = pieces.next().await {
        pending.extend_from_slice(&piece);
        let events = if frames {
            take_frames(&mut pending)
        } else {
            take_lines(&mut pending)
        };
        for event in events {
            if sender.send(event).is_err() {
                return;
            }
        }
    }
}

fn take_frames(pending: &mut Vec<u8>) -> Vec<Value> {
    let come = pending.clone();
    let events = match wire::decode_frames(pending) {
        Ok(events) => events,
        Err(why) => return vec![why.to_string().into()],
    };
    let mut written = Vec::new();
    for event in &events {
        let name = event["type"].as_str().unwrap_or_default();
        let _told_below = wire::put_frame(&mut written, name, &event["object"]);
    }
    let come = &come[..come.len() - pending.len()];
    let told = as_we_write(Value::Array(events), come, &written);
    told.as_array().cloned().unwrap_or_else(|| vec![told])
}

/// What an answer says, if it is written as we write it. What is not is told instead, which no other side says.
fn as_we_write(value: Value, come: &[u8], written: &[u8]) -> Value {
    let sorted = sorted_fields(come, &value, written);
    let Some(at) =
        (0..sorted.len().max(written.len())).find(|at| sorted.get(*at) != written.get(*at))
    else {
        return value;
    };
    let around = |octets: &[u8]| {
        let shown = at.saturating_sub(SHOWN_BEFORE)..(at + SHOWN_AFTER).min(octets.len());
        let shown = octets.get(shown).unwrap_or_default();
        shown.escape_ascii().to_string()
    };
    let (come, written) = (around(come), around(written));
    format!("octet {at} is not as we write it\ncome    {come}\nwritten {written}").into()
}

/// An answer with the fields of managers in the order of texts. Go has them in an order of its own, by the numbers in the keys of
/// items: what is JSON inside of protocol buffers says the same in any.
fn sorted_fields(come: &[u8], value: &Value, written: &[u8]) -> Vec<u8> {
    let mut sorted = come.to_vec();
    let mut managed = Vec::new();
    collect_fields(value, &mut managed);
    for fields in managed {
        let text = fields.to_string();
        let text = text.as_bytes();
        for (at, octets) in written.windows(text.len()).enumerate() {
            if octets == text
                && let Some(theirs) = sorted.get_mut(at..at + text.len())
                && serde_json::from_slice::<Value>(theirs).is_ok_and(|theirs| theirs == *fields)
            {
                theirs.copy_from_slice(text);
            }
        }
    }
    sorted
}

/// Every `fieldsV1` in a value.
fn collect_fields<'a>(value: &'a Value, into: &mut Vec<&'a Value>) {
    match value {
        Value::Object(object) => {
            into.extend(object.get("fieldsV1"));
            object
                .values()
                .for_each(|value| collect_fields(value, into));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_fields(item, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn take_lines(pending: &mut Vec<u8>) -> Vec<Value> {
    let mut lines = Vec::new();
    while let Some(end) = pending.iter().position(|byte| *byte == b'\n') {
        let line: Vec<u8> = pending.drain(..=end).collect();
        lines.push(read(&line, None));
    }
    lines
}
