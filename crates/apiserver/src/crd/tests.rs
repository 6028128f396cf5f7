use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::object::ObjectExt as _;

/// A definition of apples, changed by a merge patch, as it is after it was written.
pub(super) fn definition(change: &Value) -> Object {
    let mut definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "apples.fruit.example" },
        "spec": {
            "group": "fruit.example",
            "names": { "plural": "apples", "kind": "Apple" },
            "scope": "Namespaced",
            "versions": [version("v1", true)],
        },
    });
    json_patch::merge(&mut definition, change);
    let mut definition = definition.as_object().cloned().unwrap();
    default(&mut definition);
    prepare(&mut definition, None);
    definition
}

/// A version with a few fields to point at.
pub(super) fn version(name: &str, storage: bool) -> Value {
    json!({ "name": name, "served": true, "storage": storage, "schema": { "openAPIV3Schema": schema() } })
}

pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "color": { "type": "string" },
                    "size": { "type": "integer" },
                    "weight": { "type": "number" },
                    "tags": { "type": "object", "additionalProperties": { "type": "string" } },
                },
            },
        },
    })
}

fn now() -> Timestamp {
    "2026-01-02T03:04:05Z".parse().unwrap()
}

fn later() -> Timestamp {
    "2027-01-02T03:04:05Z".parse().unwrap()
}

/// Settles the definitions until none changes, as the engine does.
fn settled(definitions: &mut [Object]) {
    loop {
        let mut changed = false;
        for index in 0..definitions.len() {
            let taken = Taken::by_definitions("fruit.example", definitions.iter());
            changed |= settle(&mut definitions[index], &taken, now());
        }
        if !changed {
            return;
        }
    }
}

fn established(change: &Value) -> Object {
    let mut all = [definition(change)];
    settled(&mut all);
    let [definition] = all;
    definition
}

/// The condition as `True Reason: message`.
fn told(definition: &Object, kind: &str) -> String {
    let conditions = definition["status"]["conditions"].as_array().unwrap();
    let found = conditions
        .iter()
        .find(|condition| condition["type"] == kind);
    found.map_or_else(String::new, |condition| {
        let field = |name: &str| condition[name].as_str().unwrap().to_owned();
        format!(
            "{} {}: {}",
            field("status"),
            field("reason"),
            field("message")
        )
    })
}

#[test]
fn singular_list_kind_and_conversion_are_filled_in() {
    let definition = definition(&json!({}));
    let names = json!({ "plural": "apples", "kind": "Apple", "singular": "apple", "listKind": "AppleList" });
    assert_eq!(definition["spec"]["names"], names);
    assert_eq!(
        definition["spec"]["conversion"],
        json!({ "strategy": "None" })
    );
}

#[test]
fn what_is_given_is_not_defaulted() {
    let given = json!({ "singular": "fruit", "listKind": "Apples" });
    let definition =
        definition(&json!({ "spec": { "names": given, "conversion": { "strategy": "Webhook" } } }));
    assert_eq!(definition["spec"]["names"]["singular"], "fruit");
    assert_eq!(definition["spec"]["names"]["listKind"], "Apples");
    assert_eq!(definition["spec"]["conversion"]["strategy"], "Webhook");
}

#[test]
fn preserving_unknown_fields_is_shown_only_when_asked_for() {
    let shown = |value: bool| {
        let definition = definition(&json!({ "spec": { "preserveUnknownFields": value } }));
        definition["spec"].get("preserveUnknownFields").cloned()
    };
    assert_eq!((shown(false), shown(true)), (None, Some(json!(true))));
}

#[test]
fn status_of_a_new_definition_is_not_the_writers() {
    let claimed =
        json!({ "status": { "storedVersions": ["v9"], "acceptedNames": { "plural": "pears" } } });
    let status = json!({
        "conditions": null,
        "acceptedNames": { "plural": "", "kind": "" },
        "storedVersions": ["v1"],
    });
    assert_eq!(definition(&claimed)["status"], status);
}

#[test]
fn a_new_storage_version_is_stored_beside_the_old_one() {
    let old = established(&json!({}));
    let versions = json!([version("v1", false), version("v2", true)]);
    let mut new = old.clone();
    new["spec"]["versions"] = versions;
    new["status"] = json!({});
    prepare(&mut new, Some(&old));
    assert_eq!(new["status"]["storedVersions"], json!(["v1", "v2"]));
    assert_eq!(new["status"]["conditions"], old["status"]["conditions"]);
    assert_eq!(validate(&new, Some(&old)), []);
}

