//! From octets to JSON.
//!
//! The result is the JSON that Go writes for the same object: with the zeros that Go does not leave out.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Buf as _;
use jiff::Timestamp;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use serde_json::{Map, Number, Value};

use super::facts::{Alternative, FACTS, Field, Message, MessageId, Place, Special, Type};
use super::{ELEMENTS_MAX, Malformed, NESTING_MAX, YEAR_ONE};

type Object = Map<String, Value>;

/// A field of a message: its number, and what it holds.
pub(super) enum Held<'a> {
    /// A number of up to 64 bits.
    Integer(u64),
    Double(f64),
    /// A text, octets, or a message.
    Octets(&'a [u8]),
}

/// The fields of a message as they come.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    /// The next field that holds something that some kind has; others are passed over.
    pub(super) fn next(&mut self) -> Result<Option<(u32, Held<'a>)>, Malformed> {
        while !self.0.is_empty() {
            let (number, wire_type) = decode_key(&mut self.0).map_err(|_| self.key_problem())?;
            let held = match wire_type {
                WireType::Varint => Held::Integer(self.varint()?),
                WireType::SixtyFourBit if self.0.len() >= 8 => Held::Double(self.0.get_f64_le()),
                WireType::LengthDelimited => {
                    let length = usize::try_from(self.varint()?).map_err(|_| Malformed::Length)?;
                    let (held, rest) = self.0.split_at_checked(length).ok_or(Malformed::Short)?;
                    self.0 = rest;
                    Held::Octets(held)
                }
                WireType::SixtyFourBit
                | WireType::StartGroup
                | WireType::EndGroup
                | WireType::ThirtyTwoBit => {
                    let context = DecodeContext::default();
                    skip_field(wire_type, number, &mut self.0, context)
                        .map_err(|_| Malformed::Short)?;
                    continue;
                }
            };
            return Ok(Some((number, held)));
        }
        Ok(None)
    }

    fn varint(&mut self) -> Result<u64, Malformed> {
        decode_varint(&mut self.0).map_err(|_| self.key_problem())
    }

    /// What is wrong with a number that cannot be read.
    fn key_problem(&self) -> Malformed {
        let ends = self.0.iter().any(|octet| octet & 0x80 == 0);
        if ends {
            Malformed::Number
        } else {
            Malformed::Short
        }
    }
}

/// Reads messages, within bounds.
pub(super) struct Reader {
    /// How many more elements there may be.
    left: usize,
}

impl Reader {
    pub(super) fn new() -> Self {
        Self { left: ELEMENTS_MAX }
    }

    /// What a message says, into `object`: what that says already and the message does not stays.
    pub(super) fn message(
        &mut self,
        id: MessageId,
        octets: &[u8],
        object: &mut Object,
        depth: usize,
    ) -> Result<(), Malformed> {
        self.read(id, octets, object, depth)?;
        self.fill(id, object, depth)
    }

    fn read(
        &mut self,
        id: MessageId,
        octets: &[u8],
        object: &mut Object,
        depth: usize,
    ) -> Result<(), Malformed> {
        if depth > NESTING_MAX {
            return Err(Malformed::Deep);
        }
        let message = FACTS.message(id);
        let mut fields = Fields(octets);
        while let Some((number, held)) = fields.next()? {
            if let Some(field) = message.field(number) {
                self.field(field, &held, object, depth)?;
            }
        }
        Ok(())
    }

    /// What JSON says although the message does not.
    fn fill(&mut self, id: MessageId, object: &mut Object, depth: usize) -> Result<(), Malformed> {
        let message = FACTS.message(id);
        for field in message.always.iter().map(|at| &message.fields[*at]) {
            match (field.place, field.of) {
                (Place::Inline, Type::Message(inner)) => self.fill(inner, object, depth)?,
                _ if object.contains_key(field.name) => {}
                (Place::Value, Type::Message(inner)) if !FACTS.message(inner).is_list => {
                    self.count()?;
                    let mut zero = Object::new();
                    self.message(inner, &[], &mut zero, depth + 1)?;
                    object.insert(field.name.to_owned(), zero.into());
                }
                (Place::Value, of) => {
                    object.insert(field.name.to_owned(), zero(of));
                }
                (Place::Inline | Place::Pointer | Place::List | Place::Map, _) => {
                    object.insert(field.name.to_owned(), Value::Null);
                }
            }
        }
        Ok(())
    }

