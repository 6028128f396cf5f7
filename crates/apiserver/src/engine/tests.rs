//! The engine without anything around it: requests in, answers out, the clock by hand.

mod errands;

use http::Method;
use rand::SeedableRng as _;
use serde_json::{Value, json};

use super::*;
use crate::object::ObjectExt as _;
use crate::patch::PatchKind;
use crate::request::Route;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

struct Bench {
    engine: Engine,
    now: Timestamp,
}

impl Bench {
    fn new() -> Self {
        let engine = Engine::new(Store::default(), StdRng::seed_from_u64(1));
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        let mut bench = Self { engine, now };
        bench
            .ask(
                "POST",
                "/api/v1/namespaces",
                json!({ "metadata": { "name": "default" } }),
            )
            .unwrap();
        bench
    }

    fn call(&self, method: &str, path: &str, body: Value) -> Call {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let Some(Route::Objects(target)) = Route::of(path) else {
            panic!("{path} names no objects")
        };
        let query = Query::parse(query);
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let body = (!body.is_null()).then(|| Body {
            value: body,
            duplicates: Vec::new(),
            repeated: None,
        });
        Call {
            user: User::admin(),
            verb: Verb::of(&method, &target, &query).unwrap(),
            target,
            query,
            body,
            patch: (method == Method::PATCH).then_some(Patch::Change(PatchKind::Merge)),
            user_agent: None,
            now: self.now,
        }
    }

    fn ask(&mut self, method: &str, path: &str, body: Value) -> Result<Content, Refusal> {
        let call = self.call(method, path, body);
        match self.engine.handle(&call)? {
            Step::Done(answer) => Ok(answer.content),
            other @ (Step::Ask(..) | Step::Again) => panic!("not an answer: {other:?}"),
        }
    }

    /// The object in the answer to a request that succeeds with one.
    fn object(&mut self, method: &str, path: &str, body: Value) -> Object {
        match self.ask(method, path, body).unwrap() {
            Content::Object { object, .. } => object.object(),
            other @ (Content::List { .. }
            | Content::Watch(_)
            | Content::Token { .. }
            | Content::Document { .. }) => {
                panic!("not an object: {other:?}")
            }
        }
    }

    fn exists(&mut self, path: &str) -> bool {
        self.ask("GET", path, Value::Null).is_ok()
    }

    fn watch(&mut self, path: &str) -> Subscription {
        match self.ask("GET", path, Value::Null).unwrap() {
            Content::Watch(subscription) => subscription,
            other @ (Content::Object { .. }
            | Content::List { .. }
            | Content::Token { .. }
            | Content::Document { .. }) => {
                panic!("not a watch: {other:?}")
            }
        }
    }

    /// What a watch has to tell, as `ADDED a`.
    fn events(&self, watch: &mut Subscription) -> Result<Vec<String>, watch::Lagging> {
        let up_to = self.engine.store().revision();
        let mut events = watch.beginning(usize::MAX);
        events.extend(self.engine.catch_up(watch, up_to, usize::MAX)?);
        let told = events.iter().map(|event| match event {
            Event::Object(happened, stored) => format!("{happened:?} {}", stored.object().name()),
            Event::Bookmark { .. } => "Bookmark".to_owned(),
        });
        Ok(told.collect())
    }

    /// Does everything that follows from what was done.
    fn collect(&mut self) {
        while self.engine.collect(self.now) {}
    }
}

fn map(name: &str) -> Value {
    json!({ "metadata": { "name": name } })
}

fn owned(name: &str, owner: &Object) -> Value {
    let reference = json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": owner.name(), "uid": owner.uid(), "blockOwnerDeletion": true });
    json!({ "metadata": { "name": name, "ownerReferences": [reference] } })
}

#[test]
fn an_update_that_changes_nothing_writes_nothing() {
    let mut bench = Bench::new();
    bench.object("POST", MAPS, map("a"));
    let revision = bench.engine.store().revision();
    bench.object("PUT", &format!("{MAPS}/a"), map("a"));
    bench.object("PATCH", &format!("{MAPS}/a"), json!({}));
    assert_eq!(bench.engine.store().revision(), revision);
}

