//! The kinds that histories are about, as `conformance/histories/kinds.yaml` has them.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

/// What a history needs to know of a kind. The file says what each field means.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    clippy::struct_field_names,
    reason = "a file's entry, word for word"
)]
pub(crate) struct Kind {
    pub(crate) kind: String,
    #[serde(rename = "apiVersion")]
    pub(crate) api_version: String,
    pub(crate) path: String,
    #[serde(default)]
    pub(crate) cluster: bool,
    #[serde(default)]
    pub(crate) conditional: bool,
    #[serde(default)]
    pub(crate) upsert: bool,
    #[serde(default)]
    pub(crate) custom: bool,
    #[serde(default)]
    pub(crate) stored: bool,
    #[serde(default)]
    pub(crate) slow: bool,
    #[serde(default)]
    pub(crate) one_by_one: bool,
    #[serde(default)]
    pub(crate) status: bool,
    pub(crate) bodies: Vec<Value>,
    pub(crate) changes: Vec<Value>,
    #[serde(default)]
    pub(crate) strategic: Vec<Value>,
    pub(crate) json: Vec<Value>,
    pub(crate) invalid: Vec<Value>,
    #[serde(default)]
    pub(crate) wrong: Vec<Value>,
    #[serde(default)]
    pub(crate) statuses: Vec<Value>,
    #[serde(default)]
    pub(crate) invalid_statuses: Vec<Value>,
    #[serde(default)]
    pub(crate) fields: Vec<FieldSelector>,
}

/// A selector, and what makes an object match.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FieldSelector {
    pub(crate) selector: String,
    #[serde(rename = "match")]
    pub(crate) matching: Value,
}

impl Kind {
    /// The last word of its path.
    pub(crate) fn plural(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

/// Reads the file, or tells what is wrong with it.
pub(crate) fn read(file: &Path) -> Result<Vec<Kind>, String> {
    yaml(file)
}

/// One value of a YAML file.
pub(crate) fn yaml<T: for<'de> Deserialize<'de>>(file: &Path) -> Result<T, String> {
    let at = |error: &dyn ToString| format!("{}: {}", file.display(), error.to_string());
    let text = fs::read_to_string(file).map_err(|error| at(&error))?;
    let options = serde_saphyr::options! { strict_booleans: true };
    let value: Value =
        serde_saphyr::from_str_with_options(&text, options).map_err(|error| at(&error))?;
    serde_json::from_value(value).map_err(|error| at(&error))
}
