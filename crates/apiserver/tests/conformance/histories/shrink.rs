//! Cuts a history down to what a difference needs.

use std::time::Duration;

use serde_json::Value;

use super::text;
use crate::compare::Difference;
use crate::rules::Rules;
use crate::sequence::Sequence;
use crate::side::Side;
use crate::{normal, transcript};

/// So often a shorter history is tried.
const ATTEMPTS: usize = 60;

/// How long to wait for an event that may have been cut away.
const HASTE: Duration = Duration::from_millis(300);

/// Who answers, and what is accepted.
pub(crate) struct Bench<'a> {
    pub(crate) ours: &'a Side,
    pub(crate) theirs: &'a Side,
    pub(crate) rules: &'a Rules,
    /// What the namespaces of the attempts begin with.
    pub(crate) place: String,
}

/// The shortest history found that still shows the difference, as text.
pub(crate) async fn shrink(
    bench: &Bench<'_>,
    steps: &[Value],
    wanted: &Difference,
) -> Option<String> {
    let last = number(&wanted.step)?;
    let mut attempts = 0;
    let mut best = bench
        .attempt(&mut attempts, steps[..last].to_vec(), wanted)
        .await?;
    let mut size = best.0.len() / 2;
    while size > 0 {
        let mut end = best.0.len().saturating_sub(1);
        while end > 0 && attempts < ATTEMPTS {
            let start = end.saturating_sub(size);
            let shorter = without(&best.0, start, end);
            if let Some(shorter) = bench.attempt(&mut attempts, shorter, wanted).await {
                best = shorter;
            }
            end = start.min(best.0.len().saturating_sub(1));
        }
        size /= 2;
    }
    let (steps, codes) = best;
    Some(text::sequence(
        &wanted.place.replace(':', " "),
        &text::tidied(&steps, &codes),
    ))
}

type Shorter = (Vec<Value>, Vec<Option<u16>>);

impl Bench<'_> {
    /// The steps, with as many events as there are, if they show the difference.
    async fn attempt(
        &self,
        attempts: &mut usize,
        mut steps: Vec<Value>,
        wanted: &Difference,
    ) -> Option<Shorter> {
        *attempts += 1;
        let ns = format!("{}-{attempts}", self.place);
        let sequence = Sequence::of(ns.clone(), String::new(), steps.clone()).ok()?;
        let mut ours = transcript::record(self.ours, &sequence, &ns, HASTE)
            .await
            .ok()?;
        for exchange in &ours {
            let step = &mut steps[exchange.number - 1];
            if let (Some(events), Some(step)) =
                (exchange.answer.body.as_array(), step.as_object_mut())
                && exchange.title.starts_with("events ")
            {
                let events = events.iter().filter(|event| event.is_object()).count();
                step.insert(exchange.title.clone(), events.into());
            }
        }
        let sequence = Sequence::of(ns.clone(), String::new(), steps.clone()).ok()?;
        let patience = transcript::NEXT_EVENT;
        let mut theirs = transcript::record(self.theirs, &sequence, &ns, patience)
            .await
            .ok()?;
        let codes = theirs.iter().map(|exchange| exchange.answer.code).collect();
        normal::normalise(&mut ours, &ns);
        normal::normalise(&mut theirs, &ns);
        let found = crate::compare::differences(&ns, &ours, &theirs);
        let same = |difference: &Difference| {
            signature(difference) == signature(wanted) && !self.rules.would_accept(difference)
        };
        found.iter().any(same).then_some((steps, codes))
    }
}

/// What two differences of the same sort have in common.
pub(crate) fn signature(difference: &Difference) -> (String, String) {
    (difference.request.clone(), blurred(&difference.place))
}

/// A place with its numbers left out.
pub(crate) fn blurred(place: &str) -> String {
    let parts = place.split('/').map(|part| {
        let number = !part.is_empty() && part.chars().all(|letter| letter.is_ascii_digit());
        if number { "#" } else { part }
    });
    parts.collect::<Vec<_>>().join("/")
}

/// The number of the step in `place, step 7`.
fn number(step: &str) -> Option<usize> {
    step.rsplit(' ').next()?.parse().ok()
}

/// The steps without those from `start` to `end`, and without those that need what these save.
fn without(steps: &[Value], start: usize, end: usize) -> Vec<Value> {
    let mut lost: Vec<String> = Vec::new();
    let mut rest = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let text = step.to_string();
        let needs = lost.iter().any(|lost| text.contains(lost));
        if needs || (start..end).contains(&at) {
            lost.extend(makes(step));
        } else {
            rest.push(step.clone());
        }
    }
    rest
}

/// How later steps name what a step makes: saved values and streams.
fn makes(step: &Value) -> Vec<String> {
    let mut made = Vec::new();
    let title = match step.as_object() {
        Some(step) => step.keys().next().cloned().unwrap_or_default(),
        None => step.as_str().unwrap_or_default().to_owned(),
    };
    if let Some(stream) = title.strip_prefix("watch ") {
        let stream = stream.split(' ').next().unwrap_or_default();
        made.push(format!("events {stream}\""));
    }
    let saved = step[&title]["save"].as_object();
    for name in saved.into_iter().flat_map(serde_json::Map::keys) {
        made.push(format!("{{{name}}}"));
        made.push(format!("\"of\":\"{name}\""));
    }
    made
}
