//! Every CEL rule of our own kinds and of the Gateway API's: an object that keeps it, and one that
//! breaks it and nothing else.
//!
//! The objects are data, `cel/<group>/<kind>.yaml`; `corpus` says how to read them. One test asks
//! whether there are cases for every rule and a rule for every case. The others send them to the
//! embedded API, and to kube-apiserver as well, whose verdict counts: ours must say the same.

#[path = "cel/corpus.rs"]
mod corpus;
#[path = "cel/rules.rs"]
mod rules;
#[path = "cel/verdict.rs"]
mod verdict;

use std::collections::BTreeSet;

use apiserver::{Apiserver, Options};
use futures_util::{StreamExt as _, stream};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use testkit::control_plane::gateway_api;

use corpus::{Expected, Kind, Trial};
use verdict::{Verdict, judge};

/// How many requests are under way at once: enough to keep both sides busy.
const AT_ONCE: usize = 16;

fn definitions() -> Vec<CustomResourceDefinition> {
    let gateway = gateway_api::crds().expect("the Gateway API's module can be read");
    api::crds::all().into_iter().chain(gateway).collect()
}

#[test]
fn every_rule_has_a_case_and_every_case_a_rule() {
    let kinds = corpus::kinds(&definitions());
    let problems: Vec<String> = kinds.iter().flat_map(Kind::gaps).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert_eq!(
        corpus::files(),
        kinds
            .iter()
            .filter(|kind| kind.has_rules())
            .map(Kind::file)
            .collect::<BTreeSet<_>>()
    );
}

#[tokio::test]
async fn every_rule_is_kept_and_broken() {
    let (definitions, trials) = everything();
    let embedded = Apiserver::open(Options::default()).await;
    let embedded = embedded.expect("an empty API opens");
    let ours = verdicts(&embedded.client(), &definitions, &trials).await;
    none(unexpected_ones(&trials, &ours));
}

mod on_cluster {
    use testkit::control_plane::{Identity, shared};

    use super::{Apiserver, Options, differences, everything, none, unexpected_ones, verdicts};

    #[tokio::test]
    async fn every_rule_is_kept_and_broken_as_kube_apiserver_has_it() {
        let (definitions, trials) = everything();
        let embedded = Apiserver::open(Options::default()).await;
        let embedded = embedded.expect("an empty API opens");
        let real = shared().await.client(Identity::Admin);
        let real = verdicts(&real, &definitions, &trials).await;
        let ours = verdicts(&embedded.client(), &definitions, &trials).await;
        let different = differences(&trials, &ours, &real);
        none(unexpected_ones(&trials, &real).chain(different));
    }
}

fn everything() -> (Vec<CustomResourceDefinition>, Vec<Trial>) {
    let definitions = definitions();
    let kinds = corpus::kinds(&definitions);
    let trials = kinds.iter().flat_map(Kind::trials).collect();
    (definitions, trials)
}

#[track_caller]
fn none(problems: impl Iterator<Item = String>) {
    let problems: Vec<_> = problems.collect();
    let count = problems.len();
    assert_eq!(count, 0, "{count} problems\n{}", problems.join("\n"));
}

fn unexpected_ones(trials: &[Trial], verdicts: &[Verdict]) -> impl Iterator<Item = String> {
    let judged = trials.iter().zip(verdicts);
    judged.filter_map(|(trial, verdict)| unexpected(trial, verdict))
}

async fn verdicts(
    client: &Client,
    definitions: &[CustomResourceDefinition],
    trials: &[Trial],
) -> Vec<Verdict> {
    testkit::crds::install(client, definitions)
        .await
        .expect("the kinds can be installed");
    let namespace = testkit::namespace(client, "cel")
        .await
        .expect("a namespace can be made");
    let judged = trials
        .iter()
        .enumerate()
        .map(|(index, trial)| judge(client, &namespace, index, trial));
    stream::iter(judged).buffered(AT_ONCE).collect().await
}

/// What an API said that the case does not.
fn unexpected(trial: &Trial, verdict: &Verdict) -> Option<String> {
    let as_expected = match &trial.expected {
        Expected::Accepted => verdict.accepted,
        Expected::Refused {
            field,
            message,
            also,
        } => {
            let because = |(at, said): &&(String, String)| at == field && said.ends_with(message);
            let others = |text: &&String| {
                verdict
                    .causes
                    .iter()
                    .any(|(_, said)| said.contains(text.as_str()))
            };
            !verdict.accepted
                && verdict.causes.iter().filter(because).count() == 1
                && also.iter().filter(others).count() == also.len()
                && verdict.causes.len() == 1 + also.len()
        }
        Expected::RefusedOtherwise { message } => {
            !verdict.accepted
                && verdict
                    .causes
                    .iter()
                    .all(|(_, said)| !said.ends_with(message))
        }
    };
    (!as_expected).then(|| {
        format!(
            "{trial}\n  expected {:?}\n  got {verdict:?}",
            trial.expected
        )
    })
}

/// Where the embedded API does not say what kube-apiserver says.
fn differences(trials: &[Trial], ours: &[Verdict], real: &[Verdict]) -> Vec<String> {
    let pairs = trials.iter().zip(ours.iter().zip(real));
    let different = pairs.filter(|(_, (ours, real))| ours != real);
    different
        .map(|(trial, (ours, real))| {
            format!("{trial}\n  embedded: {ours:?}\n  kube-apiserver: {real:?}")
        })
        .collect()
}
