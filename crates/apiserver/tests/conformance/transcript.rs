//! What one side answered to a sequence.

use std::collections::BTreeMap;
use std::time::Duration;

use http::header::{CONTENT_TYPE, USER_AGENT};
use serde_json::{Value, json};

use crate::sequence::{Action, Details, Events, Request, Sequence, Step};
use crate::side::{Answer, Lines, Side};
use crate::values::Values;

/// How long a condition may take to hold. Namespaces take longest: their controller looks again
/// after pauses that grow.
const EVENTUALLY: Duration = Duration::from_secs(30);

/// How long an event may take.
pub(crate) const NEXT_EVENT: Duration = Duration::from_secs(10);

/// Who sends the requests, which the API remembers in `managedFields`.
const AGENT: &str = "conformance/1.0";

/// A step and its answer.
pub(crate) struct Exchange {
    /// The number of the step, from one.
    pub(crate) number: usize,
    pub(crate) title: String,
    /// Everything that was sent, as text: what is written there is no choice of the server's.
    pub(crate) sent: String,
    pub(crate) answer: Answer,
    /// What webhooks were asked for it.
    pub(crate) asked: Vec<Value>,
    /// What the step expected of the real API and did not get.
    pub(crate) unexpected: Option<String>,
}

/// Sends a sequence in the namespace `ns`, which is made for it. An event may take as long as `patience`.
pub(crate) async fn record(
    side: &Side,
    sequence: &Sequence,
    ns: &str,
    patience: Duration,
) -> Result<Vec<Exchange>, String> {
    let mut recorder = Recorder::begin(side, ns).await?;
    recorder.patience = patience;
    let mut exchanges = Vec::new();
    for (at, step) in sequence.steps.iter().enumerate() {
        let taken = recorder.step(at + 1, step).await;
        exchanges.extend(taken.map_err(|why| format!("{}, {why}", sequence.place))?);
    }
    Ok(exchanges)
}

type Taken = (String, Answer, Option<String>);

/// Sends steps one after the other and remembers what they save.
pub(crate) struct Recorder<'a> {
    side: &'a Side,
    ns: String,
    values: Values,
    /// The open watches by name, each with what was sent for it.
    streams: BTreeMap<String, (String, Lines)>,
    patience: Duration,
}

impl<'a> Recorder<'a> {
    /// For a sequence in the namespace `ns`, which is made for it.
    pub(crate) async fn begin(side: &'a Side, ns: &str) -> Result<Self, String> {
        let mut recorder = Recorder {
            side,
            ns: ns.to_owned(),
            values: Values::default(),
            streams: BTreeMap::new(),
            patience: NEXT_EVENT,
        };
        recorder.values.set("ns", ns);
        recorder.make_namespace().await?;
        Ok(recorder)
    }

    /// Takes one step and tells what came of it: more than one answer if it is sent several times.
    pub(crate) async fn step(
        &mut self,
        number: usize,
        step: &Step,
    ) -> Result<Vec<Exchange>, String> {
        let taken = self.take(&step.action).await;
        let taken = taken.map_err(|why| format!("step {number}: {why}"))?;
        let exchange = |(sent, answer, unexpected)| Exchange {
            number,
            title: step.title.clone(),
            sent,
            answer,
            asked: self.side.asked(&self.ns),
            unexpected,
        };
        Ok(taken.into_iter().map(exchange).collect())
    }

    /// How many events there are on a stream until the first that `is_last`, which stay there.
    pub(crate) async fn count_events(
        &mut self,
        stream: &str,
        is_last: impl Fn(&Value) -> bool,
    ) -> usize {
        let Some((_, lines)) = self.streams.get_mut(stream) else {
            return 0;
        };
        lines
            .count(NEXT_EVENT, |event| event["type"] != "BOOKMARK", is_last)
            .await
    }

