//! A DomainVerification from its first moment to its last.

use std::collections::BTreeSet;

use api::Reason;
use api::domain_verification::DomainVerificationStatus;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::*;
use crate::ObjectKey;

fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(1_700_000_000 + seconds)
}

fn view() -> VerificationView {
    VerificationView {
        key: ObjectKey::new("team", "example.com"),
        uid: "uid".to_owned(),
        resource_version: Some("1".to_owned()),
        generation: Some(1),
        created: Some(at(0)),
        spelled: "example.com".to_owned(),
        claim: Claim::Domain(name("example.com")),
        status: DomainVerificationStatus::default(),
        owners: Vec::new(),
        users: BTreeSet::from([("web".to_owned(), "uid-web".to_owned())]),
        namespace_uid: Some(UID.to_owned()),
        asked: false,
    }
}

fn absent() -> Sighting {
    Sighting {
        found: false,
        reason: Reason::RecordNotFound,
        message: "no TXT record".to_owned(),
    }
}

fn found() -> Sighting {
    Sighting {
        found: true,
        reason: Reason::Verified,
        message: "found".to_owned(),
    }
}

/// Looks whenever it is due until `end`, and tells when.
fn looks(mut view: VerificationView, end: i64) -> Vec<i64> {
    let mut looks = Vec::new();
    let mut now = at(0);
    while now < at(end) {
        let decision = decide(&view, &key(), now);
        if decision.look.is_some() {
            looks.push(now.as_second() - at(0).as_second());
            let sighting = absent();
            let attempt = Attempt {
                sighting: &sighting,
                spread: 1.0,
            };
            view.status = conclude(&view, &key(), Some(attempt), now);
        }
        now = decide(&view, &key(), now).due.unwrap();
    }
    looks
}

#[test]
fn it_says_exactly_which_record_to_create() {
    // V4.
    let status = conclude(&view(), &key(), None, at(0));
    let record = status.txt_record.unwrap();
    assert_eq!(record.name, "_kuadrant-challenge.example.com.");
    assert_eq!(Some(record.value), status.token);
    assert_eq!(status.proof, None);
    let condition = &status.conditions[0];
    assert_eq!(
        (condition.type_.as_str(), condition.status.as_str()),
        ("Verified", "False")
    );
    assert_eq!(condition.domain, "example.com");
    assert_eq!(condition.reason.as_deref(), Some("TokenPending"));
}

#[test]
fn it_is_looked_for_at_once_and_then_more_and_more_rarely() {
    // V6: 10 s to 15 min.
    let looks = looks(view(), 3 * 3600);
    assert_eq!(looks[..6], [0, 10, 20, 30, 45, 67]);
    let waits: Vec<i64> = looks.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(waits.windows(2).all(|pair| pair[0] <= pair[1]), "{waits:?}");
    assert_eq!(waits.last(), Some(&900));
}

#[test]
fn it_is_looked_for_at_both_places() {
    // V5.
    let look = decide(&view(), &key(), at(0)).look.unwrap();
    assert_eq!(
        look.names,
        [name("_kuadrant-challenge.example.com"), name("example.com")]
    );
    assert_eq!(look.token, key().token(UID, &name("example.com")));
}

#[test]
fn whoever_asks_is_not_kept_waiting() {
    let mut view = view();
    let sighting = absent();
    let attempt = Attempt {
        sighting: &sighting,
        spread: 1.0,
    };
    view.status = conclude(&view, &key(), Some(attempt), at(0));
    assert_eq!(decide(&view, &key(), at(1)).look, None);
    view.asked = true;
    assert!(decide(&view, &key(), at(1)).look.is_some());
}

#[test]
fn what_was_found_stays_found() {
    // V6, and the non-goal: that the record disappears later changes nothing.
    let mut view = view();
    let sighting = found();
    let attempt = Attempt {
        sighting: &sighting,
        spread: 1.0,
    };
    view.status = conclude(&view, &key(), Some(attempt), at(0));
    assert_eq!(view.status.conditions[0].status, "True");
    assert!(key().proves(
        UID,
        &name("example.com"),
        view.status.proof.as_deref().unwrap()
    ));
    let decision = decide(&view, &key(), at(1_000_000));
    assert_eq!((decision.look, decision.due), (None, None));
    assert_eq!(
        conclude(&view, &key(), None, at(1_000_000)),
        view.status,
        "nothing is dated anew"
    );
}

#[test]
fn conditions_do_not_prove_anything() {
    // V6, V9: whoever could write the status could not write the seal.
    let mut forged = view();
    let sighting = found();
    let attempt = Attempt {
        sighting: &sighting,
        spread: 1.0,
    };
    forged.status = conclude(&forged, &key(), Some(attempt), at(0));
    let other = Keyring::new(&[2; Keyring::BYTES]).unwrap();
    let proofs = [
        None,
        Some("true".to_owned()),
        Some(key().proof("another namespace", &name("example.com"))),
        Some(key().proof(UID, &name("example.org"))),
        Some(other.proof(UID, &name("example.com"))),
        forged.status.token.clone(),
    ];
    for proof in proofs {
        forged.status.proof = proof;
        assert!(decide(&forged, &key(), at(0)).look.is_some());
        let status = conclude(&forged, &key(), None, at(5));
        assert_eq!(status.conditions[0].status, "False");
        assert_eq!(status.proof, None);
    }
}