#[test]
fn a_definition_that_has_its_names_is_established() {
    let definition = established(
        &json!({ "spec": { "names": { "shortNames": ["ap"], "categories": ["all"] } } }),
    );
    assert!(is_established(&definition));
    assert_eq!(
        told(&definition, "NamesAccepted"),
        "True NoConflicts: no conflicts found"
    );
    assert_eq!(
        definition["status"]["acceptedNames"],
        definition["spec"]["names"]
    );
    assert_eq!(
        definition["status"]["conditions"][0]["lastTransitionTime"],
        "2026-01-02T03:04:05Z"
    );
}

#[test]
fn names_that_another_has_are_not_accepted() {
    let pears = json!({
        "metadata": { "name": "pears.fruit.example" },
        "spec": { "names": { "plural": "pears", "singular": "apples", "kind": "Pear", "shortNames": ["ap", "apple", "pp"] } },
    });
    let mut all = [
        definition(&json!({ "spec": { "names": { "shortNames": ["ap"] } } })),
        definition(&pears),
    ];
    settled(&mut all);
    let [_, pears] = &all;
    let message =
        r#"False ShortNamesConflict: ["ap" is already in use, "apple" is already in use]"#;
    assert_eq!(told(pears, "NamesAccepted"), message);
    assert_eq!(
        told(pears, "Established"),
        "False NotAccepted: not all names are accepted"
    );
    let accepted = json!({ "plural": "pears", "kind": "Pear", "listKind": "PearList" });
    assert_eq!(pears["status"]["acceptedNames"], accepted);
    assert_eq!(resources(pears).unwrap().len(), 0);
}

#[test]
fn names_of_another_group_are_free() {
    let other = established(&json!({}));
    let taken = Taken::by_definitions("vegetable.example", [&other]);
    let mut definition = definition(&json!({ "spec": { "group": "vegetable.example" } }));
    settle(&mut definition, &taken, now());
    assert!(is_established(&definition));
}

#[test]
fn a_name_that_becomes_free_is_accepted() {
    let pear = json!({ "metadata": { "name": "pears.fruit.example" }, "spec": { "names": { "plural": "pears" } } });
    let mut all = [definition(&json!({})), definition(&pear)];
    settled(&mut all);
    let [_, mut pear] = all;
    assert_eq!(
        told(&pear, "NamesAccepted"),
        "False ListKindConflict: \"AppleList\" is already in use"
    );
    let alone = Taken::by_definitions("fruit.example", [&pear]);
    assert!(settle(&mut pear, &alone, later()));
    assert!(is_established(&pear));
}

#[test]
fn a_definition_that_gives_up_the_name_in_its_way_is_established() {
    let names = json!({ "plural": "pears", "kind": "Pear", "shortNames": ["apple"] });
    let mut all = [
        definition(&json!({})),
        definition(&json!({ "spec": { "names": names } })),
    ];
    settled(&mut all);
    assert!(!is_established(&all[1]));
    all[1]["spec"]["names"]
        .as_object_mut()
        .unwrap()
        .remove("shortNames");
    settled(&mut all);
    assert!(is_established(&all[1]));
}

#[test]
fn names_of_built_in_kinds_are_taken() {
    for (names, told_of_it) in [
        (json!({ "plural": "apples" }), "PluralConflict: \"apples\""),
        (
            json!({ "shortNames": ["apple"] }),
            "SingularConflict: \"apple\"",
        ),
        (json!({ "kind": "Apple" }), "KindConflict: \"Apple\""),
        (
            json!({ "listKind": "AppleList" }),
            "ListKindConflict: \"AppleList\"",
        ),
    ] {
        let text = |field: &str| names[field].as_str().unwrap_or_default().to_owned();
        let short_names = names["shortNames"].as_array().into_iter().flatten();
        let mut taken = Taken::default();
        taken.add_builtin(&Names {
            plural: text("plural"),
            kind: text("kind"),
            list_kind: text("listKind"),
            short_names: short_names
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            ..Names::default()
        });
        let mut definition = definition(&json!({}));
        settle(&mut definition, &taken, now());
        let message = format!("False {told_of_it} is already in use");
        assert_eq!(told(&definition, "NamesAccepted"), message);
    }
}

#[test]
fn an_established_definition_stays_so_when_a_new_name_is_taken() {
    let mut all = [
        definition(&json!({ "spec": { "names": { "shortNames": ["ap"] } } })),
        definition(&json!({ "spec": { "names": { "plural": "pears", "kind": "Pear" } } })),
    ];
    settled(&mut all);
    all[1]["spec"]["names"]["shortNames"] = json!(["ap"]);
    settled(&mut all);
    assert_eq!(
        told(&all[1], "NamesAccepted"),
        "False ShortNamesConflict: \"ap\" is already in use"
    );
    assert!(is_established(&all[1]));
    assert_eq!(
        resources(&all[1]).unwrap()[0].names.short_names,
        Vec::<String>::new()
    );
}

