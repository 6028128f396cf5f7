//! One of the two APIs with the programs that look at it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use kube::api::{DynamicObject, ListParams};
use kube::{Client, ResourceExt};
use tempfile::TempDir;

use crate::history::History;
use crate::home::{self, End, Home};
use crate::script::{self, Kind, Step};
use crate::witness::{Line, Witness};

/// The informers of the program, as it calls them.
pub(crate) const INFORMERS: [&str; 3] = ["configmaps", "configmaps team=blue", "things"];

/// What keeps a Thing until its copy is gone.
const FINALIZER: &str = "witness.example.dev/copy";

/// Informers wait longer and longer for an API that does not answer: up to half a minute.
const SETTLED_WITHIN: Duration = Duration::from_secs(90);

/// A bookmark comes every minute.
const BOOKMARK_WITHIN: Duration = Duration::from_secs(100);

/// How the informers of a witness learn what is there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Begins {
    /// By a watch that begins with it.
    ByWatch,
    /// By a list, as older ones do.
    ByList,
}

/// An API and who looks at it.
pub(crate) struct Side {
    home: Home,
    client: Client,
    program: PathBuf,
    /// Who leads is first.
    witnesses: Vec<Watching>,
    ended: BTreeMap<String, History>,
    folder: TempDir,
}

struct Watching {
    witness: Witness,
    /// Where in what it said an API was ended.
    gaps: Vec<Range<usize>>,
}

impl Side {
    /// With the namespace and the kind that everything is about.
    pub(crate) async fn open(home: Home, program: PathBuf) -> Self {
        let client = home.client().await;
        home::make_namespace(&client).await;
        let definition = serde_json::from_value(script::definition()).expect("a definition");
        let installed = testkit::crds::install(&client, &[definition]).await;
        installed.expect("the kind can be installed");
        Self {
            home,
            client,
            program,
            witnesses: Vec::new(),
            ended: BTreeMap::new(),
            folder: TempDir::new().expect("a temporary folder"),
        }
    }

    /// Adds a witness, and returns when it has seen everything that is there. The first one leads.
    pub(crate) async fn join(&mut self, name: &str, begins: Begins) {
        let kubeconfig = self.home.kubeconfig();
        let folder = self.folder.path();
        let witness = Witness::start(&self.program, &kubeconfig, name, folder, |command| {
            let by_watch = (begins == Begins::ByWatch).to_string();
            command.args(["--identity", name]);
            command.env("KUBE_FEATURE_WatchListClient", by_watch);
        });
        witness.says(&Line::Synced { synced: true }).await;
        if self.witnesses.is_empty() {
            witness.says(&Line::Leads { leads: true }).await;
        }
        let gaps = Vec::new();
        self.witnesses.push(Watching { witness, gaps });
    }

    /// Makes each step, and waits until everybody has seen it and the controller has done what follows from it.
    pub(crate) async fn perform(&self, steps: &[Step]) {
        for step in steps {
            let done = step.perform(&self.client).await;
            done.unwrap_or_else(|error| panic!("{}: {step:?}: {error}", self.home.name()));
            self.settle().await;
        }
    }

    /// Makes some steps at once, ends the API right after the last was acknowledged, and starts it again.
    pub(crate) async fn interrupt(&mut self, round: usize, end: End) {
        let began: Vec<usize> = self.witnesses.iter().map(Watching::now).collect();
        for step in script::unwatched(round) {
            let done = step.perform(&self.client).await;
            done.unwrap_or_else(|error| panic!("{}: {step:?}: {error}", self.home.name()));
        }
        self.home.restart(end).await;
        self.client = self.home.client().await;
        // Who has seen these looks again, and misses nothing from now on.
        self.perform(&script::back(round)).await;
        for (watching, began) in self.witnesses.iter_mut().zip(began) {
            let now = watching.now();
            watching.gaps.push(began..now);
        }
    }

    /// Ends who leads, waits until the next one does, and adds a new one.
    pub(crate) async fn succeed(&mut self, end: End, next: &str, begins: Begins) {
        let first = self.witnesses.remove(0);
        self.end(first, end).await;
        let heir = &self.witnesses.first().expect("there are two").witness;
        heir.says(&Line::Leads { leads: true }).await;
        self.join(next, begins).await;
    }

