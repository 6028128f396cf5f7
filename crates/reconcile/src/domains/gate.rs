//! The gate: what an Ingress may say, given what is proven (V1, V2).
//!
//! The same function stands at the door, in the webhook, and behind it, in the controller. At the door it takes out what
//! is not proven; behind it, it puts back what has been proven since and adds the managed host beside custom ones. Given
//! what it made itself, it changes nothing.
//!
//! Hosts that nobody can ever prove are refused when they come, and re-hosted for good where they were there before: nobody
//! is locked out of an Ingress that is older than the gate.

use std::collections::{BTreeMap, BTreeSet};

use api::parse::fqdn;
use api::well_known::{annotation, label};
use api::{FieldPath, Problem};
use dns::Name;
use serde_json::{Map, Value, json};

use super::annotations::{self, POWERS, Power};
use super::managed::{Guid, ManagedDomain};
use super::refusal;
use super::seal::Keyring;
use super::wish::{Pending, Reading, Said, Wish, host, hosts, rehosted};

/// An Ingress as somebody wants it, and as it is.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// What is asked for.
    pub object: &'a Value,
    /// What stands there; nothing if it is new.
    pub old: Option<&'a Value>,
    /// Whether it says everything, as what this function made does. What people send is read against what stands there.
    pub whole: bool,
}

impl<'a> Asked<'a> {
    /// An Ingress as it stands.
    pub fn standing(ingress: &'a Value) -> Asked<'a> {
        Asked {
            object: ingress,
            old: Some(ingress),
            whole: true,
        }
    }
}

/// Everything that bears on what an Ingress may say.
#[derive(Clone, Copy, Debug)]
pub struct House<'a> {
    /// Where managed hosts are.
    pub managed: &'a ManagedDomain,
    /// Whose word is believed.
    pub key: &'a Keyring,
    /// The namespace of the Ingress.
    pub namespace_uid: &'a str,
    /// The domains that are proven there.
    pub verified: &'a BTreeSet<Name>,
    /// What the managed host is made from, if the Ingress has none.
    pub drawn: &'a Guid,
}

/// Whether the managed host is added beside custom ones.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fill {
    /// At the door: where everything is proven, nothing changes.
    AsAsked,
    /// Behind it.
    Complete,
}

/// An Ingress as it may be.
#[derive(Clone, Debug, PartialEq)]
pub struct Gated {
    /// The whole object.
    pub object: Value,
    /// Its managed host.
    pub guid: Guid,
    /// The domains of the custom hosts that it is for, proven or not.
    pub uses: Uses,
    /// The domains that have to be proven so that nothing waits any more.
    pub claims: BTreeSet<Name>,
    /// What its author should know.
    pub warnings: Vec<String>,
}

/// The domain of each custom host of an Ingress, with the domain that is claimed to prove it: itself, or an ancestor that the
/// Ingress names.
pub type Uses = BTreeMap<Name, Name>;

/// Makes of an Ingress what it may be; or says what about it can never be.
pub fn gate(asked: Asked<'_>, house: House<'_>, fill: Fill) -> Result<Gated, Vec<Problem>> {
    let mut gate = Gate::new(asked, house);
    let wish = gate.wish();
    gate.judge_annotations();
    let claimed = gate.claimed();
    let spec = gate.project(wish, fill);
    if !gate.problems.is_empty() {
        return Err(gate.problems);
    }
    let uses = gate.uses.iter().map(|domain| match &claimed {
        Some(ancestor) if domain.is_at_or_below(ancestor) => (domain.clone(), ancestor.clone()),
        _ => (domain.clone(), domain.clone()),
    });
    let uses: Uses = uses.collect();
    let claims = gate.waiting.iter().map(|domain| uses[domain].clone());
    Ok(Gated {
        claims: claims.collect(),
        object: gate.object(&spec),
        guid: gate.guid,
        uses,
        warnings: gate.warnings,
    })
}

/// The custom domains that an Ingress is for, proven or not.
pub fn uses(ingress: &Value, managed: &ManagedDomain, key: &Keyring, namespace_uid: &str) -> Uses {
    let nobody = Guid::new([0; Guid::BYTES]);
    let house = House {
        managed,
        key,
        namespace_uid,
        verified: &BTreeSet::new(),
        drawn: &nobody,
    };
    let gated = gate(Asked::standing(ingress), house, Fill::AsAsked);
    gated.map(|it| it.uses).unwrap_or_default()
}

