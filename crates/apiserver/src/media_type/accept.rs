//! The `Accept` header as a list of wishes, the dearest first.

/// One wish: a media type with parameters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Clause<'a> {
    pub(super) kind: &'a str,
    pub(super) subtype: &'a str,
    weight: f32,
    parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> Clause<'a> {
    /// The value of a parameter; of several with one name the last counts.
    pub(super) fn parameter(&self, key: &str) -> Option<&'a str> {
        let mut values = self
            .parameters
            .iter()
            .rev()
            .filter(|(name, _)| *name == key);
        values.next().map(|(_, value)| *value)
    }

    fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.split(';');
        let essence = parts.next().unwrap_or_default();
        let (kind, subtype) = match essence.split('/').collect::<Vec<_>>().as_slice() {
            [kind] if kind.trim() == "*" => ("*", "*"),
            [kind, subtype] if !subtype.is_empty() => (kind.trim(), subtype.trim()),
            _ => return None,
        };
        let mut clause = Self {
            kind,
            subtype,
            weight: 1.0,
            parameters: Vec::new(),
        };
        for part in parts {
            clause.add(part);
        }
        Some(clause)
    }

    fn add(&mut self, parameter: &'a str) {
        match parameter.split('=').collect::<Vec<_>>().as_slice() {
            [key, value] if key.trim() == "q" => self.weight = value.parse().unwrap_or_default(),
            [key, value] if !value.is_empty() => self.parameters.push((key.trim(), value.trim())),
            _ => {}
        }
    }

    /// Whether this wish is dearer. It is no order (a light wish may be dearer than a heavy one, and
    /// the other way round), which is why it matters how [`clauses`] sorts.
    fn is_dearer_than(&self, other: &Self) -> bool {
        self.weight > other.weight
            || (self.kind != "*" && other.kind == "*")
            || (self.subtype != "*" && other.subtype == "*")
    }
}

/// The wishes of a header in the order in which they are tried. What is not a media type is left
/// out.
pub(super) fn clauses(header: &str) -> Vec<Clause<'_>> {
    let mut sorted: Vec<Clause<'_>> = Vec::new();
    for clause in header
        .split(',')
        .filter_map(|part| Clause::parse(part.trim()))
    {
        let less_dear = sorted
            .iter()
            .rev()
            .take_while(|other| clause.is_dearer_than(other));
        let at = sorted.len() - less_dear.count();
        sorted.insert(at, clause);
    }
    sorted
}
