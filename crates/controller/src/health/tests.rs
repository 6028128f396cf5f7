//! What operators are answered.

use std::time::Duration;

use http_body_util::BodyExt as _;
use tower::ServiceExt as _;

use super::*;
use crate::feed::{Progress, Standing};
use crate::metrics::Metrics;

/// A process whose parts can be made ill.
struct Process {
    pulse: Pulse,
    began: Instant,
    zones: Progress,
}

impl Process {
    fn new() -> Self {
        let began = Instant::now();
        Self {
            pulse: Pulse::new(began),
            began,
            zones: Progress {
                standing: Standing::Synced,
                heard: Some(began),
                error: None,
            },
        }
    }

    /// What is answered to a GET, this long after the beginning.
    async fn get(&self, path: &str, after: Duration) -> (u16, String) {
        let now = self.began + after;
        let zones = self.zones.clone();
        let health = Health::new(Registry::default(), self.pulse.clone())
            .ready_when(move |now| feeds(&[("Zone", zones.clone())], now));
        let response = health.answer(&Method::GET, &path.parse().unwrap(), now);
        text(response).await
    }
}

async fn text(response: Response<Full<Bytes>>) -> (u16, String) {
    let (status, body) = (response.status().as_u16(), response.into_body());
    let bytes = body.collect().await.unwrap().to_bytes();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_mins(1);

/// O2.
#[tokio::test]
async fn a_process_that_is_well_says_so_and_tells_why_when_asked() {
    let process = Process::new();
    let ok = (200, "ok".to_owned());
    assert_eq!(process.get("/healthz", SECOND).await, ok);
    assert_eq!(process.get("/readyz", SECOND).await, ok);
    let all = "[+]loop ok\n[+]queue ok\n[+]watch Zone ok\nreadyz check passed\n";
    for path in [
        "/readyz?verbose",
        "/readyz?verbose=1",
        "/readyz?a=b&verbose",
    ] {
        assert_eq!(process.get(path, SECOND).await, (200, all.to_owned()));
    }
    let alive = (200, "[+]loop ok\nhealthz check passed\n".to_owned());
    assert_eq!(process.get("/healthz?verbose", SECOND).await, alive);
}

/// O2.
#[tokio::test]
async fn a_kind_that_is_not_told_or_not_heard_of_is_not_ready() {
    use Standing::{Absent, Synced, Syncing};
    const NOT_INSTALLED: &str = "failed: the cluster does not have this kind; install it with: zonewright crds | kubectl apply --server-side -f -";
    let forbidden = || Some("zones is forbidden".to_owned());
    let minutes = |minutes| Some(Duration::from_mins(minutes));
    let cases = [
        (Syncing, None, None, "failed: not yet synced"),
        (
            Syncing,
            None,
            forbidden(),
            "failed: not yet synced: zones is forbidden",
        ),
        (Synced, minutes(10), None, "ok"),
        (Synced, minutes(9), forbidden(), "ok"),
        (Synced, minutes(6), None, "failed: nothing heard for 240 s"),
        (
            Synced,
            minutes(5),
            forbidden(),
            "failed: nothing heard for 300 s: zones is forbidden",
        ),
        (Absent, None, None, NOT_INSTALLED),
        (Absent, minutes(10), None, NOT_INSTALLED),
    ];
    for (standing, heard, error, expected) in cases {
        let mut process = Process::new();
        process
            .pulse
            .turn(process.began + Duration::from_mins(10), None);
        process.zones = Progress {
            standing,
            heard: heard.map(|heard| process.began + heard),
            error,
        };
        let (status, body) = process
            .get("/readyz?verbose", Duration::from_mins(10))
            .await;
        let line = body.lines().find_map(|line| line.split_once("watch Zone "));
        assert_eq!(line.map(|(_, outcome)| outcome), Some(expected));
        assert_eq!(status == 200, expected == "ok");
        let alive = process.get("/healthz", Duration::from_mins(10)).await;
        assert_eq!(alive.0, 200, "a restart is no cure");
    }
}

/// O2.
#[tokio::test]
async fn a_queue_in_which_something_is_due_and_no_pass_ends_is_not_ready() {
    let cases = [
        (None, None, true),
        (Some(9 * MINUTE + SECOND), None, true),
        (Some(8 * MINUTE), None, false),
        (Some(8 * MINUTE), Some(7 * MINUTE), false),
        (Some(2 * MINUTE), Some(9 * MINUTE + SECOND), true),
        (Some(9 * MINUTE + SECOND), Some(MINUTE), true),
        (None, Some(MINUTE), true),
    ];
    for (due_since, ended, moves) in cases {
        let mut process = Process::new();
        let (began, now) = (process.began, process.began + 10 * MINUTE);
        process.zones.heard = Some(now);
        process
            .pulse
            .turn(now, due_since.map(|since| began + since));
        if let Some(ended) = ended {
            process.pulse.pass_ended(began + ended);
        }
        let (status, body) = process.get("/readyz", 10 * MINUTE).await;
        assert_eq!(status == 200, moves, "{due_since:?} {ended:?}: {body}");
        assert_eq!(body.contains("[-]queue failed: something is due"), !moves);
    }
}

/// O2.
#[tokio::test]
async fn only_a_loop_that_has_hung_is_dead() {
    let process = Process::new();
    assert_eq!(process.get("/healthz", LOOP_STUCK_AFTER).await.0, 200);
    let (status, body) = process.get("/healthz", LOOP_STUCK_AFTER + SECOND).await;
    let dead = "[-]loop failed: the main loop has not turned for 121 s\nhealthz check failed\n";
    assert_eq!((status, body.as_str()), (503, dead));
    process.pulse.turn(process.began + LOOP_STUCK_AFTER, None);
    assert_eq!(
        process.get("/healthz", LOOP_STUCK_AFTER + SECOND).await.0,
        200
    );
}

#[tokio::test]
async fn an_error_from_outside_stays_in_its_line() {
    let mut process = Process::new();
    process.zones.standing = Standing::Syncing;
    process.zones.error = Some("no\n[+]everything ok".to_owned());
    let (_, body) = process.get("/readyz", SECOND).await;
    assert!(
        body.contains("[-]watch Zone failed: not yet synced: no [+]everything ok\n"),
        "{body}"
    );
}

#[tokio::test]
async fn metrics_are_shown_and_what_is_not_there_is_not() {
    let mut registry = Registry::default();
    Metrics::new(&mut registry).leads(true);
    let pulse = Pulse::new(Instant::now());
    let service = Health::new(registry, pulse).service();
    let ask = async |method: &str, path: &str| {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .body(())
            .unwrap();
        let response = service.clone().oneshot(request).await.unwrap();
        let kind = response.headers()[CONTENT_TYPE]
            .to_str()
            .unwrap()
            .to_owned();
        let (status, body) = text(response).await;
        (status, kind, body)
    };
    let (status, kind, body) = ask("GET", "/metrics").await;
    assert_eq!(
        (status, kind.as_str()),
        (200, OPEN_METRICS.to_str().unwrap())
    );
    assert!(
        body.contains("\nzonewright_leader 1\n") && body.ends_with("# EOF\n"),
        "{body}"
    );
    assert_eq!(ask("GET", "/").await.0, 404);
    assert_eq!(ask("GET", "/readyz/queue").await.0, 404);
    assert_eq!(ask("HEAD", "/readyz").await.0, 200);
    assert_eq!(ask("POST", "/metrics").await.0, 405);
}