    fn field(
        &mut self,
        field: &Field,
        held: &Held<'_>,
        object: &mut Object,
        depth: usize,
    ) -> Result<(), Malformed> {
        self.count()?;
        match (field.place, field.of) {
            (Place::Inline, Type::Message(inner)) => {
                return self.read(inner, held.octets(field.name)?, object, depth);
            }
            (Place::Value | Place::Pointer, Type::Message(inner))
                if !FACTS.message(inner).is_list =>
            {
                // What comes in two parts is put together.
                let earlier = object
                    .entry(field.name)
                    .or_insert_with(|| Object::new().into());
                if !earlier.is_object() {
                    *earlier = Object::new().into();
                }
                if let Value::Object(earlier) = earlier {
                    self.message(inner, held.octets(field.name)?, earlier, depth + 1)?;
                }
            }
            (Place::Value | Place::Inline | Place::Pointer, of) => {
                let value = self.one(field, of, held, depth + 1)?;
                if field.place == Place::Value && is_omitted(field, &value) {
                    object.remove(field.name);
                } else {
                    object.insert(field.name.to_owned(), value);
                }
            }
            (Place::List, of) => {
                let earlier = object
                    .entry(field.name)
                    .or_insert_with(|| Value::Array(Vec::new()));
                if !earlier.is_array() {
                    *earlier = Value::Array(Vec::new());
                }
                if let Value::Array(items) = earlier {
                    self.items(items, field, of, held, depth + 2)?;
                }
            }
            (Place::Map, of) => {
                let (key, value) = self.entry(field, of, held.octets(field.name)?, depth + 2)?;
                let earlier = object
                    .entry(field.name)
                    .or_insert_with(|| Object::new().into());
                if !earlier.is_object() {
                    *earlier = Object::new().into();
                }
                if let Value::Object(entries) = earlier {
                    entries.insert(key, value);
                }
            }
        }
        Ok(())
    }

    /// An element of a list, or several: numbers may come packed.
    fn items(
        &mut self,
        items: &mut Vec<Value>,
        field: &Field,
        of: Type,
        held: &Held<'_>,
        depth: usize,
    ) -> Result<(), Malformed> {
        let is_number = matches!(of, Type::Bool | Type::Int32 | Type::Int64);
        let Some(packed) = held.octets(field.name).ok().filter(|_| is_number) else {
            items.push(self.one(field, of, held, depth)?);
            return Ok(());
        };
        let mut numbers = Fields(packed);
        while !numbers.0.is_empty() {
            self.count()?;
            let number = Held::Integer(numbers.varint()?);
            items.push(self.one(field, of, &number, depth)?);
        }
        Ok(())
    }

    fn entry(
        &mut self,
        field: &Field,
        of: Type,
        octets: &[u8],
        depth: usize,
    ) -> Result<(String, Value), Malformed> {
        let (mut key, mut value) = (String::new(), None);
        let mut fields = Fields(octets);
        while let Some((number, held)) = fields.next()? {
            match number {
                1 => key = text(held.octets(field.name)?),
                2 => value = Some(self.one(field, of, &held, depth)?),
                _ => {}
            }
        }
        let value = match (value, of) {
            (Some(value), _) => value,
            // Octets that are missing here are empty ones.
            (None, Type::Bytes) => Value::String(String::new()),
            (None, Type::Message(_)) => self.one(field, of, &Held::Octets(&[]), depth)?,
            (None, of) => zero(of),
        };
        Ok((key, value))
    }