    /// Waits until each informer of everybody has had a bookmark on the watch that it has now.
    pub(crate) async fn bookmarks(&self) {
        for watching in &self.witnesses {
            for informer in INFORMERS {
                let began = watching.gaps.last().map_or(0, |gap| gap.end);
                let bookmark = Line::Wire {
                    wire: "bookmark".to_owned(),
                    by: informer.to_owned(),
                };
                let what = format!("a bookmark for {informer}");
                let told = testkit::eventually(BOOKMARK_WITHIN, &what, async || {
                    watching.witness.has_said(began, &bookmark).then_some(())
                });
                told.await
                    .unwrap_or_else(|overdue| panic!("{}: {overdue}", self.home.name()));
            }
        }
    }

    /// Ends everybody; what they have seen and done, by their names.
    pub(crate) async fn close(mut self) -> BTreeMap<String, History> {
        // Who leads goes last, or the others would lead for a moment.
        while let Some(watching) = self.witnesses.pop() {
            self.end(watching, End::Stop).await;
        }
        self.ended
    }

    async fn end(&mut self, watching: Watching, end: End) {
        let Watching { witness, gaps } = watching;
        let name = witness.name.clone();
        let said = match end {
            End::Stop => witness.stop().await,
            End::Kill => witness.kill().await,
        };
        let as_asked = matches!(end, End::Kill) || said.contains(&Line::Ended { ended: true });
        assert!(as_asked, "{}: {name} ended by itself", self.home.name());
        self.ended.insert(name, History::of(&said, &gaps));
    }

    async fn settle(&self) {
        let settled = testkit::eventually(
            SETTLED_WITHIN,
            "everything to be seen and done",
            async || self.look().await,
        );
        if let Err(overdue) = settled.await {
            let words = self.witnesses.iter().map(|it| it.witness.last_words());
            let words: Vec<_> = words.collect();
            panic!("{}: {overdue}\n{}", self.home.name(), words.join("\n\n"));
        }
    }

    /// Whether the controller has nothing left to do, and everybody knows everything.
    async fn look(&self) -> Result<(), String> {
        let (all, things) = (ListParams::default(), Kind::Thing.api(&self.client));
        let maps = Kind::ConfigMap.api(&self.client);
        let things = things.list(&all).await.map_err(|error| error.to_string())?;
        let maps = maps.list(&all).await.map_err(|error| error.to_string())?;
        tidy(&things.items, &maps.items)?;
        let blue =
            |map: &&DynamicObject| map.labels().get("team").is_some_and(|team| team == "blue");
        let current = [
            revisions(&maps.items),
            revisions(maps.items.iter().filter(blue)),
            revisions(&things.items),
        ];
        for Watching { witness, .. } in &self.witnesses {
            for (informer, current) in INFORMERS.into_iter().zip(&current) {
                let known = witness.known(informer);
                if known != *current {
                    let name = &witness.name;
                    return Err(format!("{name}: {informer}: {known:?} of {current:?}"));
                }
            }
        }
        Ok(())
    }
}

impl Watching {
    fn now(&self) -> usize {
        self.witness.lines()
    }
}

fn revisions<'a>(objects: impl IntoIterator<Item = &'a DynamicObject>) -> BTreeMap<String, String> {
    let entry = |object: &DynamicObject| {
        (
            object.name_any(),
            object.resource_version().unwrap_or_default(),
        )
    };
    objects.into_iter().map(entry).collect()
}

/// Whether each Thing has its copy and says so, and nothing else has one.
fn tidy(things: &[DynamicObject], maps: &[DynamicObject]) -> Result<(), String> {
    let copy_of = |name: &str| {
        let name = format!("copy-of-{name}");
        maps.iter().find(|map| map.name_any() == name)
    };
    let mut copies = 0;
    for thing in things {
        let name = thing.name_any();
        let held = thing.finalizers().iter().any(|held| held == FINALIZER);
        let copy = copy_of(&name);
        if thing.metadata.deletion_timestamp.is_some() {
            if held || copy.is_some() {
                return Err(format!("{name} is not let go"));
            }
            continue;
        }
        copies += 1;
        let text = &thing.data["spec"]["text"];
        let team = thing.labels().get("team").map_or("", String::as_str);
        let status = &thing.data["status"];
        let copied = copy.is_some_and(|copy| copy.data["data"]["text"] == *text);
        if !held || !copied || status["text"] != *text || status["team"] != team {
            return Err(format!("{name} is not copied"));
        }
    }
    let there = maps
        .iter()
        .filter(|map| map.name_any().starts_with("copy-of-"));
    if there.count() == copies {
        Ok(())
    } else {
        Err("a copy is left over".to_owned())
    }
}
