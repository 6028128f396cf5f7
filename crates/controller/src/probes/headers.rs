//! From a Secret to the headers that a probe sends. What its values are is never told to anybody.

use http::header::{
    CONNECTION, CONTENT_LENGTH, EXPECT, HOST, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue};
use k8s_openapi::api::core::v1::Secret;

/// As much as most servers take, and room for what has to be sent.
const OCTETS_MAX: usize = 4096;

/// What says how the request is sent is not up to a Secret.
const RESERVED: [HeaderName; 8] = [
    CONNECTION,
    CONTENT_LENGTH,
    EXPECT,
    HOST,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Every entry of a Secret as a header, or the first that is none.
pub(super) fn parse(name: &str, secret: &Secret) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    let mut octets = 0;
    for (key, value) in secret.data.iter().flatten() {
        let refused = |why: &str| format!("Secret {name}: data.{key}: {why}");
        let header = HeaderName::from_bytes(key.as_bytes())
            .map_err(|_| refused("is not the name of an HTTP header"))?;
        if RESERVED.contains(&header) {
            return Err(refused("is a header that a probe sets itself"));
        }
        // Whoever made the value with `echo` has a line break at its end.
        let value = value.0.trim_ascii();
        octets += key.len() + value.len();
        let mut value = HeaderValue::from_bytes(value)
            .map_err(|_| refused("is not the value of an HTTP header"))?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    if octets > OCTETS_MAX {
        return Err(format!(
            "Secret {name}: its entries have {octets} octets, and {OCTETS_MAX} can be sent as headers"
        ));
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(key: &str, value: &str) -> Result<String, String> {
        let data = json!({ "data": { key: k8s_openapi::ByteString(value.as_bytes().to_vec()) } });
        let headers = parse("token", &serde_json::from_value(data).unwrap())?;
        let (name, value) = headers.iter().next().unwrap();
        Ok(format!("{name}: {}", value.to_str().unwrap()))
    }

    #[test]
    fn every_entry_is_a_header() {
        assert_eq!(
            check("Authorization", "Bearer a b\n"),
            Ok("authorization: Bearer a b".to_owned())
        );
        assert_eq!(check("x-empty", ""), Ok("x-empty: ".to_owned()));
        let none: Secret = serde_json::from_value(json!({})).unwrap();
        assert_eq!(parse("token", &none), Ok(HeaderMap::new()));
    }

    #[test]
    fn what_is_no_header_is_named_and_its_value_is_not_told() {
        let large = "x".repeat(OCTETS_MAX);
        let cases = [
            (
                "no_colon:",
                "hush",
                "data.no_colon:: is not the name of an HTTP header",
            ),
            ("x y", "hush", "data.x y: is not the name of an HTTP header"),
            (
                "x-two",
                "hush\r\nx-more: 1",
                "data.x-two: is not the value of an HTTP header",
            ),
            (
                "Host",
                "hush",
                "data.Host: is a header that a probe sets itself",
            ),
            (
                "content-length",
                "hush",
                "data.content-length: is a header that a probe sets itself",
            ),
            (
                "x-large",
                large.as_str(),
                "its entries have 4103 octets, and 4096 can be sent as headers",
            ),
        ];
        for (key, value, why) in cases {
            assert_eq!(check(key, value), Err(format!("Secret token: {why}")));
        }
    }

    #[test]
    fn values_are_not_shown_by_mistake() {
        let data =
            json!({ "data": { "authorization": k8s_openapi::ByteString(b"hush".to_vec()) } });
        let headers = parse("token", &serde_json::from_value(data).unwrap()).unwrap();
        assert!(!format!("{headers:?}").contains("hush"));
    }
}
