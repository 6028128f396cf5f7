//! What goes wrong is told as what can be done next, and never as "there is nothing".

use std::sync::Arc;
use std::time::{Duration, Instant};

use dns::Rtype;
use dns::hosted::{Batch, Change, Held};
use egress::{Egress, EgressError};
use provider::{Attempt, Error, Provider, Retry, ZoneId};
use providers::aws::Aws;
use providers::pace::Pace;
use testkit::route53::{Fault, Route53};
use tokio::time::timeout;

use crate::stage::{Account, Doubled, KEY_ID, access, connect, doubled, set};

/// Short beside any rest.
const MOMENT: Duration = Duration::from_millis(50);

#[tokio::test]
async fn a_throttled_request_is_not_repeated_and_the_whole_account_rests() {
    // D1.
    let Doubled { route53, account } = doubled().await;
    route53.fail([Fault::Throttle]);
    let error = account.error_of_reading().await;
    assert!(matches!(error, Error::Throttled { .. }), "{error:?}");
    assert_eq!(route53.requests(), 1);
    assert!(
        timeout(MOMENT, account.pace.turn()).await.is_err(),
        "nobody has a turn yet"
    );
}

#[tokio::test]
async fn a_change_that_waits_for_another_one_is_throttled() {
    let Doubled { route53, account } = doubled().await;
    route53.fail([Fault::PriorRequestNotComplete]);
    let change = account.create("www", Rtype::A, &["192.0.2.1"]);
    let error = account.write(&[change]).await.unwrap_err();
    assert!(matches!(error.retry(), Retry::After(_)), "{error:?}");
    assert_eq!(error.attempt(), Attempt::None);
}

#[tokio::test]
async fn whoever_asks_too_often_is_throttled() {
    let Doubled { route53, account } = doubled().await;
    // Time stands still.
    route53.limit_rate(|| Duration::ZERO);
    for _ in 0..5 {
        account.holdings().await;
    }
    let error = account.error_of_reading().await;
    assert!(matches!(error, Error::Throttled { .. }), "{error:?}");
}

#[tokio::test]
async fn at_its_own_pace_an_account_is_never_throttled() {
    let route53 = Route53::start().await.unwrap();
    let zone = ZoneId(route53.create_zone("example.org"));
    let aws = connect(&route53.url(), KEY_ID, &Arc::new(Aws::pace())).await;
    let start = Instant::now();
    route53.limit_rate(move || start.elapsed());
    for _ in 0..10 {
        aws.read(&zone).await.unwrap();
    }
}

#[tokio::test]
async fn an_error_inside_route_53_is_unclear() {
    // D2.
    let Doubled { route53, account } = doubled().await;
    route53.fail([Fault::Fail, Fault::Fail]);
    let read = account.error_of_reading().await;
    let change = account.create("www", Rtype::A, &["192.0.2.1"]);
    let written = account.write(&[change]).await.unwrap_err();
    for (error, failed) in [(read, "list"), (written, "change")] {
        assert_eq!(error.attempt(), Attempt::Unclear);
        assert_eq!(
            error.story(),
            format!(
                "there was no clear answer: failed to {failed} resource record sets, \
                 InternalFailure: We encountered an internal error. Please try again."
            )
        );
    }
    assert_eq!(route53.requests(), 2, "nothing was tried again");
}

#[tokio::test]
async fn a_change_whose_answer_got_lost_may_be_written_again() {
    // D3.
    let Doubled { route53, account } = doubled().await;
    let made = account.create("www", Rtype::A, &["192.0.2.1"]);
    let changed = Change {
        before: made.after.clone(),
        after: Some(set(Rtype::A, &["192.0.2.2"])),
        key: made.key.clone(),
    };
    let gone = Change {
        before: changed.after.clone(),
        after: None,
        key: made.key.clone(),
    };
    for change in [made, changed, gone] {
        route53.fail([Fault::DropAfterwards]);
        let lost = account.write(std::slice::from_ref(&change)).await;
        let lost = lost.unwrap_err();
        assert!(matches!(lost, Error::Unclear(_)), "{lost:?}");
        account.write(std::slice::from_ref(&change)).await.unwrap();
        let held = account.holdings().await;
        assert_eq!(held.get(&change.key), change.after.map(Held::Set).as_ref());
    }
}

#[tokio::test]
async fn a_change_that_is_there_but_not_yet_seen_is_stale_until_it_is_seen() {
    // D7.
    let Doubled { route53, account } = doubled().await;
    let change = account.create("www", Rtype::A, &["192.0.2.1"]);
    account.write(std::slice::from_ref(&change)).await.unwrap();
    route53.fail([Fault::Behind(1)]);
    let again = account.write(std::slice::from_ref(&change)).await;
    assert!(matches!(again, Err(Error::Stale)), "{again:?}");
    account.write(&[change]).await.unwrap();
}

#[tokio::test]
async fn a_reading_may_be_behind() {
    let Doubled { route53, account } = doubled().await;
    let before = account.holdings().await;
    let change = account.create("www", Rtype::A, &["192.0.2.1"]);
    account.write(&[change]).await.unwrap();
    route53.fail([Fault::Behind(1)]);
    assert_eq!(account.holdings().await, before);
    assert_ne!(account.holdings().await, before);
}

