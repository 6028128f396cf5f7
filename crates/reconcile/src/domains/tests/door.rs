//! What the gate lets through, takes out and refuses.

use api::well_known::{annotation, label};
use serde_json::json;

use super::*;

#[test]
fn a_host_that_is_not_proven_stands_under_the_managed_host_until_it_is() {
    // V2.
    let asked = with_tls(
        ingress(&[("shop.example.com", "shop")]),
        &[(&["shop.example.com"], "shop-tls")],
    );
    let gated = door(&asked, None, &[]).unwrap();
    assert_eq!(rules(&gated.object), pairs(&[("managed", "shop")]));
    assert_eq!(tls(&gated.object), entries(&[]));
    assert_eq!(gated.claims, names(&["shop.example.com"]));
    assert_eq!(
        gated.uses,
        uses_of(&[("shop.example.com", "shop.example.com")])
    );
    let pending = note(&gated.object, annotation::PENDING_CUSTOM_HOSTS).unwrap();
    let pending: Value = serde_json::from_str(pending).unwrap();
    assert_eq!(pending["rules"], asked["spec"]["rules"]);
    assert_eq!(pending["tls"], asked["spec"]["tls"]);
    assert_eq!(
        gated.object["metadata"]["labels"][label::HAS_PENDING_CUSTOM_HOSTS],
        "true"
    );
    let removed = note(&gated.object, annotation::CUSTOM_HOSTS_REMOVED);
    assert_eq!(removed, Some("[shop.example.com]"));
}

#[test]
fn what_is_proven_passes_unchanged_and_gets_the_managed_host_afterwards() {
    // V1, V2, V7.
    let asked = with_tls(
        ingress(&[("example.com", "root"), ("deep.shop.example.com", "shop")]),
        &[(&["example.com"], "tls")],
    );
    let gated = door(&asked, None, &["example.com"]).unwrap();
    assert_eq!(gated.object["spec"], asked["spec"]);
    assert_eq!(gated.claims, names(&[]));
    assert_eq!(note(&gated.object, annotation::PENDING_CUSTOM_HOSTS), None);
    let completed = behind(&gated.object, &["example.com"]);
    let expected = [
        ("example.com", "root"),
        ("deep.shop.example.com", "shop"),
        ("managed", "root"),
        ("managed", "shop"),
    ];
    assert_eq!(rules(&completed), pairs(&expected));
    assert_eq!(tls(&completed), entries(&[(&["example.com"], "tls")]));
    assert_eq!(
        behind(&completed, &["example.com"]),
        completed,
        "once is enough"
    );
}

#[test]
fn what_is_proven_later_comes_back_octet_for_octet() {
    // V7, and the TLS that the peer loses.
    let asked = with_tls(
        ingress(&[
            ("a.example.com", "a"),
            ("b.example.org", "b"),
            ("c.example.com", "c"),
        ]),
        &[
            (&["a.example.com", "b.example.org"], "both"),
            (&["c.example.com"], "c"),
            (&["b.example.org"], "b"),
        ],
    );
    let gated = door(&asked, None, &[]).unwrap().object;
    let some = behind(&gated, &["example.com"]);
    let expected = [
        ("a.example.com", "a"),
        ("managed", "b"),
        ("c.example.com", "c"),
        ("managed", "a"),
        ("managed", "c"),
    ];
    assert_eq!(rules(&some), pairs(&expected));
    assert_eq!(
        tls(&some),
        entries(&[(&["a.example.com"], "both"), (&["c.example.com"], "c")])
    );
    // The webhook sees what the controller writes, and leaves it.
    let seen = written_by_controller(&some, &gated, &["example.com"]);
    assert_eq!(seen, some);
    let all = behind(&some, &["example.com", "example.org"]);
    let originals = asked["spec"]["rules"].as_array().unwrap();
    assert_eq!(&all["spec"]["rules"].as_array().unwrap()[..3], originals);
    assert_eq!(all["spec"]["tls"], asked["spec"]["tls"]);
    assert_eq!(note(&all, annotation::PENDING_CUSTOM_HOSTS), None);
    assert_eq!(note(&all, annotation::CUSTOM_HOSTS_REMOVED), None);
    assert_eq!(all["metadata"]["labels"], Value::Null);
}

