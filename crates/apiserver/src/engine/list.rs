//! `list`: all objects of a kind, or a page of them, at one revision.
//!
//! A page ends with a token that says where it ended and at which revision it was read. The next page is
//! read at that revision, whatever has been written since, for as long as the store remembers it.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use super::{Answer, Call, Content, Engine};
use crate::key::Place;
use crate::refusal::Refusal;
use crate::request::{ListOptions, Match};
use crate::resource::Resource;
use crate::selection::Selection;
use crate::store::Stored;

/// Some of the objects of a kind, and how to get the rest.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) items: Vec<Arc<Stored>>,
    pub(crate) revision: u64,
    pub(crate) next: Option<String>,
    /// How many are still to come, where that is known.
    pub(crate) remaining: Option<usize>,
}

/// Where the next page begins. The form is kube-apiserver's, which clients take for opaque.
#[derive(Debug, Deserialize, Serialize)]
struct Token {
    v: String,
    /// -1: whatever is there now.
    rv: i64,
    /// The last place that was read, and a zero byte.
    start: String,
}

const TOKEN_VERSION: &str = "meta.k8s.io/v1";

const TOKEN_EXPIRED: &str = "The provided continue parameter is too old to display a consistent list result. \
    You can start a new list without the continue parameter, or use the continue token in this response to retrieve \
    the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that \
    were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

/// A page to read: after which place, and at which revision.
struct Position {
    after: Option<Place>,
    /// Nothing is the present.
    revision: Option<u64>,
}

impl Engine {
    pub(super) fn list(&self, resource: &Arc<Resource>, call: &Call) -> Result<Answer, Refusal> {
        let options = ListOptions::for_list(&call.query)?;
        let selection = Selection::new(resource, &options)?;
        let namespace = call.target.place.namespace();
        let position = self.position(&options, namespace, &selection)?;
        // Who does not mind how old the list is gets all of it: kube-apiserver has it in memory.
        let limit = match options.revision {
            Some(0) => 0,
            Some(_) | None => options.limit,
        };
        let page = self.page(resource, namespace, &selection, &position, limit)?;
        Ok(Answer::plain(Content::List {
            resource: Arc::clone(resource),
            page,
        }))
    }

    fn position(
        &self,
        options: &ListOptions,
        namespace: Option<&str>,
        selection: &Selection,
    ) -> Result<Position, Refusal> {
        let newest = self.store.revision();
        if !options.continue_token.is_empty() {
            let position = Token::position(&options.continue_token, namespace)?;
            if options.revision.is_some_and(|revision| revision != 0) {
                let why = "specifying resource version is not allowed when using continue";
                return Err(Refusal::bad_request(why));
            }
            return Ok(position);
        }
        let asked = options.revision.filter(|revision| *revision != 0);
        if let Some(asked) = asked.filter(|asked| *asked > newest) {
            return Err(Refusal::too_large_revision(asked, newest));
        }
        let exactly = match options.revision_match {
            Some(Match::Exact) => true,
            Some(Match::NotOlderThan) => false,
            // One object is looked up, which knows no pages.
            None => options.limit > 0 && !selection.is_of_one(),
        };
        Ok(Position {
            after: None,
            revision: asked.filter(|_| exactly),
        })
    }

    fn page(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        selection: &Selection,
        position: &Position,
        limit: usize,
    ) -> Result<Page, Refusal> {
        let (kind, after) = (resource.key_kind(), position.after.as_ref());
        let revision = position.revision.unwrap_or(self.store.revision());
        let objects: Box<dyn Iterator<Item = _>> = match position.revision {
            None => Box::new(self.store.list(&kind, namespace, after)),
            Some(past) => {
                let expired = |_| expired(after, namespace);
                Box::new(
                    self.store
                        .list_at(&kind, namespace, after, past)
                        .map_err(expired)?,
                )
            }
        };
        let mut objects = objects.peekable();
        let limit = if limit == 0 { usize::MAX } else { limit };
        let mut items = Vec::new();
        let mut last = None;
        while items.len() < limit {
            let Some((place, stored)) = objects.next() else {
                break;
            };
            if selection.matches(place, stored) {
                last = Some(place.clone());
                items.push(Arc::clone(stored));
            }
        }
        // Whether anything of the rest is selected is found out by whoever asks for it.
        let next = last.filter(|_| objects.peek().is_some() && !selection.is_of_one());
        let token = next.map(|last| {
            Token::after(
                &last,
                namespace,
                i64::try_from(revision).unwrap_or(i64::MAX),
            )
        });
        let counted = token.is_some() && selection.is_everything();
        let remaining = counted.then(|| objects.count());
        Ok(Page {
            items,
            revision,
            next: token,
            remaining,
        })
    }
}

/// The refusal of a page whose revision is forgotten, with a token to go on at the present.
fn expired(after: Option<&Place>, namespace: Option<&str>) -> Refusal {
    let mut refusal = Refusal::expired(TOKEN_EXPIRED);
    refusal.continue_token = after.map(|after| Token::after(after, namespace, -1));
    refusal
}

impl Token {
    fn after(place: &Place, namespace: Option<&str>, rv: i64) -> String {
        let start = match namespace {
            None if !place.namespace.is_empty() => format!("{}/{}\0", place.namespace, place.name),
            Some(_) | None => format!("{}\0", place.name),
        };
        let token = Self {
            v: TOKEN_VERSION.to_owned(),
            rv,
            start,
        };
        let json = serde_json::to_vec(&token).expect("a token has no way to fail");
        URL_SAFE_NO_PAD.encode(json)
    }

    fn position(token: &str, namespace: Option<&str>) -> Result<Position, Refusal> {
        let invalid = |why: String| {
            Refusal::bad_request(format!(
                "invalid continue token: continue key is not valid: {why}"
            ))
        };
        let json = URL_SAFE_NO_PAD
            .decode(token.trim_end_matches('='))
            .map_err(|error| invalid(error.to_string()))?;
        let token: Self =
            serde_json::from_slice(&json).map_err(|error| invalid(error.to_string()))?;
        if token.v != TOKEN_VERSION {
            return Err(invalid(format!(
                "server does not recognize this encoded version \"{}\"",
                token.v
            )));
        }
        let start = token.start.strip_suffix('\0').unwrap_or(&token.start);
        let after = match (namespace, start.split_once('/')) {
            (None, Some((namespace, name))) => Place::new(namespace, name),
            (None, None) => Place::new("", start),
            (Some(namespace), None) => Place::new(namespace, start),
            (Some(_), Some(_)) => return Err(invalid("it belongs to another namespace".into())),
        };
        let revision = match token.rv {
            0 => {
                return Err(invalid(
                    "incorrect encoded start resourceVersion (version meta.k8s.io/v1)".into(),
                ));
            }
            rv => u64::try_from(rv).ok(),
        };
        Ok(Position {
            after: Some(after),
            revision,
        })
    }
}