/// Whether an Ingress may stand as it is: it serves no host that is not proven, in no way that is known.
///
/// Rules that say the same under the managed host can be read as each other's copies, so where they stand and how often is
/// not compared.
pub fn may_stand(ingress: &Value, house: House<'_>) -> bool {
    let Ok(gated) = gate(Asked::standing(ingress), house, Fill::AsAsked) else {
        return false;
    };
    let mut may = served(&gated.object);
    may.insert(gated.guid.host(house.managed));
    let mut powers = POWERS.iter().map(|(key, _)| key);
    ingress["spec"]["defaultBackend"].is_null()
        && served(ingress).is_subset(&may)
        && powers.all(|key| annotation_of(ingress, key) == annotation_of(&gated.object, key))
}

/// The hosts of an Ingress; an empty one for a rule without.
fn served(ingress: &Value) -> BTreeSet<String> {
    let said = Said::of(ingress);
    let rules = said.rules.iter().map(host);
    let served = rules.chain(said.tls.iter().flat_map(hosts));
    served.map(str::to_owned).collect()
}

/// How a host stands.
enum Standing {
    /// The managed host of this Ingress.
    Own,
    /// Proven, or below something that is.
    Verified(Name),
    /// To be proven.
    Waiting(Name),
    /// There is none, or one that can never be.
    None,
}

struct Gate<'a> {
    asked: Asked<'a>,
    house: House<'a>,
    guid: Guid,
    own: String,
    /// What was taken out, as it was written.
    removed: Vec<String>,
    uses: BTreeSet<Name>,
    waiting: BTreeSet<Name>,
    /// Annotations that had to go.
    dropped: Vec<&'static str>,
    warnings: Vec<String>,
    problems: Vec<Problem>,
}

/// What is to stand in the spec, and what waits beside it.
struct Projected {
    rules: Vec<Value>,
    tls: Vec<Value>,
    pending: Pending,
}

