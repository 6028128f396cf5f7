//! What is asked while a policy changes.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::task::JoinHandle;
use tokio::time::interval;

use crate::stage::{SOMEBODY, Up, ask};

const HOSTS: [&str; 2] = ["shop.apps.example.org", "any.tenants.apps.example.org"];

/// The Gateway's address that anybody can reach.
const ADDRESS: &str = "192.0.2.80";

/// How often somebody asks.
const PACE: Duration = Duration::from_millis(20);

/// Asks for every host all the time, from when it is made until it is heard or the test ends.
struct Asker {
    began: Instant,
    asking: JoinHandle<()>,
    answers: Receiver<(&'static str, String)>,
}

impl Asker {
    fn start(server: SocketAddr) -> Asker {
        let (told, answers) = channel();
        let asking = tokio::spawn(async move {
            let mut pace = interval(PACE);
            loop {
                pace.tick().await;
                for host in HOSTS {
                    let answer = ask(server, SOMEBODY, host).await;
                    told.send((host, answer)).unwrap();
                }
            }
        });
        Asker {
            began: Instant::now(),
            asking,
            answers,
        }
    }

    /// Checks that every answer led to the Gateway, and that there were ten in a second at least for each host.
    fn heard_nothing_else(self) {
        assert!(!self.asking.is_finished(), "every question was answered");
        let answers: Vec<_> = self.answers.try_iter().collect();
        let (number, seconds) = (answers.len(), self.began.elapsed().as_secs());
        let expected = usize::try_from(seconds).unwrap() * 10 * HOSTS.len();
        assert!(number >= expected, "{number} answers in {seconds} s");
        for (nth, (host, answer)) in answers.into_iter().enumerate() {
            let good =
                answer.starts_with("NOERROR\n") && answer.ends_with(&format!(" A {ADDRESS}"));
            assert!(good, "answer {nth} of {number}, about {host}: {answer}");
        }
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        self.asking.abort();
    }
}

const EU: Option<&str> = Some("GEO-EU");
const IE: Option<&str> = Some("IE");

/// Publishes with load balancing for a place, or without.
async fn switch(up: &Up, geo: Option<&str>) {
    let rule = geo.map(|geo| json!({ "weight": 120, "geo": geo, "defaultGeo": true }));
    up.edit(json!({ "loadBalancing": rule })).await;
}

/// Waits until clients are led to a place, or straight to the Gateway.
async fn until(up: &Up, geo: Option<&str>) {
    for host in HOSTS {
        up.until(SOMEBODY, host, |answer| match geo {
            Some(geo) => answer.contains(&format!("{}.klb.", geo.to_lowercase())),
            None => answer.starts_with("NOERROR") && !answer.contains("klb."),
        })
        .await;
    }
}

#[tokio::test]
async fn a_host_answers_all_the_time_while_its_policy_switches_how_it_is_published() {
    // D7, from policy to answer: one change after the other, and faster than they are carried out.
    let up = Up::start(&[]).await;
    until(&up, None).await;
    let asker = Asker::start(up.dns);
    for geo in [EU, None, IE, EU, None, IE, None] {
        switch(&up, geo).await;
        until(&up, geo).await;
    }
    for geo in [EU, None, IE, None, EU, None, IE] {
        switch(&up, geo).await;
    }
    until(&up, IE).await;
    asker.heard_nothing_else();
}

#[tokio::test]
async fn a_host_answers_all_the_time_while_its_policy_is_replaced_by_another() {
    // D8: the one that waited takes over what the first one has published, and publishes it in its own way.
    let up = Up::start(&[]).await;
    let rule = json!({ "weight": 120, "geo": "IE", "defaultGeo": true });
    up.copy("public", "next", json!({ "loadBalancing": rule }))
        .await;
    up.until_owned("public-web", "next").await;
    up.until_owned("public-tenants", "next").await;
    let asker = Asker::start(up.dns);
    up.delete("public").await;
    until(&up, IE).await;
    asker.heard_nothing_else();
}
