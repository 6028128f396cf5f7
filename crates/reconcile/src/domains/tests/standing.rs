//! What may stand as it is, after everybody has had their say.

use serde_json::json;

use super::*;

fn stands(object: &Value, verified: &[&str]) -> bool {
    let (verified, key, managed) = (names(verified), key(), managed());
    let house = House {
        managed: &managed,
        key: &key,
        namespace_uid: UID,
        verified: &verified,
        drawn: &Guid::new([9; Guid::BYTES]),
    };
    may_stand(object, house)
}

#[test]
fn whatever_comes_through_the_door_stands_in_any_order() {
    // V2: rules that say the same under the managed host can be read as each other's copies.
    let hosts = ["", "a.example.com", "b.example.org"];
    for first in hosts {
        for second in hosts {
            for third in hosts {
                let asked = ingress(&[(first, "same"), (second, "same"), (third, "same")]);
                let mut asked = with_tls(asked, &[(&["a.example.com", "b.example.org"], "x")]);
                asked["spec"]["defaultBackend"] = json!({ "service": { "name": "same" } });
                for verified in [&[][..], &["a.example.com"], &["example.com", "example.org"]] {
                    let gated = door(&asked, None, verified).unwrap().object;
                    assert!(stands(&gated, verified), "{gated}");
                    let again = door(&asked, Some(&gated), verified).unwrap().object;
                    assert!(stands(&again, verified), "{again}");
                }
            }
        }
    }
}

#[test]
fn whatever_the_controller_writes_passes_the_door_and_is_the_end_of_it() {
    // V1, V7: or the two would write over each other for ever.
    let hosts = ["", "a.example.com", "b.example.org"];
    let proven = [&[][..], &["a.example.com"], &["example.com", "example.org"]];
    let triples = hosts
        .iter()
        .flat_map(|x| hosts.iter().flat_map(move |y| hosts.map(|z| (*x, *y, z))));
    for (x, y, z) in triples {
        // Of rules that say the same it cannot be told which is whose copy: that takes a write more.
        for (services, writes) in [(["one", "two", "three"], 1), (["same"; 3], 2)] {
            let asked = ingress(&[(x, services[0]), (y, services[1]), (z, services[2])]);
            let asked = with_tls(asked, &[(&["a.example.com", "b.example.org"], "x")]);
            let gated = proven.map(|verified| door(&asked, None, verified).unwrap().object);
            for stored in gated.into_iter().chain([asked]) {
                for verified in proven {
                    let mut now = stored.clone();
                    for _ in 0..writes {
                        now = written_by_controller(&behind(&now, verified), &now, verified);
                    }
                    assert_eq!(behind(&now, verified), now, "of {stored}");
                    let again = written_by_controller(&now, &now, verified);
                    assert_eq!(again, now, "of {stored}");
                }
            }
        }
    }
}

#[test]
fn what_somebody_puts_back_does_not_stand() {
    let verified = ["a.example.com"];
    let asked = ingress(&[("a.example.com", "a"), ("b.example.org", "b")]);
    let gated = door(&asked, None, &verified).unwrap().object;
    assert!(stands(&gated, &verified));
    let change = |pointer: &str, value: Value| {
        let mut changed = gated.clone();
        changed["spec"][pointer] = value;
        changed
    };
    let backend = json!({ "service": { "name": "b" } });
    let cases = [
        asked.clone(),
        change("rules", json!([rule("b.example.org", "b")])),
        change("rules", json!([rule("", "b")])),
        change("rules", json!([rule("x.apps.example.net", "b")])),
        change("tls", json!([{ "hosts": ["b.example.org"] }])),
        change("defaultBackend", backend),
        annotated(
            gated.clone(),
            "nginx.ingress.kubernetes.io/server-alias",
            "b.example.org",
        ),
        annotated(
            gated.clone(),
            "nginx.ingress.kubernetes.io/server-snippet",
            "server_name b.example.org;",
        ),
    ];
    for case in cases {
        assert!(!stands(&case, &verified), "{case}");
    }
}