impl<'a> Gate<'a> {
    fn new(asked: Asked<'a>, house: House<'a>) -> Gate<'a> {
        let sealed = |object: &Value| {
            let text = annotation_of(object, annotation::MANAGED_HOST)?;
            Guid::unseal(text, house.key, house.namespace_uid)
        };
        let standing = asked.old.and_then(sealed);
        let guid = standing.or_else(|| sealed(asked.object));
        let guid = guid.unwrap_or_else(|| house.drawn.clone());
        Gate {
            own: guid.host(house.managed),
            asked,
            house,
            guid,
            removed: Vec::new(),
            uses: BTreeSet::new(),
            waiting: BTreeSet::new(),
            dropped: Vec::new(),
            warnings: Vec::new(),
            problems: Vec::new(),
        }
    }

    fn wish(&self) -> Wish {
        let old = self.asked.old.filter(|_| !self.asked.whole);
        let base = old.unwrap_or(self.asked.object);
        let reading = Reading {
            sent: &Said::of(self.asked.object),
            before: &Said::of(base),
            pending: &Pending::read(annotation_of(base, annotation::PENDING_CUSTOM_HOSTS)),
            own: &self.own,
            own_secret: self.house.managed.tls_secret.as_deref(),
        };
        reading.wish()
    }

    /// What may stand in the spec of what is wanted, and what has to wait.
    fn project(&mut self, wish: Wish, fill: Fill) -> Projected {
        let mut pending = Pending::default();
        let mut rules = Vec::new();
        let mut copies = Vec::new();
        for (index, rule) in wish.rules.into_iter().enumerate() {
            let place = self.place(host(&rule)).unwrap_or(index);
            let field = FieldPath::spec().field("rules").index(place).field("host");
            match self.stands(&field, host(&rule), |old| has_rule(old, host(&rule))) {
                Standing::Own => rules.push(rule),
                Standing::Verified(domain) => {
                    self.uses.insert(domain);
                    copies.push(rehosted(&rule, &self.own));
                    rules.push(rule);
                }
                Standing::Waiting(domain) => {
                    self.wait(host(&rule), domain);
                    rules.push(rehosted(&rule, &self.own));
                    pending.rules.push(rule);
                }
                Standing::None => rules.push(rehosted(&rule, &self.own)),
            }
        }
        for copy in copies {
            let wanted = fill == Fill::Complete || wish.copies.contains(&copy);
            if wanted && !rules.contains(&copy) {
                rules.push(copy);
            }
        }
        let tls = self.project_tls(wish.tls, &rules, &mut pending);
        Projected {
            rules,
            tls,
            pending,
        }
    }

    fn project_tls(
        &mut self,
        wanted: Vec<Value>,
        rules: &[Value],
        pending: &mut Pending,
    ) -> Vec<Value> {
        let mut tls: Vec<Value> = Vec::new();
        let mut whole = true;
        for (index, entry) in wanted.iter().enumerate() {
            let allowed = self.allowed(index, entry);
            let sent = hosts(entry);
            if allowed.len() == sent.len() {
                tls.push(entry.clone());
                continue;
            }
            whole = false;
            if !allowed.is_empty() {
                let mut entry = entry.clone();
                entry["hosts"] = json!(allowed);
                tls.push(entry);
            }
        }
        if !whole {
            pending.tls = wanted;
        }
        let own = self.own.as_str();
        let named = tls.iter().any(|entry| hosts(entry).contains(&own));
        let served = rules.iter().any(|rule| host(rule) == own);
        if let Some(secret) = self
            .house
            .managed
            .tls_secret
            .as_deref()
            .filter(|_| served && !named)
        {
            tls.push(json!({ "hosts": [own], "secretName": secret }));
        }
        tls
    }

    /// The hosts of a tls entry that may stand there.
    fn allowed(&mut self, index: usize, entry: &Value) -> Vec<String> {
        let field = FieldPath::spec().field("tls").index(index).field("hosts");
        let mut allowed = Vec::new();
        for (index, text) in hosts(entry).into_iter().enumerate() {
            let field = field.index(index);
            match self.stands(&field, text, |old| has_tls(old, text)) {
                Standing::Own => allowed.push(text.to_owned()),
                Standing::Verified(domain) => {
                    self.uses.insert(domain);
                    allowed.push(text.to_owned());
                }
                Standing::Waiting(domain) => self.wait(text, domain),
                Standing::None => {}
            }
        }
        allowed
    }

    /// Where a host stands in what was sent.
    fn place(&self, text: &str) -> Option<usize> {
        let rules = self.asked.object["spec"]["rules"].as_array()?;
        rules.iter().position(|rule| host(rule) == text)
    }

    fn wait(&mut self, host: &str, domain: Name) {
        if !self.removed.iter().any(|it| it == host) {
            self.removed.push(host.to_owned());
        }
        self.uses.insert(domain.clone());
        self.waiting.insert(domain);
    }

    /// How a host stands. What can never be is a problem, unless it was there before.
    fn stands(
        &mut self,
        field: &FieldPath,
        text: &str,
        was_there: impl Fn(&Value) -> bool,
    ) -> Standing {
        match self.judged(text) {
            Ok(standing) => standing,
            Err(rule) if self.asked.old.is_some_and(was_there) => {
                self.warnings.push(format!("{field}: {text:?} {rule}"));
                Standing::None
            }
            Err(rule) => {
                self.problems.push(Problem::new(field, rule, text));
                Standing::None
            }
        }
    }

    fn judged(&self, text: &str) -> Result<Standing, String> {
        if text.is_empty() {
            return Ok(Standing::None);
        }
        if text == self.own {
            return Ok(Standing::Own);
        }
        let name = fqdn::parse(text).map_err(|error| error.to_string())?;
        if let Some(refusal) = refusal::judge(&name, self.house.managed) {
            return Err(refusal.rule().to_owned());
        }
        let domain = fqdn::base(&name);
        let verified = self.house.verified.iter();
        let mut verified = verified.filter(|it| domain.is_at_or_below(it));
        Ok(match verified.next() {
            Some(_) => Standing::Verified(domain),
            None => Standing::Waiting(domain),
        })
    }

    /// Annotations that name hosts beside the rules.
    fn judge_annotations(&mut self) {
        for (key, power) in POWERS {
            let Some(value) = annotation_of(self.asked.object, key) else {
                continue;
            };
            let fits =
                |host| matches!(self.judged(host), Ok(Standing::Own | Standing::Verified(_)));
            let rule = match power {
                Power::Hosts if annotations::hosts(value).all(fits) => continue,
                Power::Hosts => {
                    "names a host that is not verified in this namespace; put it into spec.rules first, where it waits until it is"
                }
                Power::Configuration => {
                    "can serve hosts that nobody has verified, so it is not allowed where domains are verified"
                }
            };
            let field = FieldPath::root("metadata").field("annotations").key(key);
            let old = self.asked.old.and_then(|old| annotation_of(old, key));
            if old == Some(value) {
                self.warnings
                    .push(format!("{field} {rule}: it was removed"));
                self.dropped.push(key);
            } else {
                self.problems.push(Problem::new(&field, rule, value));
            }
        }
    }

    /// The ancestor that is claimed instead of exact hosts.
    fn claimed(&mut self) -> Option<Name> {
        let text = annotation_of(self.asked.object, annotation::VERIFY_DOMAIN)?;
        let field = FieldPath::root("metadata")
            .field("annotations")
            .key(annotation::VERIFY_DOMAIN);
        let judged = match fqdn::parse(text) {
            Err(error) => Err(error.to_string()),
            Ok(name) if name.is_wildcard() => Err("must be a domain, not a wildcard".to_owned()),
            Ok(name) => match refusal::judge(&name, self.house.managed) {
                Some(refusal) => Err(refusal.rule().to_owned()),
                None => Ok(name),
            },
        };
        let old = self.asked.old;
        let old = old.and_then(|old| annotation_of(old, annotation::VERIFY_DOMAIN));
        match judged {
            Ok(name) => Some(name),
            Err(rule) if old == Some(text) => {
                self.warnings.push(format!("{field}: {text:?} {rule}"));
                None
            }
            Err(rule) => {
                self.problems.push(Problem::new(&field, rule, text));
                None
            }
        }
    }

    /// The Ingress with everything in its place.
    fn object(&self, projected: &Projected) -> Value {
        let mut object = self.asked.object.clone();
        let spec = fields(&mut object, "spec");
        spec.remove("defaultBackend");
        put(spec, "rules", &projected.rules);
        put(spec, "tls", &projected.tls);
        let waits = !projected.pending.is_empty();
        let metadata = fields(&mut object, "metadata");
        let pending = label::HAS_PENDING_CUSTOM_HOSTS;
        mark(
            metadata,
            "labels",
            pending,
            waits.then(|| "true".to_owned()),
        );
        let sealed = self.guid.sealed(self.house.key, self.house.namespace_uid);
        let annotations = [
            (annotation::MANAGED_HOST, Some(sealed)),
            (
                annotation::PENDING_CUSTOM_HOSTS,
                waits.then(|| projected.pending.write()),
            ),
            (
                annotation::CUSTOM_HOSTS_REMOVED,
                waits.then(|| format!("[{}]", self.removed.join(" "))),
            ),
        ];
        for (key, value) in annotations {
            mark(metadata, "annotations", key, value);
        }
        for key in &self.dropped {
            mark(metadata, "annotations", key, None);
        }
        object
    }
}

