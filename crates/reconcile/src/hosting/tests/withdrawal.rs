//! What a record that is being deleted is withdrawn with, when its Secret is gone (P6).

use super::*;

const HOUR: Duration = KEPT_FOR;
const TYPE: &str = "kuadrant.io/inmemory";

fn leading(leads: Leads) -> Secret {
    secret(&Kind {
        default: false,
        leads,
    })
}

fn secret_key() -> SecretKey {
    SecretKey::new("red", "s0")
}

fn live() -> Shape {
    Shape {
        published: Some((0, [0].into())),
        ..shape(Some(0))
    }
}

fn deleted() -> Shape {
    Shape {
        deleting: true,
        ..live()
    }
}

/// A record of `red`.
struct Case {
    hosting: Hosting,
    key: DnsRecordKey,
}

impl Case {
    /// A Secret, and a record that names it.
    fn new(shape: &Shape) -> Case {
        let mut case = Case {
            hosting: hosting(),
            key: DnsRecordKey::new("red", "r0"),
        };
        let secret = leading(Leads::There);
        case.hosting.apply_secret(&secret_key(), &secret);
        case.becomes(shape);
        case
    }

    /// The same, after a pass that has reached the zone.
    fn published() -> Case {
        let mut case = Case::new(&live());
        case.passes(true);
        case
    }

    fn becomes(&mut self, shape: &Shape) {
        let object = record(&self.key, shape);
        self.hosting.apply_record(&self.key, object);
    }

    fn passes(&mut self, reached: bool) {
        let inputs = self.hosting.inputs(&self.key).unwrap();
        self.hosting.passed(&self.key, inputs, reached);
    }

    fn loses_its_secret(&mut self, now: Duration) -> BTreeSet<DnsRecordKey> {
        self.hosting.delete_secret(&secret_key(), TYPE, now)
    }

    #[track_caller]
    fn check(&self, says: &str) {
        let view = self.hosting.view(&self.key).unwrap();
        assert_eq!(told(&view.provider), says);
    }
}

#[test]
fn what_a_secret_said_last_serves_withdrawal_alone() {
    let mut case = Case::published();
    assert_eq!(
        case.loses_its_secret(Duration::ZERO),
        [case.key.clone()].into()
    );
    case.check("no s0");
    case.becomes(&deleted());
    case.check("s0 there");
}

#[test]
fn it_serves_no_record_that_was_not_published_with_it() {
    // Nor one that is made to be deleted at once, with an owner id and a finalizer of somebody's choice.
    for published in [None, Some((1, [0].into()))] {
        let mut case = Case::published();
        case.key = DnsRecordKey::new("red", "r1");
        let stranger = Shape {
            published,
            ..deleted()
        };
        case.becomes(&stranger);
        case.loses_its_secret(Duration::ZERO);
        case.check("no s0");
    }
}

#[test]
fn what_never_worked_is_not_kept() {
    let mut case = Case::new(&live());
    case.passes(false);
    case.loses_its_secret(Duration::ZERO);
    case.becomes(&deleted());
    case.check("no s0");
    assert_eq!(case.hosting.kept_until(), None);
}

#[test]
fn what_worked_before_the_secret_was_changed_is_not_kept() {
    let mut case = Case::published();
    let elsewhere = leading(Leads::Elsewhere);
    case.hosting.apply_secret(&secret_key(), &elsewhere);
    case.loses_its_secret(Duration::ZERO);
    assert_eq!(case.hosting.kept_until(), None);
}

#[test]
fn what_worked_for_another_process_is_kept() {
    let mut hosting = hosting();
    let mut secret = leading(Leads::There);
    secret.metadata.uid = Some("u".to_owned());
    secret.metadata.resource_version = Some("7".to_owned());
    hosting.apply_secret(&secret_key(), &secret);
    let key = DnsRecordKey::new("red", "r0");
    for (ready, version, kept) in [
        ("True", "u/7", true),
        ("False", "u/7", false),
        ("True", "u/6", false),
    ] {
        let mut hosting = Case::new(&live()).hosting;
        hosting.apply_secret(&secret_key(), &secret);
        let mut object = record(&key, &live()).into_result().unwrap();
        let status = object.status.as_mut().unwrap();
        status.secret_version = Some(version.to_owned());
        let ready = json!({
            "type": "Ready", "status": ready, "reason": "x", "message": "", "lastTransitionTime": "2026-03-04T05:06:07Z",
        });
        status.conditions = vec![serde_json::from_value(ready).unwrap()];
        hosting.apply_record(&key, Decoded::Object(object));
        hosting.delete_secret(&secret_key(), TYPE, Duration::ZERO);
        assert_eq!(hosting.kept_until().is_some(), kept, "{version}");
    }
}

