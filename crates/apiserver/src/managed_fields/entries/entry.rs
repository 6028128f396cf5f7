//! One entry: somebody, in the way they write.

use std::fmt;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::change::Change;
use super::super::field_set::{FieldSet, FieldsError};

/// Who owns fields. The same client applying and updating is two owners.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(in super::super) struct Owner {
    pub(in super::super) manager: String,
    pub(in super::super) operation: Operation,
    /// Empty for those who apply: they are the same whichever version they apply in.
    pub(in super::super) api_version: String,
    pub(in super::super) subresource: String,
}

/// How fields came to be owned.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(in super::super) enum Operation {
    Apply,
    Update,
}

/// What an owner owns.
#[derive(Clone, Debug)]
pub(in super::super) struct Owned {
    /// The version that the fields are written in.
    pub(in super::super) api_version: String,
    pub(in super::super) time: Option<Timestamp>,
    pub(in super::super) fields: FieldSet,
}

/// An entry that cannot be read. Nobody sees these: a record that is broken counts as none.
#[derive(Debug, thiserror::Error)]
pub(in super::super) enum EntryError {
    #[error("managed fields must be a list")]
    NoList,
    #[error("{0} is not what it must be")]
    Field(&'static str),
    #[error(transparent)]
    Fields(#[from] FieldsError),
}

impl Owner {
    /// Whoever makes this change.
    pub(in super::super) fn of(change: &Change<'_>) -> Self {
        Self {
            manager: change.manager.to_owned(),
            operation: Operation::Update,
            api_version: change.api_version.to_owned(),
            subresource: change.subresource.to_owned(),
        }
    }

    /// Whoever applies this change.
    pub(in super::super) fn applying(change: &Change<'_>) -> Self {
        Self {
            operation: Operation::Apply,
            api_version: String::new(),
            ..Self::of(change)
        }
    }
}

/// As messages name an owner.
impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.manager)?;
        if !self.subresource.is_empty() {
            write!(f, " with subresource {:?}", self.subresource)?;
        }
        match self.operation {
            Operation::Apply => Ok(()),
            Operation::Update => write!(f, " using {}", self.api_version),
        }
    }
}

impl Owned {
    pub(super) fn nothing(api_version: String) -> Self {
        Self {
            api_version,
            time: None,
            fields: FieldSet::default(),
        }
    }
}

impl Operation {
    fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

pub(super) fn read(entry: &Value) -> Result<(Owner, Owned), EntryError> {
    let text = |field| {
        entry
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let operation = match text("operation").as_str() {
        "Apply" => Operation::Apply,
        "Update" => Operation::Update,
        _ => return Err(EntryError::Field("operation")),
    };
    let api_version = text("apiVersion");
    if api_version.is_empty() {
        return Err(EntryError::Field("apiVersion"));
    }
    if text("fieldsType") != "FieldsV1" {
        return Err(EntryError::Field("fieldsType"));
    }
    let owner = Owner {
        manager: text("manager"),
        operation,
        api_version: match operation {
            Operation::Apply => String::new(),
            Operation::Update => api_version.clone(),
        },
        subresource: text("subresource"),
    };
    let fields = FieldSet::read(entry.get("fieldsV1").unwrap_or(&Value::Null))?;
    Ok((
        owner,
        Owned {
            api_version,
            time: read_time(entry.get("time"))?,
            fields,
        },
    ))
}

pub(super) fn write(owner: &Owner, owned: &Owned) -> Value {
    let mut entry = json!({
        "operation": owner.operation.as_str(),
        "apiVersion": owned.api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": owned.fields.write(),
    });
    for (field, text) in [
        ("manager", &owner.manager),
        ("subresource", &owner.subresource),
    ] {
        if !text.is_empty() {
            entry[field] = text.as_str().into();
        }
    }
    if let Some(time) = owned.time {
        entry["time"] = time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into();
    }
    entry
}

fn read_time(time: Option<&Value>) -> Result<Option<Timestamp>, EntryError> {
    match time {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let time = value.as_str().and_then(|text| text.parse().ok());
            time.map(Some).ok_or(EntryError::Field("time"))
        }
    }
}
