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
