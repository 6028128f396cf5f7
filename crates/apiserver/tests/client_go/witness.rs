//! The program on client-go, and what it has said so far.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::script::NAMESPACE;

/// Longer than it takes on a busy machine.
const SOON: Duration = Duration::from_mins(1);

/// What the program says in one line.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub(crate) enum Line {
    /// An informer told of an object.
    Seen {
        seen: Event,
        by: String,
        name: String,
        revision: String,
        object: Value,
    },
    /// The controller wrote.
    Did { did: String, name: String },
    /// Something came that informers hide.
    Wire { wire: String, by: String },
    /// It leads from now on, or no longer.
    Leads { leads: bool },
    /// It has seen everything that was there when it began.
    Synced { synced: bool },
    /// It ended as it should.
    Ended { ended: bool },
    /// Anything else is a problem, and equal to nothing.
    Odd(Value),
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Event {
    Added,
    Updated,
    Deleted,
    /// It went while the informer was not told.
    Missed,
}

/// A running program.
pub(crate) struct Witness {
    pub(crate) name: String,
    child: Child,
    said: Arc<Mutex<Vec<Line>>>,
    listening: JoinHandle<()>,
    log: PathBuf,
}

impl Witness {
    /// Starts a program for the API behind `kubeconfig`; its log goes to `folder`.
    pub(crate) fn start(
        program: &Path,
        kubeconfig: &Path,
        name: &str,
        folder: &Path,
        arguments: impl FnOnce(&mut Command),
    ) -> Self {
        let log = folder.join(name).with_extension("log");
        let mut command = Command::from(testkit::mortal(program));
        command
            .arg("--kubeconfig")
            .arg(kubeconfig)
            .args(["--namespace", NAMESPACE])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).expect("there is room for a log"))
            .kill_on_drop(true);
        arguments(&mut command);
        let mut child = command.spawn().expect("the program can be run");
        let output = child.stdout.take().expect("it was asked for as a pipe");
        let said = Arc::new(Mutex::new(Vec::new()));
        let ears = Arc::clone(&said);
        let listening = tokio::spawn(async move {
            let mut lines = BufReader::new(output).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let line = serde_json::from_str(&line).unwrap_or(Line::Odd(line.into()));
                ears.lock().expect("nobody panics with it").push(line);
            }
        });
        Self {
            name: name.to_owned(),
            child,
            said,
            listening,
            log,
        }
    }

    /// Whether it has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        let ended = self.child.try_wait().expect("it can be waited for");
        ended.is_some()
    }

    /// How much it has said so far.
    pub(crate) fn lines(&self) -> usize {
        self.said.lock().expect("nobody panics with it").len()
    }

    /// Whether it has said this, from the line `since` on.
    pub(crate) fn has_said(&self, since: usize, what: &Line) -> bool {
        let said = self.said.lock().expect("nobody panics with it");
        said.iter().skip(since).any(|line| line == what)
    }

    /// What an informer knows now: names, with the revision that it last told of.
    pub(crate) fn known(&self, informer: &str) -> BTreeMap<String, String> {
        let mut known = BTreeMap::new();
        for line in self.said.lock().expect("nobody panics with it").iter() {
            let Line::Seen {
                seen,
                by,
                name,
                revision,
                ..
            } = line
            else {
                continue;
            };
            match seen {
                _ if by != informer => {}
                Event::Added | Event::Updated => {
                    known.insert(name.clone(), revision.clone());
                }
                Event::Deleted | Event::Missed => {
                    known.remove(name);
                }
            }
        }
        known
    }

    /// Waits until it has said this.
    pub(crate) async fn says(&self, what: &Line) {
        let what_for = format!("{} to say {what:?}", self.name);
        let said = testkit::eventually(SOON, &what_for, async || {
            self.has_said(0, what).then_some(())
        });
        if let Err(overdue) = said.await {
            panic!("{overdue}\n{}", self.last_words());
        }
    }

    /// The end of its log, for whoever waited in vain.
    pub(crate) fn last_words(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    /// Lets it end by itself; what it has said in its life.
    pub(crate) async fn stop(mut self) -> Vec<Line> {
        drop(self.child.stdin.take());
        self.gone().await
    }

    /// Ends it without notice.
    pub(crate) async fn kill(mut self) -> Vec<Line> {
        self.child.start_kill().expect("it runs");
        self.gone().await
    }

    async fn gone(mut self) -> Vec<Line> {
        let ended = timeout(SOON, self.child.wait()).await;
        ended.expect("it ends").expect("it can be waited for");
        let heard = timeout(SOON, &mut self.listening).await;
        heard.expect("its output ends with it").expect("no panic");
        std::mem::take(&mut *self.said.lock().expect("nobody panics with it"))
    }
}
