//! What the collector wants where webhooks have a say.

use super::*;

const CONFIGURATIONS: &str =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

/// A bench with a webhook that has a say in maps, but is asked about none of those here.
fn watched_over() -> Bench {
    let mut bench = Bench::new();
    let rule = json!({ "operations": ["*"], "apiGroups": [""], "apiVersions": ["*"], "resources": ["configmaps"] });
    let webhook = json!({
        "name": "a.example.com",
        "clientConfig": { "url": "https://127.0.0.1:1/" },
        "rules": [rule],
        "objectSelector": { "matchLabels": { "shown": "yes" } },
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    });
    let body = json!({ "metadata": { "name": "a" }, "webhooks": [webhook] });
    bench.object("POST", CONFIGURATIONS, body);
    bench
}

impl Bench {
    /// The one thing that the collector wants now.
    fn errand(&mut self) -> Errand {
        self.collect();
        let mut errands = self.engine.take_errands();
        assert_eq!(errands.len(), 1, "{errands:?}");
        errands.remove(0)
    }

    /// Does what the collector wants, until it wants nothing.
    fn run_errands(&mut self) {
        loop {
            self.collect();
            let errands = self.engine.take_errands();
            if errands.is_empty() {
                return;
            }
            for errand in errands {
                let step = self.engine.handle(&errand.call).unwrap();
                assert!(matches!(step, Step::Done(_)), "{step:?}");
                assert!(self.engine.conclude(errand, None).is_none());
            }
        }
    }
}

#[test]
fn a_dependent_is_deleted_by_request_and_again_after_a_refusal() {
    let mut bench = watched_over();
    let owner = bench.object("POST", MAPS, map("owner"));
    bench.object("POST", MAPS, owned("dependent", &owner));
    bench
        .ask("DELETE", &format!("{MAPS}/owner"), Value::Null)
        .unwrap();
    let refusal = Refusal::internal("not yet");
    let mut pauses = Vec::new();
    for _ in 0..3 {
        let errand = bench.errand();
        assert_eq!(errand.call.verb, Verb::Delete);
        assert_eq!(
            errand.call.user.name,
            "system:serviceaccount:kube-system:generic-garbage-collector"
        );
        let (pause, later) = bench.engine.conclude(errand, Some(&refusal)).unwrap();
        pauses.push(pause.as_millis());
        bench.collect();
        assert!(
            bench.engine.take_errands().is_empty(),
            "it waits for its pause"
        );
        bench.engine.take_up(later);
    }
    assert_eq!(pauses, [50, 100, 200]);
    assert!(bench.exists(&format!("{MAPS}/dependent")));
    bench.run_errands();
    assert!(!bench.exists(&format!("{MAPS}/dependent")));
}

#[test]
fn an_owner_that_has_come_back_meanwhile_keeps_its_dependent() {
    let mut bench = watched_over();
    let owner = bench.object("POST", MAPS, map("owner"));
    let other = bench.object("POST", MAPS, map("other"));
    bench.object("POST", MAPS, owned("dependent", &owner));
    let path = format!("{MAPS}/dependent");
    bench
        .ask("DELETE", &format!("{MAPS}/owner"), Value::Null)
        .unwrap();
    let errand = bench.errand();
    bench.object("PATCH", &path, owned("dependent", &other));
    let refusal = bench.engine.handle(&errand.call).unwrap_err();
    assert_eq!(refusal.code, 409);
    let (_, later) = bench.engine.conclude(errand, Some(&refusal)).unwrap();
    bench.engine.take_up(later);
    bench.run_errands();
    assert!(bench.exists(&path));
}

#[test]
fn what_waits_in_the_foreground_or_is_cut_loose_ends_as_without_webhooks() {
    for (policy, stays) in [("Foreground", false), ("Orphan", true)] {
        let mut bench = watched_over();
        let owner = bench.object("POST", MAPS, map("owner"));
        for name in ["a", "b"] {
            bench.object("POST", MAPS, owned(name, &owner));
        }
        let path = format!("{MAPS}/owner?propagationPolicy={policy}");
        bench.ask("DELETE", &path, Value::Null).unwrap();
        bench.run_errands();
        assert!(!bench.exists(&format!("{MAPS}/owner")));
        for name in ["a", "b"] {
            assert_eq!(bench.exists(&format!("{MAPS}/{name}")), stays);
        }
    }
}

#[test]
fn the_content_of_a_namespace_goes_by_request_kind_by_kind() {
    let mut bench = watched_over();
    let namespaces = "/api/v1/namespaces";
    bench.object("POST", namespaces, map("n"));
    for name in ["a", "b"] {
        bench.object("POST", &format!("{namespaces}/n/configmaps"), map(name));
    }
    bench.object("POST", &format!("{namespaces}/n/secrets"), map("s"));
    bench
        .ask("DELETE", &format!("{namespaces}/n"), Value::Null)
        .unwrap();
    let errand = bench.errand();
    assert_eq!(errand.call.verb, Verb::DeleteCollection);
    assert!(!bench.exists(&format!("{namespaces}/n/secrets/s")));
    bench.engine.handle(&errand.call).unwrap();
    assert!(bench.engine.conclude(errand, None).is_none());
    bench.run_errands();
    assert!(!bench.exists(&format!("{namespaces}/n")));
}
