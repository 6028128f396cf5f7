//! The functions that expressions may call, and how.
//!
//! The interpreter knows functions by name only: whoever calls one with too few arguments brings it down, and one
//! argument too many is not looked at.

/// How a function is called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Form {
    /// `f(x)`
    Global,
    /// `x.f()`
    Method,
}

/// What a function gives back.
#[derive(Clone, Copy, Debug)]
pub(super) enum Gives {
    Bool,
    Int,
    Uint,
    Double,
    Text,
    Bytes,
    Texts,
    Ints,
    Timestamp,
    Duration,
    Type,
    Dyn,
    /// What it is called on.
    Target,
    /// An entry of the list it is called on.
    Entry,
    /// What is inside the optional it is called on.
    Value,
    /// What is inside, or the argument.
    ValueOr,
    /// The argument as an optional.
    Optional,
}

/// A function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signature {
    name: &'static str,
    pub(super) gives: Gives,
    /// How many arguments it takes as a method, if it is one.
    method: Option<(usize, usize)>,
    /// How many arguments it takes otherwise, if it can be called so.
    global: Option<(usize, usize)>,
    /// Whether it is a method of texts only.
    pub(super) of_text: bool,
}

impl Signature {
    /// Whether it can be called so.
    pub(super) fn takes(self, form: Form, arguments: usize) -> bool {
        let count = match form {
            Form::Global => self.global,
            Form::Method => self.method,
        };
        count.is_some_and(|(least, most)| (least..=most).contains(&arguments))
    }
}

/// The function of a name.
pub(super) fn find(name: &str) -> Option<Signature> {
    let index = ALL
        .binary_search_by_key(&name, |signature| signature.name)
        .ok()?;
    Some(ALL[index])
}

const fn method(name: &'static str, gives: Gives, least: usize, most: usize) -> Signature {
    Signature {
        name,
        gives,
        method: Some((least, most)),
        global: None,
        of_text: false,
    }
}

const fn text_method(name: &'static str, gives: Gives, least: usize, most: usize) -> Signature {
    Signature {
        of_text: true,
        ..method(name, gives, least, most)
    }
}

const fn global(name: &'static str, gives: Gives, least: usize, most: usize) -> Signature {
    Signature {
        name,
        gives,
        method: None,
        global: Some((least, most)),
        of_text: false,
    }
}

impl Signature {
    /// The same function, also called without a target.
    const fn or_global(self, arguments: usize) -> Self {
        Self {
            global: Some((arguments, arguments)),
            ..self
        }
    }
}

