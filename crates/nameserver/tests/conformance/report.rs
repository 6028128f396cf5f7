//! What was asked, what was compared, and what differed: grouped by cause, with all answers side by side.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use crate::answer::Answer;
use crate::compare::{Difference, differences};
use crate::query::{Kind, Query};
use crate::rules::Rules;
use crate::{QUERIES, SEED};

/// Examples of each group of differences.
const EXAMPLES: usize = 2;

/// Groups that are shown; the rest is counted.
const GROUPS: usize = 20;

/// A run over all worlds.
pub(crate) struct Report {
    seed: u64,
    asked: BTreeMap<Kind, usize>,
    compared: BTreeMap<&'static str, usize>,
    found: Vec<Found>,
}

/// What differs in the answers to one query, and all of them.
struct Found {
    differences: Vec<Difference>,
    answers: Vec<(&'static str, Answer)>,
}

impl Report {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            asked: BTreeMap::new(),
            compared: BTreeMap::new(),
            found: Vec::new(),
        }
    }

    /// Takes in the answers of every server, ours first.
    pub(crate) fn add(&mut self, queries: &[Query], answers: &[(&'static str, Vec<Answer>)]) {
        let ((_, ours), theirs) = answers.split_first().expect("ours is the first");
        for (index, query) in queries.iter().enumerate() {
            *self.asked.entry(query.kind).or_default() += 1;
            let found: Vec<_> = theirs
                .iter()
                .flat_map(|(server, theirs)| {
                    differences(server, index, query, &ours[index], &theirs[index])
                })
                .collect();
            if !found.is_empty() {
                let answers = answers
                    .iter()
                    .map(|(server, answers)| (*server, answers[index].clone()));
                self.found.push(Found {
                    differences: found,
                    answers: answers.collect(),
                });
            }
        }
        for (server, answers) in theirs {
            *self.compared.entry(server).or_default() += answers.len();
        }
    }

    /// Prints what was done, and fails if something differs that no rule accepts, or a rule accepts nothing. Other queries
    /// than usual, or fewer, need not meet every rule.
    pub(crate) fn finish(self, rules: &Rules) {
        let mut groups: BTreeMap<_, Vec<(&Difference, &Found)>> = BTreeMap::new();
        for found in &self.found {
            for difference in &found.differences {
                if !rules.accept(difference) {
                    let cause = (
                        difference.server,
                        difference.place,
                        shape(&difference.ours),
                        shape(&difference.theirs),
                    );
                    groups.entry(cause).or_default().push((difference, found));
                }
            }
        }
        self.print(rules);
        let mut problems = Vec::new();
        for (cause, found) in groups.iter().take(GROUPS) {
            problems.push(group(*cause, found));
        }
        problems.extend(
            (groups.len() > GROUPS).then(|| format!("{} more groups", groups.len() - GROUPS)),
        );
        if self.seed == SEED && QUERIES <= self.asked.values().sum() {
            problems.extend(rules.unused());
        }
        assert!(
            problems.is_empty(),
            "seed {}: {} problems\n\n{}\n",
            self.seed,
            problems.len(),
            problems.join("\n\n")
        );
    }

    /// Says what was done past the test harness, which keeps the words of a test that passes to itself.
    fn print(&self, rules: &Rules) {
        let kinds = self
            .asked
            .iter()
            .map(|(kind, count)| format!("{} {count}", kind.name()));
        let kinds: Vec<_> = kinds.collect();
        let servers = self
            .compared
            .iter()
            .map(|(server, count)| format!("{count} with {server}"));
        let servers: Vec<_> = servers.collect();
        let asked: usize = self.asked.values().sum();
        let mut text = format!(
            "conform dns: seed {}, {asked} queries: {}\n",
            self.seed,
            kinds.join(", ")
        );
        let _infallible = writeln!(
            text,
            "conform dns: answers compared: {}",
            servers.join(", ")
        );
        let (count, accepted) = rules.uses();
        let _infallible = writeln!(
            text,
            "conform dns: {accepted} differences accepted by {count} rules"
        );
        // Words that nobody can read any more are no reason to fail.
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

/// Server, place, and what we have and they have, in short.
type Cause<'a> = (&'static str, &'static str, &'a str, &'a str);

/// Of a record its type, of anything else all.
fn shape(text: &str) -> &str {
    text.split(' ').nth(2).unwrap_or(text)
}

fn group((server, place, ours, theirs): Cause<'_>, found: &[(&Difference, &Found)]) -> String {
    let mut text = format!(
        "{} × {place}: ours has {ours}, {server} has {theirs}",
        found.len()
    );
    let mut last = None;
    let distinct = found
        .iter()
        .filter(|(difference, _)| last.replace(&difference.query) != Some(&difference.query));
    for (difference, found) in distinct.take(EXAMPLES) {
        let Difference {
            query,
            ours,
            theirs,
            ..
        } = difference;
        let _infallible = write!(text, "\n  {query}\n    {ours} / {theirs}");
        let mut shown: Vec<(&str, &Answer)> = Vec::new();
        for (server, answer) in &found.answers {
            let same = shown.iter().find(|(_, earlier)| *earlier == answer);
            let _infallible = match same {
                Some((earlier, _)) => write!(text, "\n    {server:5} = {earlier}"),
                None => write!(text, "\n    {server:5} {answer}"),
            };
            shown.push((server, answer));
        }
    }
    text
}
