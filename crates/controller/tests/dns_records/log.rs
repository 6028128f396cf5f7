//! What the log says of records in trouble (C7, C8).

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use provider::{Error, Fault};
use serde_json::{Value, json};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;

use crate::stage::{Stage, minutes};

const APP: &[&str] = &["app 60 A 192.0.2.1"];

/// What this thread writes into the log, for as long as this lives.
pub(crate) struct Log {
    lines: Lines,
    _guard: DefaultGuard,
}

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Lines;

    fn make_writer(&'a self) -> Lines {
        self.clone()
    }
}

impl Log {
    pub(crate) fn capture() -> Log {
        Log::from(tracing::Level::WARN)
    }

    /// Down to what is there for finding mistakes.
    pub(crate) fn capture_all() -> Log {
        Log::from(tracing::Level::DEBUG)
    }

    fn from(level: tracing::Level) -> Log {
        let lines = Lines::default();
        let subscriber = tracing_subscriber::fmt()
            .json()
            .with_max_level(level)
            .with_writer(lines.clone());
        Log {
            lines,
            _guard: tracing::subscriber::set_default(subscriber.finish()),
        }
    }

    /// Everything so far.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.lines.0.lock().unwrap().clone()).unwrap()
    }

    /// Warnings so far: object, reason, and what they say.
    pub(crate) fn warnings(&self) -> Vec<(String, String, String)> {
        let text = self.text();
        let lines = text.lines().map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            let field = |name: &str| line["fields"][name].as_str().unwrap_or_default().to_owned();
            (field("object"), field("reason"), field("message"))
        });
        lines.collect()
    }
}

type Trouble = (&'static str, fn(&Stage), Value, &'static str);

const NOTHING: fn(&Stage) = |_| ();

fn denied(stage: &Stage) {
    let fault = Fault::Fails(Error::Denied("no".into()));
    stage.provider.fail_reads([Some(fault)]);
}

fn refused(stage: &Stage) {
    let reason = "too long".to_owned();
    let fault = Fault::Fails(Error::Refused { reason });
    stage.provider.fail_writes([Some(fault)]);
}

#[tokio::test(start_paused = true)]
async fn each_way_into_a_bad_state_is_one_warning() {
    // C8: with the object, the reason, and the message of the condition.
    let elsewhere = json!({ "rootHost": "app.example.net", "endpoints": [] });
    let secretless = json!({ "providerRef": { "name": "none" } });
    let misrouted = json!({ "endpoints": [{
        "dnsName": "app.example.org", "recordType": "A", "targets": ["192.0.2.1"],
        "setIdentifier": "a", "providerSpecific": [{ "name": "weight", "value": "-1" }],
    }] });
    let cases: [Trouble; 5] = [
        ("access is denied", denied, json!({}), "DNSProviderError"),
        ("refused", refused, json!({}), "ProviderError"),
        ("no Secret none", NOTHING, secretless, "DNSProviderError"),
        (
            "outside the DOMAIN_NAME",
            NOTHING,
            elsewhere,
            "DNSProviderError",
        ),
        (
            "greater than or equal to 0",
            NOTHING,
            misrouted,
            "ProviderError",
        ),
    ];
    for (told, trouble, spec, reason) in cases {
        let stage = Stage::running().await;
        let log = Log::capture();
        trouble(&stage);
        stage.create_with("app", spec, APP).await;
        let says = format!("False/{reason}");
        stage.until("app", "Ready", &says).await;
        stage.pass_time(minutes(5)).await;
        let message = stage.message("app", "Ready").await;
        assert!(message.contains(told), "{message}");
        let expected = ("DNSRecord web/app".to_owned(), reason.to_owned(), message);
        assert_eq!(log.warnings(), [expected], "{told}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_write_limit_is_one_warning() {
    // C7.
    let mut stage = Stage::open().await;
    stage.options.pace.write_limit = 4;
    stage.run();
    let log = Log::capture();
    let forgets = (0..10).map(|_| Some(Fault::Ignored));
    stage.provider.fail_writes(forgets);
    stage.create("app", APP).await;
    stage.until("app", "Ready", "False/WriteLimitReached").await;
    stage.pass_time(minutes(60)).await;
    let warnings = log.warnings();
    let [(object, reason, message)] = &warnings[..] else {
        panic!("{warnings:?}");
    };
    assert_eq!(
        (object.as_str(), reason.as_str()),
        ("DNSRecord web/app", "WriteLimitReached")
    );
    assert!(message.contains("written 4 times in a row"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_record_that_is_well_is_no_warning() {
    let stage = Stage::running().await;
    let log = Log::capture();
    stage.create("app", APP).await;
    stage.until_ready("app").await;
    stage.delete("app").await;
    stage.until_gone("app").await;
    stage.pass_time(Duration::from_secs(1)).await;
    assert_eq!(log.warnings(), []);
}