/// In the order of names.
const ALL: &[Signature] = &[
    method("add", Gives::Dyn, 1, 1),
    method("asApproximateFloat", Gives::Double, 0, 0),
    method("asInteger", Gives::Int, 0, 0),
    global("base64.decode", Gives::Bytes, 1, 1),
    global("base64.encode", Gives::Text, 1, 1),
    global("bytes", Gives::Bytes, 1, 1),
    text_method("charAt", Gives::Text, 1, 1),
    global("cidr", Gives::Dyn, 1, 1),
    method("compareTo", Gives::Int, 1, 1),
    text_method("contains", Gives::Bool, 1, 1),
    method("containsCIDR", Gives::Bool, 1, 1),
    method("containsIP", Gives::Bool, 1, 1),
    method("distinct", Gives::Target, 0, 0),
    global("double", Gives::Double, 1, 1),
    global("duration", Gives::Duration, 1, 1),
    global("dyn", Gives::Dyn, 1, 1),
    text_method("endsWith", Gives::Bool, 1, 1),
    method("family", Gives::Int, 0, 0),
    text_method("find", Gives::Text, 1, 1),
    text_method("findAll", Gives::Texts, 1, 2),
    method("flatten", Gives::Dyn, 0, 1),
    text_method("format", Gives::Text, 1, 1),
    global("format.byte", Gives::Dyn, 0, 0),
    global("format.date", Gives::Dyn, 0, 0),
    global("format.datetime", Gives::Dyn, 0, 0),
    global("format.dns1035Label", Gives::Dyn, 0, 0),
    global("format.dns1035LabelPrefix", Gives::Dyn, 0, 0),
    global("format.dns1123Label", Gives::Dyn, 0, 0),
    global("format.dns1123LabelPrefix", Gives::Dyn, 0, 0),
    global("format.dns1123Subdomain", Gives::Dyn, 0, 0),
    global("format.dns1123SubdomainPrefix", Gives::Dyn, 0, 0),
    global("format.labelValue", Gives::Dyn, 0, 0),
    global("format.named", Gives::Dyn, 1, 1),
    global("format.qualifiedName", Gives::Dyn, 0, 0),
    global("format.uri", Gives::Dyn, 0, 0),
    global("format.uuid", Gives::Dyn, 0, 0),
    method("getDate", Gives::Int, 0, 0),
    method("getDayOfMonth", Gives::Int, 0, 0),
    method("getDayOfWeek", Gives::Int, 0, 0),
    method("getDayOfYear", Gives::Int, 0, 0),
    method("getEscapedPath", Gives::Text, 0, 0),
    method("getFullYear", Gives::Int, 0, 0),
    method("getHost", Gives::Text, 0, 0),
    method("getHostname", Gives::Text, 0, 0),
    method("getHours", Gives::Int, 0, 0),
    method("getMilliseconds", Gives::Int, 0, 0),
    method("getMinutes", Gives::Int, 0, 0),
    method("getMonth", Gives::Int, 0, 0),
    method("getPort", Gives::Text, 0, 0),
    method("getQuery", Gives::Dyn, 0, 0),
    method("getScheme", Gives::Text, 0, 0),
    method("getSeconds", Gives::Int, 0, 0),
    method("hasValue", Gives::Bool, 0, 0),
    method("indexOf", Gives::Int, 1, 2),
    global("int", Gives::Int, 1, 1),
    method("ip", Gives::Dyn, 0, 0).or_global(1),
    global("ip.isCanonical", Gives::Bool, 1, 1),
    global("isCIDR", Gives::Bool, 1, 1),
    method("isGlobalUnicast", Gives::Bool, 0, 0),
    method("isGreaterThan", Gives::Bool, 1, 1),
    global("isIP", Gives::Bool, 1, 1),
    method("isInteger", Gives::Bool, 0, 0),
    method("isLessThan", Gives::Bool, 1, 1),
    method("isLinkLocalMulticast", Gives::Bool, 0, 0),
    method("isLinkLocalUnicast", Gives::Bool, 0, 0),
    method("isLoopback", Gives::Bool, 0, 0),
    global("isQuantity", Gives::Bool, 1, 1),
    global("isSemver", Gives::Bool, 1, 2),
    method("isSorted", Gives::Bool, 0, 0),
    global("isURL", Gives::Bool, 1, 1),
    method("isUnspecified", Gives::Bool, 0, 0),
    method("join", Gives::Text, 0, 1),
    global("jsonpatch.escapeKey", Gives::Text, 1, 1),
    method("lastIndexOf", Gives::Int, 1, 2),
    global("lists.range", Gives::Ints, 1, 1),
    text_method("lowerAscii", Gives::Text, 0, 0),
    method("major", Gives::Int, 0, 0),
    method("masked", Gives::Dyn, 0, 0),
    text_method("matches", Gives::Bool, 1, 1).or_global(2),
    global("math.abs", Gives::Dyn, 1, 1),
    global("math.bitAnd", Gives::Dyn, 2, 2),
    global("math.bitNot", Gives::Dyn, 1, 1),
    global("math.bitOr", Gives::Dyn, 2, 2),
    global("math.bitShiftLeft", Gives::Dyn, 2, 2),
    global("math.bitShiftRight", Gives::Dyn, 2, 2),
    global("math.bitXor", Gives::Dyn, 2, 2),
    global("math.ceil", Gives::Dyn, 1, 1),
    global("math.floor", Gives::Dyn, 1, 1),
    global("math.greatest", Gives::Dyn, 1, 8),
    global("math.isFinite", Gives::Bool, 1, 1),
    global("math.isInf", Gives::Bool, 1, 1),
    global("math.isNaN", Gives::Bool, 1, 1),
    global("math.least", Gives::Dyn, 1, 8),
    global("math.round", Gives::Dyn, 1, 1),
    global("math.sign", Gives::Dyn, 1, 1),
    global("math.sqrt", Gives::Dyn, 1, 1),
    global("math.trunc", Gives::Dyn, 1, 1),
    method("max", Gives::Entry, 0, 0),
    method("min", Gives::Entry, 0, 0),
    method("minor", Gives::Int, 0, 0),
    global("optional.none", Gives::Optional, 0, 0),
    global("optional.of", Gives::Optional, 1, 1),
    global("optional.ofNonZeroValue", Gives::Optional, 1, 1),
    method("or", Gives::Target, 1, 1),
    method("orValue", Gives::ValueOr, 1, 1),
    method("patch", Gives::Int, 0, 0),
    method("prefixLength", Gives::Int, 0, 0),
    global("quantity", Gives::Dyn, 1, 1),
    text_method("replace", Gives::Text, 2, 3),
    method("reverse", Gives::Target, 0, 0),
    global("semver", Gives::Dyn, 1, 2),
    global("sets.contains", Gives::Bool, 2, 2),
    global("sets.equivalent", Gives::Bool, 2, 2),
    global("sets.intersects", Gives::Bool, 2, 2),
    method("sign", Gives::Int, 0, 0),
    method("size", Gives::Int, 0, 0).or_global(1),
    method("slice", Gives::Target, 2, 2),
    method("sort", Gives::Target, 0, 0),
    text_method("split", Gives::Texts, 1, 2),
    text_method("startsWith", Gives::Bool, 1, 1),
    global("string", Gives::Text, 1, 1),
    global("strings.quote", Gives::Text, 1, 1),
    method("sub", Gives::Dyn, 1, 1),
    text_method("substring", Gives::Text, 1, 2),
    method("sum", Gives::Entry, 0, 0),
    global("timestamp", Gives::Timestamp, 1, 1),
    text_method("trim", Gives::Text, 0, 0),
    global("type", Gives::Type, 1, 1),
    global("uint", Gives::Uint, 1, 1),
    text_method("upperAscii", Gives::Text, 0, 0),
    global("url", Gives::Dyn, 1, 1),
    method("validate", Gives::Dyn, 1, 1),
    method("value", Gives::Value, 0, 0),
];
