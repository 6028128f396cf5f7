//! Objects as they were: the present and what it replaced, read side by side in order.

use std::collections::btree_map;
use std::iter::Peekable;
use std::sync::Arc;

use crate::key::Place;
use crate::store::Stored;

/// The objects of a kind as they are, in order.
pub(super) type Present<'a> = Box<dyn Iterator<Item = (&'a Place, &'a Arc<Stored>)> + 'a>;

/// The objects of a kind at an earlier revision, in order.
pub(crate) struct Past<'a> {
    pub(super) now: Peekable<Present<'a>>,
    /// How those that have changed were then; nothing if they were not there.
    pub(super) then: Peekable<btree_map::IntoIter<&'a Place, Option<&'a Arc<Stored>>>>,
}

impl<'a> Iterator for Past<'a> {
    type Item = (&'a Place, &'a Arc<Stored>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let unchanged = match (self.now.peek(), self.then.peek()) {
                (Some((now, _)), Some((then, _))) => now < then,
                (now, None) => now.is_some(),
                (None, Some(_)) => false,
            };
            if unchanged {
                return self.now.next();
            }
            let (place, was) = self.then.next()?;
            self.now.next_if(|(now, _)| *now == place);
            if let Some(stored) = was {
                return Some((place, stored));
            }
        }
    }
}
