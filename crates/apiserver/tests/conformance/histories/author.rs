//! Writes a history: steps by chance, each made from what is there when it is taken.
//!
//! What is there the embedded API knows: every step is sent to it as soon as it is written, and its objects are looked at before
//! the next. So the author needs no model of its own, most steps meet something, and a seed gives the same history every time. What
//! an operation looks like is in the modules beside this one.

use std::collections::BTreeMap;

use http::Request;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Map, Value, json};

use super::aim::{Aim, Outcome, Task, Verb};
use super::kind::Kind;
use crate::sequence::{self, Patch};
use crate::side::{Answer, Side};
use crate::transcript::{Exchange, Recorder};

/// The names that objects have: few, so that operations meet.
const NAMES: [&str; 3] = ["a", "b", "c"];

/// A name that no object ever has.
const NOBODY: &str = "nobody";

/// A history, and what the embedded API answered while it was written.
pub(crate) struct History {
    /// The steps as they are written in a file of sequences.
    pub(crate) steps: Vec<Value>,
    pub(crate) ours: Vec<Exchange>,
}

/// Who writes.
pub(super) struct Author<'a> {
    pub(super) kind: &'a Kind,
    pub(super) chance: StdRng,
    pub(super) watches: Vec<Open>,
    /// The query and the saved token of a list that has another page.
    pub(super) page: Option<(String, String)>,
    side: &'a Side,
    ns: &'a str,
    recorder: Recorder<'a>,
    history: History,
    /// The versions of each object that have been saved.
    sightings: BTreeMap<String, Vec<Sighting>>,
    /// What new names are made from.
    count: usize,
}

/// A version of an object, and the names that it is saved under.
#[derive(Clone)]
pub(super) struct Sighting {
    /// The variable that holds the version.
    pub(super) version: String,
    /// The variable that holds the uid.
    pub(super) uid: String,
    seen: (String, String),
}

/// A watch that has not been read to the end.
pub(super) struct Open {
    pub(super) stream: String,
    /// What makes an object match its selector.
    pub(super) matching: Value,
    /// The one object that it is about, if it is about one.
    pub(super) name: Option<String>,
}

/// A request that is to be written down.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) method: &'static str,
    pub(super) path: String,
    pub(super) query: Vec<String>,
    pub(super) details: Map<String, Value>,
}

/// Writes a history about one kind in the namespace `ns`.
pub(crate) async fn write(
    side: &Side,
    kind: &Kind,
    tasks: &[Task],
    seed: u64,
    ns: &str,
) -> Result<History, String> {
    let mut author = Author {
        kind,
        chance: StdRng::seed_from_u64(seed),
        watches: Vec::new(),
        page: None,
        side,
        ns,
        recorder: Recorder::begin(side, ns).await?,
        history: History {
            steps: Vec::new(),
            ours: Vec::new(),
        },
        sightings: BTreeMap::new(),
        count: 0,
    };
    for task in tasks {
        author.perform(*task).await?;
    }
    author.read_watches().await?;
    Ok(author.history)
}

