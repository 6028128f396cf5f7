//! Impersonation: who may speak for others, and as whom.
//!
//! `Impersonate-User` and the headers beside it are read as kube-apiserver reads them. There is no authorization here but
//! this: members of `system:masters` may be anybody, and nobody else may.

use std::collections::BTreeMap;

use http::{HeaderMap, HeaderName, Method};
use percent_encoding::percent_decode_str;

use crate::metadata::text;
use crate::refusal::{Refusal, Subject};
use crate::request::{Query, Route, Target};
use crate::user::{MASTERS, User};

const USER: HeaderName = HeaderName::from_static("impersonate-user");
const UID: HeaderName = HeaderName::from_static("impersonate-uid");
const GROUP: HeaderName = HeaderName::from_static("impersonate-group");
const EXTRA: &str = "impersonate-extra-";

/// Whom a request is carried out for: who sent it, or whom its headers name.
pub(crate) fn assume(
    sender: User,
    request: &Asked<'_>,
    headers: &HeaderMap,
) -> Result<User, Refusal> {
    let Some(wanted) = wanted(headers)? else {
        return Ok(sender);
    };
    if sender.groups.iter().any(|group| group == MASTERS) {
        return Ok(wanted.become_user());
    }
    Err(wanted.refused(&sender, request))
}

/// What is asked for, as far as refusals tell.
pub(crate) struct Asked<'a> {
    pub(crate) method: &'a Method,
    pub(crate) path: &'a str,
    pub(crate) query: &'a Query,
    pub(crate) route: Option<&'a Route>,
}

/// Whom the headers name.
#[derive(Debug, Default)]
struct Wanted {
    name: String,
    uid: String,
    groups: Vec<String>,
    extra: BTreeMap<String, Vec<String>>,
}

/// What a user name is the name of.
enum Named<'a> {
    Node,
    ServiceAccount { namespace: &'a str, name: &'a str },
    Other,
}

fn wanted(headers: &HeaderMap) -> Result<Option<Wanted>, Refusal> {
    let texts = |name: &HeaderName| -> Vec<String> {
        let values = headers.get_all(name).iter();
        values
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            .collect()
    };
    let first = |name: &HeaderName| texts(name).into_iter().next().unwrap_or_default();
    let extra = headers.keys().filter_map(|header| {
        let key = header.as_str().strip_prefix(EXTRA)?;
        Some((unescape(key), texts(header)))
    });
    let wanted = Wanted {
        name: first(&USER),
        uid: first(&UID),
        groups: texts(&GROUP),
        extra: extra.collect(),
    };
    if !wanted.name.is_empty() {
        return Ok(Some(wanted));
    }
    if wanted.uid.is_empty() && wanted.groups.is_empty() && wanted.extra.is_empty() {
        return Ok(None);
    }
    Err(Refusal::bad_request(format!(
        "requested {} without impersonating a user name",
        wanted.in_go()
    )))
}

/// A key of `extra`, which may hold what a header's name may not. One that cannot be read stays as it is.
fn unescape(key: &str) -> String {
    let decoded = percent_decode_str(key).decode_utf8();
    decoded.map_or_else(|_| key.to_owned(), std::borrow::Cow::into_owned)
}

impl Wanted {
    fn become_user(self) -> User {
        let groups = match (self.named(), self.groups.is_empty()) {
            (Named::ServiceAccount { namespace, .. }, true) => vec![
                "system:serviceaccounts".to_owned(),
                format!("system:serviceaccounts:{namespace}"),
            ],
            (Named::Node, true) if self.has_only_a_name() => vec!["system:nodes".to_owned()],
            (Named::Node | Named::ServiceAccount { .. } | Named::Other, _) => self.groups.clone(),
        };
        let mut user = User::authenticated(self.name, groups);
        user.uid = self.uid;
        user.extra = self.extra;
        if user.is_anonymous() {
            user.forget_name();
        }
        user
    }

    fn has_only_a_name(&self) -> bool {
        self.uid.is_empty() && self.groups.is_empty() && self.extra.is_empty()
    }

