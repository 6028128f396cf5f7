//! The bodies of requests: JSON or YAML, read with a memory of what was wrong but not fatal.
//!
//! A field that is given twice is legal JSON in which the last one counts; strict field validation refuses
//! it all the same, so the paths of such fields are kept.

use std::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::options::DuplicateKeyPolicy;

/// The largest body that is read: kube-apiserver's limit.
pub(crate) const BYTES_MAX: usize = 3 << 20;

/// A body, parsed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Body {
    pub(crate) value: Value,
    /// The paths of fields that were given more than once; only in JSON.
    pub(crate) duplicates: Vec<String>,
    /// The first field of a YAML body that was given more than once.
    pub(crate) repeated: Option<Repeated>,
}

/// A field of a YAML body that was given before.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Repeated {
    pub(crate) field: String,
    /// Counted from 1.
    pub(crate) line: u64,
}

/// How a body is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Language {
    Json,
    Yaml,
}

impl Body {
    /// Reads a body. The error says what is wrong with the text.
    pub(crate) fn parse(text: &[u8], language: Language) -> Result<Self, String> {
        let mut duplicates = Vec::new();
        let reader = Reader {
            path: Path::Root,
            duplicates: &mut duplicates,
        };
        let mut repeated = None;
        let value = match language {
            Language::Json => {
                let mut json = serde_json::Deserializer::from_slice(text);
                let value = reader.deserialize(&mut json).map_err(|error| {
                    if error.is_eof() {
                        "unexpected end of JSON input".to_owned()
                    } else {
                        error.to_string()
                    }
                })?;
                json.end().map_err(|error| error.to_string())?;
                value
            }
            Language::Yaml => {
                let options = serde_saphyr::options! {
                    duplicate_keys: DuplicateKeyPolicy::LastWins,
                };
                repeated = first_repeated(text);
                serde_saphyr::from_slice_with_options(text, options)
                    .map_err(|error| error.to_string())?
            }
        };
        Ok(Self {
            value,
            duplicates,
            repeated,
        })
    }
}

/// The parser tells of a field that is given twice only by going no further.
fn first_repeated(text: &[u8]) -> Option<Repeated> {
    let options = serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::Error,
        with_snippet: false,
    };
    match serde_saphyr::from_slice_with_options::<Value>(text, options) {
        Err(serde_saphyr::Error::DuplicateMappingKey { key, location }) => Some(Repeated {
            field: key.unwrap_or_default(),
            line: location.line(),
        }),
        Ok(_) | Err(_) => None,
    }
}

/// Where the reader is. A chain of borrowed links: a path is only written out when it is needed.
#[derive(Clone, Copy)]
enum Path<'a> {
    Root,
    Field(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Field(Self::Root, field) => f.write_str(field),
            Self::Field(parent, field) => write!(f, "{parent}.{field}"),
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

struct Reader<'a> {
    path: Path<'a>,
    duplicates: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value);
        number
            .map(Value::Number)
            .ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        loop {
            let path = Path::Index(&self.path, values.len());
            let reader = Reader {
                path,
                duplicates: self.duplicates,
            };
            match sequence.next_element_seed(reader)? {
                Some(value) => values.push(value),
                None => return Ok(values.into()),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(field) = map.next_key::<String>()? {
            let path = Path::Field(&self.path, &field);
            if fields.contains_key(&field) {
                self.duplicates.push(path.to_string());
            }
            let value = map.next_value_seed(Reader {
                path,
                duplicates: self.duplicates,
            })?;
            fields.insert(field, value);
        }
        if fields.len() > FIELDS_MAX {
            return Err(A::Error::custom("too many fields in one object"));
        }
        Ok(fields.into())
    }
}

/// More fields than any body within [`BYTES_MAX`] can have in good faith.
const FIELDS_MAX: usize = 500_000;

#[cfg(test)]
mod tests;
