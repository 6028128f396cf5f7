//! A sample of what `wire objects 1 6` prints, and octets that no client of good faith sends.

use std::fmt::Write as _;

use super::*;

/// A line: the kind, its octets, the JSON that they were made from, and the JSON that Go makes from them.
const SAMPLE: &str = include_str!("sample.txt");

struct Written<'a> {
    kind: &'a str,
    octets: Vec<u8>,
    from: Value,
    to: Value,
}

fn sample() -> impl Iterator<Item = Written<'static>> {
    SAMPLE.lines().map(|line| {
        let [kind, octets, from, to] = *line.split('\t').collect::<Vec<_>>() else {
            panic!("{line}");
        };
        let octet = |at| u8::from_str_radix(&octets[at..at + 2], 16).unwrap();
        Written {
            kind,
            octets: (0..octets.len()).step_by(2).map(octet).collect(),
            from: serde_json::from_str(from).unwrap(),
            to: serde_json::from_str(to).unwrap(),
        }
    })
}

fn hex(octets: &[u8]) -> String {
    octets.iter().fold(String::new(), |mut text, octet| {
        let _infallible = write!(text, "{octet:02x}");
        text
    })
}

const CONFIG_MAP: TypeMeta<'_> = TypeMeta {
    api_version: "v1",
    kind: "ConfigMap",
};

/// A body that says nothing of itself, with these octets for an object.
fn body(object: &[u8]) -> Vec<u8> {
    enveloped(TypeMeta::default(), |octets| {
        octets.extend_from_slice(object);
    })
}

fn read_as(kind: TypeMeta<'_>, object: &[u8]) -> Result<Value, String> {
    decode(&body(object), kind).map_err(|error| error.to_string())
}

#[test]
fn objects_are_written_octet_for_octet_as_go_does() {
    for Written {
        kind, octets, from, ..
    } in sample()
    {
        assert_eq!(hex(&encode(&from).unwrap()), hex(&octets), "{kind}: {from}");
    }
}

#[test]
fn what_go_has_written_says_what_go_reads_in_it() {
    for Written {
        kind, octets, to, ..
    } in sample()
    {
        assert_eq!(decode(&octets, TypeMeta::default()), Ok(to), "{kind}");
    }
}

#[test]
fn json_that_go_has_written_has_its_form_already() {
    for Written { kind, from, to, .. } in sample() {
        let text = |field: &str| to[field].as_str().unwrap();
        let of = TypeMeta {
            api_version: text("apiVersion"),
            kind: text("kind"),
        };
        let mut object = from.as_object().unwrap().clone();
        assert_eq!(normalise(of, &mut object), Ok(()), "{kind}");
        assert_eq!(Value::Object(object), from, "{kind}");
    }
}

#[test]
fn what_go_leaves_out_goes_and_what_it_always_writes_comes() {
    let pod = |mut pod: Value| {
        let of = TypeMeta {
            api_version: "v1",
            kind: "Pod",
        };
        let done = normalise(of, pod.as_object_mut().unwrap());
        done.map(|()| pod)
            .map_err(|misfit| (misfit.path, misfit.wanted))
    };
    assert_eq!(
        pod(
            json!({ "unknown": [], "metadata": { "labels": { "a": null }, "finalizers": [] }, "spec": {
            "hostNetwork": false, "nodeSelector": {}, "securityContext": {}, "activeDeadlineSeconds": 0,
            "containers": [{ "resources": { "limits": { "cpu": 0.5 } }, "env": [null], "stdin": null,
                "livenessProbe": { "timeoutSeconds": 0, "httpGet": { "port": "a" } } }],
        } })
        ),
        Ok(
            json!({ "unknown": [], "metadata": { "labels": { "a": "" } }, "status": {}, "spec": {
            "securityContext": {}, "activeDeadlineSeconds": 0,
            "containers": [{ "name": "", "resources": { "limits": { "cpu": "0.5" } }, "env": [{ "name": "" }],
                "livenessProbe": { "httpGet": { "port": "a" } } }],
        } })
        )
    );
    let born = |at: &str| pod(json!({ "metadata": { "creationTimestamp": at } })).unwrap();
    let at = &born("2001-02-03T06:05:06.9+02:00")["metadata"]["creationTimestamp"];
    assert_eq!(at, "2001-02-03T04:05:06Z");
    let wrong = |value, path: &str, wanted| assert_eq!(pod(value), Err((path.to_owned(), wanted)));
    wrong(json!({ "spec": [] }), "spec", "object");
    wrong(
        json!({ "metadata": { "labels": { "a.b": 1 } } }),
        "metadata.labels[a.b]",
        "string",
    );
    wrong(
        json!({ "metadata": { "creationTimestamp": "soon" } }),
        "metadata.creationTimestamp",
        "Time",
    );
    let container = |value| json!({ "spec": { "containers": [{}, value] } });
    wrong(container(json!(5)), "spec.containers[1]", "object");
    let port = json!({ "ports": [{ "containerPort": 80.5 }] });
    wrong(
        container(port),
        "spec.containers[1].ports[0].containerPort",
        "int32",
    );
    let limits = json!({ "resources": { "limits": { "cpu": "much" } } });
    wrong(
        container(limits),
        "spec.containers[1].resources.limits[cpu]",
        "Quantity",
    );
    let probe = json!({ "livenessProbe": { "httpGet": { "port": 3_000_000_000_u32 } } });
    wrong(
        container(probe),
        "spec.containers[1].livenessProbe.httpGet.port",
        "IntOrString",
    );
}