#[test]
fn a_dry_run_answers_as_if_and_writes_nothing() {
    let mut bench = Bench::new();
    let revision = bench.engine.store().revision();
    let made = bench.object("POST", &format!("{MAPS}?dryRun=All"), map("a"));
    assert!(!made.uid().is_empty());
    assert!(!bench.exists(&format!("{MAPS}/a")));
    bench.object("POST", MAPS, map("b"));
    bench
        .ask("DELETE", &format!("{MAPS}/b?dryRun=All"), Value::Null)
        .unwrap();
    bench
        .ask(
            "PATCH",
            &format!("{MAPS}/b?dryRun=All"),
            json!({ "data": { "a": "1" } }),
        )
        .unwrap();
    assert_eq!(bench.engine.store().revision(), revision + 1);
}

#[test]
fn the_last_finalizer_taken_away_is_the_end() {
    let mut bench = Bench::new();
    bench.object(
        "POST",
        MAPS,
        json!({ "metadata": { "name": "a", "finalizers": ["x.dev/1", "x.dev/2"] } }),
    );
    let path = format!("{MAPS}/a");
    let going = bench.object("DELETE", &path, Value::Null);
    assert!(going.is_deleting());
    bench.object(
        "PATCH",
        &path,
        json!({ "metadata": { "finalizers": ["x.dev/2"] } }),
    );
    assert!(bench.exists(&path));
    bench.object(
        "PATCH",
        &path,
        json!({ "metadata": { "finalizers": null } }),
    );
    assert!(!bench.exists(&path));
}

#[test]
fn dependents_go_after_their_owner_in_the_background() {
    let mut bench = Bench::new();
    let owner = bench.object("POST", MAPS, map("owner"));
    let child = bench.object("POST", MAPS, owned("child", &owner));
    bench.object("POST", MAPS, owned("grandchild", &child));
    bench
        .ask("DELETE", &format!("{MAPS}/owner"), Value::Null)
        .unwrap();
    assert!(bench.exists(&format!("{MAPS}/child")));
    bench.collect();
    assert!(
        !bench.exists(&format!("{MAPS}/child")) && !bench.exists(&format!("{MAPS}/grandchild"))
    );
}

#[test]
fn an_owner_in_the_foreground_goes_last() {
    let mut bench = Bench::new();
    let owner = bench.object("POST", MAPS, map("owner"));
    let mut child = owned("child", &owner);
    child["metadata"]["finalizers"] = json!(["x.dev/1"]);
    bench.object("POST", MAPS, child);
    bench
        .ask(
            "DELETE",
            &format!("{MAPS}/owner?propagationPolicy=Foreground"),
            Value::Null,
        )
        .unwrap();
    bench.collect();
    assert!(
        bench.exists(&format!("{MAPS}/owner")),
        "its dependent is still held"
    );
    bench.object(
        "PATCH",
        &format!("{MAPS}/child"),
        json!({ "metadata": { "finalizers": null } }),
    );
    bench.collect();
    assert!(!bench.exists(&format!("{MAPS}/owner")));
}

#[test]
fn orphans_stay_and_forget_their_owner() {
    let mut bench = Bench::new();
    let owner = bench.object("POST", MAPS, map("owner"));
    bench.object("POST", MAPS, owned("child", &owner));
    bench
        .ask(
            "DELETE",
            &format!("{MAPS}/owner?propagationPolicy=Orphan"),
            Value::Null,
        )
        .unwrap();
    bench.collect();
    assert!(!bench.exists(&format!("{MAPS}/owner")));
    let child = bench.object("GET", &format!("{MAPS}/child"), Value::Null);
    assert!(!child.metadata().unwrap().contains_key("ownerReferences"));
}

#[test]
fn an_object_whose_owner_never_was_goes() {
    let mut bench = Bench::new();
    let mut ghost = bench.object("POST", &format!("{MAPS}?dryRun=All"), map("ghost"));
    ghost
        .metadata_mut()
        .insert("uid".into(), "not-there".into());
    bench.object("POST", MAPS, owned("child", &ghost));
    bench.collect();
    assert!(!bench.exists(&format!("{MAPS}/child")));
}

