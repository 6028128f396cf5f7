//! What is asked for, read from method, path and query.

use http::Method;
use http::header::AUTHORIZATION;
use http::request::Parts;

use super::Fault;
use super::zone::Key;

/// What is asked for.
#[derive(Debug)]
pub(super) enum Asked<'a> {
    CreateZone,
    ListZones,
    /// Of the zone with this id.
    ListSets(&'a str),
    /// To the zone with this id.
    Change(&'a str),
}

impl Asked<'_> {
    pub(super) fn of<'a>(method: &Method, path: &'a str) -> Option<Asked<'a>> {
        let path = path.strip_prefix("/2013-04-01/hostedzone")?;
        let path = path.trim_matches('/');
        if path.is_empty() {
            return match *method {
                Method::GET => Some(Asked::ListZones),
                Method::POST => Some(Asked::CreateZone),
                _ => None,
            };
        }
        let zone = path.strip_suffix("/rrset")?;
        match *method {
            Method::GET => Some(Asked::ListSets(zone)),
            Method::POST => Some(Asked::Change(zone)),
            _ => None,
        }
    }

    /// Whether a fault can happen to it.
    pub(super) fn may_meet(&self, fault: Fault, query: &Query) -> bool {
        let is_list = matches!(self, Asked::ListSets(_));
        match fault {
            Fault::Throttle | Fault::Fail => true,
            Fault::PriorRequestNotComplete | Fault::DropAfterwards => {
                matches!(self, Asked::Change(_))
            }
            Fault::RepeatPage => is_list && query.name.is_some(),
            Fault::ListEmpty | Fault::CutShort | Fault::Swell(_) | Fault::Behind(_) => is_list,
        }
    }
}

/// What stands behind the question mark, and what a fault adds to it.
#[derive(Debug, Default)]
pub(super) struct Query {
    name: Option<String>,
    rtype: Option<String>,
    identifier: Option<String>,
    pub(super) marker: Option<String>,
    max_items: Option<usize>,
    pub(super) behind: usize,
}

impl Query {
    pub(super) fn of(head: &Parts) -> Query {
        let mut query = Query::default();
        let text = head.uri.query().unwrap_or_default();
        for (key, value) in form_urlencoded::parse(text.as_bytes()) {
            let value = value.into_owned();
            match key.as_ref() {
                "name" => query.name = Some(value),
                "type" => query.rtype = Some(value),
                "identifier" => query.identifier = Some(value),
                "marker" => query.marker = Some(value),
                "maxitems" => query.max_items = value.parse().ok(),
                _ => {}
            }
        }
        query
    }

    /// As it was so many changes ago.
    pub(super) fn delayed(self, behind: usize) -> Query {
        Query { behind, ..self }
    }

    /// From the first page again.
    pub(super) fn started_again(self) -> Query {
        Query {
            max_items: self.max_items,
            ..Query::default()
        }
    }

    pub(super) fn from(&self) -> Key {
        let part = |part: &Option<String>| part.clone().unwrap_or_default();
        match &self.name {
            Some(name) => Key::new(name, &part(&self.rtype), &part(&self.identifier)),
            None => Key::default(),
        }
    }

    pub(super) fn max(&self, most: usize) -> usize {
        self.max_items.unwrap_or(most).clamp(1, most)
    }
}

/// Whose key a request is signed with. The signature itself is not looked at.
pub(super) fn is_signed_with(head: &Parts, key_id: &str) -> bool {
    let signed = head.headers.get(AUTHORIZATION);
    let signed = signed.and_then(|value| value.to_str().ok());
    signed.is_some_and(|value| value.contains(&format!("Credential={key_id}/")))
}