    async fn make_namespace(&self) -> Result<(), String> {
        let body =
            json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "{ns}" } });
        let details = Details {
            body: Some(body),
            ..Details::default()
        };
        let path = "/api/v1/namespaces".to_owned();
        let request = Request {
            method: http::Method::POST,
            path,
            details,
        };
        let answer = self.side.send(self.filled(&request)?).await;
        match answer.code {
            Some(201) => Ok(()),
            Some(_) | None => Err(format!("{}: no namespace: {answer:?}", self.side.name)),
        }
    }

    async fn take(&mut self, action: &Action) -> Result<Vec<Taken>, String> {
        match action {
            Action::Send(request, times) => {
                let mut answers = Vec::new();
                for i in 1..=*times {
                    self.values.set("i", i.to_string());
                    answers.push(self.send(request).await?);
                }
                Ok(answers)
            }
            Action::Eventually(request) => Ok(vec![self.eventually(request).await?]),
            Action::Watch(stream, request) => Ok(vec![self.watch(stream, request).await?]),
            Action::Events(stream, events) => Ok(vec![self.events(stream, events).await?]),
        }
    }

    async fn send(&mut self, request: &Request) -> Result<Taken, String> {
        let filled = self.filled(request)?;
        let sent = match &request.details.edit {
            None => sent(&filled),
            // The rest of what is sent back was the server's choice.
            Some(edit) => format!("{} {}", filled.uri(), self.values.fill_value(&edit.with)?),
        };
        let answer = self.side.send(filled).await;
        let unexpected = request.details.unexpected(&answer, &self.values)?;
        Ok((sent, self.keep(answer, &request.details)?, unexpected))
    }

    async fn eventually(&mut self, request: &Request) -> Result<Taken, String> {
        let mut last = None;
        let waited = testkit::eventually(EVENTUALLY, "the answer of the step", async || {
            let taken = self.send(request).await?;
            let unexpected = taken.2.clone();
            last = Some(taken);
            unexpected.map_or(Ok(()), Err)
        });
        match (waited.await, last) {
            (Ok(()), Some(taken)) => Ok(taken),
            (Err(overdue), Some((sent, answer, _))) => {
                Ok((sent, answer, Some(overdue.to_string())))
            }
            (Ok(()) | Err(_), None) => Err("the side does not answer".to_owned()),
        }
    }

    async fn watch(&mut self, stream: &str, request: &Request) -> Result<Taken, String> {
        let filled = self.filled(request)?;
        let sent = sent(&filled);
        let (answer, lines) = self.side.watch(filled).await;
        let unexpected = request.details.unexpected(&answer, &self.values)?;
        if let Some(lines) = lines {
            self.streams
                .insert(stream.to_owned(), (sent.clone(), lines));
        }
        Ok((sent, answer, unexpected))
    }

    async fn events(&mut self, stream: &str, wanted: &Events) -> Result<Taken, String> {
        let mut events = Vec::new();
        let mut unexpected = None;
        let Some((sent, lines)) = self.streams.get_mut(stream) else {
            let answer = Answer {
                body: format!("no stream {stream}").into(),
                ..Answer::default()
            };
            return Ok((String::new(), answer, Some(format!("no stream {stream}"))));
        };
        while wanted.count.is_none_or(|count| events.len() < count) {
            match lines.next(self.patience).await {
                Ok(Some(event)) if !wanted.bookmarks && event["type"] == "BOOKMARK" => {}
                Ok(Some(event)) => events.push(event),
                Ok(None) if wanted.count.is_none() => break,
                Ok(None) => {
                    events.push("the stream ended".into());
                    unexpected = Some("the stream ended".to_owned());
                    break;
                }
                Err(()) => {
                    events.push("no further event".into());
                    unexpected = Some("no further event".to_owned());
                    break;
                }
            }
        }
        let body = Value::Array(events);
        self.values.save(&wanted.save, &body);
        Ok((
            sent.clone(),
            Answer {
                body,
                ..Answer::default()
            },
            unexpected,
        ))
    }

    fn filled(&self, request: &Request) -> Result<http::Request<Vec<u8>>, String> {
        let details = &request.details;
        let body = match (&details.body, &details.raw, &details.edit) {
            (Some(body), _, _) => self.values.fill_value(body)?.to_string(),
            (None, Some(raw), _) => self.values.fill(&raw.text())?,
            (None, None, Some(edit)) => self.values.edited(&edit.of, &edit.with)?.to_string(),
            (None, None, None) => String::new(),
        };
        let mut builder = http::Request::builder()
            .method(request.method.clone())
            .uri(self.values.fill(&request.path)?)
            .header(USER_AGENT, AGENT);
        if let Some(patch) = details.patch {
            builder = builder.header(CONTENT_TYPE, patch.content_type());
        } else if details.body.is_some() || details.edit.is_some() {
            builder = builder.header(CONTENT_TYPE, "application/json");
        }
        let mut filled = builder
            .body(body.into_bytes())
            .map_err(|error| error.to_string())?;
        for (name, value) in &details.headers {
            let name: http::HeaderName = name
                .parse()
                .map_err(|_bad| format!("`{name}` is no header"))?;
            let value = self.values.fill(value)?.parse();
            filled.headers_mut().insert(
                name,
                value.map_err(|_bad| "no value of a header".to_owned())?,
            );
        }
        Ok(filled)
    }

    /// Saves what the step wants saved and drops what it does not compare.
    fn keep(&mut self, mut answer: Answer, details: &Details) -> Result<Answer, String> {
        self.values.save(&details.save, &answer.body);
        if details.unordered {
            put_in_order(&mut answer.body);
        }
        for (pointer, wanted) in &details.keep {
            let Some(Value::Array(items)) = answer.body.pointer_mut(pointer) else {
                continue;
            };
            for (key, values) in wanted {
                let values = values.iter().map(|value| self.values.fill_value(value));
                let values: Vec<Value> = values.collect::<Result<_, _>>()?;
                items.retain(|item| {
                    item.pointer(&format!("/{key}"))
                        .is_some_and(|value| values.contains(value))
                });
            }
        }
        Ok(answer)
    }
}

