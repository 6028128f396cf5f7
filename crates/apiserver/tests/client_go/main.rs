//! A program on client-go does not notice.
//!
//! A controller as people write them (shared informers, a workqueue, leader election by Lease) looks at the embedded API, over
//! TLS, and at kube-apiserver, while both are put through the same steps and are stopped, killed and started again in between.
//! What its informers tell, version by version, what it does, who leads and which language each kind is told in must be the same.
//! The program is in `conformance/client-go`.
//!
//! So does a manager on controller-runtime, as it is configured by nobody (`conformance/manager`).
//!
//! `CONFORM_SECONDS=120` goes on for so long, with bookmarks and with a leader that is killed; `cargo xtask conform api` does so.

mod history;
mod home;
mod manager;
mod script;
mod side;
mod witness;

use std::collections::BTreeSet;
use std::env;
use std::time::{Duration, Instant};

use history::History;
use home::End;
use side::{Begins, INFORMERS, Side};

const TEST: &str = "on_cluster::a_controller_on_client_go_sees_the_same_history_from_both_apis";

const MANAGER_TEST: &str =
    "on_cluster::a_manager_on_controller_runtime_leads_and_works_on_both_apis";

mod on_cluster {
    use testkit::control_plane::clients;

    use super::home::{self, End, Home};
    use super::manager::Managed;
    use super::side::Side;
    use super::{Both, MANAGER_TEST, TEST, seconds};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_controller_on_client_go_sees_the_same_history_from_both_apis() {
        if home::serve_if_told().await {
            return;
        }
        let program = tokio::task::spawn_blocking(clients::witness).await;
        let program = program.expect("building does not panic");
        let program = program.unwrap_or_else(|error| panic!("no clients: {error}"));
        let (ours, theirs) = tokio::join!(Home::embedded(TEST), Home::real());
        let (ours, theirs) = tokio::join!(
            Side::open(ours, program.clone()),
            Side::open(theirs, program)
        );
        let mut both = Both {
            ours,
            theirs,
            rounds: 0,
            witnesses: 0,
        };
        both.join().await;
        both.join().await;
        both.round().await;
        both.interrupt(End::Stop).await;
        both.round().await;
        both.succeed(End::Stop).await;
        both.round().await;
        both.interrupt(End::Kill).await;
        both.round().await;
        let long = seconds();
        if let Some(seconds) = long {
            both.go_on(seconds).await;
        }
        both.compare(long.is_some()).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_manager_on_controller_runtime_leads_and_works_on_both_apis() {
        if home::serve_if_told().await {
            return;
        }
        let program = tokio::task::spawn_blocking(clients::manager).await;
        let program = program.expect("building does not panic");
        let program = program.unwrap_or_else(|error| panic!("no clients: {error}"));
        let story = async |home: Home| {
            let mut managed = Managed::open(home, program.clone()).await;
            managed.mirror("first").await;
            managed.kill_the_api().await;
            managed.mirror("after-the-api-was-killed").await;
            managed.kill_the_leader().await;
            managed.mirror("after-the-leader-was-killed").await;
            managed.close().await
        };
        let (ours, theirs) = tokio::join!(Home::embedded(MANAGER_TEST), Home::real());
        let (ours, theirs) = tokio::join!(story(ours), story(theirs));
        assert_eq!(ours, theirs);
        let (mirrors, the_lead_went_over) = ours;
        assert_eq!(mirrors.len(), 3, "{mirrors:?}");
        assert!(the_lead_went_over);
    }
}

/// What each kind is told in, in both directions.
const LANGUAGES: [(&str, &str); 7] = [
    ("configmaps", "sent in application/vnd.kubernetes.protobuf"),
    (
        "configmaps",
        "answered in application/vnd.kubernetes.protobuf",
    ),
    (
        "configmaps",
        "answered in application/vnd.kubernetes.protobuf;stream=watch",
    ),
    ("leases", "sent in application/vnd.kubernetes.protobuf"),
    ("leases", "answered in application/vnd.kubernetes.protobuf"),
    ("things", "sent in application/json"),
    ("things", "answered in application/json"),
];

/// Both APIs, always at the same step.
struct Both {
    ours: Side,
    theirs: Side,
    rounds: usize,
    witnesses: usize,
}

impl Both {
    async fn join(&mut self) {
        let (name, begins) = self.next_witness();
        tokio::join!(
            self.ours.join(&name, begins),
            self.theirs.join(&name, begins)
        );
    }