impl Author<'_> {
    async fn perform(&mut self, task: Task) -> Result<(), String> {
        let aim = match task {
            Task::Collect => return self.collect().await,
            Task::Hooked(effect) => return self.hooked(effect).await,
            Task::Meet(aim) => aim,
        };
        match aim.verb {
            Verb::Get => self.get(aim).await,
            Verb::List => self.list(aim.outcome).await,
            Verb::Watch => self.watch(aim.outcome).await,
            Verb::Create => self.create(aim.outcome).await,
            Verb::Update => self.update(aim).await,
            Verb::Patch(Patch::Apply) => self.apply(aim).await,
            Verb::Patch(patch) => self.patch(patch, aim).await,
            Verb::Delete => self.delete(aim).await,
            Verb::DeleteCollection => self.delete_collection(aim.outcome).await,
        }
    }

    /// Writes a request down and sends it.
    pub(super) async fn send(&mut self, draft: Draft) -> Result<Answer, String> {
        self.step("", draft).await
    }

    /// The same with a word before it.
    pub(super) async fn step(&mut self, word: &str, draft: Draft) -> Result<Answer, String> {
        let mut title = format!("{word}{} {}", draft.method, draft.path);
        for (at, option) in draft.query.iter().enumerate() {
            title.push(if at == 0 { '?' } else { '&' });
            title.push_str(option);
        }
        let details = Value::Object(draft.details);
        self.line(title, details).await
    }

    /// Writes any step down and takes it.
    pub(super) async fn line(&mut self, title: String, details: Value) -> Result<Answer, String> {
        let plain = details.as_object().is_some_and(Map::is_empty);
        let written = if plain {
            Value::String(title)
        } else {
            json!({ title: details })
        };
        let step = sequence::step(written.clone())?;
        let number = self.history.steps.len() + 1;
        let taken = self.recorder.step(number, &step).await?;
        let answer = taken.first().map(|exchange| exchange.answer.clone());
        self.history.steps.push(written);
        self.history.ours.extend(taken);
        Ok(answer.unwrap_or_default())
    }

    /// Sends a write of one object and remembers the version that it leads to.
    pub(super) async fn write(&mut self, mut draft: Draft) -> Result<Answer, String> {
        if draft.query.iter().any(|option| option == "dryRun=All") {
            return self.send(draft).await;
        }
        let (version, uid) = (self.fresh("v"), self.fresh("u"));
        let save = json!({ &version: "/metadata/resourceVersion", &uid: "/metadata/uid" });
        draft.details.insert("save".to_owned(), save);
        let answer = self.send(draft).await?;
        if let Some((name, seen)) = version_of(&answer) {
            let sighting = Sighting { version, uid, seen };
            let name = name.replace(self.ns, "{ns}");
            self.sightings.entry(name).or_default().push(sighting);
        }
        Ok(answer)
    }

    /// How the history calls the current version of an object.
    pub(super) async fn current(&mut self, name: &str) -> Result<Sighting, String> {
        let now = self.look(name).await;
        let seen = now.as_ref().and_then(version_in).map(|(_, seen)| seen);
        let known = self.sightings.get(name).into_iter().flatten();
        let known = known
            .clone()
            .find(|known| Some(&known.seen) == seen.as_ref());
        if let Some(known) = known {
            return Ok(known.clone());
        }
        let path = self.path(name);
        let draft = Draft::new("GET", path);
        self.write(draft).await?;
        let last = self.sightings.get(name).and_then(|all| all.last());
        last.cloned().ok_or_else(|| format!("{name} is not there"))
    }

    /// A version that the object had, if there is one.
    pub(super) async fn past(&mut self, name: &str) -> Option<Sighting> {
        let now = self.look(name).await;
        let seen = now.as_ref().and_then(version_in).map(|(_, seen)| seen);
        let all = self.sightings.get(name).into_iter().flatten();
        let past: Vec<_> = all
            .filter(|known| Some(&known.seen) != seen.as_ref())
            .collect();
        past.choose(&mut self.chance).map(|past| (*past).clone())
    }

    /// Forgets all versions, so that nothing begins at one of them.
    pub(super) fn forget_versions(&mut self) {
        self.sightings.clear();
    }

    /// Any version that was saved.
    pub(super) fn any_version(&mut self) -> Option<String> {
        let all: Vec<_> = self.sightings.values().flatten().collect();
        all.choose(&mut self.chance).map(|any| any.version.clone())
    }

    /// An object as the embedded API has it now. No step of the history.
    pub(super) async fn look(&self, name: &str) -> Option<Value> {
        let path = self.path(name).replace("{ns}", self.ns);
        let request = Request::get(path).body(Vec::new()).ok()?;
        let answer = self.side.send(request).await;
        (answer.code == Some(200)).then_some(answer.body)
    }

    /// The object that a step with this aim is about, and its path: nobody, somebody who is not there yet, or somebody who is.
    pub(super) async fn subject(&mut self, aim: Aim) -> Result<(String, String), String> {
        let name = match aim.outcome {
            Outcome::NotFound => self.name(NOBODY),
            Outcome::Created => self.absent().await?,
            Outcome::Done
            | Outcome::AlreadyExists
            | Outcome::Conflict
            | Outcome::Invalid
            | Outcome::BadRequest
            | Outcome::Unsupported
            | Outcome::Denied
            | Outcome::Unasked
            | Outcome::Other => self.existing().await?,
        };
        let below = if aim.status { "/status" } else { "" };
        let path = format!("{}{below}", self.path(&name));
        Ok((name, path))
    }

    /// The name of an object that is there; if need be, one is made.
    pub(super) async fn existing(&mut self) -> Result<String, String> {
        let (there, absent) = self.names().await;
        if let Some(name) = there.choose(&mut self.chance) {
            return Ok(name.clone());
        }
        let name = absent.choose(&mut self.chance).cloned();
        let name = name.ok_or("there are no names")?;
        self.make(&name).await?;
        Ok(name)
    }

    /// A name that no object has now; if need be, one is removed.
    pub(super) async fn absent(&mut self) -> Result<String, String> {
        let (there, absent) = self.names().await;
        if let Some(name) = absent.choose(&mut self.chance) {
            return Ok(name.clone());
        }
        let name = there.choose(&mut self.chance).cloned();
        let name = name.ok_or("there are no names")?;
        self.remove(&name).await?;
        Ok(name)
    }

    async fn names(&self) -> (Vec<String>, Vec<String>) {
        let (mut there, mut absent) = (Vec::new(), Vec::new());
        for name in NAMES {
            let name = self.name(name);
            let group = match self.look(&name).await {
                Some(_) => &mut there,
                None => &mut absent,
            };
            group.push(name);
        }
        (there, absent)
    }

    /// A name as objects of this kind have it: those outside of namespaces begin with the history's.
    pub(super) fn name(&self, name: &str) -> String {
        if self.kind.cluster {
            format!("{{ns}}-{name}")
        } else {
            name.to_owned()
        }
    }

    pub(super) fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.kind.path)
    }

    /// A word that this history has not used yet.
    pub(super) fn fresh(&mut self, word: &str) -> String {
        self.count += 1;
        format!("{word}{}", self.count)
    }

    pub(super) fn in_hundred(&mut self, cases: u32) -> bool {
        self.chance.random_range(0..100) < cases
    }

    pub(super) fn pick<T: Clone>(&mut self, from: &[T]) -> Result<T, String> {
        let picked = from.choose(&mut self.chance).cloned();
        picked.ok_or_else(|| format!("nothing to choose from for {}", self.kind.kind))
    }

    /// How many events of a stream there are until the one about `name`.
    pub(super) async fn count_events(&mut self, stream: &str, end: &str) -> usize {
        let name = end.replace("{ns}", self.ns);
        let is_end = |event: &Value| {
            let metadata = &event["object"]["metadata"];
            metadata["name"] == name || metadata["annotations"]["end"] == name
        };
        self.recorder.count_events(stream, is_end).await
    }
}

impl Draft {
    pub(super) fn new(method: &'static str, path: String) -> Self {
        Self {
            method,
            path,
            ..Self::default()
        }
    }

    pub(super) fn query(mut self, options: impl IntoIterator<Item = String>) -> Self {
        self.query.extend(options);
        self
    }

    pub(super) fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }
}

fn version_of(answer: &Answer) -> Option<(String, (String, String))> {
    answer.code.filter(|code| (200..300).contains(code))?;
    version_in(&answer.body)
}

/// The name of an object, its version and its uid.
fn version_in(object: &Value) -> Option<(String, (String, String))> {
    let text = |key: &str| Some(object["metadata"][key].as_str()?.to_owned());
    Some((text("name")?, (text("resourceVersion")?, text("uid")?)))
}
