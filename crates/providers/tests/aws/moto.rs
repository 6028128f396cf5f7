//! The behaviours that moto can show. It cannot show all of them:
//!
//! - It takes a deletion of whatever was ever there, and a creation beside a set that is there with other data, so
//!   nothing is ever unexpected to it.
//! - It takes a creation for the repetition of one long ago, if anything comes after the name in the listing, so a set
//!   does not come back after another type has had its place.
//! - It deletes a set that shares traffic by its identifier alone, whatever the name.

use dns::Rtype;
use provider::Provider as _;

use crate::stage::on_moto;

provider::battery!(on_moto:
    a_zone_is_listed_with_its_name,
    a_zone_that_is_not_there_is_missing,
    what_is_written_is_read_back,
    writing_again_changes_nothing,
    a_set_changes_and_goes,
    what_others_hold_is_left_alone,
    spellings_make_no_difference,
    long_and_odd_texts_survive,
    pages_are_read_to_the_end,
);

#[tokio::test]
async fn a_large_zone_is_written_in_few_batches_and_read_in_few_pages() {
    let account = on_moto().await;
    let create = |index| vec![account.create(&format!("h{index}"), Rtype::A, &["192.0.2.1"])];
    let batches = account.aws.limits().cut((0..3_000).map(create));
    assert_eq!(batches.len(), 3);
    for batch in batches {
        account.aws.write(&account.zone, &batch).await.unwrap();
    }
    // With the SOA and the name servers of the zone.
    assert_eq!(account.holdings().await.len(), 3_002);
}
