//! What expressions evaluate to, as far as it is known before they are.

use crate::schema::format::Format;
use crate::schema::{Schema, Type};

/// The kind of a value in an expression.
#[derive(Clone, Debug)]
pub(super) enum Kind<'s> {
    /// Anything: it shows when the rule is evaluated.
    Dyn,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    Text,
    Bytes,
    Timestamp,
    Duration,
    /// A kind as a value, as `type()` returns.
    Type,
    List(Box<Self>),
    /// From texts to values of a kind.
    Map(Box<Self>),
    Object(&'s Schema),
    /// An object with a version, a kind and metadata whether its schema names them or not.
    Resource(&'s Schema),
    /// Metadata of which only the names can be seen.
    Metadata,
    Optional(Box<Self>),
}

impl<'s> Kind<'s> {
    /// The kind of values that a schema describes; nothing if rules cannot see them.
    pub(super) fn of(schema: &'s Schema, is_resource: bool) -> Option<Self> {
        if schema.int_or_string {
            return Some(Self::Dyn);
        }
        match schema.kind? {
            Type::Array => Some(Self::List(Box::new(below(schema.items.as_deref()?)?))),
            Type::Object if is_resource => Some(Self::Resource(schema)),
            Type::Object => match entries(schema) {
                Some(entries) => Some(Self::Map(Box::new(below(entries)?))),
                None => Some(Self::Object(schema)),
            },
            Type::String => Some(match schema.keywords.format.as_ref().map(Format::name) {
                Some("byte") => Self::Bytes,
                Some("duration") => Self::Duration,
                Some("date" | "date-time") => Self::Timestamp,
                Some(_) | None => Self::Text,
            }),
            Type::Integer => Some(Self::Int),
            Type::Number => Some(Self::Double),
            Type::Boolean => Some(Self::Bool),
        }
    }

    /// The kind of a field, by its name in expressions; nothing if there is no such field.
    pub(super) fn field(&self, name: &str) -> Option<Self> {
        match self {
            Self::Dyn => Some(Self::Dyn),
            Self::Map(values) => Some(values.as_ref().clone()),
            Self::Optional(inner) => Some(Self::Optional(Box::new(inner.field(name)?))),
            Self::Metadata => matches!(name, "name" | "generateName").then_some(Self::Text),
            Self::Resource(schema) => match name {
                "apiVersion" | "kind" => Some(Self::Text),
                "metadata" => Some(match declared_metadata(schema) {
                    Some(metadata) => Self::Object(metadata),
                    None => Self::Metadata,
                }),
                name => property(schema, name),
            },
            Self::Object(schema) => property(schema, name),
            Self::Null
            | Self::Bool
            | Self::Int
            | Self::Uint
            | Self::Double
            | Self::Text
            | Self::Bytes
            | Self::Timestamp
            | Self::Duration
            | Self::Type
            | Self::List(_) => None,
        }
    }

    /// As compilers of rules name it.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Dyn => "dyn".into(),
            Self::Null => "null".into(),
            Self::Bool => "bool".into(),
            Self::Int => "int".into(),
            Self::Uint => "uint".into(),
            Self::Double => "double".into(),
            Self::Text => "string".into(),
            Self::Bytes => "bytes".into(),
            Self::Timestamp => "timestamp".into(),
            Self::Duration => "duration".into(),
            Self::Type => "type".into(),
            Self::List(of) => format!("list({})", of.name()),
            Self::Map(of) => format!("map(string, {})", of.name()),
            Self::Object(_) | Self::Resource(_) | Self::Metadata => "object".into(),
            Self::Optional(of) => format!("optional_type({})", of.name()),
        }
    }

    /// Whether it is a plain value of a kind that is known.
    pub(super) fn is_scalar(&self) -> bool {
        match self {
            Self::Bool
            | Self::Int
            | Self::Uint
            | Self::Double
            | Self::Text
            | Self::Bytes
            | Self::Timestamp
            | Self::Duration => true,
            Self::Dyn
            | Self::Null
            | Self::Type
            | Self::List(_)
            | Self::Map(_)
            | Self::Object(_)
            | Self::Resource(_)
            | Self::Metadata
            | Self::Optional(_) => false,
        }
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(self, Self::Int | Self::Uint | Self::Double)
    }

    /// The kind that both are; anything if they differ.
    pub(super) fn join(self, other: &Self) -> Self {
        if self.name() == other.name() && !matches!(self, Self::Object(_) | Self::Resource(_)) {
            return self;
        }
        match (&self, other) {
            (Self::Object(one), Self::Object(other))
            | (Self::Resource(one), Self::Resource(other))
                if std::ptr::eq(*one, *other) =>
            {
                self
            }
            _ => Self::Dyn,
        }
    }
}

fn below(schema: &Schema) -> Option<Kind<'_>> {
    Kind::of(schema, schema.embedded_resource)
}

/// The values of a map. `additionalProperties: true` says nothing about them, and hides them from rules.
fn entries(schema: &Schema) -> Option<&Schema> {
    let entries = schema.additional.as_deref()?;
    let says = entries.kind.is_some() || entries.int_or_string || entries.preserve_unknown;
    says.then_some(entries)
}

fn property<'s>(schema: &'s Schema, name: &str) -> Option<Kind<'s>> {
    below(schema.properties.get(&unescape(name)?)?)
}

/// Metadata as the schema declares it, if it declares both names.
pub(super) fn declared_metadata(schema: &Schema) -> Option<&Schema> {
    let metadata = schema.properties.get("metadata")?;
    let is_text = |name| metadata.properties.get(name)?.kind;
    let both =
        is_text("name") == Some(Type::String) && is_text("generateName") == Some(Type::String);
    both.then_some(metadata)
}

/// Words of the language, which cannot be names.
const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// What a property is called in expressions; nothing if it cannot be named there.
pub(super) fn escape(name: &str) -> Option<String> {
    let starts_well = name.starts_with(|first: char| !first.is_ascii_digit());
    let is_sign = |sign: char| sign.is_ascii_alphanumeric() || "_.-/".contains(sign);
    if !starts_well || !name.chars().all(is_sign) {
        return None;
    }
    if RESERVED.contains(&name) {
        return Some(format!("__{name}__"));
    }
    let escaped = name
        .replace("__", "\u{0}")
        .replace('.', "__dot__")
        .replace('-', "__dash__")
        .replace('/', "__slash__")
        .replace('\u{0}', "__underscores__");
    Some(escaped)
}

/// The property that a name in an expression stands for.
fn unescape(name: &str) -> Option<String> {
    if let Some(word) = name
        .strip_prefix("__")
        .and_then(|name| name.strip_suffix("__"))
        && RESERVED.contains(&word)
    {
        return Some(word.to_owned());
    }
    let plain = name
        .replace("__underscores__", "\u{0}")
        .replace("__dot__", ".")
        .replace("__dash__", "-")
        .replace("__slash__", "/");
    (!plain.contains("__")).then(|| plain.replace('\u{0}', "__"))
}