#[test]
fn an_object_that_breaks_off_is_half_an_object_or_none_but_never_a_panic() {
    for Written { octets, .. } in sample() {
        for end in 0..octets.len() {
            let _any = decode(&octets[..end], CONFIG_MAP);
        }
    }
}

#[test]
fn what_is_no_body_is_refused_in_the_words_of_go() {
    let refused = |octets: &[u8]| decode(octets, CONFIG_MAP).unwrap_err().to_string();
    assert_eq!(refused(b""), "empty data");
    assert_eq!(
        refused(b"{}"),
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
    );
    assert_eq!(refused(b"k8s\0"), "empty body");
    assert_eq!(refused(b"k8s\0\x0a\x05a"), "unexpected EOF");
}

#[test]
fn a_body_that_does_not_say_what_it_is_is_what_the_path_says() {
    let read = read_as(CONFIG_MAP, b"\x12\x06\x0a\x01k\x12\x01v");
    let expected = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {}, "data": { "k": "v" },
    });
    assert_eq!(read, Ok(expected));
}

#[test]
fn of_a_kind_that_is_not_known_only_its_name_is_read() {
    let zone = TypeMeta {
        api_version: "kubi.zone/v1",
        kind: "Zone",
    };
    let expected = json!({ "apiVersion": "kubi.zone/v1", "kind": "Zone" });
    assert_eq!(read_as(zone, b"\xff\xff\xff"), Ok(expected.clone()));
    assert_eq!((is_known(zone), encode(&expected)), (false, None));
}

#[test]
fn an_error_in_an_object_says_what_the_object_is() {
    let error = decode(&body(b"\x0a\x7f"), CONFIG_MAP).unwrap_err();
    assert_eq!(error.says, Some(("v1".to_owned(), "ConfigMap".to_owned())));
    assert_eq!(error.to_string(), "unexpected EOF");
}

#[test]
fn a_message_in_two_parts_is_put_together_and_of_two_values_the_last_counts() {
    let read = read_as(
        CONFIG_MAP,
        b"\x0a\x03\x0a\x01a\x0a\x06\x0a\x01b\x1a\x01n\x12\x06\x0a\x01k\x12\x01v\x12\x06\x0a\x01k\x12\x01w",
    );
    let read = read.unwrap();
    assert_eq!(read["metadata"], json!({ "name": "b", "namespace": "n" }));
    assert_eq!(read["data"], json!({ "k": "w" }));
}

#[test]
fn fields_that_a_kind_does_not_have_are_passed_over() {
    // A number, eight octets, a group with a number in it, four octets, octets.
    let unknown = b"\xf8\x01\x05\xf9\x01abcdefgh\xfb\x01\x08\x01\xfc\x01\xfd\x01abcd\xfa\x01\x02ab";
    let read = read_as(CONFIG_MAP, unknown).unwrap();
    assert_eq!(read["metadata"], json!({}));
}

#[test]
fn a_value_of_the_wrong_type_is_refused() {
    let refused = read_as(CONFIG_MAP, b"\x08\x01").unwrap_err();
    assert_eq!(refused, "proto: wrong wireType for field metadata");
}

#[test]
fn numbers_may_come_packed_and_text_that_is_none_is_shown() {
    let pod = TypeMeta {
        api_version: "v1",
        kind: "Pod",
    };
    // spec.securityContext.supplementalGroups: two packed, one alone.
    let groups = b"\x12\x08\x72\x06\x22\x02\x05\x06\x20\x07";
    let read = read_as(pod, groups).unwrap();
    let context = &read["spec"]["securityContext"];
    assert_eq!(context["supplementalGroups"], json!([5, 6, 7]), "{read}");
    let read = read_as(CONFIG_MAP, b"\x0a\x04\x0a\x02a\xff").unwrap();
    assert_eq!(read["metadata"]["name"], "a\u{fffd}");
}

/// `verbs` are a list that has a name in Go, and so a message of its own.
#[test]
fn a_list_with_a_name_is_there_when_it_was_written_and_null_when_it_was_not() {
    let list = TypeMeta {
        api_version: "v1",
        kind: "APIResourceList",
    };
    for (verbs, expected) in [
        (&b""[..], Value::Null),
        (b"\x22\x00", json!([])),
        (b"\x22\x05\x0a\x03get", json!(["get"])),
    ] {
        let mut octets = Vec::new();
        encode::bytes(&mut octets, 2, verbs);
        let read = read_as(list, &octets).unwrap();
        assert_eq!(read["resources"][0]["verbs"], expected);
        let written = encode(&read).unwrap();
        assert_eq!(decode(&written, TypeMeta::default()), Ok(read));
    }
}

