//! What is asked, by whom, and what happens if nobody answers.

use serde_json::{Value, json};

use super::*;

fn installation(target: Target) -> Installation {
    Installation {
        namespace: "dns".to_owned(),
        user: "system:serviceaccount:dns:zonewright".to_owned(),
        target,
        ingresses: true,
    }
}

fn rendered(target: Target) -> [Value; 2] {
    let installation = installation(target);
    let bundle = Some("bundle");
    [
        serde_json::to_value(mutating(&installation, bundle)).unwrap(),
        serde_json::to_value(validating(&installation, bundle)).unwrap(),
    ]
}

#[test]
fn ingresses_are_changed_before_they_are_written_or_not_written_at_all() {
    let [mutating, _] = rendered(Target::Service);
    assert_eq!(
        mutating,
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingWebhookConfiguration",
            "metadata": {
                "name": "zonewright-ingresses",
                "labels": { "app.kubernetes.io/managed-by": "zonewright" },
            },
            "webhooks": [{
                "name": "ingresses.zonewright.dev",
                "admissionReviewVersions": ["v1"],
                "clientConfig": {
                    "caBundle": "YnVuZGxl",
                    "service": { "name": "zonewright-webhook", "namespace": "dns", "path": "/mutate/ingresses", "port": 443 },
                },
                "failurePolicy": "Fail",
                "matchPolicy": "Equivalent",
                "namespaceSelector": {},
                "objectSelector": {},
                "reinvocationPolicy": "IfNeeded",
                "rules": [{
                    "apiGroups": ["networking.k8s.io"],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE", "UPDATE"],
                    "resources": ["ingresses"],
                    "scope": "Namespaced",
                }],
                "sideEffects": "None",
                "timeoutSeconds": 10,
            }],
        })
    );
}

#[test]
fn what_guards_domains_fails_and_what_only_helps_is_ignored() {
    let [_, validating] = rendered(Target::Service);
    let webhooks = validating["webhooks"].as_array().unwrap();
    let told: Vec<_> = webhooks
        .iter()
        .map(|webhook| {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let resources = webhook["rules"].as_array().unwrap().iter();
            let resources = resources.flat_map(|rule| rule["resources"].as_array().unwrap());
            (
                text(&webhook["name"]),
                text(&webhook["clientConfig"]["service"]["path"]),
                text(&webhook["failurePolicy"]),
                text(&webhook["sideEffects"]),
                resources.map(text).collect::<Vec<_>>().join(" "),
            )
        })
        .collect();
    let row = |name: &str, path: &str, failure: &str, resources: &str| {
        let owned = str::to_owned;
        (
            owned(name),
            owned(path),
            owned(failure),
            owned("None"),
            owned(resources),
        )
    };
    assert_eq!(
        told,
        [
            row(
                "domainverifications.zonewright.dev",
                "/validate/domainverifications",
                "Fail",
                "domainverifications domainverifications/status",
            ),
            row(
                "objects.zonewright.dev",
                "/validate/objects",
                "Ignore",
                "zones records dnsrecords dnspolicies dnshealthcheckprobes servicerecords",
            ),
            row(
                "ingresses.zonewright.dev",
                "/validate/ingresses",
                "Fail",
                "ingresses"
            ),
        ]
    );
}

#[test]
fn without_custom_domains_nobody_asks_about_ingresses() {
    let off = Installation {
        ingresses: false,
        ..installation(Target::Service)
    };
    assert_eq!(mutating(&off, None).webhooks, Some(Vec::new()));
    let names: Vec<_> = validating(&off, None).webhooks.unwrap();
    let names: Vec<_> = names.iter().map(|webhook| webhook.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "domainverifications.zonewright.dev",
            "objects.zonewright.dev"
        ]
    );
}

#[test]
fn a_url_gets_the_path_and_the_certificate_its_host() {
    for (url, asked, name) in [
        (
            "https://127.0.0.1:9443",
            "https://127.0.0.1:9443/validate/objects",
            "127.0.0.1",
        ),
        (
            "https://[::1]:9443/",
            "https://[::1]:9443/validate/objects",
            "::1",
        ),
        (
            "https://Hooks.example.org",
            "https://Hooks.example.org/validate/objects",
            "hooks.example.org",
        ),
    ] {
        let target = Target::Url(url.to_owned());
        let [_, validating] = rendered(target.clone());
        let config = &validating["webhooks"][1]["clientConfig"];
        assert_eq!(*config, json!({ "caBundle": "YnVuZGxl", "url": asked }));
        assert_eq!(installation(target).names(), Some([name.to_owned()].into()));
    }
}

#[test]
fn in_the_same_process_no_certificate_is_needed() {
    let inside = installation(Target::InProcess);
    assert_eq!(inside.names(), None);
    let webhooks = validating(&inside, None).webhooks.unwrap();
    let config = &webhooks[0].client_config;
    assert_eq!((&config.ca_bundle, &config.url), (&None, &None));
    assert_eq!(config.service.as_ref().unwrap().namespace, "dns");
}

#[test]
fn the_api_finds_the_service_by_the_name_that_the_certificate_has() {
    let names = installation(Target::Service).names().unwrap();
    assert!(names.contains("zonewright-webhook.dns.svc"), "{names:?}");
}

#[test]
fn only_our_own_writes_of_our_own_kinds_are_not_asked_about() {
    let [mutating, validating] = rendered(Target::Service);
    let condition = json!([{
        "name": "not-zonewright",
        "expression": "request.userInfo.username != 'system:serviceaccount:dns:zonewright'",
    }]);
    assert_eq!(validating["webhooks"][0]["matchConditions"], condition);
    assert_eq!(validating["webhooks"][1]["matchConditions"], condition);
    assert_eq!(validating["webhooks"][2]["matchConditions"], Value::Null);
    assert_eq!(mutating["webhooks"][0]["matchConditions"], Value::Null);
}

#[test]
fn a_name_cannot_leave_its_quotes() {
    assert_eq!(quoted(r"a' || true || '\"), r"'a\' || true || \'\\'");
}