#[tokio::test]
async fn one_bad_set_has_the_whole_batch_refused_with_the_reason() {
    // D6.
    let Doubled {
        account,
        route53: _running,
    } = doubled().await;
    let there = account.create("www", Rtype::A, &["192.0.2.1"]);
    account.write(&[there]).await.unwrap();
    let before = account.holdings().await;
    let batch = [
        account.create("good", Rtype::A, &["192.0.2.2"]),
        account.create("www", Rtype::CNAME, &["target.example."]),
    ];
    let error = account.write(&batch).await.unwrap_err();
    assert_eq!(
        error.story(),
        "the provider refused: RRSet of type CNAME with DNS name www.example.org. is not permitted as it conflicts with \
         other records with the same DNS name in zone example.org."
    );
    assert_eq!(error.retry(), Retry::OnChange);
    assert_eq!(account.holdings().await, before);
}

#[tokio::test]
async fn a_listing_without_what_every_zone_has_is_not_a_zone_without_records() {
    // D8.
    let Doubled { route53, account } = doubled().await;
    route53.fail([Fault::ListEmpty]);
    let error = account.error_of_reading().await;
    assert_eq!(
        error.story(),
        "there was no clear answer: the zone was listed without SOA and NS records"
    );
}

#[tokio::test]
async fn a_page_that_leads_back_or_breaks_off_is_no_page() {
    // D9.
    let Doubled { route53, account } = doubled().await;
    let changes: Vec<Change> = (0..400)
        .map(|index| account.create(&format!("h{index}"), Rtype::A, &["192.0.2.1"]))
        .collect();
    account.write(&changes).await.unwrap();
    route53.fail([Fault::RepeatPage]);
    let repeated = account.error_of_reading().await;
    assert_eq!(
        repeated.story(),
        "there was no clear answer: a page leads back to one that was read before"
    );
    route53.fail([Fault::CutShort]);
    let cut = account.error_of_reading().await;
    assert_eq!(
        cut.story(),
        "there was no clear answer: an answer breaks off"
    );
    assert_eq!(account.holdings().await.len(), 402);
}

#[tokio::test]
async fn an_answer_that_is_larger_than_any_page_is_not_taken() {
    // D17.
    let Doubled { route53, account } = doubled().await;
    route53.fail([Fault::Swell(64 * 1024 * 1024), Fault::Swell(1024)]);
    let error = account.error_of_reading().await;
    assert!(matches!(error, Error::Unclear(_)), "{error:?}");
    assert_eq!(account.holdings().await.len(), 2);
}

#[tokio::test]
async fn revoked_keys_are_denied_and_nothing_looks_missing() {
    // D15.
    let Doubled { route53, account } = doubled().await;
    route53.revoke(KEY_ID);
    let change = account.create("www", Rtype::A, &["192.0.2.1"]);
    let errors = [
        (
            account.aws.zones().await.unwrap_err(),
            "failed to list hosted zones",
        ),
        (
            account.error_of_reading().await,
            "failed to list resource record sets",
        ),
        (
            account.write(&[change]).await.unwrap_err(),
            "failed to change resource record sets",
        ),
    ];
    for (error, failed) in errors {
        assert_eq!(
            error.story(),
            format!(
                "access is denied: {failed}, InvalidClientTokenId: The security token included in the request is invalid."
            )
        );
    }
}

#[tokio::test]
async fn nobody_there_is_unclear() {
    let route53 = Route53::start().await.unwrap();
    let url = route53.url();
    drop(route53);
    let account = Account::new(&url, "Z1", "example.org.").await;
    let error = account.error_of_reading().await;
    assert!(matches!(error, Error::Unclear(_)), "{error:?}");
}

#[tokio::test]
async fn an_endpoint_is_asked_only_where_the_operator_allows_it() {
    let asked_at = async |url: &str, egress: Egress| {
        let pace = Arc::new(Pace::new(Duration::ZERO, 1));
        Aws::new(&access(url, KEY_ID), Arc::new(egress), pace).await
    };
    for (url, host) in [
        ("http://127.0.0.1:8080", "127.0.0.1"),
        ("https://[fd00::1]", "fd00::1"),
        ("https://route53.example", "route53.example"),
    ] {
        let refused = asked_at(url, Egress::default()).await.err();
        assert_eq!(refused, Some(EgressError::Host(host.to_owned())), "{url}");
    }
    let by_name = Egress {
        hosts: vec!["localhost".to_owned()],
        ..Egress::default()
    };
    let aws = asked_at("http://localhost:8080", by_name).await.unwrap();
    let story = aws.zones().await.unwrap_err().story();
    assert!(
        story.contains("is not a public address; the operator can allow it with --allow-address"),
        "a name may be allowed and its address not: {story}"
    );
}

#[tokio::test]
async fn an_empty_batch_asks_nobody() {
    let Doubled { route53, account } = doubled().await;
    account
        .aws
        .write(&account.zone, &Batch::default())
        .await
        .unwrap();
    assert_eq!(route53.requests(), 0);
}
