//! Which objects of a kind a request is about: by labels and by fields.

use std::sync::Arc;

use crate::builtin;
use crate::key::Place;
use crate::object::Object;
use crate::refusal::Refusal;
use crate::request::ListOptions;
use crate::resource::{Origin, Resource};
use crate::selector::{FieldSelector, LabelSelector, text_at};
use crate::store::Stored;

/// A label selector and a field selector, both of which an object must match.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    resource: Arc<Resource>,
    labels: LabelSelector,
    fields: FieldSelector,
}

impl Selection {
    pub(crate) fn new(resource: &Arc<Resource>, options: &ListOptions) -> Result<Self, Refusal> {
        Ok(Self {
            resource: Arc::clone(resource),
            labels: LabelSelector::parse(&options.labels)?,
            fields: FieldSelector::parse(&options.fields, resource)?,
        })
    }

    /// Whether every object matches.
    pub(crate) fn is_everything(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Whether there is one object at most.
    pub(crate) fn is_of_one(&self) -> bool {
        self.fields.names_one()
    }

    pub(crate) fn matches(&self, place: &Place, stored: &Stored) -> bool {
        self.labels.matches(|key| stored.label(key)) && self.matches_fields(place, stored)
    }

    /// The object is parsed only for fields that its place does not tell.
    fn matches_fields(&self, place: &Place, stored: &Stored) -> bool {
        let mut parsed: Option<Object> = None;
        self.fields.matches(|field| match field {
            "metadata.name" => place.name.to_string(),
            "metadata.namespace" => place.namespace.to_string(),
            field => self.text_at(parsed.get_or_insert_with(|| stored.object()), field),
        })
    }

    /// The value of a field as selectors compare it; nothing is the empty text.
    fn text_at(&self, object: &Object, path: &str) -> String {
        match self.resource.origin {
            Origin::Builtin => builtin::selected(&self.resource, object, path).unwrap_or_default(),
            Origin::Custom => text_at(object, path),
        }
    }
}
