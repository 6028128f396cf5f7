//! Histories that nobody wrote: operations by chance on a few objects, sent to both APIs.
//!
//! A seed gives for every kind a deck of [aims](aim), cut into histories of some length; each has a namespace of its own and many run at
//! once. Those of every other seed are told in protocol buffers where they can be. A difference is cut down to the steps that it needs and told as a sequence that can be added to `conformance/api`.

mod aim;
mod applies;
mod author;
mod body;
mod deletes;
mod hooked;
pub(crate) mod hooks;
mod kind;
mod patches;
mod reads;
mod shrink;
mod tally;
mod text;
mod writes;

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::Path;

use futures_util::StreamExt as _;
use futures_util::stream;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::Value;

use crate::compare::{self, Difference};
use crate::rules::Rules;
use crate::sequence::Sequence;
use crate::side::{Answer, Side};
use crate::transcript::{self, Exchange};
use crate::{AT_ONCE, normal};
use aim::Task;
use kind::Kind;
use shrink::Bench;
use tally::Tally;

/// How many aims a history has.
const LENGTH: usize = 25;

/// So many differences are cut down and told; the others are counted.
const TOLD: usize = 40;

/// So many differences that followed are told of one that did not happen again.
const AROUND: usize = 12;

/// What histories are made of, and who answers.
pub(crate) struct Histories<'a> {
    pub(crate) ours: &'a Side,
    pub(crate) theirs: &'a Side,
    pub(crate) rules: &'a Rules,
    kinds: Vec<Kind>,
    tally: Tally,
    problems: Vec<String>,
    found: Vec<Found>,
}

/// A history with differences that no rule accepts.
struct Found {
    plan: Plan,
    steps: Vec<Value>,
    differences: Vec<Difference>,
}

/// One history that is to be written.
#[derive(Clone)]
struct Plan {
    seed: u64,
    kind: usize,
    tasks: Vec<Task>,
    /// Its name, which is the name of its namespace.
    place: String,
}

/// The definitions of the kinds that no cluster has by itself.
pub(crate) fn definitions(folder: &Path) -> Vec<CustomResourceDefinition> {
    let own = kind::yaml(&folder.join("definition.yaml")).unwrap_or_else(|why| panic!("{why}"));
    api::crds::all().into_iter().chain([own]).collect()
}

impl Plan {
    /// A side as this history is told to it.
    fn speaker(&self, side: &Side) -> Side {
        Side {
            protobuf: self.seed.is_multiple_of(2),
            ..side.clone()
        }
    }
}

impl<'a> Histories<'a> {
    pub(crate) fn new(folder: &Path, ours: &'a Side, theirs: &'a Side, rules: &'a Rules) -> Self {
        let kinds = kind::read(&folder.join("kinds.yaml")).unwrap_or_else(|why| panic!("{why}"));
        Self {
            ours,
            theirs,
            rules,
            kinds,
            tally: Tally::default(),
            problems: Vec::new(),
            found: Vec::new(),
        }
    }

    /// How many operations there were so far.
    pub(crate) fn operations(&self) -> usize {
        self.tally.operations
    }

    /// What was met so far, as a table.
    pub(crate) fn table(&self) -> String {
        self.tally.table()
    }

    /// What should have been met and was not.
    pub(crate) fn missing(&self) -> Vec<String> {
        self.tally.missing(&self.kinds)
    }

    /// Writes the histories of a seed and compares the answers.
    pub(crate) async fn run(&mut self, seed: u64, only: Option<&str>) {
        let mut plans = self.plans(seed);
        plans.retain(|plan| only.is_none_or(|only| plan.place.starts_with(only)));
        let one = &*self;
        let results: Vec<_> = stream::iter(plans)
            .map(|plan| async move {
                let result = one.compare(&plan).await;
                (plan, result)
            })
            .buffered(AT_ONCE)
            .collect()
            .await;
        for (plan, result) in results {
            match result {
                Err(why) => self.problems.push(format!("{}: {why}", plan.place)),
                Ok((steps, theirs, differences)) => {
                    self.tally.add(&self.kinds, &steps, &theirs);
                    let differences: Vec<_> = differences
                        .into_iter()
                        .filter(|difference| !self.rules.would_accept(difference))
                        .collect();
                    if !differences.is_empty() {
                        self.found.push(Found {
                            plan,
                            steps,
                            differences,
                        });
                    }
                }
            }
        }
    }

