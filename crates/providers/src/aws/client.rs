//! The calls: one request each, in turn, and listings to their end.
//!
//! Nothing is tried again here; whoever asked knows better when, and what else has changed by then.

use std::collections::HashSet;
use std::error::Error as StdError;
use std::hash::Hash;
use std::sync::Arc;

use api::parse::provider_secret::Aws as Access;
use aws_sdk_route53::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_route53::operation::list_resource_record_sets::ListResourceRecordSetsOutput;
use aws_sdk_route53::types::{Change, ChangeBatch, HostedZone, ResourceRecordSet, RrType};
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use egress::{Egress, EgressError};
use provider::Error;

use super::answer::{Call, sorted, unclear};
use super::connect::connect;
use crate::pace::Pace;

/// The most sets in a page: Route 53's own bound.
const PAGE_SETS_MAX: i32 = 300;

/// The most pages of one listing: thirty times as many sets as a zone holds unless Amazon allows more.
const PAGES_MAX: usize = 1_000;

/// Route 53, asked with one set of credentials.
#[derive(Debug)]
pub(super) struct Client {
    sdk: aws_sdk_route53::Client,
    pace: Arc<Pace>,
}

/// A listing that does not come to an end as it should.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
enum Astray {
    #[error("an answer breaks off")]
    CutShort,
    #[error("a page says that there are more, but not where")]
    NoNext,
    #[error("a page leads back to one that was read before")]
    Back,
    #[error("there are more than {PAGES_MAX} pages")]
    TooMany,
}

impl Client {
    pub(super) async fn new(
        access: &Access,
        egress: Arc<Egress>,
        pace: Arc<Pace>,
    ) -> Result<Client, EgressError> {
        Ok(Client {
            sdk: connect(access, egress).await?,
            pace,
        })
    }

    /// All zones, public and private.
    pub(super) async fn zones(&self) -> Result<Vec<HostedZone>, Error> {
        let mut zones = Vec::new();
        let mut way = Way::default();
        let mut at: Option<String> = None;
        loop {
            let request = self.sdk.list_hosted_zones().set_marker(at);
            let page = self.settle(Call::ListZones, request.send()).await?;
            let next = page.next_marker().map(str::to_owned);
            let next = way.next(page.max_items(), page.is_truncated(), next);
            let next = next.map_err(unclear)?;
            zones.extend(page.hosted_zones);
            match next {
                Some(next) => at = Some(next),
                None => return Ok(zones),
            }
        }
    }

    /// All sets of a zone.
    pub(super) async fn sets(&self, zone: &str) -> Result<Vec<ResourceRecordSet>, Error> {
        let mut sets = Vec::new();
        let mut way = Way::default();
        let mut at: Option<Place> = None;
        loop {
            let (name, rtype, identifier) = at.unwrap_or_default();
            let request = self
                .sdk
                .list_resource_record_sets()
                .hosted_zone_id(zone)
                .max_items(PAGE_SETS_MAX)
                .set_start_record_name(name)
                .set_start_record_type(rtype)
                .set_start_record_identifier(identifier);
            let page = self.settle(Call::ListSets, request.send()).await?;
            let next = way.next(page.max_items(), page.is_truncated(), place(&page));
            let next = next.map_err(unclear)?;
            sets.extend(page.resource_record_sets);
            match next {
                Some(next) => at = Some(next),
                None => return Ok(sets),
            }
        }
    }

    /// Makes all changes or none.
    pub(super) async fn change(&self, zone: &str, changes: Vec<Change>) -> Result<(), Error> {
        let batch = ChangeBatch::builder().set_changes(Some(changes)).build();
        let request = self
            .sdk
            .change_resource_record_sets()
            .hosted_zone_id(zone)
            .change_batch(batch.expect("changes are given"));
        let answer = self.settle(Call::ChangeSets, request.send()).await?;
        let info = answer.change_info().ok_or(Astray::CutShort);
        info.map(drop).map_err(unclear)
    }

    /// Waits for a turn, asks, and sorts what comes of it.
    async fn settle<T, E>(
        &self,
        call: Call,
        asked: impl Future<Output = Result<T, SdkError<E, HttpResponse>>>,
    ) -> Result<T, Error>
    where
        E: ProvideErrorMetadata + StdError + Send + Sync + 'static,
    {
        self.pace.turn().await;
        match asked.await.map_err(|error| sorted(call, error)) {
            Err(Error::Throttled { after }) => {
                self.pace.rest(after).await;
                Err(Error::Throttled { after })
            }
            settled => settled,
        }
    }
}

/// Where a page begins: name, type, identifier.
type Place = (Option<String>, Option<RrType>, Option<String>);

fn place(page: &ListResourceRecordSetsOutput) -> Option<Place> {
    page.next_record_name().is_some().then(|| {
        (
            page.next_record_name.clone(),
            page.next_record_type.clone(),
            page.next_record_identifier.clone(),
        )
    })
}

/// The way through a listing. It must lead on, page by page, and end.
#[derive(Debug)]
struct Way<P> {
    been: HashSet<P>,
}

impl<P> Default for Way<P> {
    fn default() -> Way<P> {
        Way {
            been: HashSet::new(),
        }
    }
}

impl<P: Clone + Eq + Hash> Way<P> {
    /// Where the next page begins, if there is one.
    ///
    /// Amazon's client takes an answer that ends in the middle for a whole one, with nothing in what is missing. How
    /// many were asked for is told last, and is never nothing.
    fn next(
        &mut self,
        max_items: i32,
        truncated: bool,
        next: Option<P>,
    ) -> Result<Option<P>, Astray> {
        if max_items == 0 {
            return Err(Astray::CutShort);
        }
        if !truncated {
            return Ok(None);
        }
        let next = next.ok_or(Astray::NoNext)?;
        if !self.been.insert(next.clone()) {
            return Err(Astray::Back);
        }
        if self.been.len() >= PAGES_MAX {
            return Err(Astray::TooMany);
        }
        Ok(Some(next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Walks a listing whose pages lead to these places.
    fn walk(places: &[Option<&'static str>]) -> Result<usize, Astray> {
        let mut way = Way::default();
        for (read, place) in places.iter().enumerate() {
            if way.next(PAGE_SETS_MAX, true, *place)?.is_none() {
                return Ok(read);
            }
        }
        way.next(PAGE_SETS_MAX, false, None).map(|_| places.len())
    }

    #[test]
    fn a_listing_leads_on_or_is_given_up() {
        // D9.
        assert_eq!(walk(&[]), Ok(0));
        assert_eq!(walk(&[Some("a"), Some("b"), Some("c")]), Ok(3));
        assert_eq!(walk(&[Some("a"), Some("a")]), Err(Astray::Back));
        assert_eq!(
            walk(&[Some("a"), Some("b"), Some("a")]),
            Err(Astray::Back),
            "round in a circle"
        );
        assert_eq!(walk(&[Some("a"), None]), Err(Astray::NoNext));
    }

    #[test]
    fn a_listing_without_end_is_given_up() {
        let mut way = Way::default();
        let pages = (0..).take_while(|page| way.next(PAGE_SETS_MAX, true, Some(*page)).is_ok());
        assert_eq!(pages.count(), PAGES_MAX - 1);
    }
}
