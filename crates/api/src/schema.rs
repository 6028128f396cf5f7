//! Pieces of schema that several kinds share and that no Rust type says by itself.

use schemars::{Schema, SchemaGenerator, json_schema};

/// What a record type looks like: a mnemonic, or `TYPE` and a number (R5). The pattern stands where
/// the peer has an enum of 47 words, so that a type it does not know can be published too; whether
/// a word is a type is judged by `parse`.
pub(crate) const RECORD_TYPE_PATTERN: &str = "^[A-Za-z][A-Za-z0-9-]{0,15}$";

/// The schema of a record type.
pub(crate) fn record_type(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "pattern": RECORD_TYPE_PATTERN })
}

/// The schema of a list of record types.
pub(crate) fn record_types(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": record_type(generator) })
}