#[test]
fn given_what_it_made_the_gate_changes_nothing() {
    let asked = with_tls(
        ingress(&[
            ("a.example.com", "a"),
            ("", "any"),
            ("*.b.example.org", "b"),
        ]),
        &[(&["a.example.com", "*.b.example.org"], "tls")],
    );
    for verified in [&[][..], &["example.com"], &["example.com", "b.example.org"]] {
        let once = door(&asked, None, verified).unwrap().object;
        let twice = door(&once, Some(&once), verified).unwrap().object;
        assert_eq!(twice, once, "{verified:?}");
        let again = door(&once, None, verified).unwrap().object;
        assert_eq!(again, once, "asked again by another webhook, {verified:?}");
        let complete = behind(&once, verified);
        let thrice = written_by_controller(&complete, &once, verified);
        assert_eq!(thrice, complete, "{verified:?}");
    }
}

#[test]
fn a_rule_without_a_host_and_a_default_backend_are_for_the_managed_host_only() {
    // V2: a catch-all on a shared proxy would answer for everybody; neither is given back.
    let mut asked = ingress(&[("", "any")]);
    asked["spec"]["defaultBackend"] =
        json!({ "service": { "name": "rest", "port": { "number": 80 } } });
    let gated = door(&asked, None, &["example.com"]).unwrap();
    assert_eq!(
        rules(&gated.object),
        pairs(&[("managed", "any"), ("managed", "rest")])
    );
    assert_eq!(gated.object["spec"]["defaultBackend"], Value::Null);
    assert_eq!(note(&gated.object, annotation::PENDING_CUSTOM_HOSTS), None);
    assert_eq!(gated.claims, names(&[]));
    let only = json!({ "spec": { "defaultBackend": asked["spec"]["defaultBackend"] } });
    let gated = door(&only, None, &[]).unwrap();
    assert_eq!(rules(&gated.object), pairs(&[("managed", "rest")]));
}

#[test]
fn a_wildcard_needs_its_domain_proven() {
    // V9.
    let asked = ingress(&[("*.example.com", "all")]);
    let waiting = [&["a.example.com"][..], &["example.org"], &[]];
    for verified in waiting {
        let gated = door(&asked, None, verified).unwrap();
        assert_eq!(rules(&gated.object), pairs(&[("managed", "all")]));
        assert_eq!(gated.claims, names(&["example.com"]), "*.x claims x");
    }
    let gated = door(&asked, None, &["example.com"]).unwrap();
    assert_eq!(rules(&gated.object), pairs(&[("*.example.com", "all")]));
}

#[test]
fn a_name_that_only_ends_alike_is_not_below() {
    let gated = door(&ingress(&[("badexample.com", "x")]), None, &["example.com"]).unwrap();
    assert_eq!(rules(&gated.object), pairs(&[("managed", "x")]));
}

#[test]
fn an_ancestor_can_be_claimed_instead_of_the_exact_host() {
    // V2.
    let asked = annotated(
        ingress(&[("a.b.example.com", "x"), ("other.example.org", "y")]),
        annotation::VERIFY_DOMAIN,
        "Example.com",
    );
    let gated = door(&asked, None, &[]).unwrap();
    assert_eq!(gated.claims, names(&["example.com", "other.example.org"]));
    let expected = [
        ("a.b.example.com", "example.com"),
        ("other.example.org", "other.example.org"),
    ];
    assert_eq!(gated.uses, uses_of(&expected));
}

#[test]
fn a_claim_is_made_whatever_else_waits_above_it() {
    // V2: whoever can prove only this host is not kept waiting for the proof of another.
    let asked = [
        (ingress(&[("www.example.com", "x")]), "www.example.com"),
        (
            annotated(
                ingress(&[("a.www.example.com", "x")]),
                annotation::VERIFY_DOMAIN,
                "www.example.com",
            ),
            "www.example.com",
        ),
    ];
    for (ingress, claim) in asked {
        let claims = |verified: &[&str], claimed: &[&str]| {
            let view = IngressView {
                verified: names(verified),
                claimed: names(claimed),
                ..view(&ingress)
            };
            decide_ingress(&view, &managed(), &key(), &Guid::new([7; Guid::BYTES])).claims
        };
        assert_eq!(claims(&[], &["example.com"]), names(&[claim]));
        assert_eq!(claims(&[], &["example.com", claim]), names(&[]));
        assert_eq!(claims(&["example.com"], &["example.com"]), names(&[]));
    }
}