    fn named(&self) -> Named<'_> {
        if let Some(node) = self.name.strip_prefix("system:node:")
            && text::subdomain(node).is_empty()
        {
            return Named::Node;
        }
        let account = self.name.strip_prefix("system:serviceaccount:");
        match account.and_then(|account| account.split_once(':')) {
            Some((namespace, name))
                if text::label(namespace).is_empty() && text::subdomain(name).is_empty() =>
            {
                Named::ServiceAccount { namespace, name }
            }
            Some(_) | None => Named::Other,
        }
    }

    /// There are several ways to be allowed to; what is told is the first that could have been.
    fn refused(&self, sender: &User, request: &Asked<'_>) -> Refusal {
        let mode = match self.named() {
            Named::Node if self.has_only_a_name() => "arbitrary-node",
            Named::ServiceAccount { .. } if self.has_only_a_name() => "serviceaccount",
            Named::Other => "user-info",
            Named::ServiceAccount { namespace, name } => {
                let account = ("", "serviceaccounts", name);
                return forbidden(sender, "impersonate", account, "", namespace);
            }
            Named::Node => {
                return forbidden(sender, "impersonate", ("", "users", &self.name), "", "");
            }
        };
        let on = |verb: &str| format!("impersonate-on:{mode}:{verb}");
        let Some(Route::Objects(target)) = request.route else {
            let verb = on(&request.method.as_str().to_lowercase());
            let (user, path) = (&sender.name, request.path);
            let nothing = Subject {
                group: "",
                what: "",
                name: "",
            };
            let why = format!("User {user:?} cannot {verb} path {path:?}");
            return Refusal::forbidden(nothing, &sanitized(&why));
        };
        let object = (
            target.group.as_str(),
            target.plural.as_str(),
            target.name.as_deref().unwrap_or_default(),
        );
        let below = target.subresource.as_deref().unwrap_or_default();
        let namespace = match target.plural.as_str() {
            // A Namespace is in itself.
            "namespaces" if target.group.is_empty() => object.2,
            _ => target.place.namespace().unwrap_or_default(),
        };
        let verb = on(verb(request.method, target, request.query));
        forbidden(sender, &verb, object, below, namespace)
    }

    /// As Go prints it.
    fn in_go(&self) -> String {
        let list = |texts: &[String]| {
            let texts: Vec<String> = texts.iter().map(|text| format!("{text:?}")).collect();
            format!("[]string{{{}}}", texts.join(", "))
        };
        let groups = match self.groups.as_slice() {
            [] => "[]string(nil)".to_owned(),
            groups => list(groups),
        };
        let extra: Vec<String> = self
            .extra
            .iter()
            .map(|(key, values)| format!("{key:?}:{}", list(values)))
            .collect();
        let extra = match extra.as_slice() {
            [] => "map[string][]string(nil)".to_owned(),
            extra => format!("map[string][]string{{{}}}", extra.join(", ")),
        };
        format!(
            "&user.DefaultInfo{{Name:\"\", UID:{:?}, Groups:{groups}, Extra:{extra}}}",
            self.uid
        )
    }
}

fn forbidden(
    sender: &User,
    verb: &str,
    (group, plural, name): (&str, &str, &str),
    below: &str,
    namespace: &str,
) -> Refusal {
    let resource = match below {
        "" => plural.to_owned(),
        below => format!("{plural}/{below}"),
    };
    let user = &sender.name;
    let place = match namespace {
        "" => "at the cluster scope".to_owned(),
        namespace => format!("in the namespace {namespace:?}"),
    };
    let why =
        format!("User {user:?} cannot {verb} resource {resource:?} in API group {group:?} {place}");
    let subject = Subject {
        group,
        what: plural,
        name,
    };
    Refusal::forbidden(subject, &sanitized(&why))
}

/// Nothing that a browser could take for a page.
fn sanitized(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn verb(method: &Method, target: &Target, query: &Query) -> &'static str {
    match (method.as_str(), target.name.is_some()) {
        ("GET" | "HEAD", _) if query.flag("watch") => "watch",
        ("GET" | "HEAD", true) => "get",
        ("GET" | "HEAD", false) => "list",
        ("POST", _) => "create",
        ("PUT", _) => "update",
        ("PATCH", _) => "patch",
        ("DELETE", true) => "delete",
        ("DELETE", false) => "deletecollection",
        (_, _) => "",
    }
}

#[cfg(test)]
mod tests;