    /// What went wrong so far; differences are cut down first.
    pub(crate) async fn problems(&mut self) -> Vec<String> {
        let mut problems = std::mem::take(&mut self.problems);
        let mut told = BTreeSet::new();
        for (number, found) in self.found.iter().enumerate() {
            let Found {
                plan,
                steps,
                differences,
            } = found;
            let difference = &differences[0];
            let sort = (
                sort(&difference.request),
                shrink::blurred(&difference.place),
            );
            if !told.insert(sort) {
                continue;
            }
            if told.len() > TOLD {
                problems.push(difference.to_string());
                continue;
            }
            let bench = Bench {
                ours: &plan.speaker(self.ours),
                theirs: &plan.speaker(self.theirs),
                rules: self.rules,
                place: format!("short-{number}"),
            };
            let shorter = shrink::shrink(&bench, steps, difference).await;
            let shorter = shorter.unwrap_or_else(|| {
                let others = differences.iter().skip(1).take(AROUND);
                let others: Vec<_> = others.map(ToString::to_string).collect();
                format!(
                    "it did not happen again; what followed:\n{}",
                    others.join("\n")
                )
            });
            let again = format!(
                "CONFORMANCE_ONLY={} cargo xtask conform api --seed {}",
                plan.place, plan.seed
            );
            problems.push(format!("{difference}\n  again   {again}\n{shorter}"));
        }
        problems
    }

    async fn compare(
        &self,
        plan: &Plan,
    ) -> Result<(Vec<Value>, Vec<Exchange>, Vec<Difference>), String> {
        let kind = &self.kinds[plan.kind];
        let seed = hash(&(plan.seed, &plan.place));
        let (ours, theirs) = (plan.speaker(self.ours), plan.speaker(self.theirs));
        let history = author::write(&ours, kind, &plan.tasks, seed, &plan.place).await?;
        let sequence = Sequence::of(plan.place.clone(), String::new(), history.steps.clone())?;
        let patience = transcript::NEXT_EVENT;
        let mut theirs = transcript::record(&theirs, &sequence, &plan.place, patience).await?;
        let mut ours = history.ours;
        if kind.stored {
            allow_more_rules(&mut ours, &mut theirs);
        }
        normal::normalise(&mut ours, &plan.place);
        normal::normalise(&mut theirs, &plan.place);
        let differences = compare::differences(&plan.place, &ours, &theirs);
        Ok((history.steps, theirs, differences))
    }

    fn plans(&self, seed: u64) -> Vec<Plan> {
        let mut plans = Vec::new();
        for (number, kind) in self.kinds.iter().enumerate() {
            let mut chance = StdRng::seed_from_u64(hash(&(seed, kind.plural())));
            let deck = aim::deck(kind, &mut chance);
            for (part, tasks) in deck.chunks(LENGTH).enumerate() {
                plans.push(Plan {
                    seed,
                    kind: number,
                    tasks: tasks.to_vec(),
                    place: format!("{seed}-{}-{}", kind.plural(), part + 1),
                });
            }
        }
        plans
    }
}

/// A kind that is judged by its type alone is refused for some of the causes that the real API has, or not at all. After
/// that its objects are not the same any more, and there is nothing left to compare.
fn allow_more_rules(ours: &mut Vec<Exchange>, theirs: &mut Vec<Exchange>) {
    let causes = |answer: &Answer| -> BTreeSet<String> {
        let causes = answer.body["details"]["causes"].as_array();
        causes.into_iter().flatten().map(Value::to_string).collect()
    };
    let end = ours.iter_mut().zip(&*theirs).position(|(ours, theirs)| {
        let (few, all) = (causes(&ours.answer), causes(&theirs.answer));
        if !few.is_empty() && few.is_subset(&all) {
            ours.answer = theirs.answer.clone();
        }
        matches!(
            (ours.answer.code, theirs.answer.code),
            (Some(200..300), Some(422))
        )
    });
    let end = end.unwrap_or(ours.len());
    ours.truncate(end);
    theirs.truncate(end);
}

/// A request line without what chance made of it.
fn sort(request: &str) -> String {
    request
        .split(['?', '{'])
        .next()
        .unwrap_or_default()
        .to_owned()
}

fn hash(value: &impl Hash) -> u64 {
    // The keys of this hasher are fixed, so that a seed means the same everywhere.
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
