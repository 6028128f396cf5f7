//! What the author of an Ingress wants, read out of an Ingress that says less.
//!
//! While a host waits, its rule stands under the managed host and its name is missing from the tls entries; the originals are in
//! an annotation. Whoever changes such an Ingress changes what they see: they apply their manifest again, with the
//! original hosts in it, or they edit what stands there, with the managed host in it. Both are read here:
//!
//! ```text
//! rule as it is sent                  what is wanted
//! a host of its own                   that rule
//! the managed host, as it stood       the original that stood there under the managed host; or nothing, if it was the
//!                                     copy beside a custom host, which is made again where it is still needed; or that
//!                                     rule, if only copies are left
//! the managed host, changed in place  the original of that place, changed the same way
//! the managed host, otherwise         that rule
//! ```
//!
//! The annotation is somebody else's input, whoever wrote it: what is read from it is judged like what was sent.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// The rules and tls entries of an Ingress, and what answers where no rule does.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Said {
    pub(super) rules: Vec<Value>,
    pub(super) tls: Vec<Value>,
    pub(super) default_backend: Option<Value>,
}

/// The originals of what waits: its rules, and all tls entries if any of them lacks a host.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pending {
    pub(super) rules: Vec<Value>,
    pub(super) tls: Vec<Value>,
}

/// What is wanted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Wish {
    pub(super) rules: Vec<Value>,
    pub(super) tls: Vec<Value>,
    /// The copies of custom rules under the managed host that were sent along.
    pub(super) copies: Vec<Value>,
}

/// Everything a wish is read from.
pub(super) struct Reading<'a> {
    /// What is sent.
    pub(super) sent: &'a Said,
    /// What stood there before; what is sent, if nothing did or that says everything.
    pub(super) before: &'a Said,
    /// What waited before.
    pub(super) pending: &'a Pending,
    /// The managed host.
    pub(super) own: &'a str,
    /// The Secret of the managed host.
    pub(super) own_secret: Option<&'a str>,
}

impl Said {
    pub(super) fn of(ingress: &Value) -> Said {
        let spec = &ingress["spec"];
        let backend = &spec["defaultBackend"];
        Said {
            rules: list(&spec["rules"]),
            tls: list(&spec["tls"]),
            default_backend: (!backend.is_null()).then(|| backend.clone()),
        }
    }
}

impl Pending {
    /// What the annotation says. One that cannot be read says nothing.
    pub(super) fn read(text: Option<&str>) -> Pending {
        let read: Option<Value> = text.and_then(|text| serde_json::from_str(text).ok());
        let read = read.unwrap_or_default();
        let objects = |value: &Value| {
            let mut list = list(value);
            list.retain(Value::is_object);
            list
        };
        Pending {
            rules: objects(&read["rules"]),
            tls: objects(&read["tls"]),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.tls.is_empty()
    }

    pub(super) fn write(&self) -> String {
        json!({ "rules": self.rules, "tls": self.tls }).to_string()
    }
}

impl Reading<'_> {
    pub(super) fn wish(&self) -> Wish {
        let (mut rules, copies, carried) = self.rules();
        if let Some(backend) = &self.sent.default_backend {
            rules.push(whole(self.own, backend));
        }
        Wish {
            tls: self.tls(&carried),
            rules,
            copies,
        }
    }

    /// The rules that are wanted, the copies that were sent along, and the hosts that went on waiting unseen.
    fn rules(&self) -> (Vec<Value>, Vec<Value>, BTreeSet<String>) {
        let mut waiting = self.waiting();
        let mut copied = self.copied();
        let mut carried = BTreeSet::new();
        let mut copies = Vec::new();
        // Whatever stands there unchanged finds its original first; then places can be compared.
        let mut found: Vec<Option<Value>> = Vec::new();
        for rule in &self.sent.rules {
            let original = self.is_own(rule).then(|| take(&mut waiting, rule));
            found.push(original.flatten());
        }
        let mut rules = Vec::new();
        for (place, (rule, original)) in self.sent.rules.iter().zip(found).enumerate() {
            let original = original.or_else(|| self.changed(place, rule, &mut waiting));
            if let Some(original) = original {
                carried.insert(host(&original).to_owned());
                rules.push(original);
            } else if self.is_own(rule)
                && let Some(at) = copied.iter().position(|it| it == rule)
            {
                copies.push(copied.swap_remove(at));
            } else {
                rules.push(rule.clone());
            }
        }
        if rules.is_empty() {
            // What is left of an Ingress is wanted, or it would serve nothing.
            rules.append(&mut copies);
        }
        (rules, copies, carried)
    }

    /// What stood under the managed host, with its original.
    fn waiting(&self) -> Vec<(Value, Value)> {
        let originals = self.pending.rules.iter();
        let custom = originals.filter(|it| !self.is_own(it) && !host(it).is_empty());
        // What has come back, or is sent as it was, does not stand for anything else.
        let hidden =
            custom.filter(|it| !self.before.rules.contains(it) && !self.sent.rules.contains(it));
        hidden
            .map(|original| (rehosted(original, self.own), original.clone()))
            .collect()
    }

    /// The copies of custom rules: those that stood beside them, and those of rules that are sent for the first time.
    fn copied(&self) -> Vec<Value> {
        let (before, sent) = (&self.before.rules, &self.sent.rules);
        let copy = |rule: &Value| {
            let custom = !self.is_own(rule) && !host(rule).is_empty();
            custom.then(|| rehosted(rule, self.own))
        };
        let stood = before.iter().filter_map(copy);
        let stood = stood.filter(|it| before.contains(it));
        let new = sent.iter().filter(|rule| !before.contains(rule));
        stood.chain(new.filter_map(copy)).collect()
    }

