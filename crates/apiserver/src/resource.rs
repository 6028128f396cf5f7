//! A resource: everything the API needs to know about one kind to serve it.
//!
//! Built-in kinds and kinds from definitions are described by the same value, so that the engine
//! treats them alike. What only built-in kinds have is behind [`Origin`].

use std::sync::Arc;

use serde_json::Value;

use crate::builtin;
use crate::key::Kind;
use crate::object::Object;
use crate::refusal::Subject;
use crate::schema::Schema;

/// One kind in one version.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    pub(crate) names: Names,
    pub(crate) scope: Scope,
    /// The version this description is of.
    pub(crate) version: String,
    pub(crate) schema: Arc<Schema>,
    /// The schema as the API's documents show it, with descriptions; that of a built-in kind refers to one of the
    /// published types.
    pub(crate) openapi: Arc<Value>,
    pub(crate) columns: Arc<[Column]>,
    /// JSON paths without the leading dot, such as `spec.color`, that field selectors may name besides
    /// `metadata.name` and `metadata.namespace`.
    pub(crate) selectable_fields: Arc<[String]>,
    pub(crate) subresources: Subresources,
    /// What those who use this version are warned with.
    pub(crate) deprecation: Option<String>,
    /// Whether objects may have been written through another version: what this one does not know is then not
    /// shown.
    pub(crate) has_siblings: bool,
    pub(crate) origin: Origin,
}

/// What a kind is called.
#[expect(clippy::struct_field_names, reason = "the words of the API")]
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Names {
    /// Empty for the core group.
    pub(crate) group: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) kind: String,
    pub(crate) list_kind: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
}

/// Whether objects live in namespaces.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Scope {
    Cluster,
    Namespaced,
}

/// The paths below an object.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Subresources {
    /// `/status`: what it writes and what the object's own path writes are kept apart.
    pub(crate) status: bool,
    /// `/scale`: how many there shall be, for those who do not know the kind.
    pub(crate) scale: Option<Arc<Scale>>,
}

/// Where the numbers of `/scale` are in an object: paths such as `spec.replicas`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Scale {
    pub(crate) wanted: String,
    pub(crate) found: String,
    /// A label selector, or one as text.
    pub(crate) selector: Option<String>,
}

impl Scale {
    /// Those of the kinds of `apps`.
    pub(crate) fn of_workload() -> Self {
        Self {
            wanted: "spec.replicas".to_owned(),
            found: "status.replicas".to_owned(),
            selector: Some("spec.selector".to_owned()),
        }
    }
}

/// Where a kind comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Origin {
    /// Compiled in: what else holds for it is in `builtin`.
    Builtin,
    /// Declared by a CustomResourceDefinition.
    Custom,
}

/// A column of the table that kubectl prints.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// `string`, `integer`, `number`, `boolean`, `date`.
    pub(crate) kind: String,
    pub(crate) format: String,
    pub(crate) description: String,
    /// 0 is always shown, anything else with `-o wide`.
    pub(crate) priority: i32,
    /// Where the cell comes from: a JSON path such as `.spec.color`, or for built-in kinds a name that
    /// `builtin` knows.
    pub(crate) source: String,
}

impl Resource {
    /// `v1`, `dns.kubi.zone/v1alpha1`.
    pub(crate) fn api_version(&self) -> String {
        match self.names.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// Where its objects lie.
    pub(crate) fn key_kind(&self) -> Kind {
        let group = if self.is_other_form() {
            ""
        } else {
            &self.names.group
        };
        Kind::new(group, &self.names.plural)
    }

    /// Whether its objects are those of another group, shown in another form. Only Events are: there is one set of
    /// them, which both `v1` and `events.k8s.io` serve.
    pub(crate) fn is_other_form(&self) -> bool {
        self.origin == Origin::Builtin && self.names.group == "events.k8s.io"
    }

    /// An object as this kind shows it, from what is kept.
    pub(crate) fn show(&self, mut kept: Object) -> Object {
        kept.insert("kind".into(), self.names.kind.as_str().into());
        if self.is_other_form() {
            kept.insert("apiVersion".into(), "v1".into());
            return builtin::event::to_events(&kept);
        }
        kept.insert("apiVersion".into(), self.api_version().into());
        if !self.has_siblings {
            return kept;
        }
        let mut shown = Value::Object(kept);
        self.schema.prune(&mut shown);
        self.schema.default_fields(&mut shown);
        let Value::Object(shown) = shown else {
            unreachable!("pruning and filling in leave an object an object");
        };
        shown
    }

    /// Whether what is kept is what is shown, but for the words that say what it is.
    pub(crate) fn shows_as_kept(&self) -> bool {
        !self.is_other_form() && !self.has_siblings
    }

    /// An object as it is kept, from what this kind shows.
    pub(crate) fn keep(&self, shown: Object) -> Object {
        if self.is_other_form() {
            builtin::event::to_core(&shown)
        } else {
            shown
        }
    }

    /// Whether objects live in namespaces.
    pub(crate) fn is_namespaced(&self) -> bool {
        self.scope == Scope::Namespaced
    }

    /// One of its objects, as refusals name it: by plural.
    pub(crate) fn subject<'a>(&'a self, name: &'a str) -> Subject<'a> {
        Subject {
            group: &self.names.group,
            what: &self.names.plural,
            name,
        }
    }

    /// One of its objects, as refusals of invalid objects name it: by kind.
    pub(crate) fn kind_subject<'a>(&'a self, name: &'a str) -> Subject<'a> {
        Subject {
            group: &self.names.group,
            what: &self.names.kind,
            name,
        }
    }
}