#[test]
fn an_ingress_older_than_the_gate_is_gated_and_comes_back() {
    // V1, V7, F6: the controller writes what the gate made, and the webhook leaves it.
    let old = with_tls(
        ingress(&[("a.example.com", "a"), ("b.example.org", "b")]),
        &[(&["a.example.com", "b.example.org"], "both")],
    );
    for verified in [&[][..], &["example.com"]] {
        let written = behind(&old, verified);
        let stored = written_by_controller(&written, &old, verified);
        assert_eq!(stored, written, "{verified:?}");
        assert_eq!(behind(&stored, verified), stored, "{verified:?}");
        let all = ["example.com", "example.org"];
        let back = behind(&stored, &all);
        assert_eq!(written_by_controller(&back, &stored, &all), back);
        let originals = old["spec"]["rules"].as_array().unwrap();
        assert_eq!(&back["spec"]["rules"].as_array().unwrap()[..2], originals);
        assert_eq!(back["spec"]["tls"], old["spec"]["tls"]);
    }
    // So does whatever its author changes about it first.
    let labelled = annotated(old.clone(), "team", "web");
    let stored = door(&labelled, Some(&old), &[]).unwrap().object;
    assert_eq!(rules(&stored), pairs(&[("managed", "a"), ("managed", "b")]));
}

#[test]
fn a_host_that_nobody_can_prove_is_refused_by_field_and_rule() {
    // V9.
    let stolen = "00112233445566778899aabbccddeeff.apps.example.net";
    let cases = [
        ("co.uk", "is a public suffix"),
        ("*.co.uk", "a wildcard must not stand for everybody's names"),
        ("github.io", "is a public suffix"),
        ("apps.example.net", "is in the managed domain"),
        ("x.apps.example.net", "is in the managed domain"),
        (stolen, "is in the managed domain"),
        (
            "api.default.svc.cluster.local",
            "is in the cluster's domain",
        ),
        ("printer.local", "is a special-use name"),
        ("localhost", "at least two labels"),
        ("192.0.2.1", "address"),
        ("a..example.com", "label"),
    ];
    for (host, rule) in cases {
        let problems =
            door(&ingress(&[("ok.example.com", "x"), (host, "y")]), None, &[]).unwrap_err();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(
            problems[0].starts_with("spec.rules[1].host: "),
            "{problems:?}"
        );
        assert!(problems[0].contains(rule), "{problems:?}");
        let tls = with_tls(ingress(&[("ok.example.com", "x")]), &[(&[host], "s")]);
        let problems = door(&tls, None, &[]).unwrap_err();
        assert!(
            problems[0].starts_with("spec.tls[0].hosts[0]: "),
            "{problems:?}"
        );
    }
    let claim = annotated(
        ingress(&[("a.co.uk", "x")]),
        annotation::VERIFY_DOMAIN,
        "co.uk",
    );
    let problems = door(&claim, None, &[]).unwrap_err();
    assert!(problems[0].contains("verify-domain"), "{problems:?}");
}

#[test]
fn who_has_had_such_a_host_since_before_is_not_locked_out() {
    let old = with_tls(
        ingress(&[("printer.local", "x")]),
        &[(&["printer.local"], "s")],
    );
    let gated = door(&old, Some(&old), &[]).unwrap();
    assert_eq!(rules(&gated.object), pairs(&[("managed", "x")]));
    assert_eq!(tls(&gated.object), entries(&[]));
    assert_eq!(gated.claims, names(&[]));
    assert!(
        gated.warnings[0].contains("special-use"),
        "{:?}",
        gated.warnings
    );
}

#[test]
fn case_dots_and_spellings_do_not_pass_for_another_host() {
    // V9: compared in canonical form; Kubernetes itself refuses all but the first.
    let cases = ["shop.example.com", "SHOP.example.com", "shop.example.com."];
    for host in cases {
        let gated = door(&ingress(&[(host, "x")]), None, &[]).unwrap();
        assert_eq!(rules(&gated.object), pairs(&[("managed", "x")]), "{host}");
        assert_eq!(gated.claims, names(&["shop.example.com"]));
    }
    for host in [
        "pаypal.com",
        "xn--.com",
        "a_b.example.com",
        "a%2eb.example.com",
    ] {
        assert!(door(&ingress(&[(host, "x")]), None, &[]).is_err(), "{host}");
    }
}