#[test]
fn elements_and_depth_are_bounded() {
    let many = b"\x12\x00".repeat(ELEMENTS_MAX + 1);
    let refused = read_as(CONFIG_MAP, &many).unwrap_err();
    assert_eq!(refused, "more than 300000 fields and elements");

    let definition = TypeMeta {
        api_version: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
    };
    let nested = |levels: usize| {
        let mut schema = json!({ "type": "string" });
        for _ in 0..levels {
            schema = json!({ "not": schema });
        }
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "spec": { "versions": [{ "schema": { "openAPIV3Schema": schema } }] },
        })
    };
    let read = |levels| decode(&encode(&nested(levels)).unwrap(), definition);
    assert!(read(100).is_ok());
    for levels in [130, 150] {
        let refused = read(levels).unwrap_err().to_string();
        assert_eq!(refused, "nested more than 127 levels deep", "{levels}");
    }
}

#[test]
fn json_within_is_as_deep_as_all_of_it_may_be() {
    let raw = |levels: usize| {
        let mut octets = Vec::new();
        let fields = "[".repeat(levels) + &"]".repeat(levels);
        // metadata.managedFields[0].fieldsV1
        encode::delimited(&mut octets, 1, |octets| {
            encode::delimited(octets, 17, |octets| {
                encode::delimited(octets, 7, |octets| encode::text(octets, 1, &fields));
            });
        });
        read_as(CONFIG_MAP, &octets)
    };
    assert!(raw(120).is_ok());
    assert_eq!(raw(125).unwrap_err(), "nested more than 127 levels deep");
    assert!(raw(1_000).unwrap_err().contains("recursion limit"));
}

#[test]
fn whatever_is_read_can_be_written_and_read_again() {
    for Written { octets, .. } in sample() {
        let read = decode(&octets, TypeMeta::default()).unwrap();
        let text = serde_json::to_vec(&read).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&text).unwrap(), read);
        let written = encode(&read).unwrap();
        assert_eq!(decode(&written, TypeMeta::default()), Ok(read));
    }
}

#[test]
fn times_count_forward_and_the_first_of_all_is_none() {
    let lease = |time: &str| {
        json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": { "deletionTimestamp": time },
            "spec": { "renewTime": time },
        })
    };
    for (time, second, micro) in [
        (
            "2026-01-02T03:04:05.123456789Z",
            "2026-01-02T03:04:05Z",
            "2026-01-02T03:04:05.123456Z",
        ),
        (
            "2026-01-02T03:04:05+01:00",
            "2026-01-02T02:04:05Z",
            "2026-01-02T02:04:05.000000Z",
        ),
        (
            "1969-12-31T23:59:58.5Z",
            "1969-12-31T23:59:58Z",
            "1969-12-31T23:59:58.500000Z",
        ),
    ] {
        let read = decode(&encode(&lease(time)).unwrap(), TypeMeta::default()).unwrap();
        assert_eq!(read["metadata"]["deletionTimestamp"], second, "{time}");
        assert_eq!(read["spec"]["renewTime"], micro, "{time}");
    }
    let read = decode(
        &encode(&lease("0001-01-01T00:00:00Z")).unwrap(),
        TypeMeta::default(),
    );
    assert_eq!(read.unwrap()["spec"], json!({ "renewTime": null }));
}

#[test]
fn a_list_is_the_same_whether_it_is_written_at_once_or_item_by_item() {
    let items: Vec<Value> = (0..3)
        .map(|n| json!({ "metadata": { "name": format!("n{n}") }, "data": { "a": "x".repeat(n * 200) } }))
        .collect();
    let metadata = json!({ "resourceVersion": "7" });
    let of = TypeMeta {
        api_version: "v1",
        kind: "ConfigMapList",
    };
    let whole = json!({ "apiVersion": "v1", "kind": "ConfigMapList", "metadata": metadata, "items": items });
    let octets = encode_list(of, &metadata, items.into_iter());
    assert_eq!(octets, encode(&whole));
}

#[test]
fn frames_are_read_as_they_come() {
    let object = |name: &str| json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name } });
    let mut octets = Vec::new();
    for (name, event) in [("a", "ADDED"), ("b", "DELETED")] {
        put_frame(&mut octets, event, &object(name)).unwrap();
    }
    let expected = [
        json!({ "type": "ADDED", "object": object("a") }),
        json!({ "type": "DELETED", "object": object("b") }),
    ];
    let (mut come, mut events) = (Vec::new(), Vec::new());
    for octet in octets {
        come.push(octet);
        events.extend(decode_frames(&mut come).unwrap());
    }
    assert_eq!((come, events), (Vec::new(), expected.to_vec()));
}
