//! Our name server answers as NSD, Knot and BIND do on the same zones (N1).
//!
//! Queries are generated from a seed and the zones of `conformance/dns/zones`, and go to all four. Every answer is made
//! comparable and compared whole: code, flags, question, EDNS, and each section as a set of records. A difference that
//! `conformance/dns/differences.toml` does not list is an error, and so is a line there that accepts none.
//!
//! `CONFORM_SEED` and `CONFORM_QUERIES` make other queries, and more of them.

mod answer;
mod ask;
mod compare;
mod generate;
mod malformed;
mod query;
mod report;
mod rules;
mod world;

use std::env;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use answer::Answer;
use compare::is_worth_asking_again;
use generate::Generator;
use query::{Query, Transport};
use report::Report;
use rules::Rules;
use testkit::StartError;
use world::{Running, World};

/// Queries, if nobody asks for more or less.
const QUERIES: usize = 20_000;

/// The seed, if nobody gives another: CI asks the same every time.
const SEED: u64 = 1_034;

/// The worlds and how many of ten queries each gets.
const WORLDS: [(&str, usize); 2] = [("usual", 8), ("root", 2)];

/// N1.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_name_server_answers_as_nsd_knot_and_bind() {
    let rules =
        Rules::read(&conformance().join("differences.toml")).unwrap_or_else(|why| panic!("{why}"));
    let (seed, queries) = (
        variable("CONFORM_SEED", SEED),
        variable("CONFORM_QUERIES", QUERIES),
    );
    let mut report = Report::new(seed);
    for (name, share) in WORLDS {
        let world = World::read(&conformance().join("zones").join(name))
            .unwrap_or_else(|why| panic!("{why}"));
        let running = match world.serve().await {
            Ok(running) => running,
            Err(error @ StartError::Missing(_)) => panic!("no name servers: {error}"),
            Err(error) => panic!("{error}"),
        };
        let mut generator = Generator::new(&world, seed);
        let mut asked = generator.rare();
        asked.extend((0..queries * share / 10).map(|_| generator.query()));
        compare_all(&running, asked, &mut report).await;
    }
    report.finish(&rules);
}

/// Asks every server everything, and what did not fit into a datagram once more over TCP.
async fn compare_all(running: &Running, queries: Vec<Query>, report: &mut Report) {
    let answers = ask_all(running, &queries).await;
    let again = |index: &usize| {
        let answers: Vec<_> = answers
            .iter()
            .map(|(_, answers)| &answers[*index])
            .collect();
        let query = &queries[*index];
        query.transport == Transport::Udp
            && !query.kind.is_fault()
            && is_worth_asking_again(&answers)
    };
    let again = (0..queries.len()).filter(again);
    let again: Vec<_> = again.map(|index| queries[index].again()).collect();
    report.add(&queries, &answers);
    let answers = ask_all(running, &again).await;
    report.add(&again, &answers);
}

async fn ask_all(running: &Running, queries: &[Query]) -> Vec<(&'static str, Vec<Answer>)> {
    let servers = running.servers();
    let asked = servers
        .iter()
        .map(|(_, address)| ask::ask(*address, queries));
    let asked = futures_util::future::try_join_all(asked).await;
    let asked = asked.expect("sockets work on loopback");
    let read = |answers: Vec<Option<Vec<u8>>>| {
        answers
            .iter()
            .map(|octets| Answer::read(octets.as_deref()))
            .collect()
    };
    let names = servers.iter().map(|(name, _)| *name);
    names.zip(asked.into_iter().map(read)).collect()
}

fn variable<T: FromStr>(name: &str, default: T) -> T {
    match env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name} is no number")),
        Err(_) => default,
    }
}

fn conformance() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/dns")
}