#[test]
fn a_secret_that_comes_back_counts_and_not_what_it_said_before() {
    let mut case = Case::published();
    case.loses_its_secret(Duration::ZERO);
    case.becomes(&deleted());
    let nowhere = leading(Leads::Nowhere);
    let told = case.hosting.apply_secret(&secret_key(), &nowhere);
    assert_eq!(told, [case.key.clone()].into());
    case.check("bad s0");
    case.loses_its_secret(Duration::ZERO);
    case.check("no s0");
}

#[test]
fn a_secret_that_changed_its_type_is_not_gone() {
    // Each type has a watch of its own, and the new one may be told first.
    let mut case = Case::published();
    let zone = leading(Leads::Zone);
    case.hosting.apply_secret(&secret_key(), &zone);
    assert_eq!(case.loses_its_secret(Duration::ZERO), BTreeSet::new());
    case.check("s0 red/there");
    assert_eq!(case.hosting.kept_until(), None);
}

#[test]
fn after_an_hour_it_is_forgotten_and_those_who_used_it_are_told() {
    let mut case = Case::published();
    let now = Duration::from_secs(5);
    case.loses_its_secret(now);
    case.becomes(&deleted());
    case.passes(true);
    assert_eq!(case.hosting.kept_until(), Some(now + HOUR));
    let early = case.hosting.expire(HOUR);
    assert_eq!(early, BTreeSet::new());
    case.check("s0 there");
    let told = case.hosting.expire(now + HOUR);
    assert_eq!(told, [case.key.clone()].into());
    case.check("no s0");
    let node = &case.hosting.records[&case.key];
    assert!(node.seen.is_none(), "nor does the record remember it");
}

#[test]
fn it_is_forgotten_with_the_last_record_that_could_need_it() {
    let mut case = Case::published();
    case.loses_its_secret(Duration::ZERO);
    case.hosting.delete_record(&case.key);
    assert_eq!(case.hosting.kept_until(), None);
}

#[test]
fn a_default_secret_that_is_gone_serves_those_it_was_the_default_of() {
    let mut case = Case::new(&shape(None));
    let default = secret(&Kind {
        default: true,
        leads: Leads::There,
    });
    case.hosting.apply_secret(&secret_key(), &default);
    let nameless = |shape| Shape {
        secret: None,
        ..shape
    };
    case.becomes(&nameless(live()));
    case.passes(true);
    case.loses_its_secret(Duration::ZERO);
    case.check("no default");
    case.becomes(&nameless(deleted()));
    case.check("s0 there");
}

#[test]
fn what_a_zone_of_this_cluster_holds_is_withdrawn_without_a_secret() {
    let key = DnsRecordKey::new("red", "r0");
    let labelled = |shape: &Shape| {
        let mut object = record(&key, shape).into_result().unwrap();
        let labels = object.metadata.labels.get_or_insert_default();
        labels.insert(label::PROVIDER_NAME.to_owned(), "zone".to_owned());
        Decoded::Object(object)
    };
    let elsewhere = Shape {
        published: Some((1, [0].into())),
        ..deleted()
    };
    // Whether there never was a Secret, or there is one that is of no use.
    for unusable in [None, Some(Leads::Nowhere), Some(Leads::Elsewhere)] {
        let mut hosting = hosting();
        if let Some(leads) = unusable {
            hosting.apply_secret(&secret_key(), &leading(leads));
        }
        let mut view = |shape: &Shape| {
            hosting.apply_record(&key, labelled(shape));
            hosting.view(&key).unwrap()
        };
        assert!(view(&live()).provider.is_err(), "{unusable:?}");
        let view_deleted = view(&deleted());
        let provider = view_deleted.provider.unwrap();
        assert_eq!(provider.access.credentials, Credentials::Zone);
        assert_eq!(provider.access.place.unwrap().zone, "there");
        assert!(view_deleted.in_cluster);
        // What is elsewhere is not taken for Records.
        let moved = view(&elsewhere);
        assert!(moved.provider.is_err() && !moved.in_cluster);
    }
}

#[test]
fn the_end_of_a_namespace_concerns_those_who_are_being_deleted() {
    let mut case = Case::new(&deleted());
    let other = DnsRecordKey::new("red", "r1");
    case.hosting.apply_record(&other, record(&other, &live()));
    let ending: Namespace = serde_json::from_value(json!({
        "metadata": { "name": "red", "uid": "n", "deletionTimestamp": "2026-03-04T05:06:07Z" },
    }))
    .unwrap();
    let told = case.hosting.apply_namespace("red", Some(&ending));
    assert_eq!(told, [case.key.clone()].into());
    let ending_of = |case: &Case| case.hosting.view(&case.key).unwrap().ending;
    assert_eq!(ending_of(&case).as_deref(), Some("n"));
    assert_eq!(case.hosting.namespaces().collect::<Vec<_>>(), ["red"]);
    let told = case.hosting.apply_namespace("red", Some(&ending));
    assert_eq!(told, BTreeSet::new(), "once");
    case.hosting.apply_namespace("red", None);
    assert_eq!(ending_of(&case), None);
    assert_eq!(case.hosting.namespaces().count(), 0);
}
