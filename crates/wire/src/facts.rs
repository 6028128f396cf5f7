//! What each kind looks like in protocol buffers, read from `facts.txt`.
//!
//! That file has three kinds of lines: `kind VERSION KIND MESSAGE`, `message NAME`, and below it one line for each field:
//! its number, its name in JSON, and its shape.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The facts of all kinds. They are read once: a request looks nothing up by name but its kind.
pub(super) static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    Facts::read(include_str!("facts.txt")).unwrap_or_else(|line| panic!("facts.txt: {line}"))
});

/// No message of Kubernetes has more fields.
pub(super) const FIELDS_MAX: usize = 64;

/// The version of kinds that every group has.
const ANY_VERSION: &str = "*";

#[derive(Debug)]
pub(super) struct Facts {
    kinds: HashMap<(&'static str, &'static str), MessageId>,
    messages: Vec<Message>,
    /// The schemas in a CustomResourceDefinition, which three of the special types hold.
    pub(super) schema: MessageId,
}

/// The place of a message in the table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct MessageId(usize);

#[derive(Debug, Default)]
pub(super) struct Message {
    /// In the order of their numbers, which is the one they are written in.
    pub(super) fields: Vec<Field>,
    /// Where in `fields` a number is, one more than that; 0 where there is no such field.
    by_number: Vec<u8>,
    /// The names of `fields` in their order, and where they are.
    pub(super) by_name: Vec<(&'static str, usize)>,
    /// Those of `fields` that JSON shows also when they hold nothing, and those that are shown among others.
    pub(super) always: Vec<usize>,
    /// Whether JSON shows its one field in its place: a list that has a name in Go.
    pub(super) is_list: bool,
}

#[derive(Debug)]
pub(super) struct Field {
    pub(super) number: u32,
    /// What JSON calls it.
    pub(super) name: &'static str,
    pub(super) place: Place,
    omitted: Omitted,
    pub(super) of: Type,
    /// Whether it holds a struct, which Go never calls empty.
    is_struct: bool,
}

/// How a field is held in Go. That decides which zeros are written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Place {
    /// By value: in protocol buffers it is always written.
    Value,
    /// Written when there is something.
    Pointer,
    List,
    /// From texts.
    Map,
    /// A message whose fields JSON shows among those of the message around it.
    Inline,
}

/// When JSON leaves a field out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Omitted {
    Never,
    /// When Go calls it empty, which a struct is not.
    Empty,
    /// When it is zero.
    Zero,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Type {
    Bool,
    Int32,
    Int64,
    Double,
    Text,
    Bytes,
    Message(MessageId),
    Special(Special),
}

/// The types that JSON shows in a way of their own.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Special {
    Time,
    MicroTime,
    Quantity,
    IntOrString,
    /// JSON as it stands: `FieldsV1`, `RawExtension`, `JSON`.
    Raw,
    /// A schema, or something else in its place.
    SchemaOr(Alternative),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Alternative {
    Schemas,
    Bool,
    Texts,
}

impl Facts {
    /// The message of a kind.
    pub(super) fn kind(&self, api_version: &str, kind: &str) -> Option<MessageId> {
        // The keys live for ever; those that are asked for need not.
        let find = |version: &str| self.kinds.get(&(version, kind) as &(&str, &str)).copied();
        find(api_version).or_else(|| find(ANY_VERSION))
    }

    pub(super) fn message(&self, id: MessageId) -> &Message {
        &self.messages[id.0]
    }

    /// Reads the table. The error is the first line that makes no sense.
    fn read(text: &'static str) -> Result<Self, &'static str> {
        let lines = || text.lines();
        let names = lines().filter_map(|line| line.strip_prefix("message "));
        let ids: HashMap<&str, MessageId> = (0..)
            .map(MessageId)
            .zip(names)
            .map(|(id, name)| (name, id))
            .collect();
        let mut kinds = HashMap::new();
        let mut messages: Vec<Message> = Vec::with_capacity(ids.len());
        for line in lines() {
            match *line.split(' ').collect::<Vec<_>>() {
                ["kind", version, kind, message] => {
                    kinds.insert((version, kind), *ids.get(message).ok_or(line)?);
                }
                ["message", _] => messages.push(Message::default()),
                [number, name, shape] => {
                    let field = Field::read(number, name, shape, &ids).ok_or(line)?;
                    messages.last_mut().ok_or(line)?.push(field).ok_or(line)?;
                }
                _ => return Err(line),
            }
        }
        let lists: Vec<bool> = messages.iter().map(|message| message.is_list).collect();
        for message in &mut messages {
            message.finish(|id| lists[id.0]);
        }
        let schema = "apiextensions/v1.JSONSchemaProps";
        let schema = *ids.get(schema).ok_or(schema)?;
        Ok(Self {
            kinds,
            messages,
            schema,
        })
    }
}

impl Message {
    pub(super) fn field(&self, number: u32) -> Option<&Field> {
        let at = *self.by_number.get(usize::try_from(number).ok()?)?;
        self.fields.get(usize::from(at).checked_sub(1)?)
    }

