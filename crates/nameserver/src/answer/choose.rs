//! Which member of a routed set an answer holds (N6).
//!
//! Place comes first: of all members those for the client's country, or else for its continent, or else those for anyone.
//! Among these the weights decide. Where a set has nobody for a client, its default member answers: an answer from far away is
//! better than none. A client whose place is not known is one for whom nobody is meant in particular.

use std::net::IpAddr;

use dns::routing::{GeoCode, Routing};
use dns::{Member, RecordSet};
use rand::{Rng as _, RngCore};

use crate::places::{Places, Whereabouts};

/// Chooses for one question.
pub(super) struct Chooser<'a> {
    /// Whose place counts; nothing: nobody's.
    client: Option<IpAddr>,
    places: Option<&'a Places>,
    chance: &'a mut dyn RngCore,
    /// Where the client is, once that had to be known.
    whereabouts: Option<Whereabouts>,
}

impl<'a> Chooser<'a> {
    pub(super) fn new(
        client: Option<IpAddr>,
        places: Option<&'a Places>,
        chance: &'a mut dyn RngCore,
    ) -> Chooser<'a> {
        Chooser {
            client,
            places,
            chance,
            whereabouts: None,
        }
    }

    /// What an answer holds of a set: a plain one whole, of a routed one a member.
    pub(super) fn choose<'z>(&mut self, set: &'z RecordSet) -> &'z RecordSet {
        let members = set.members();
        if members.is_empty() {
            return set;
        }
        let Some(place) = self.place(members) else {
            // The set stands for its default member.
            return set;
        };
        let eligible = || members.iter().filter(|it| is_for(it.routing(), &place));
        self.draw(eligible).map_or(set, Member::set)
    }

    /// How many leading bits of the client's address the answer depends on.
    pub(super) fn scope(&self) -> u8 {
        self.whereabouts.as_ref().map_or(0, |it| it.prefix)
    }

    /// The smallest place that the client is in and some member is for.
    fn place(&mut self, members: &[Member]) -> Option<GeoCode> {
        let anywhere = |member: &Member| member.routing().is_from_anywhere();
        if !members.iter().all(anywhere) {
            let mut known = self.whereabouts().places.iter().flatten();
            let meant = |place: &&GeoCode| members.iter().any(|it| is_for(it.routing(), place));
            if let Some(place) = known.find(meant) {
                return Some(place.clone());
            }
        }
        members.iter().any(anywhere).then_some(GeoCode::Default)
    }

    fn whereabouts(&mut self) -> &Whereabouts {
        let (client, places) = (self.client, self.places);
        self.whereabouts.get_or_insert_with(|| {
            let found = client.zip(places);
            found.map_or_else(Whereabouts::default, |(client, places)| places.find(client))
        })
    }

    /// One of some members by their shares. Where all shares are nothing they are equal. Of one member nothing is drawn.
    fn draw<'m, I>(&mut self, eligible: impl Fn() -> I) -> Option<&'m Member>
    where
        I: Iterator<Item = &'m Member>,
    {
        let count = eligible().count();
        if count <= 1 {
            return eligible().next();
        }
        let share = |member: &Member| usize::from(member.routing().share());
        let total: usize = eligible().map(share).sum();
        if total == 0 {
            return eligible().nth(self.chance.random_range(0..count));
        }
        let mut left = self.chance.random_range(0..total);
        eligible().find(|member| {
            let drawn = left < share(member);
            left = left.saturating_sub(share(member));
            drawn
        })
    }
}

/// Whether a member is for clients from a place. One that names none is for anyone.
fn is_for(routing: &Routing, place: &GeoCode) -> bool {
    routing.geo.as_ref().unwrap_or(&GeoCode::Default) == place
}