impl Details {
    /// What is wrong with an answer, if anything.
    fn unexpected(&self, answer: &Answer, values: &Values) -> Result<Option<String>, String> {
        let good = match (self.code, answer.code) {
            (Some(wanted), code) => code == Some(wanted),
            (None, code) => code.is_some_and(|code| (200..300).contains(&code)),
        };
        if !good {
            return Ok(Some(format!("code {:?}: {}", answer.code, answer.body)));
        }
        for (pointer, wanted) in &self.has {
            let (wanted, found) = (values.fill_value(wanted)?, answer.body.pointer(pointer));
            if found != Some(&wanted) {
                return Ok(Some(format!("{pointer} is {found:?}, not {wanted}")));
            }
        }
        Ok(None)
    }
}

/// Sorts the causes of a refusal, and its message if that tells them in the same order.
fn put_in_order(status: &mut Value) {
    let message = status["message"].as_str().unwrap_or_default().to_owned();
    let Some(Value::Array(causes)) = status.pointer_mut("/details/causes") else {
        return;
    };
    let mut told: Vec<String> = Vec::new();
    for cause in &*causes {
        let text = |key: &str| cause[key].as_str().unwrap_or_default();
        let text = format!("{}: {}", text("field"), text("message"));
        if !told.contains(&text) {
            told.push(text);
        }
    }
    causes.sort_by_key(ToString::to_string);
    if let Some(start) = message.strip_suffix(&format!("[{}]", told.join(", "))) {
        told.sort();
        status["message"] = format!("{start}[{}]", told.join(", ")).into();
    }
}

fn sent(request: &http::Request<Vec<u8>>) -> String {
    format!(
        "{} {}",
        request.uri(),
        String::from_utf8_lossy(request.body())
    )
}
