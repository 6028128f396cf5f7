//! The versions of one kind: who owns what was written down in the version they wrote in.

use std::collections::BTreeMap;

use super::apply::ApplyError;
use super::flaws::{self, Twins};
use crate::object::{Object, ObjectExt as _};
use crate::schema::Schema;

/// The schemas of the versions in which a kind is served.
#[derive(Debug)]
pub(crate) struct Versions<'a> {
    schemas: BTreeMap<String, &'a Schema>,
    others: Others,
}

/// What becomes of entries in versions that are not served.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Others {
    /// They are dropped: versions of built-in kinds come and go.
    Forgotten,
    /// Nothing is applied: a definition has all the versions that its objects were ever written in.
    Refused,
}

impl<'a> Versions<'a> {
    /// `v1`, `example.com/v1` and so on, each with its schema.
    pub(crate) fn new(
        schemas: impl IntoIterator<Item = (String, &'a Schema)>,
        others: Others,
    ) -> Self {
        Self {
            schemas: schemas.into_iter().collect(),
            others,
        }
    }

    /// The schema of a version; nothing if who wrote in it is to be forgotten.
    pub(super) fn schema(&self, version: &str) -> Result<Option<&'a Schema>, ApplyError> {
        match (self.schemas.get(version), self.others) {
            (Some(schema), _) => Ok(Some(schema)),
            (None, Others::Forgotten) => Ok(None),
            (None, Others::Refused) => Err(ApplyError::Version(version.to_owned())),
        }
    }

    /// An object in another version. All versions have the same fields, as far as they have them.
    pub(super) fn convert(
        &self,
        object: &Object,
        version: &str,
    ) -> Result<Option<(Object, &'a Schema)>, ApplyError> {
        let Some(schema) = self.schema(version)? else {
            return Ok(None);
        };
        let mut converted = object.clone();
        if object.api_version() != version {
            converted.insert("apiVersion".to_owned(), version.into());
            flaws::check(schema, &converted, Twins::Refused).map_err(ApplyError::Conversion)?;
        }
        Ok(Some((converted, schema)))
    }
}
