//! The store against the plainest model there is: a copy of everything after every write.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;

type Snapshot = BTreeMap<(String, String), String>;

fn kind() -> Kind {
    Kind::new("example.dev", "things")
}

fn object(namespace: &str, name: &str, content: u8) -> Object {
    let value = json!({ "metadata": { "namespace": namespace, "name": name, "uid": format!("{namespace}-{name}") }, "content": content });
    value.as_object().unwrap().clone()
}

/// What a store holds now, as `content` and revision by place.
fn snapshot<'a>(objects: impl Iterator<Item = (&'a Place, &'a Arc<Stored>)>) -> Snapshot {
    objects
        .map(|(place, stored)| {
            let content = format!("{} at {}", stored.object()["content"], stored.revision());
            (
                (place.namespace.to_string(), place.name.to_string()),
                content,
            )
        })
        .collect()
}

#[derive(Clone, Debug)]
enum Step {
    Put(u8, u8, u8),
    Remove(u8, u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0u8..3, 0u8..4, any::<u8>()).prop_map(|(namespace, name, content)| Step::Put(namespace, name, content)),
        1 => (0u8..3, 0u8..4).prop_map(|(namespace, name)| Step::Remove(namespace, name)),
    ]
}

fn take(store: &mut Store, step: &Step) {
    match step {
        Step::Put(namespace, name, content) => {
            let (namespace, name) = (format!("n{namespace}"), format!("o{name}"));
            store.put(
                &kind().key(&namespace, &name),
                object(&namespace, &name, *content),
            );
        }
        Step::Remove(namespace, name) => {
            store.remove(&kind().key(&format!("n{namespace}"), &format!("o{name}")));
        }
    }
}

proptest! {
    #[test]
    fn every_past_revision_can_be_listed_as_it_was(steps in prop::collection::vec(step(), 1..60)) {
        let mut store = Store::default();
        let mut history = vec![(0, Snapshot::new())];
        for step in &steps {
            take(&mut store, step);
            history.push((store.revision(), snapshot(store.list(&kind(), None, None))));
        }
        for (revision, expected) in &history {
            prop_assert_eq!(&snapshot(store.list_at(&kind(), None, None, *revision).unwrap()), expected);
            let in_one: Snapshot =
                expected.iter().filter(|((namespace, _), _)| namespace == "n1").map(|(place, content)| (place.clone(), content.clone())).collect();
            prop_assert_eq!(snapshot(store.list_at(&kind(), Some("n1"), None, *revision).unwrap()), in_one);
        }
    }

    #[test]
    fn changes_since_any_revision_lead_to_the_present(steps in prop::collection::vec(step(), 1..60)) {
        let mut store = Store::default();
        let mut history = vec![(0, Snapshot::new())];
        for step in &steps {
            take(&mut store, step);
            history.push((store.revision(), snapshot(store.list(&kind(), None, None))));
        }
        let present = snapshot(store.list(&kind(), None, None));
        for (revision, mut state) in history {
            let mut last = revision;
            for change in store.changes(&kind(), revision).unwrap() {
                prop_assert!(change.revision > last, "out of order");
                last = change.revision;
                let place = (change.key.place.namespace.to_string(), change.key.place.name.to_string());
                match change.after() {
                    Some(after) => state.insert(place, format!("{} at {}", after.object()["content"], after.revision())),
                    None => state.remove(&place),
                };
            }
            prop_assert_eq!(&state, &present);
        }
    }

    #[test]
    fn what_is_taken_back_never_happened(kept in prop::collection::vec(step(), 0..30), lost in prop::collection::vec(step(), 0..30)) {
        let mut store = Store::default();
        for step in &kept {
            take(&mut store, step);
        }
        store.take_written();
        let before = snapshot(store.list(&kind(), None, None));
        let revision = store.revision();
        for step in &lost {
            take(&mut store, step);
        }
        let reached = store.revision();
        let written = store.take_written();
        store.take_back(&written);
        prop_assert_eq!(snapshot(store.list(&kind(), None, None)), before);
        prop_assert_eq!(store.changes(&kind(), revision).unwrap().count(), 0);
        prop_assert_eq!(store.revision(), reached, "a revision was used twice");
    }
}

fn owned_by(uid: &str) -> Object {
    let value =
        json!({ "metadata": { "name": "a", "uid": "a", "ownerReferences": [{ "uid": uid }] } });
    value.as_object().unwrap().clone()
}

#[test]
fn dependents_are_found_by_the_uid_of_their_owner() {
    let mut store = Store::default();
    let key = kind().key("", "a");
    store.put(&key, owned_by("one"));
    assert_eq!(store.dependents("one").collect::<Vec<_>>(), [&key]);
    store.put(&key, owned_by("two"));
    assert_eq!(
        (
            store.dependents("one").count(),
            store.dependents("two").count()
        ),
        (0, 1)
    );
    store.take_written();
    store.remove(&key);
    assert_eq!(store.dependents("two").count(), 0);
    let removal = store.take_written();
    store.take_back(&removal);
    assert_eq!(store.dependents("two").count(), 1);
}

#[test]
fn a_loaded_store_has_no_past() {
    let stored = Stored::new(object("n", "a", 1), 7);
    let store = Store::load(9, [(kind().key("n", "a"), stored)]);
    assert_eq!(store.revision(), 9);
    assert_eq!(
        store.changes(&kind(), 8).err(),
        Some(Forgotten { oldest: 9 })
    );
    assert_eq!(store.changes(&kind(), 9).unwrap().count(), 0);
}

#[test]
fn the_log_forgets_the_oldest_and_says_so() {
    let mut store = Store::default();
    let key = kind().key("n", "a");
    for _ in 0..40_000 {
        store.put(&key, object("n", "a", 1));
    }
    let Forgotten { oldest } = store.changes(&kind(), 0).err().unwrap();
    assert!(oldest > 0);
    let first = store
        .changes(&kind(), oldest)
        .unwrap()
        .next()
        .unwrap()
        .revision;
    assert_eq!(first, oldest + 1, "a gap after the floor");
}

#[test]
fn what_is_stored_has_no_version_and_says_its_revision() {
    let mut object = object("n", "a", 1);
    object.insert("apiVersion".into(), "example.dev/v1".into());
    object.insert("kind".into(), "Thing".into());
    let stored = Stored::new(object, 12);
    let value: serde_json::Value = serde_json::from_slice(stored.json()).unwrap();
    assert_eq!(
        value,
        json!({ "metadata": { "namespace": "n", "name": "a", "uid": "n-a", "resourceVersion": "12" }, "content": 1 })
    );
}