#[test]
fn settling_twice_changes_nothing() {
    let mut definition = established(&json!({ "spec": { "group": "a.k8s.io" } }));
    let before = definition.clone();
    assert!(!settle(&mut definition, &Taken::default(), later()));
    assert_eq!(definition, before);
}

#[test]
fn a_condition_keeps_its_time_until_it_turns() {
    let change = json!({ "metadata": { "annotations": { "api-approved.kubernetes.io": "unapproved" } }, "spec": { "group": "a.k8s.io" } });
    let mut definition = established(&change);
    let approval = |definition: &Object| definition["status"]["conditions"][0].clone();
    assert_eq!(approval(&definition)["reason"], "UnapprovedAnnotation");
    for (annotation, reason, time) in [
        (
            "unapproved, still",
            "UnapprovedAnnotation",
            "2026-01-02T03:04:05Z",
        ),
        (
            "https://example.com/a",
            "ApprovedAnnotation",
            "2027-01-02T03:04:05Z",
        ),
    ] {
        definition["metadata"]["annotations"]["api-approved.kubernetes.io"] = annotation.into();
        assert!(settle(&mut definition, &Taken::default(), later()));
        assert_eq!(approval(&definition)["reason"], reason);
        assert_eq!(approval(&definition)["lastTransitionTime"], time);
    }
}

#[test]
fn every_served_version_is_a_resource() {
    let mut unserved = version("v0", false);
    unserved["served"] = false.into();
    let mut wide = version("v2", true);
    wide["subresources"] = json!({ "status": {} });
    wide["selectableFields"] = json!([{ "jsonPath": ".spec.color" }]);
    wide["additionalPrinterColumns"] = json!([
        { "name": "Color", "type": "string", "jsonPath": ".spec.color" },
        { "name": "Size", "type": "integer", "format": "int32", "description": "How big.", "priority": 1, "jsonPath": ".spec.size" },
    ]);
    let names = json!({ "shortNames": ["ap"], "categories": ["all"] });
    let versions = json!([unserved, version("v1", false), wide]);
    let definition = established(
        &json!({ "spec": { "versions": versions, "names": names, "scope": "Cluster" } }),
    );
    let [v1, v2] = resources(&definition).unwrap().try_into().unwrap();

    assert_eq!(v1.api_version(), "fruit.example/v1");
    assert_eq!(
        (v1.subresources.status, v2.subresources.status),
        (false, true)
    );
    assert_eq!(v1.scope, Scope::Cluster);
    assert_eq!(
        (v1.names.singular.as_str(), v1.names.list_kind.as_str()),
        ("apple", "AppleList")
    );
    assert_eq!(
        (v1.names.short_names, v1.names.categories),
        (vec!["ap".to_owned()], vec!["all".to_owned()])
    );
    assert_eq!(v1.columns[0].source, ".metadata.creationTimestamp");
    assert_eq!(*v2.openapi, schema());
    assert_eq!(*v2.selectable_fields, ["spec.color".to_owned()]);
    let described = "Custom resource definition column (in JSONPath format): .spec.color";
    assert_eq!(v2.columns[0].description, described);
    let size = Column {
        name: "Size".into(),
        kind: "integer".into(),
        format: "int32".into(),
        description: "How big.".into(),
        priority: 1,
        source: ".spec.size".into(),
    };
    assert_eq!(v2.columns[1], size);
}

#[test]
fn a_definition_goes_after_its_last_object() {
    let mut definition = established(&json!({}));
    assert_eq!(next(&definition, 2), Step::Rest);
    mark_for_deletion(&mut definition, later());
    assert!(is_terminating(&definition));
    assert_eq!(
        next(&definition, 2),
        Step::Rest,
        "the time of deletion is not set yet"
    );
    definition
        .metadata_mut()
        .insert("deletionTimestamp".into(), "2027-01-02T03:04:05Z".into());

    assert_eq!(next(&definition, 2), Step::DeleteInstances);
    let marked = definition["status"]["conditions"][2]["lastTransitionTime"].clone();
    assert!(record(&mut definition, Step::DeleteInstances, now()));
    assert_eq!(
        definition["status"]["conditions"][2]["lastTransitionTime"],
        marked
    );
    assert!(
        !record(&mut definition, Step::DeleteInstances, later()),
        "nothing new"
    );
    let message = "True InstanceDeletionInProgress: CustomResource deletion is in progress";
    assert_eq!(told(&definition, "Terminating"), message);

    assert_eq!(next(&definition, 0), Step::Release);
    assert!(record(&mut definition, Step::Release, later()));
    assert_eq!(
        told(&definition, "Terminating"),
        "False InstanceDeletionCompleted: removed all instances"
    );
    assert_eq!(definition["metadata"].get("finalizers"), None);
    assert_eq!(next(&definition, 0), Step::Rest);
}

