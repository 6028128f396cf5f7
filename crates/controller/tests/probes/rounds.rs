//! When targets are asked, and what probes say about them.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use crate::stage::{Answer, Stage};

const MINUTE: Duration = Duration::from_mins(1);

#[tokio::test(start_paused = true)]
async fn a_target_is_asked_a_moment_after_its_probe_appears_and_then_every_interval() {
    // D6.
    let stage = Stage::open().await;
    stage.pass_time(MINUTE).await;
    let created = Instant::now();
    stage.probe("a", 1).await;
    stage.probe("b", 2).await;
    stage.pass_time(10 * MINUTE).await;
    let mut waits = Vec::new();
    for address in ["192.0.2.1", "192.0.2.2"] {
        let asked = stage.targets.asked(address);
        let first = asked[0] - created;
        let soon = Duration::from_millis(500)..Duration::from_secs(2);
        assert!(soon.contains(&first), "{first:?}");
        for pair in asked.windows(2) {
            let wait = pair[1] - pair[0];
            assert!((wait.as_secs_f64() - 60.0).abs() < 3.5, "{wait:?}");
            waits.push(wait);
        }
        assert!((9..=11).contains(&asked.len()), "{}", asked.len());
    }
    waits.dedup();
    assert!(waits.len() > 10, "they do not stay together");
}

#[tokio::test(start_paused = true)]
async fn the_status_says_what_was_found_and_is_written_only_when_that_changes() {
    // D6: no write for each round.
    let stage = Stage::open().await;
    stage
        .targets
        .answer("192.0.2.2", Answer::Fault("connection refused"));
    stage.probe("good", 1).await;
    stage.probe("bad", 2).await;
    stage.until_healthy("good", true).await;
    let status = stage.status("good").await;
    assert_eq!(status.status, Some(200));
    assert_eq!(
        (status.consecutive_failures, status.reason),
        (Some(0), None)
    );
    assert_eq!(status.observed_generation, Some(1));
    stage.until_healthy("bad", false).await;
    let status = stage.status("bad").await;
    assert_eq!(
        (status.status, status.consecutive_failures),
        (None, Some(3))
    );
    assert_eq!(status.reason.as_deref(), Some("connection refused"));
    let versions = [stage.version("good").await, stage.version("bad").await];
    let before = stage.targets.all();
    stage.pass_time(30 * MINUTE).await;
    assert!(stage.targets.all() > before + 50, "both are asked on");
    assert_eq!(
        [stage.version("good").await, stage.version("bad").await],
        versions
    );
}

#[tokio::test(start_paused = true)]
async fn a_target_is_unhealthy_after_more_failures_than_it_may_have_and_healthy_after_one_answer() {
    // D6: the peer's letter.
    let stage = Stage::open().await;
    stage.probe("a", 1).await;
    stage.until_healthy("a", true).await;
    stage.targets.answer("192.0.2.1", Answer::Status(503));
    let took = stage.until_healthy("a", false).await;
    assert!(
        (took.as_secs_f64() - 180.0).abs() < 12.0,
        "three rounds: {took:?}"
    );
    let status = stage.status("a").await;
    assert_eq!(
        status.reason.as_deref(),
        Some("answered 503, expected 200 or 201")
    );
    assert_eq!(status.status, Some(503));
    stage.targets.answer("192.0.2.1", Answer::Status(201));
    let took = stage.until_healthy("a", true).await;
    assert!(took < MINUTE + Duration::from_secs(5), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn another_spec_is_asked_for_at_once_and_what_is_known_stays() {
    let stage = Stage::open().await;
    stage.probe("a", 1).await;
    stage.until_healthy("a", true).await;
    stage.targets.answer("192.0.2.9", Answer::Status(500));
    stage
        .patch("a", json!({ "spec": { "address": "192.0.2.9" } }))
        .await;
    stage.pass_time(Duration::from_secs(3)).await;
    assert_eq!(stage.targets.asked("192.0.2.9").len(), 1);
    let status = stage.status("a").await;
    assert_eq!(
        (status.healthy, status.consecutive_failures),
        (Some(true), Some(1))
    );
    assert_eq!(status.observed_generation, Some(2));
    let before = stage.targets.asked("192.0.2.1").len();
    stage.pass_time(5 * MINUTE).await;
    assert_eq!(stage.targets.asked("192.0.2.1").len(), before);
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_is_gone_asks_nobody() {
    let stage = Stage::open().await;
    stage.probe("a", 1).await;
    stage.until_healthy("a", true).await;
    let shown = "dns_health_probe_counter{dns_health_check_name=\"a\",dns_health_check_namespace=\"web\",dns_health_check_host=\"app.example.org\"} 1";
    assert!(stage.measured().contains(shown), "{}", stage.measured());
    stage.delete("a").await;
    stage.pass_time(MINUTE / 60).await;
    let before = stage.targets.all();
    stage.pass_time(10 * MINUTE).await;
    assert_eq!(stage.targets.all(), before);
    assert!(!stage.measured().contains("dns_health_check_name=\"a\""));
}

#[tokio::test(start_paused = true)]
async fn only_the_leader_asks() {
    // O2.
    let stage = Stage::open().await;
    stage.leading.send_replace(false);
    stage.probe("a", 1).await;
    stage.pass_time(5 * MINUTE).await;
    assert_eq!(stage.targets.all(), 0);
    stage.leading.send_replace(true);
    stage.pass_time(Duration::from_secs(3)).await;
    assert_eq!(stage.targets.all(), 1);
}

#[tokio::test(start_paused = true)]
async fn so_many_are_asked_at_a_time_and_the_slow_hold_up_nobody_for_long() {
    let mut stage = Stage::open().await;
    for last in 0..300 {
        let address = format!("198.51.100.{}", last % 250 + 1);
        let name = format!("slow-{last}");
        let slow = Answer::After(Duration::from_secs(10), 200);
        stage.targets.answer(&address, slow);
        let more = json!({ "address": address });
        stage.probe_with(&name, 0, more).await;
    }
    stage.pass_time(Duration::from_secs(5)).await;
    assert_eq!(stage.targets.all(), 256);
    stage.pass_time(Duration::from_secs(12)).await;
    assert_eq!(stage.targets.all(), 300);
    stage.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_target_that_hangs_does_not_keep_the_process_from_ending() {
    // O2.
    let mut stage = Stage::open().await;
    let slow = Answer::After(Duration::from_secs(10), 200);
    stage.targets.answer("192.0.2.1", slow);
    stage.probe("a", 1).await;
    while stage.targets.all() == 0 {
        stage.pass_time(Duration::from_millis(100)).await;
    }
    let began = Instant::now();
    stage.stop().await;
    assert!(began.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_certificate_is_let_pass_only_where_the_probe_and_the_operator_say_so() {
    // D6.
    for (operator, probe) in [(false, false), (false, true), (true, false), (true, true)] {
        let stage = Stage::with(operator).await;
        let more = json!({ "allowInsecureCertificate": probe });
        stage.probe_with("a", 1, more).await;
        stage.until_healthy("a", true).await;
        let questions = stage.targets.questions("192.0.2.1");
        assert_eq!(questions[0].1.insecure, operator && probe);
    }
}