    fn one(
        &mut self,
        field: &Field,
        of: Type,
        held: &Held<'_>,
        depth: usize,
    ) -> Result<Value, Malformed> {
        if depth > NESTING_MAX {
            return Err(Malformed::Deep);
        }
        match of {
            Type::Bool => Ok((held.integer(field)? != 0).into()),
            #[expect(clippy::cast_possible_truncation, reason = "as Go reads 32 bits")]
            Type::Int32 => Ok((held.integer(field)? as i32).into()),
            Type::Int64 => Ok(held.integer(field)?.cast_signed().into()),
            Type::Double => match held {
                Held::Double(value) => double(*value),
                Held::Integer(_) | Held::Octets(_) => Err(Malformed::Type(field.name)),
            },
            Type::Text => Ok(text(held.octets(field.name)?).into()),
            Type::Bytes => Ok(STANDARD.encode(held.octets(field.name)?).into()),
            Type::Message(id) => self.whole(id, held.octets(field.name)?, depth),
            Type::Special(of) => self.special(field, of, held.octets(field.name)?, depth),
        }
    }

    /// A message as a value of its own.
    fn whole(&mut self, id: MessageId, octets: &[u8], depth: usize) -> Result<Value, Malformed> {
        let mut object = Object::new();
        self.message(id, octets, &mut object, depth)?;
        Ok(shown(FACTS.message(id), object))
    }

    fn special(
        &mut self,
        field: &Field,
        of: Special,
        octets: &[u8],
        depth: usize,
    ) -> Result<Value, Malformed> {
        let mut fields = Fields(octets);
        match of {
            Special::Time | Special::MicroTime => time(of, field, octets),
            Special::Quantity => {
                let mut quantity = String::new();
                while let Some((number, held)) = fields.next()? {
                    if number == 1 {
                        quantity = text(held.octets(field.name)?);
                    }
                }
                Ok(if quantity.is_empty() {
                    zero(Type::Special(of))
                } else {
                    quantity.into()
                })
            }
            Special::IntOrString => {
                let (mut kind, mut number, mut words) = (0, Value::from(0), String::new());
                while let Some((at, held)) = fields.next()? {
                    match at {
                        1 => kind = held.integer(field)?,
                        2 => number = self.one(field, Type::Int32, &held, depth)?,
                        3 => words = text(held.octets(field.name)?),
                        _ => {}
                    }
                }
                match kind {
                    0 => Ok(number),
                    1 => Ok(words.into()),
                    _ => Err(Malformed::IntOrString),
                }
            }
            Special::Raw => {
                let mut raw = Value::Null;
                while let Some((number, held)) = fields.next()? {
                    if number == 1 {
                        raw = json(held.octets(field.name)?)?;
                        if too_deep(&raw, depth) {
                            return Err(Malformed::Deep);
                        }
                    }
                }
                Ok(raw)
            }
            Special::SchemaOr(alternative) => self.schema_or(field, alternative, octets, depth),
        }
    }

    fn schema_or(
        &mut self,
        field: &Field,
        alternative: Alternative,
        octets: &[u8],
        depth: usize,
    ) -> Result<Value, Malformed> {
        let (mut schema, mut items, mut allows) = (Value::Null, Vec::new(), false);
        let mut fields = Fields(octets);
        while let Some((number, held)) = fields.next()? {
            self.count()?;
            match (alternative, number) {
                (Alternative::Bool, 1) => allows = held.integer(field)? != 0,
                (Alternative::Bool, 2) | (Alternative::Schemas | Alternative::Texts, 1) => {
                    schema = self.whole(FACTS.schema, held.octets(field.name)?, depth)?;
                }
                (Alternative::Schemas, 2) => {
                    items.push(self.whole(FACTS.schema, held.octets(field.name)?, depth + 1)?);
                }
                (Alternative::Texts, 2) => items.push(text(held.octets(field.name)?).into()),
                _ => {}
            }
        }
        if alternative == Alternative::Bool && schema.is_null() {
            return Ok(allows.into());
        }
        Ok(if items.is_empty() {
            schema
        } else {
            items.into()
        })
    }