#[test]
fn a_look_that_could_not_be_made_is_told_as_such() {
    let sighting = Sighting {
        found: false,
        reason: Reason::Indeterminate,
        message: "the name servers do not answer".to_owned(),
    };
    let attempt = Attempt {
        sighting: &sighting,
        spread: 1.2,
    };
    let status = conclude(&view(), &key(), Some(attempt), at(0));
    let condition = &status.conditions[0];
    assert_eq!(condition.status, "False");
    assert_eq!(condition.reason.as_deref(), Some("Indeterminate"));
    assert_eq!(condition.next_verification.as_ref().unwrap().0, at(12));
}

#[test]
fn a_transition_is_dated_and_nothing_else_is() {
    let mut view = view();
    view.status = conclude(&view, &key(), None, at(0));
    let sighting = absent();
    let attempt = Attempt {
        sighting: &sighting,
        spread: 1.0,
    };
    view.status = conclude(&view, &key(), Some(attempt), at(30));
    assert_eq!(view.status.conditions[0].last_transition_time.0, at(0));
    let sighting = found();
    let attempt = Attempt {
        sighting: &sighting,
        spread: 1.0,
    };
    view.status = conclude(&view, &key(), Some(attempt), at(60));
    assert_eq!(view.status.conditions[0].last_transition_time.0, at(60));
}

#[test]
fn what_nobody_can_prove_has_no_token() {
    // V9.
    let mut refused = view();
    refused.claim = Claim::Refused(name("co.uk"), Refusal::PublicSuffix);
    refused.spelled = "co.uk".to_owned();
    assert_eq!(decide(&refused, &key(), at(0)).look, None);
    let status = conclude(&refused, &key(), None, at(0));
    assert_eq!((status.token, status.txt_record), (None, None));
    assert_eq!(status.conditions[0].reason.as_deref(), Some("PublicSuffix"));
    assert!(
        status.conditions[0]
            .message
            .contains("spec.domain: co.uk is a public suffix")
    );
    let mut invalid = view();
    invalid.claim = Claim::Invalid("is no host name".to_owned());
    let status = conclude(&invalid, &key(), None, at(0));
    assert_eq!(
        status.conditions[0].reason.as_deref(),
        Some("InvalidDomain")
    );
}

#[test]
fn it_belongs_to_the_ingresses_that_use_it() {
    // V8.
    let mut view = view();
    view.users.insert(("api".to_owned(), "uid-api".to_owned()));
    let owners = decide(&view, &key(), at(0)).owners.unwrap();
    let shown: Vec<(&str, &str)> = owners
        .iter()
        .map(|it| (it.kind.as_str(), it.name.as_str()))
        .collect();
    assert_eq!(shown, [("Ingress", "api"), ("Ingress", "web")]);
    view.owners = owners;
    assert_eq!(decide(&view, &key(), at(0)).owners, None);
    view.users.remove(&("api".to_owned(), "uid-api".to_owned()));
    let owners = decide(&view, &key(), at(0)).owners.unwrap();
    assert_eq!(owners.len(), 1, "one that stops loses its reference");
}

#[test]
fn the_last_one_gone_it_goes() {
    // V8: a proof is only given up once the API itself says that nothing uses it.
    let mut view = view();
    view.users.clear();
    assert_eq!(decide(&view, &key(), at(0)).remove, Some(Removal::AtOnce));
    view.status.proof = Some(key().proof(UID, &name("example.com")));
    assert_eq!(decide(&view, &key(), at(0)).remove, Some(Removal::SeenLive));
}

#[test]
fn conditions_say_in_the_words_of_the_design_how_it_stands_and_when_it_is_looked_at_next() {
    // V6.
    let failed = "domain failed DNS verification: ";
    let seen = |sighting: Sighting| {
        let attempt = Attempt {
            sighting: &sighting,
            spread: 1.0,
        };
        conclude(&view(), &key(), Some(attempt), at(7))
    };
    let refused = VerificationView {
        claim: Claim::Refused(name("co.uk"), Refusal::PublicSuffix),
        ..view()
    };
    let invalid = VerificationView {
        claim: Claim::Invalid("is no host name".to_owned()),
        ..view()
    };
    let cases = [
        (
            conclude(&view(), &key(), None, at(7)),
            format!("{failed}the TXT record has not been looked for yet"),
            at(7),
        ),
        (seen(absent()), format!("{failed}no TXT record"), at(17)),
        (
            seen(found()),
            "domain successfully verified".to_owned(),
            at(7),
        ),
        (
            conclude(&refused, &key(), None, at(7)),
            format!("{failed}spec.domain: example.com is a public suffix"),
            at(7),
        ),
        (
            conclude(&invalid, &key(), None, at(7)),
            format!("{failed}spec.domain: is no host name"),
            at(7),
        ),
    ];
    for (status, message, next) in cases {
        let condition = &status.conditions[0];
        assert!(condition.message.starts_with(&message), "{condition:?}");
        assert_eq!(condition.next_verification, Some(Time(next)), "{message}");
    }
}

#[test]
fn two_namespaces_have_different_tokens_for_one_domain() {
    // V4, V9.
    let mut other = view();
    other.namespace_uid = Some("uid-of-another".to_owned());
    let tokens = [view(), other].map(|view| conclude(&view, &key(), None, at(0)).token);
    assert_ne!(tokens[0], tokens[1]);
}
