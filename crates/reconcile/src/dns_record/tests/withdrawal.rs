//! What becomes of a record that is being deleted and cannot be withdrawn (P6).

use super::*;

const NAMESPACE: &str = "n";

/// A record that is being deleted in a namespace that is, and its Secret with it.
fn deleted() -> DnsRecordView {
    let mut view = view(json!({
        "zoneID": "Z1",
        "endpoints": [{ "dnsName": "app.example.org", "recordType": "A", "targets": ["192.0.2.1"] }],
    }));
    view.deleting = true;
    view.ending = Some(NAMESPACE.to_owned());
    view.provider = Err(Trouble::NoSecret("dns".to_owned()));
    view
}

/// The same, with a way to its zone.
fn reaching() -> DnsRecordView {
    DnsRecordView {
        provider: Ok(provider_at("example.org")),
        ..deleted()
    }
}

fn after(seconds: u64, view: &DnsRecordView, answer: &Answer) -> Conclusion {
    let seconds = Duration::from_secs(seconds);
    concluded_after(seconds, view, answer, &PACE, false)
}

fn held() -> Answer {
    looked(Work::Held {
        hash: "h".to_owned(),
        sets: 1,
        empties: false,
    })
}

#[test]
fn in_a_namespace_that_goes_it_waits_for_a_minute_and_goes() {
    for (seconds, wait) in [(0, 60), (59, 1)] {
        let conclusion = after(seconds, &deleted(), &Answer::Unasked);
        assert!(!conclusion.release && conclusion.failed, "{seconds}");
        assert_eq!(conclusion.next, Next::After(Duration::from_secs(wait)));
        assert_eq!(conclusion.left_behind, None);
    }
    for seconds in [60, 3_600] {
        let conclusion = after(seconds, &deleted(), &Answer::Unasked);
        assert!(conclusion.release, "{seconds}");
        let left = conclusion.left_behind.expect("something");
        assert_eq!(left.namespace_uid, NAMESPACE);
        assert_eq!(
            left.to_string(),
            "DNSRecord app has gone with its namespace, and nothing reached zone Z1 any more; there remain app.example.org; remove them at the provider"
        );
    }
}

#[test]
fn it_waits_as_long_when_nothing_is_tried_again() {
    let never = Pace {
        retry: false,
        ..PACE
    };
    let waited = Duration::from_secs(20);
    let conclusion = concluded_after(waited, &deleted(), &Answer::Unasked, &never, false);
    assert_eq!(conclusion.next, Next::After(Duration::from_secs(40)));
}

#[test]
fn anywhere_else_it_waits_for_a_person() {
    let stays = DnsRecordView {
        ending: None,
        ..deleted()
    };
    let conclusion = after(3_600, &stays, &Answer::Unasked);
    assert!(!conclusion.release);
    assert_eq!(conclusion.next, Next::OnChange);
}

#[test]
fn only_what_cannot_be_reached_is_left_behind() {
    // A person's approval, a busy provider and a write that was refused are waited for.
    let refused = Error::Refused {
        reason: "no".to_owned(),
    };
    let cases = [
        (failed(&Error::Missing), true),
        (failed(&Error::Denied("no".into())), true),
        (failed(&Error::Unclear("reset".into())), false),
        (failed(&Error::Throttled { after: WAIT }), false),
        (failed(&refused), false),
        (held(), false),
        (looked(Work::Exhausted), false),
        (looked(Work::Write), false),
    ];
    for (answer, left) in cases {
        let conclusion = after(3_600, &reaching(), &answer);
        assert_eq!(conclusion.release, left, "{answer:?}");
        assert_eq!(conclusion.left_behind.is_some(), left, "{answer:?}");
    }
}

#[test]
fn a_record_that_nobody_deletes_stays_in_a_namespace_that_goes() {
    let live = DnsRecordView {
        deleting: false,
        ..deleted()
    };
    let conclusion = after(3_600, &live, &Answer::Unasked);
    assert!(!conclusion.release);
    assert_eq!(conclusion.next, Next::OnChange);
}

#[test]
fn what_a_record_owns_in_this_cluster_goes_with_it() {
    // Whether or not the namespace goes, and before a minute is over: its Zone may be gone, and nothing is left behind.
    let own = |view| DnsRecordView {
        in_cluster: true,
        ending: None,
        ..view
    };
    let waits = failed(&Error::Unclear("no name in status.fqdn yet".into()));
    let cases = [
        (0, own(deleted()), Answer::Unasked, true),
        (0, own(reaching()), failed(&Error::Missing), true),
        (59, own(reaching()), waits.clone(), false),
        (60, own(reaching()), waits, true),
        (60, own(reaching()), held(), false),
    ];
    for (seconds, view, answer, goes) in cases {
        let conclusion = after(seconds, &view, &answer);
        assert_eq!(conclusion.release, goes, "{answer:?}");
        assert_eq!(conclusion.left_behind, None, "{answer:?}");
    }
}

#[test]
fn what_was_never_let_in_goes_at_once() {
    let refused = |status: Value| DnsRecordView {
        ending: None,
        status: serde_json::from_value(status).expect("a status"),
        ..deleted()
    };
    let cases = [
        (json!({ "writeCounter": 2 }), true),
        (json!({ "writeCounter": 2, "zoneID": "Z1" }), false),
        // It may have been written just before this process started.
        (json!({}), false),
    ];
    for (status, goes) in cases {
        let conclusion = after(0, &refused(status.clone()), &Answer::Unasked);
        assert_eq!(conclusion.release, goes, "{status}");
        assert_eq!(conclusion.left_behind, None, "{status}");
    }
}

#[test]
fn a_write_of_which_nobody_knows_what_became_may_be_there() {
    for (error, zone) in [
        (Error::Unclear("reset".into()), Some("Z1")),
        (Error::Denied("no".into()), None),
    ] {
        let live = view(json!({}));
        let status = after(0, &live, &failed(&error)).status.expect("news");
        assert_eq!(status.zone_id.as_deref(), zone, "{error}");
        assert_eq!(status.was_never_let_in(), zone.is_none(), "{error}");
    }
}

#[test]
fn many_names_are_counted_and_not_told_one_by_one() {
    let endpoint = |index: usize| json!({ "dnsName": format!("a{index:02}.example.org"), "recordType": "A", "targets": ["192.0.2.1"] });
    let endpoints: Vec<Value> = (0..23).map(endpoint).collect();
    let mut view = deleted();
    let told = |view: &DnsRecordView| {
        let conclusion = after(60, view, &Answer::Unasked);
        conclusion.left_behind.expect("something").to_string()
    };
    view.status.endpoints = serde_json::from_value(json!(endpoints)).expect("endpoints");
    let many = told(&view);
    assert!(many.contains("a19.example.org and 3 more;"), "{many}");
    view.status.endpoints.clear();
    let nothing = told(&view);
    assert!(nothing.contains("had not reported"), "{nothing}");
}