    fn finish(&mut self, is_list: impl Fn(MessageId) -> bool) {
        let names = self.fields.iter().map(|field| field.name);
        self.by_name = names.zip(0..).collect();
        self.by_name.sort_unstable();
        for field in &mut self.fields {
            if let (Place::Value, Type::Message(id)) = (field.place, field.of) {
                field.is_struct = !is_list(id);
            }
        }
        let always = |at: &usize| !self.fields[*at].is_left_out();
        self.always = (0..self.fields.len()).filter(always).collect();
    }

    fn push(&mut self, field: Field) -> Option<()> {
        let number = usize::try_from(field.number).ok()?;
        if number < self.by_number.len() {
            return None;
        }
        self.is_list = field.name == "-";
        if self.fields.len() == FIELDS_MAX {
            return None;
        }
        self.fields.push(field);
        self.by_number.resize(number + 1, 0);
        self.by_number[number] = u8::try_from(self.fields.len()).ok()?;
        Some(())
    }
}

impl Field {
    fn read(
        number: &str,
        name: &'static str,
        shape: &str,
        ids: &HashMap<&str, MessageId>,
    ) -> Option<Self> {
        let (omitted, shape) = match (shape.strip_prefix('?'), shape.strip_prefix('0')) {
            (Some(rest), _) => (Omitted::Empty, rest),
            (None, Some(rest)) => (Omitted::Zero, rest),
            (None, None) => (Omitted::Never, shape),
        };
        let places = [
            ("*", Place::Pointer),
            ("[]", Place::List),
            ("{}", Place::Map),
        ];
        let place = places
            .into_iter()
            .find_map(|(sign, place)| Some((place, shape.strip_prefix(sign)?)));
        let (place, of) = place.unwrap_or((Place::Value, shape));
        let of = Type::read(of, ids)?;
        Some(Self {
            number: number.parse().ok()?,
            name,
            place: if name == "+" { Place::Inline } else { place },
            omitted,
            of,
            is_struct: place == Place::Value && matches!(of, Type::Special(_)),
        })
    }

    /// Whether JSON leaves it out when it holds nothing.
    pub(super) fn is_left_out(&self) -> bool {
        match self.omitted {
            Omitted::Never => false,
            Omitted::Zero => true,
            Omitted::Empty => !self.is_struct,
        }
    }
}

impl Type {
    fn read(name: &str, ids: &HashMap<&str, MessageId>) -> Option<Self> {
        Some(match name {
            "bool" => Self::Bool,
            "int32" => Self::Int32,
            "int64" => Self::Int64,
            "double" => Self::Double,
            "string" => Self::Text,
            "bytes" => Self::Bytes,
            "meta/v1.Time" => Self::Special(Special::Time),
            "meta/v1.MicroTime" => Self::Special(Special::MicroTime),
            "resource.Quantity" => Self::Special(Special::Quantity),
            "intstr.IntOrString" => Self::Special(Special::IntOrString),
            "meta/v1.FieldsV1" | "runtime.RawExtension" | "apiextensions/v1.JSON" => {
                Self::Special(Special::Raw)
            }
            "apiextensions/v1.JSONSchemaPropsOrArray" => {
                Self::Special(Special::SchemaOr(Alternative::Schemas))
            }
            "apiextensions/v1.JSONSchemaPropsOrBool" => {
                Self::Special(Special::SchemaOr(Alternative::Bool))
            }
            "apiextensions/v1.JSONSchemaPropsOrStringArray" => {
                Self::Special(Special::SchemaOr(Alternative::Texts))
            }
            name => Self::Message(*ids.get(name)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_meta_are_found_in_every_version() {
        let status = FACTS.kind("v1", "Status");
        assert!(status.is_some());
        assert_eq!(FACTS.kind("meta.k8s.io/v1beta1", "Status"), status);
        assert_eq!(FACTS.kind("", "Status"), status);
        assert_eq!(FACTS.kind("v1", "Table"), None);
        assert_eq!(FACTS.kind("apps/v1", "ConfigMap"), None);
    }

    #[test]
    fn a_line_that_makes_no_sense_is_named() {
        for line in [
            "kind v1 A nowhere",
            "1 a string",
            "nonsense",
            "message a\n1 a nothing",
        ] {
            assert_eq!(Facts::read(line).unwrap_err(), line.lines().last().unwrap());
        }
    }

    #[test]
    fn a_field_is_found_by_its_number() {
        let meta = FACTS.kind("v1", "PartialObjectMetadata").unwrap();
        let Some(Type::Message(meta)) = FACTS.message(meta).field(1).map(|field| field.of) else {
            panic!("metadata are a message");
        };
        let meta = FACTS.message(meta);
        let name = |number| meta.field(number).map(|field| field.name);
        assert_eq!(name(1), Some("name"));
        assert_eq!(name(17), Some("managedFields"));
        assert_eq!(name(8), Some("creationTimestamp"));
        assert_eq!([0, 15, 18, u32::MAX].map(name), [None; 4]);
    }
}