#[test]
fn a_definition_that_was_never_established_goes_at_once() {
    let mut definition = definition(
        &json!({ "metadata": { "finalizers": ["a.example/b"], "deletionTimestamp": "2027-01-02T03:04:05Z" } }),
    );
    mark_for_deletion(&mut definition, later());
    mark_for_deletion(&mut definition, later());
    assert_eq!(
        definition["metadata"]["finalizers"],
        json!(["a.example/b", "customresourcecleanup.apiextensions.k8s.io"])
    );
    assert_eq!(next(&definition, 0), Step::ReleaseUnused);
    record(&mut definition, Step::ReleaseUnused, later());
    assert_eq!(
        told(&definition, "Terminating"),
        "False NeverEstablished: resource was never established"
    );
    assert_eq!(definition["metadata"]["finalizers"], json!(["a.example/b"]));
}

#[test]
fn what_objects_are_stored_under_cannot_change() {
    let old = established(&json!({}));
    let changed = json!({
        "group": "vegetable.example",
        "names": { "plural": "pears", "kind": "Pear" },
        "scope": "Cluster",
    });
    let mut new = old.clone();
    let mut spec = new["spec"].clone();
    json_patch::merge(&mut spec, &changed);
    new["spec"] = spec;
    let fields = |old: &Object| -> Vec<String> {
        let errors = validate(&new, Some(old));
        errors.iter().map(ToString::to_string).collect()
    };
    let always = [
        "spec.group: Invalid value: \"vegetable.example\": field is immutable",
        "spec.names.plural: Invalid value: \"pears\": field is immutable",
    ];
    let established = [
        "spec.scope: Invalid value: \"Cluster\": field is immutable",
        "spec.names.kind: Invalid value: \"Pear\": field is immutable",
    ];
    assert_eq!(fields(&old), [established, always].concat());
    assert_eq!(fields(&definition(&json!({}))), always);
}

#[test]
fn an_approval_that_was_bad_before_is_left_alone() {
    let approved = |annotation: &str| {
        let annotations = json!({ "api-approved.kubernetes.io": annotation });
        let metadata = json!({ "name": "apples.a.k8s.io", "annotations": annotations });
        definition(&json!({ "metadata": metadata, "spec": { "group": "a.k8s.io" } }))
    };
    let (bad, worse, missing) = (approved("maybe"), approved("perhaps"), approved(""));
    assert_eq!(validate(&worse, Some(&bad)), []);
    assert_eq!(validate(&missing, Some(&bad)).len(), 1);
    assert_eq!(validate(&bad, Some(&missing)).len(), 1);
}

#[test]
fn webhooks_are_refused_because_nobody_would_call_them() {
    let webhook = json!({ "strategy": "Webhook", "webhook": { "conversionReviewVersions": ["v1"], "clientConfig": { "url": "https://a.example" } } });
    let errors = validate(
        &definition(&json!({ "spec": { "conversion": webhook } })),
        None,
    );
    let message = "spec.conversion.strategy: Unsupported value: \"Webhook\": supported values: \"None\": this server calls no conversion webhooks";
    assert_eq!(
        errors.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [message]
    );
}

#[test]
fn accepted_names_of_a_written_status_must_be_names() {
    let mut definition = established(&json!({}));
    assert_eq!(validate_status(&definition), []);
    definition["status"]["acceptedNames"]["singular"] = "Apple".into();
    let paths: Vec<_> = validate_status(&definition)
        .into_iter()
        .map(|error| error.path)
        .collect();
    assert_eq!(paths, [FieldPath::of("status.acceptedNames.singular")]);
}

#[test]
fn a_definition_of_another_shape_is_refused() {
    let definition = definition(&json!({ "spec": { "versions": "v1" } }));
    assert_eq!(validate(&definition, None).len(), 1);
}

#[test]
fn our_own_and_the_gateway_apis_definitions_are_served() {
    let gateway = testkit::control_plane::gateway_api::crds().unwrap();
    let all = api::crds::all()
        .into_iter()
        .chain(api::foreign::crds())
        .chain(gateway);
    for typed in all {
        let mut definition = serde_json::to_value(&typed)
            .unwrap()
            .as_object()
            .cloned()
            .unwrap();
        default(&mut definition);
        prepare(&mut definition, None);
        assert_eq!(validate(&definition, None), [], "{:?}", typed.metadata.name);
        settle(&mut definition, &Taken::default(), now());
        let served = typed
            .spec
            .versions
            .iter()
            .filter(|version| version.served)
            .count();
        assert_eq!(resources(&definition).unwrap().len(), served);
    }
}
