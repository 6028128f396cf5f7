//! What fits into one request is what Route 53 takes, to the last record and character.

use dns::Rtype;
use dns::hosted::{Batch, Change};
use provider::{Error, Provider};

use crate::stage::{Account, Doubled, doubled, set};

/// Changes whose both sides have one value of so many characters.
fn texts(account: &Account, count: usize, characters: usize) -> (Vec<Change>, Vec<Change>) {
    let text = |letter: &str| {
        // Four strings, each with two quotes, and three spaces between them.
        let string = format!("\"{}\"", letter.repeat((characters - 11) / 4));
        [string.as_str(); 4].join(" ")
    };
    let made = |index| account.create(&format!("t{index}"), Rtype::TXT, &[&text("a")]);
    let made: Vec<Change> = (0..count).map(made).collect();
    let changed = made.iter().map(|change| Change {
        key: change.key.clone(),
        before: change.after.clone(),
        after: Some(set(Rtype::TXT, &[&text("b")])),
    });
    let changed = changed.collect();
    (made, changed)
}

#[tokio::test]
async fn batches_are_as_large_as_route_53_takes_them() {
    // 16 changes of 2 x 1,003 characters make 32,096; 15 make 30,090.
    let Doubled { route53, account } = doubled().await;
    let (made, changed) = texts(&account, 31, 1_003);
    account.write(&made).await.unwrap();
    let whole = account.write(&changed[..16]).await.unwrap_err();
    assert_eq!(
        whole.story(),
        "the provider refused: Number of characters limit of 32000 exceeded."
    );
    let asked = route53.requests();
    let groups = changed.iter().cloned().map(|change| vec![change]);
    let batches = account.aws.limits().cut(groups);
    let sizes: Vec<usize> = batches.iter().map(|batch| batch.changes.len()).collect();
    assert_eq!(sizes, [15, 15, 1]);
    for batch in batches {
        account.aws.write(&account.zone, &batch).await.unwrap();
    }
    assert_eq!(route53.requests(), asked + 3);
}

#[tokio::test]
async fn both_sides_of_a_change_count() {
    let Doubled {
        account,
        route53: _running,
    } = doubled().await;
    let made: Vec<Change> = (0..501)
        .map(|index| account.create(&format!("h{index}"), Rtype::A, &["192.0.2.1"]))
        .collect();
    account.write(&made).await.unwrap();
    let changes: Vec<Change> = made
        .iter()
        .map(|change| Change {
            key: change.key.clone(),
            before: change.after.clone(),
            after: Some(set(Rtype::A, &["192.0.2.2"])),
        })
        .collect();
    let whole = account.write(&changes).await;
    assert!(matches!(whole, Err(Error::Refused { .. })), "{whole:?}");
    account.write(&changes[..500]).await.unwrap();
    let batch = Batch { changes };
    let groups = batch.changes.into_iter().map(|change| vec![change]);
    assert_eq!(account.aws.limits().cut(groups).len(), 2);
}
