//! Which webhooks a request concerns.

use super::*;
use crate::refusal::Refusal;

/// The names of the webhooks that are asked, in their order.
fn asked(registry: &Registry, attributes: &Attributes) -> Result<Vec<String>, Refusal> {
    let mut names = Vec::new();
    for hook in registry.concerned(Phase::Validating, &attributes.resource) {
        if attributes.concern(&hook)?.is_some() {
            names.push(hook.name.clone());
        }
    }
    Ok(names)
}

fn is_asked(but: Value, attributes: &Attributes) -> bool {
    let registry = registry(Phase::Validating, &[("c", vec![webhook("w", but)])]);
    asked(&registry, attributes).unwrap() == ["w"]
}

fn rule(operations: &[&str], group: &str, version: &str, resource: &str) -> Value {
    json!({ "rules": [{ "operations": operations, "apiGroups": [group], "apiVersions": [version], "resources": [resource] }] })
}

#[test]
fn rules_name_operations_groups_versions_and_kinds() {
    for (but, matches) in [
        (rule(&["CREATE"], "", "v1", "configmaps"), true),
        (rule(&["*"], "*", "*", "*"), true),
        (rule(&["*"], "", "v1", "*/*"), true),
        (rule(&["*"], "", "v1", "configmaps/*"), true),
        (rule(&["*"], "", "v1", "configmaps/status"), false),
        (rule(&["*"], "", "v1", "*/status"), false),
        (
            rule(&["UPDATE", "DELETE", "CONNECT"], "", "v1", "configmaps"),
            false,
        ),
        (rule(&["*"], "apps", "v1", "configmaps"), false),
        (rule(&["*"], "", "v2", "configmaps"), false),
        (rule(&["*"], "", "v1", "secrets"), false),
    ] {
        assert_eq!(is_asked(but.clone(), &attributes()), matches, "{but}");
    }
}

#[test]
fn what_is_below_an_object_is_named_by_itself() {
    let status = Attributes {
        subresource: "status".to_owned(),
        ..attributes()
    };
    for (resources, matches) in [
        ("configmaps", false),
        ("*", false),
        ("configmaps/status", true),
        ("configmaps/*", true),
        ("*/status", true),
        ("*/*", true),
        ("configmaps/scale", false),
    ] {
        let but = rule(&["*"], "", "v1", resources);
        assert_eq!(is_asked(but, &status), matches, "{resources}");
    }
}

#[test]
fn scope_tells_objects_in_namespaces_from_others() {
    let scoped = |scope: &str| {
        let mut but = rule(&["*"], "*", "*", "*");
        but["rules"][0]["scope"] = scope.into();
        but
    };
    let namespace = Attributes {
        resource: resource("namespaces"),
        name: "a".to_owned(),
        ..attributes()
    };
    for (scope, in_one, is_one) in [
        ("*", true, true),
        ("Namespaced", true, false),
        ("Cluster", false, true),
    ] {
        assert_eq!(is_asked(scoped(scope), &attributes()), in_one, "{scope}");
        assert_eq!(is_asked(scoped(scope), &namespace), is_one, "{scope}");
    }
}

#[test]
fn selectors_look_at_the_namespace_and_at_either_object() {
    let labelled = |labels: Value| {
        let mut object = attributes().object.unwrap();
        object.metadata_mut().insert("labels".into(), labels);
        object
    };
    let (before, after) = (labelled(json!({ "a": "1" })), labelled(json!({ "a": "2" })));
    let update = Attributes {
        operation: Operation::Update,
        object: Some(after),
        old: Some(before),
        ..attributes()
    };
    let objects = |value: &str| json!({ "objectSelector": { "matchLabels": { "a": value } } });
    let team = |operator: &str, values: Value| json!({ "namespaceSelector": { "matchExpressions": [{ "key": "team", "operator": operator, "values": values }] } });
    for (but, matches) in [
        (objects("1"), true),
        (objects("2"), true),
        (objects("3"), false),
        (team("In", json!(["dns", "web"])), true),
        (team("NotIn", json!(["dns"])), false),
        (team("Exists", json!([])), true),
        (team("DoesNotExist", json!([])), false),
        (
            json!({ "objectSelector": {}, "namespaceSelector": {} }),
            true,
        ),
    ] {
        assert_eq!(is_asked(but.clone(), &update), matches, "{but}");
    }
}

