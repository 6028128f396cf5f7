//! What a token says, when it is believed, and by whom.

use rcgen::KeyPair;
use serde_json::{Value, json};

use super::*;

fn tokens() -> Tokens {
    Tokens::new(KeyPair::generate().unwrap().serialized_der()).unwrap()
}

fn noon() -> Timestamp {
    "2030-01-01T12:00:00Z".parse().unwrap()
}

/// A token for an hour from noon.
fn token(tokens: &Tokens, audiences: &[String]) -> String {
    let grant = Grant {
        namespace: "dns",
        name: "robot",
        uid: "7",
        audiences,
        expires: noon() + SignedDuration::from_hours(1),
        id: Uuid::from_u128(5),
    };
    tokens.issue(&grant, noon())
}

fn part(token: &str, number: usize) -> Value {
    let part = token.split('.').nth(number).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

#[test]
fn a_token_says_what_kube_apiservers_say() {
    let tokens = tokens();
    let token = token(&tokens, &[]);
    let header = json!({ "alg": "ES256", "kid": tokens.key_id });
    assert_eq!(part(&token, 0), header);
    let claims = json!({
        "aud": ["https://kubernetes.default.svc"],
        "exp": 1_893_502_800, "iat": 1_893_499_200, "nbf": 1_893_499_200,
        "iss": "https://kubernetes.default.svc",
        "jti": "00000000-0000-0000-0000-000000000005",
        "kubernetes.io": { "namespace": "dns", "serviceaccount": { "name": "robot", "uid": "7" } },
        "sub": "system:serviceaccount:dns:robot",
    });
    assert_eq!(part(&token, 1), claims);
}

#[test]
fn a_token_is_believed_in_its_time_give_or_take_a_minute() {
    let tokens = tokens();
    let token = token(&tokens, &[]);
    let at = |seconds: i64| {
        let now = noon() + SignedDuration::from_secs(seconds);
        tokens.verify(&token, now).map(|claims| claims.user().name)
    };
    let robot = || Ok("system:serviceaccount:dns:robot".to_owned());
    assert_eq!(at(-61), Err(TokenError::NotYet));
    assert_eq!(at(-60), robot());
    assert_eq!(at(3660), robot());
    assert_eq!(at(3661), Err(TokenError::Expired));
}

#[test]
fn a_token_for_others_is_not_for_us() {
    let tokens = tokens();
    let verify = |audiences: &[&str]| {
        let audiences: Vec<String> = audiences.iter().map(|&name| name.to_owned()).collect();
        tokens.verify(&token(&tokens, &audiences), noon()).map(drop)
    };
    assert_eq!(verify(&["vault"]), Err(TokenError::Audience));
    assert_eq!(verify(&["vault", ISSUER]), Ok(()));
}

#[test]
fn nothing_of_a_token_can_be_changed() {
    let (tokens, others) = (tokens(), tokens());
    let token = token(&tokens, &[]);
    let foreign = Err(TokenError::Foreign);
    assert_eq!(others.verify(&token, noon()), foreign);
    let parts: Vec<&str> = token.split('.').collect();
    let unsigned = encode(&json!({ "alg": "none", "kid": "" }));
    let richer = encode(&json!({ "sub": "system:serviceaccount:dns:root" }));
    for forged in [
        format!("{unsigned}.{}.{}", parts[1], parts[2]),
        format!("{unsigned}.{}.", parts[1]),
        format!("{}.{richer}.{}", parts[0], parts[2]),
        format!("{}.{}", parts[0], parts[1]),
        format!("{token}A"),
        format!("{token}.x"),
        String::new(),
    ] {
        assert_eq!(tokens.verify(&forged, noon()), foreign, "{forged}");
    }
}

#[test]
fn a_signature_of_ours_under_something_else_is_no_token() {
    let tokens = tokens();
    let claims = tokens.verify(&token(&tokens, &[]), noon()).unwrap();
    let verify = |algorithm: &str, claims: &Claims| {
        let token = tokens.sign(algorithm, claims);
        tokens.verify(&token, noon()).map(drop)
    };
    assert_eq!(verify("ES256", &claims), Ok(()));
    assert_eq!(verify("none", &claims), Err(TokenError::Foreign));
    let elsewhere = Claims {
        issuer: "https://elsewhere".to_owned(),
        ..claims
    };
    assert_eq!(verify("ES256", &elsewhere), Err(TokenError::Foreign));
}
