//! How a zone is read that changes while it is read, with an API that does as it is told.

use std::sync::{Arc, Mutex};

use http::{Request, Response};
use kube::client::Body;
use serde_json::Value;
use tower::service_fn;

use super::*;

/// What the API says: a status for every time the zone is asked for, the last one again and again.
struct Script {
    /// Serial and slices.
    statuses: Vec<(u32, &'static [&'static str])>,
    /// The slices that are there.
    slices: &'static [&'static str],
}

/// The paths that were asked for, by their last segment.
type Asked = Arc<Mutex<Vec<String>>>;

impl Script {
    fn answer(&self, path: &str, asked: &[String]) -> Option<Value> {
        let last = path.rsplit('/').next().unwrap_or_default();
        if last != "example-org" {
            let content = format!("{last}.example.org. 60 IN A 192.0.2.1\n");
            let slice = json!({ "metadata": { "name": last }, "spec": { "content": content } });
            return self.slices.contains(&last).then_some(slice);
        }
        let readings = asked.iter().filter(|name| *name == last).count();
        let (serial, slices) = self.statuses[readings.min(self.statuses.len()) - 1];
        let soa = json!({ "fqdn": "example.org.", "type": "SOA", "class": "IN", "ttl": 360,
            "rdata": format!("ns noc ({serial} 1 2 3 4)") });
        Some(
            json!({ "metadata": { "name": last }, "spec": { "domainName": "example.org.", "delegations": [] },
            "status": { "fqdn": "example.org.", "entries": [soa], "slices": slices } }),
        )
    }
}

/// What reading a zone comes to, as its serial and its names, and what was asked for.
async fn check(script: Script) -> (Result<String, String>, Vec<String>) {
    let asked = Asked::default();
    let log = Arc::clone(&asked);
    let script = Arc::new(script);
    let service = service_fn(move |request: Request<Body>| {
        let mut log = log.lock().unwrap();
        let path = request.uri().path().to_owned();
        log.push(path.rsplit('/').next().unwrap_or_default().to_owned());
        let (code, body) = match script.answer(&path, &log) {
            Some(object) => (200, object),
            None => (
                404,
                json!({ "kind": "Status", "code": 404, "reason": "NotFound", "message": "gone" }),
            ),
        };
        let body = Body::from(body.to_string().into_bytes());
        let response = Response::builder().status(code).body(body).unwrap();
        async { Ok::<_, std::convert::Infallible>(response) }
    });
    let cluster = Cluster::made_up(kube::Client::new(service, "default"));
    let content = read(&cluster, &ZoneKey::new("dns", "example-org")).await;
    let shown = content.map(|content| {
        let Version { zone, serial } = &content.version;
        let names = zone.sets().map(|(key, _)| key.name.to_string());
        format!("{serial}: {}", names.collect::<Vec<_>>().join(" "))
    });
    let asked = asked.lock().unwrap().clone();
    (shown.map_err(|error| error.to_string()), asked)
}

/// Z11.
#[tokio::test(start_paused = true)]
async fn every_slice_of_one_status_is_a_version() {
    let script = Script {
        statuses: vec![(1, &["a", "b"])],
        slices: &["a", "b", "c"],
    };
    let (read, asked) = check(script).await;
    assert_eq!(read.as_deref(), Ok("1: a.example.org. b.example.org."));
    assert_eq!(asked, ["example-org", "a", "b"]);
}

/// Z11: what has been fetched stays good, for a slice never changes.
#[tokio::test(start_paused = true)]
async fn a_slice_that_is_gone_means_that_the_zone_has_moved_on() {
    let script = Script {
        statuses: vec![(1, &["a", "gone"]), (2, &["a", "b"])],
        slices: &["a", "b"],
    };
    let (read, asked) = check(script).await;
    assert_eq!(read.as_deref(), Ok("2: a.example.org. b.example.org."));
    assert_eq!(asked, ["example-org", "a", "gone", "example-org", "b"]);
}

/// Z11: a slice of an older version is no part of the one that is read.
#[tokio::test(start_paused = true)]
async fn slices_of_two_versions_are_never_mixed() {
    let script = Script {
        statuses: vec![(1, &["old", "gone"]), (2, &["new"])],
        slices: &["old", "new"],
    };
    assert_eq!(check(script).await.0.as_deref(), Ok("2: new.example.org."));
}

#[tokio::test(start_paused = true)]
async fn a_zone_that_cannot_be_caught_up_with_is_given_up() {
    let script = Script {
        statuses: vec![(1, &["gone"])],
        slices: &[],
    };
    let (read, asked) = check(script).await;
    assert!(
        read.unwrap_err()
            .contains("the slice gone of its content is not there")
    );
    assert_eq!(asked.len(), 2 * TRIES_MAX);
}

#[tokio::test(start_paused = true)]
async fn a_zone_that_goes_back_into_its_object_needs_no_slices() {
    let script = Script {
        statuses: vec![(1, &["gone"]), (2, &[])],
        slices: &[],
    };
    assert_eq!(check(script).await.0.as_deref(), Ok("2: "));
}