#[test]
fn a_namespace_that_is_not_there_matters_only_to_those_who_select_by_it() {
    let nowhere = Attributes {
        namespace_labels: None,
        ..attributes()
    };
    assert!(is_asked(json!({}), &nowhere));
    let selects = json!({ "namespaceSelector": { "matchLabels": { "team": "dns" } } });
    let registry = registry(Phase::Validating, &[("c", vec![webhook("w", selects)])]);
    let refusal = asked(&registry, &nowhere).unwrap_err();
    assert_eq!(
        (refusal.code, refusal.message.as_str()),
        (404, "namespaces \"a\" not found")
    );
}

#[test]
fn conditions_see_the_objects_and_the_request() {
    let conditions = |policy: &str, expressions: &[&str]| {
        let listed: Vec<Value> = expressions
            .iter()
            .map(|expression| json!({ "name": "n", "expression": expression }))
            .collect();
        json!({ "failurePolicy": policy, "matchConditions": listed })
    };
    for (expressions, matches) in [
        (&["true"][..], true),
        (&["true", "false"], false),
        (&["object.data['a'] == '1'", "oldObject == null"], true),
        (&["request.name == 'x' && request.namespace == 'a'"], true),
        (&["request.userInfo.username == 'zonewright-admin'"], true),
        (
            &["request.userInfo.groups.exists(g, g == 'system:masters')"],
            true,
        ),
        (&["request.operation == 'DELETE'"], false),
        // One that does not hold outweighs those that cannot be judged.
        (&["object.nothing.at == 1", "false"], false),
    ] {
        let but = conditions("Fail", expressions);
        assert_eq!(is_asked(but, &attributes()), matches, "{expressions:?}");
    }
    assert!(!is_asked(
        conditions("Ignore", &["object.nothing == 1"]),
        &attributes()
    ));
    let fails = conditions("Fail", &["object.nothing == 1"]);
    let registry = registry(Phase::Validating, &[("c", vec![webhook("w", fails)])]);
    let refusal = asked(&registry, &attributes()).unwrap_err();
    assert_eq!(
        (refusal.code, refusal.message.as_str()),
        (
            403,
            "configmaps \"x\" is forbidden: expression 'object.nothing == 1' resulted in error: no such key: nothing"
        )
    );
}

#[test]
fn other_versions_match_unless_the_exact_one_is_wanted() {
    let version = |version: &str| {
        let mut resource = (*resource("configmaps")).clone();
        resource.version = version.to_owned();
        Arc::new(resource)
    };
    let newer = Attributes {
        resource: version("v2"),
        equivalents: vec![version("v1"), version("v3")],
        ..attributes()
    };
    let shown_as = |but: Value| {
        let registry = registry(Phase::Validating, &[("c", vec![webhook("w", but)])]);
        let hooks = registry.concerned(Phase::Validating, &newer.resource);
        let concerned = newer.concern(&hooks[0]).unwrap();
        concerned.map(|invocation| invocation.resource.version.clone())
    };
    let rules = |versions: &[&str]| json!({ "rules": [{ "operations": ["*"], "apiGroups": [""], "apiVersions": versions, "resources": ["configmaps"] }] });
    assert_eq!(shown_as(rules(&["v1", "v2"])).as_deref(), Some("v2"));
    assert_eq!(shown_as(rules(&["v3", "v1"])).as_deref(), Some("v1"));
    assert_eq!(shown_as(rules(&["v4"])), None);
    let mut exact = rules(&["v1"]);
    exact["matchPolicy"] = "Exact".into();
    assert_eq!(shown_as(exact), None);
}

#[test]
fn configurations_come_by_name_and_webhooks_by_position() {
    let mut registry = registry(
        Phase::Validating,
        &[
            ("b", vec![webhook("3", json!({}))]),
            ("a", vec![webhook("2", json!({})), webhook("1", json!({}))]),
        ],
    );
    assert_eq!(asked(&registry, &attributes()).unwrap(), ["2", "1", "3"]);
    registry.configure(Phase::Validating, "a", None);
    assert_eq!(asked(&registry, &attributes()).unwrap(), ["3"]);
}

#[test]
fn configurations_themselves_are_shown_to_nobody() {
    let registry = registry(
        Phase::Validating,
        &[("c", vec![webhook("w", rule(&["*"], "*", "*", "*/*"))])],
    );
    for (plural, is_shown) in [
        ("mutatingwebhookconfigurations", false),
        ("validatingwebhookconfigurations", false),
        ("customresourcedefinitions", true),
        ("configmaps", true),
    ] {
        let concerned = registry.concerned(Phase::Validating, &resource(plural));
        assert_eq!(!concerned.is_empty(), is_shown, "{plural}");
    }
}