    /// The original of a rule that was changed where it stood.
    fn changed(
        &self,
        place: usize,
        rule: &Value,
        waiting: &mut Vec<(Value, Value)>,
    ) -> Option<Value> {
        let stood = self.before.rules.get(place).filter(|_| self.is_own(rule))?;
        // What only moved has changed nothing.
        if self.sent.rules.contains(stood) || self.before.rules.contains(rule) {
            return None;
        }
        let original = take(waiting, stood)?;
        Some(rehosted(rule, host(&original)))
    }

    /// The entries that are wanted, in the order of the originals where nobody has changed it.
    fn tls(&self, carried: &BTreeSet<String>) -> Vec<Value> {
        let originals = &self.pending.tls;
        let stood = self.stood();
        let mut left: Vec<usize> = (0..originals.len()).collect();
        let mut found: Vec<(Option<usize>, &Value)> = Vec::new();
        for entry in self.sent.tls.iter().filter(|it| !self.is_ours(it)) {
            let same = |place: &usize| keeps(entry, &originals[*place], stood[*place].as_ref());
            let at = left.iter().position(same);
            found.push((at.map(|at| left.remove(at)), entry));
        }
        left.retain(|place| {
            stood[*place].is_none() && self.still_wanted(&hosts(&originals[*place]), carried)
        });
        let mut places: Vec<usize> = found.iter().filter_map(|(place, _)| *place).collect();
        if places.len() == found.len() && places.is_sorted() {
            places.extend(left);
            places.sort_unstable();
            return places.into_iter().map(|it| originals[it].clone()).collect();
        }
        let found = found
            .into_iter()
            .map(|(place, entry)| place.map_or(entry, |it| &originals[it]));
        found
            .chain(left.into_iter().map(|it| &originals[it]))
            .cloned()
            .collect()
    }

    /// What stood for each entry whose original is known: the same entry with fewer hosts, or nothing.
    fn stood(&self) -> Vec<Option<Value>> {
        let mut left: Vec<&Value> = self
            .before
            .tls
            .iter()
            .filter(|it| !self.is_ours(it))
            .collect();
        let originals = self.pending.tls.iter();
        let stood = originals.map(|original| {
            let at = left.iter().position(|it| is_part(it, original))?;
            Some(left.remove(at).clone())
        });
        stood.collect()
    }

    /// Whether an entry that could not be seen is still wanted: a rule for one of its hosts went on waiting, or there never
    /// was one and nobody has changed the rules.
    fn still_wanted(&self, hosts: &[&str], carried: &BTreeSet<String>) -> bool {
        let waits = hosts.iter().any(|it| carried.contains(*it));
        let had_rule = self
            .pending
            .rules
            .iter()
            .any(|it| hosts.contains(&host(it)));
        waits || (!had_rule && self.sent.rules == self.before.rules)
    }

    fn is_own(&self, rule: &Value) -> bool {
        host(rule) == self.own
    }

    /// Whether a tls entry is the one that we add for the managed host.
    fn is_ours(&self, entry: &Value) -> bool {
        self.own_secret.is_some()
            && hosts(entry) == [self.own]
            && entry["secretName"].as_str() == self.own_secret
    }
}

/// Takes the first original that stands as `rule`.
fn take(waiting: &mut Vec<(Value, Value)>, rule: &Value) -> Option<Value> {
    let at = waiting.iter().position(|(stands, _)| stands == rule)?;
    Some(waiting.remove(at).1)
}

/// Whether an entry is an original from which nothing was taken that could be seen.
fn keeps(entry: &Value, original: &Value, stood: Option<&Value>) -> bool {
    let has = hosts(entry);
    is_part(entry, original) && stood.is_none_or(|it| hosts(it).iter().all(|it| has.contains(it)))
}

/// Whether an entry is another one with fewer hosts, or as many.
fn is_part(entry: &Value, original: &Value) -> bool {
    let rest = |it: &Value| {
        let mut it = it.as_object().cloned().unwrap_or_default();
        it.remove("hosts");
        it
    };
    let (few, many) = (hosts(entry), hosts(original));
    rest(entry) == rest(original)
        && few.is_empty() == many.is_empty()
        && few.iter().all(|it| many.contains(it))
}

/// The host of a rule; empty if it has none.
pub(super) fn host(rule: &Value) -> &str {
    rule["host"].as_str().unwrap_or_default()
}

/// The hosts of a tls entry.
pub(super) fn hosts(entry: &Value) -> Vec<&str> {
    let hosts = entry["hosts"].as_array().map(Vec::as_slice);
    let hosts = hosts.unwrap_or_default().iter();
    hosts.filter_map(Value::as_str).collect()
}

/// The same rule under another host.
pub(super) fn rehosted(rule: &Value, host: &str) -> Value {
    let mut rule = rule.as_object().cloned().unwrap_or_default();
    rule.insert("host".to_owned(), json!(host));
    Value::Object(rule)
}

/// A rule for everything that a host is asked for.
fn whole(host: &str, backend: &Value) -> Value {
    json!({
        "host": host,
        "http": { "paths": [{ "path": "/", "pathType": "Prefix", "backend": backend }] },
    })
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}
