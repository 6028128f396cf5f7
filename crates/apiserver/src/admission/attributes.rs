//! What is asked about: a request, the object that it is about, and everything that decides whom it concerns.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::condition::{self, Matched};
use super::hook::Hook;
use crate::object::{Object, ObjectExt as _};
use crate::refusal::{Refusal, Subject};
use crate::resource::Resource;
use crate::selector::LabelSelector;
use crate::user::User;

/// What is done to an object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
}

/// A request as webhooks are told of it.
#[derive(Clone, Debug)]
pub(crate) struct Attributes {
    pub(crate) resource: Arc<Resource>,
    /// The other versions of the same kind.
    pub(crate) equivalents: Vec<Arc<Resource>>,
    /// Empty for the object itself.
    pub(crate) subresource: String,
    pub(crate) operation: Operation,
    /// Empty where it is still to be made up.
    pub(crate) name: String,
    /// That of a Namespace is its own.
    pub(crate) namespace: String,
    /// The labels of that namespace; nothing if there is no such namespace.
    pub(crate) namespace_labels: Option<BTreeMap<String, String>>,
    pub(crate) user: User,
    pub(crate) object: Option<Object>,
    pub(crate) old: Option<Object>,
    pub(crate) options: Value,
    pub(crate) dry_run: bool,
}

/// A webhook that is to be asked, and the version in which it knows the kind.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    pub(crate) hook: Arc<Hook>,
    pub(crate) resource: Arc<Resource>,
}

impl Operation {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

impl Attributes {
    /// The same, with an object that is to be written.
    #[must_use]
    pub(crate) fn about(mut self, object: Object) -> Self {
        self.object = Some(object);
        self
    }

    /// The same, with an object that is to go.
    #[must_use]
    pub(crate) fn instead_of(mut self, old: Object) -> Self {
        self.old = Some(old);
        self
    }

    /// How a webhook is to be asked; nothing if it does not concern it.
    pub(crate) fn concern(&self, hook: &Arc<Hook>) -> Result<Option<Invocation>, Refusal> {
        let in_namespace = self.namespace_matches(&hook.namespaces);
        if matches!(in_namespace, Ok(false)) || !self.labels_match(&hook.objects) {
            return Ok(None);
        }
        let Some(resource) = self.version_for(hook) else {
            return Ok(None);
        };
        // What is wrong with the namespace is told only where somebody wants to know.
        in_namespace?;
        let invocation = Invocation {
            hook: Arc::clone(hook),
            resource: Arc::clone(resource),
        };
        match self.conditions_hold(&invocation) {
            Matched::Yes => Ok(Some(invocation)),
            Matched::No => Ok(None),
            Matched::Unclear(why) => {
                let subject = self.resource.subject(&self.name);
                Err(Refusal::forbidden(subject, &why))
            }
        }
    }

    /// The object in the version in which a webhook knows it.
    pub(crate) fn object_in(&self, resource: &Resource) -> Value {
        self.shown_in(self.object.as_ref(), resource)
    }

    /// What it replaces, in the version in which a webhook knows it.
    pub(crate) fn old_in(&self, resource: &Resource) -> Value {
        self.shown_in(self.old.as_ref(), resource)
    }

    /// The request without its objects, as expressions and reviews see it.
    pub(crate) fn request(&self, asked: &Resource) -> Object {
        let sent = &self.resource;
        let mut request = json!({
            "kind": kind(asked),
            "resource": plural(asked),
            "requestKind": kind(sent),
            "requestResource": plural(sent),
            "operation": self.operation.word(),
            "userInfo": self.user.info(),
            "dryRun": self.dry_run,
            "options": self.options,
        });
        for (field, text) in [
            ("subResource", &self.subresource),
            ("requestSubResource", &self.subresource),
            ("name", &self.name),
            ("namespace", &self.namespace),
        ] {
            if !text.is_empty() {
                request[field] = text.as_str().into();
            }
        }
        match request {
            Value::Object(request) => request,
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => unreachable!("made an object just now"),
        }
    }

    fn is_namespace(&self) -> bool {
        self.resource.key_kind().is("", "namespaces")
    }

    fn namespace_matches(&self, selector: &LabelSelector) -> Result<bool, Refusal> {
        if selector.is_empty() || self.namespace.is_empty() {
            return Ok(true);
        }
        let writes_namespace = self.is_namespace() && self.subresource.is_empty();
        if let (true, Some(object)) = (writes_namespace, &self.object) {
            return Ok(selects(selector, object));
        }
        let labels = self.namespace_labels.as_ref().ok_or_else(|| {
            Refusal::not_found(Subject {
                group: "",
                what: "namespaces",
                name: &self.namespace,
            })
        })?;
        Ok(selector.matches(|key| labels.get(key).map(String::as_str)))
    }

    fn labels_match(&self, selector: &LabelSelector) -> bool {
        let either = [&self.object, &self.old];
        let mut either = either.into_iter().flatten();
        selector.is_empty() || either.any(|object| selects(selector, object))
    }

    /// The version in which a webhook wants to see the kind: the one that was asked for, if its rules name it.
    fn version_for(&self, hook: &Hook) -> Option<&Arc<Resource>> {
        let operation = self.operation.word();
        let matches = |resource: &Arc<Resource>| {
            let mut rules = hook.rules.iter();
            rules.any(|rule| rule.matches(resource, &self.subresource, operation))
        };
        if matches(&self.resource) {
            return Some(&self.resource);
        }
        // Earlier rules come first.
        let others = if hook.equivalent {
            self.equivalents.as_slice()
        } else {
            &[]
        };
        hook.rules.iter().find_map(|rule| {
            let mut others = others.iter();
            others.find(|other| rule.matches(other, &self.subresource, operation))
        })
    }

    fn conditions_hold(&self, invocation: &Invocation) -> Matched {
        let Invocation { hook, resource } = invocation;
        if hook.conditions.is_empty() {
            return Matched::Yes;
        }
        condition::all_hold(
            &hook.conditions,
            hook.failure,
            &self.object_in(resource),
            &self.old_in(resource),
            &Value::Object(self.request(resource)),
        )
    }

    fn shown_in(&self, object: Option<&Object>, resource: &Resource) -> Value {
        match object {
            None => Value::Null,
            Some(object) => in_version(object, &self.resource, resource).into(),
        }
    }
}

/// An object of one version of its kind in another.
pub(super) fn in_version(object: &Object, from: &Resource, to: &Resource) -> Object {
    if (&from.version, &from.names.group) == (&to.version, &to.names.group) {
        return object.clone();
    }
    to.show(from.keep(object.clone()))
}

fn selects(selector: &LabelSelector, object: &Object) -> bool {
    let labels = object
        .metadata()
        .and_then(|metadata| metadata.get("labels"));
    selector.matches(|key| labels.and_then(|labels| labels.get(key)?.as_str()))
}

fn kind(resource: &Resource) -> Value {
    let names = &resource.names;
    json!({ "group": names.group, "version": resource.version, "kind": names.kind })
}

fn plural(resource: &Resource) -> Value {
    let names = &resource.names;
    json!({ "group": names.group, "version": resource.version, "resource": names.plural })
}