#[test]
fn an_object_with_one_owner_left_stays() {
    let mut bench = Bench::new();
    let (one, two) = (
        bench.object("POST", MAPS, map("one")),
        bench.object("POST", MAPS, map("two")),
    );
    let mut child = owned("child", &one);
    child["metadata"]["ownerReferences"]
        .as_array_mut()
        .unwrap()
        .push(owned("x", &two)["metadata"]["ownerReferences"][0].clone());
    bench.object("POST", MAPS, child);
    bench
        .ask("DELETE", &format!("{MAPS}/one"), Value::Null)
        .unwrap();
    bench.collect();
    let child = bench.object("GET", &format!("{MAPS}/child"), Value::Null);
    assert_eq!(
        child["metadata"]["ownerReferences"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn a_watch_with_a_selector_sees_objects_come_and_go() {
    let mut bench = Bench::new();
    let revision = bench.engine.store().revision();
    let mut watch = bench.watch(&format!(
        "{MAPS}?watch=1&labelSelector=a%3D1&resourceVersion={revision}"
    ));
    bench.object("POST", MAPS, map("a"));
    bench.object(
        "PATCH",
        &format!("{MAPS}/a"),
        json!({ "metadata": { "labels": { "a": "1" } } }),
    );
    bench.object(
        "PATCH",
        &format!("{MAPS}/a"),
        json!({ "data": { "x": "1" } }),
    );
    bench.object(
        "PATCH",
        &format!("{MAPS}/a"),
        json!({ "metadata": { "labels": null } }),
    );
    assert_eq!(
        bench.events(&mut watch).unwrap(),
        ["Added a", "Modified a", "Deleted a"]
    );
    assert_eq!(bench.events(&mut watch).unwrap(), Vec::<String>::new());
}

#[test]
fn a_watch_that_falls_behind_is_told_so_and_others_are_not() {
    let mut bench = Bench::new();
    let mut slow = bench.watch(&format!("{MAPS}?watch=1"));
    let mut quick = bench.watch(&format!("{MAPS}?watch=1"));
    bench.object("POST", MAPS, map("a"));
    let big = "x".repeat(500_000);
    for round in 0..400 {
        bench.object(
            "PATCH",
            &format!("{MAPS}/a"),
            json!({ "data": { "x": format!("{round}{big}") } }),
        );
        bench.events(&mut quick).unwrap();
    }
    let lagging = bench.events(&mut slow).unwrap_err();
    assert_eq!(
        (lagging.refusal().code, lagging.refusal().reason),
        (410, "Expired")
    );
}

#[test]
fn a_namespace_that_is_going_takes_nothing_in() {
    let mut bench = Bench::new();
    bench.object(
        "POST",
        "/api/v1/namespaces",
        json!({ "metadata": { "name": "team" } }),
    );
    let maps = "/api/v1/namespaces/team/configmaps";
    bench.object(
        "POST",
        maps,
        json!({ "metadata": { "name": "held", "finalizers": ["x.dev/1"] } }),
    );
    bench
        .ask("DELETE", "/api/v1/namespaces/team", Value::Null)
        .unwrap();
    bench.collect();
    let refused = bench.ask("POST", maps, map("late")).unwrap_err();
    assert_eq!((refused.code, refused.reason), (403, "Forbidden"));
    bench.object(
        "PATCH",
        &format!("{maps}/held"),
        json!({ "metadata": { "finalizers": null } }),
    );
    bench.collect();
    assert!(!bench.exists("/api/v1/namespaces/team"));
}

#[test]
fn what_is_taken_back_leaves_no_trace() {
    let mut bench = Bench::new();
    bench.object("POST", MAPS, map("kept"));
    bench.engine.take_written();
    let mut watch = bench.watch(&format!(
        "{MAPS}?watch=1&resourceVersion={}",
        bench.engine.store().revision()
    ));
    bench.object("POST", MAPS, map("lost"));
    bench
        .ask("DELETE", &format!("{MAPS}/kept"), Value::Null)
        .unwrap();
    let written = bench.engine.take_written();
    bench.engine.take_back(&written);
    assert!(bench.exists(&format!("{MAPS}/kept")) && !bench.exists(&format!("{MAPS}/lost")));
    assert_eq!(bench.events(&mut watch).unwrap(), Vec::<String>::new());
    bench.object("POST", MAPS, map("next"));
    assert_eq!(bench.events(&mut watch).unwrap(), ["Added next"]);
}

#[test]
fn a_token_is_asked_for_an_account_that_is_there() {
    let mut bench = Bench::new();
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    assert_eq!(
        bench
            .ask("POST", &format!("{accounts}/a/token"), json!({}))
            .unwrap_err()
            .code,
        404
    );
    bench.object("POST", accounts, map("a"));
    assert!(matches!(
        bench
            .ask("POST", &format!("{accounts}/a/token"), json!({}))
            .unwrap(),
        Content::Token { .. }
    ));
}