    async fn round(&mut self) {
        self.rounds += 1;
        let steps = script::round(self.rounds);
        tokio::join!(self.ours.perform(&steps), self.theirs.perform(&steps));
    }

    async fn interrupt(&mut self, end: End) {
        let round = self.rounds;
        tokio::join!(
            self.ours.interrupt(round, end),
            self.theirs.interrupt(round, end)
        );
    }

    async fn succeed(&mut self, end: End) {
        let (next, begins) = self.next_witness();
        tokio::join!(
            self.ours.succeed(end, &next, begins),
            self.theirs.succeed(end, &next, begins)
        );
    }

    /// Keeps both busy: a leader that is killed, a minute without an end so that bookmarks come, and ends after that.
    async fn go_on(&mut self, time: Duration) {
        let until = Instant::now() + time;
        self.succeed(End::Kill).await;
        self.round().await;
        tokio::join!(self.ours.bookmarks(), self.theirs.bookmarks());
        loop {
            for end in [End::Kill, End::Stop] {
                self.interrupt(end).await;
                self.round().await;
            }
            self.succeed(End::Stop).await;
            self.round().await;
            if Instant::now() >= until {
                return;
            }
        }
    }

    async fn compare(self, long: bool) {
        let (ours, theirs) = tokio::join!(self.ours.close(), self.theirs.close());
        assert!(ours.keys().eq(theirs.keys()));
        let mut problems = Vec::new();
        for (name, ours) in &ours {
            let theirs = &theirs[name];
            let found = ours.differences(theirs);
            problems.extend(found.iter().map(|found| format!("{name}: {found}")));
            println!("{name} saw {} events one by one", ours.events());
        }
        // Informers hide it, and it must have happened all the same: on both sides they were told what is there in a list
        // and in a watch, and that what they knew is too old.
        let expected = ["list", "watch from what is there", "that is all", "gone"];
        let expected = expected.iter().chain(long.then_some(&"bookmark"));
        for what in expected {
            for informer in INFORMERS {
                for (side, histories) in [("ours", &ours), ("theirs", &theirs)] {
                    if !histories.values().any(|it| it.heard(informer, what)) {
                        problems.push(format!("{side}: {informer} never heard: {what}"));
                    }
                }
            }
        }
        // Protocol buffers where a kind is built in: client-go does so by itself.
        for (side, histories) in [("ours", &ours), ("theirs", &theirs)] {
            let languages: BTreeSet<_> = histories.values().flat_map(History::languages).collect();
            if languages != BTreeSet::from(LANGUAGES) {
                problems.push(format!("{side}: {languages:#?}"));
            }
        }
        let count = problems.len();
        assert!(
            count == 0,
            "{count} problems\n\n{}\n",
            problems.join("\n\n")
        );
    }

    fn next_witness(&mut self) -> (String, Begins) {
        self.witnesses += 1;
        let begins = if self.witnesses.is_multiple_of(2) {
            Begins::ByList
        } else {
            Begins::ByWatch
        };
        (format!("witness-{}", self.witnesses), begins)
    }
}

/// How long to go on beyond what CI runs.
fn seconds() -> Option<Duration> {
    let seconds = env::var("CONFORM_SECONDS").ok()?;
    Some(Duration::from_secs(
        seconds.parse().expect("a number of seconds"),
    ))
}