#[test]
fn hosts_in_annotations_are_judged_too() {
    // Hosts outside of rules and tls.
    let plain = ingress(&[("example.com", "x")]);
    let lists = [
        "nginx.ingress.kubernetes.io/server-alias",
        "external-dns.alpha.kubernetes.io/hostname",
        "cert-manager.io/common-name",
    ];
    for key in lists {
        let good = annotated(plain.clone(), key, "a.example.com, b.example.com");
        assert!(door(&good, None, &["example.com"]).is_ok(), "{key}");
        let bad = annotated(plain.clone(), key, "a.example.com victim.example.org");
        let problems = door(&bad, None, &["example.com"]).unwrap_err();
        assert!(problems[0].contains(key), "{problems:?}");
        // One that is older than the gate goes.
        let gated = door(&bad, Some(&bad), &["example.com"]).unwrap();
        assert_eq!(note(&gated.object, key), None);
        assert!(!gated.warnings.is_empty());
    }
    let snippet = "nginx.ingress.kubernetes.io/server-snippet";
    let asked = annotated(plain, snippet, "} server { server_name victim.example.org;");
    assert!(door(&asked, None, &["example.com"]).is_err());
}

#[test]
fn the_class_of_an_ingress_does_not_matter() {
    // The gate is on for every Ingress.
    for class in [None, Some("nginx"), Some("other")] {
        let mut asked = ingress(&[("a.example.com", "x")]);
        asked["spec"]["ingressClassName"] = json!(class);
        let gated = door(&asked, None, &[]).unwrap();
        assert_eq!(rules(&gated.object), pairs(&[("managed", "x")]));
        assert_eq!(gated.object["spec"]["ingressClassName"], json!(class));
    }
}

#[test]
fn the_managed_host_is_kept_and_cannot_be_chosen() {
    // V1.
    let key = annotation::MANAGED_HOST;
    let first = door(&ingress(&[("", "x")]), None, &[]).unwrap().object;
    let sealed = note(&first, key).unwrap().to_owned();
    // Left out or overwritten on update: the old one stands.
    for sent in [
        ingress(&[("", "x")]),
        annotated(ingress(&[("", "x")]), key, "mine"),
    ] {
        let updated = door(&sent, Some(&first), &[]).unwrap().object;
        assert_eq!(note(&updated, key), Some(sealed.as_str()));
    }
    // One that we did not write for this namespace is replaced.
    let victim = Guid::new([9; Guid::BYTES]);
    let stolen = victim.sealed(&super::key(), "uid-of-another-namespace");
    let forged = "09090909090909090909090909090909.00".to_owned();
    for value in [stolen, forged, String::new()] {
        let gated = door(&annotated(ingress(&[("", "x")]), key, &value), None, &[]).unwrap();
        assert_eq!(note(&gated.object, key), Some(sealed.as_str()), "{value}");
    }
}

#[test]
fn the_managed_host_has_the_certificate_that_the_operator_names() {
    let asked = with_tls(
        ingress(&[("a.example.com", "a")]),
        &[(&["a.example.com"], "a-tls")],
    );
    let managed = ManagedDomain {
        tls_secret: Some("apps-tls".to_owned()),
        ..managed()
    };
    let (key, drawn) = (key(), Guid::new([7; Guid::BYTES]));
    let gate_with = |object: &Value, verified: &[&str], fill| {
        let verified = names(verified);
        let house = House {
            managed: &managed,
            key: &key,
            namespace_uid: UID,
            verified: &verified,
            drawn: &drawn,
        };
        gate(Asked::standing(object), house, fill).unwrap().object
    };
    let waiting = gate_with(&asked, &[], Fill::AsAsked);
    assert_eq!(tls(&waiting), entries(&[(&["managed"], "apps-tls")]));
    assert_eq!(gate_with(&waiting, &[], Fill::AsAsked), waiting);
    let back = gate_with(&waiting, &["example.com"], Fill::Complete);
    let both: [(&[&str], &str); 2] = [(&["a.example.com"], "a-tls"), (&["managed"], "apps-tls")];
    assert_eq!(tls(&back), entries(&both));
}