fn annotation_of<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object["metadata"]["annotations"][key].as_str()
}

fn has_rule(ingress: &Value, text: &str) -> bool {
    Said::of(ingress)
        .rules
        .iter()
        .any(|rule| host(rule) == text)
}

fn has_tls(ingress: &Value, text: &str) -> bool {
    let said = Said::of(ingress);
    said.tls.iter().any(|entry| hosts(entry).contains(&text))
}

/// The fields of an object inside another one, made if there are none.
fn fields<'a>(object: &'a mut Value, key: &str) -> &'a mut Map<String, Value> {
    if !object[key].is_object() {
        object[key] = json!({});
    }
    object[key]
        .as_object_mut()
        .expect("what is no object was made one")
}

/// A list; nothing where it is empty.
fn put(spec: &mut Map<String, Value>, key: &str, list: &[Value]) {
    if list.is_empty() {
        spec.remove(key);
    } else {
        spec.insert(key.to_owned(), json!(list));
    }
}

/// A label or an annotation, or none. Empty maps are left out, as Kubernetes does.
fn mark(metadata: &mut Map<String, Value>, map: &str, key: &str, value: Option<String>) {
    let mut marks = match metadata.remove(map) {
        Some(Value::Object(marks)) => marks,
        _ => Map::new(),
    };
    match value {
        Some(value) => marks.insert(key.to_owned(), json!(value)),
        None => marks.remove(key),
    };
    if !marks.is_empty() {
        metadata.insert(map.to_owned(), Value::Object(marks));
    }
}
