//! Kubernetes' objects from protocol buffers: what is read can be stored as JSON, and says the same when it is written again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use wire::TypeMeta;

const USUALLY: TypeMeta<'_> = TypeMeta {
    api_version: "v1",
    kind: "Pod",
};

fuzz_target!(|octets: &[u8]| {
    let Ok(object) = wire::decode(octets, USUALLY) else {
        return;
    };
    let text = object.to_string();
    assert_eq!(
        serde_json::from_str::<Value>(&text).as_ref().ok(),
        Some(&object)
    );
    let Some(written) = wire::encode(&object) else {
        return;
    };
    match wire::decode(&written, TypeMeta::default()) {
        Ok(again) => assert_eq!(without_nulls(again), without_nulls(object)),
        // Zeros are written that were not there before.
        Err(why) => assert!(why.to_string().contains("fields and elements"), "{why}"),
    }
    let mut frames = written;
    let _any = wire::decode_frames(&mut frames);
});

/// Kubernetes tells a null and a field that is not there apart no better.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let there = fields.into_iter().filter(|(_, value)| !value.is_null());
            there
                .map(|(field, value)| (field, without_nulls(value)))
                .collect()
        }
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        value @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => value,
    }
}