    fn count(&mut self) -> Result<(), Malformed> {
        self.left = self.left.checked_sub(1).ok_or(Malformed::Many)?;
        Ok(())
    }
}

impl<'a> Held<'a> {
    pub(super) fn octets(&self, field: &'static str) -> Result<&'a [u8], Malformed> {
        match self {
            Self::Octets(octets) => Ok(octets),
            Self::Integer(_) | Self::Double(_) => Err(Malformed::Type(field)),
        }
    }

    fn integer(&self, field: &Field) -> Result<u64, Malformed> {
        match self {
            Self::Integer(value) => Ok(*value),
            Self::Octets(_) | Self::Double(_) => Err(Malformed::Type(field.name)),
        }
    }
}

/// Octets that are no text are shown as text all the same, as Go does.
pub(super) fn text(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).into_owned()
}

/// A message as JSON shows it.
fn shown(message: &Message, mut object: Object) -> Value {
    if message.is_list {
        let items = object.remove(message.fields[0].name);
        return items
            .filter(Value::is_array)
            .unwrap_or_else(|| Value::Array(Vec::new()));
    }
    object.into()
}

/// What JSON shows for a field that holds nothing. Nothing that is a message comes here, but lists.
pub(super) fn zero(of: Type) -> Value {
    match of {
        Type::Bool | Type::Special(Special::SchemaOr(Alternative::Bool)) => false.into(),
        Type::Int32 | Type::Int64 | Type::Double | Type::Special(Special::IntOrString) => 0.into(),
        Type::Text => "".into(),
        Type::Special(Special::Quantity) => "0".into(),
        Type::Bytes | Type::Message(_) | Type::Special(_) => Value::Null,
    }
}

/// Whether JSON leaves out a field with this value.
fn is_omitted(field: &Field, value: &Value) -> bool {
    let is_empty = match value {
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            *value == zero(field.of)
        }
    };
    is_empty && field.is_left_out()
}

/// A number as Go writes it: without a fraction where it has none.
fn double(value: f64) -> Result<Value, Malformed> {
    /// Up to here Go writes no exponent, and all of them are whole numbers of 64 bits.
    const WHOLE_MAX: f64 = 9.0e18;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it is a whole number in range"
    )]
    if value.fract() == 0.0 && value.abs() < WHOLE_MAX {
        return Ok((value as i64).into());
    }
    Number::from_f64(value)
        .map(Value::Number)
        .ok_or(Malformed::Double)
}

fn time(of: Special, field: &Field, octets: &[u8]) -> Result<Value, Malformed> {
    if octets.is_empty() {
        return Ok(Value::Null);
    }
    let (mut seconds, mut nanos) = (0, 0);
    let mut fields = Fields(octets);
    while let Some((number, held)) = fields.next()? {
        match number {
            1 => seconds = held.integer(field)?.cast_signed(),
            #[expect(clippy::cast_possible_truncation, reason = "as Go reads 32 bits")]
            2 => nanos = held.integer(field)? as i32,
            _ => {}
        }
    }
    let micro = of == Special::MicroTime;
    let nanos = if micro { nanos / 1_000 * 1_000 } else { 0 };
    let time = Timestamp::new(seconds, nanos).map_err(|_| Malformed::Time)?;
    Ok(match micro {
        _ if time == YEAR_ONE => Value::Null,
        true => format!("{time:.6}").into(),
        false => time.to_string().into(),
    })
}

/// Whether a value whose level is `level` has one in it that lies too deep.
fn too_deep(value: &Value, level: usize) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        Value::Array(items) => {
            level > NESTING_MAX || items.iter().any(|item| too_deep(item, level + 1))
        }
        Value::Object(fields) => {
            level > NESTING_MAX || fields.values().any(|field| too_deep(field, level + 1))
        }
    }
}

fn json(octets: &[u8]) -> Result<Value, Malformed> {
    if octets.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(octets).map_err(|error| Malformed::Json(error.to_string()))
}
