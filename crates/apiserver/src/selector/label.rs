//! `labelSelector`: a conjunction of requirements on the labels of an object.

use std::collections::BTreeSet;

use serde_json::Value;

use super::lexer::{Lexer, is_identifier};
use super::syntax::{key_problems, value_problems};
use crate::refusal::{FieldError, FieldPath, Refusal};

/// Requirements that must all hold; none is everything.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct LabelSelector(Vec<Requirement>);

#[derive(Clone, Debug, Eq, PartialEq)]
struct Requirement {
    key: String,
    demand: Demand,
}

/// What is asked of the label's value.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Demand {
    Exists,
    Missing,
    In(BTreeSet<String>),
    /// A missing label is in no set, so it passes.
    NotIn(BTreeSet<String>),
    Greater(i64),
    Less(i64),
}

impl LabelSelector {
    /// Parses the text of a query; an empty one selects everything.
    pub(crate) fn parse(text: &str) -> Result<Self, Refusal> {
        let mut parser = Parser(Lexer::new(text));
        parser.selector().map(Self).map_err(Refusal::bad_request)
    }

    /// A selector as objects carry it: `matchLabels` and `matchExpressions`, which have been judged before. Nothing
    /// selects everything.
    pub(crate) fn of_object(selector: &Value) -> Self {
        let labels = selector.get("matchLabels").and_then(Value::as_object);
        let labels = labels
            .into_iter()
            .flatten()
            .map(|(key, value)| Requirement {
                key: key.clone(),
                demand: Demand::In(texts([value])),
            });
        let expressions = selector.get("matchExpressions").and_then(Value::as_array);
        let expressions = expressions.into_iter().flatten().map(|requirement| {
            let text = |field: &str| requirement.get(field).and_then(Value::as_str);
            let values = requirement.get("values").and_then(Value::as_array);
            let values = texts(values.into_iter().flatten());
            Requirement {
                key: text("key").unwrap_or_default().to_owned(),
                demand: match text("operator").unwrap_or_default() {
                    "NotIn" => Demand::NotIn(values),
                    "Exists" => Demand::Exists,
                    "DoesNotExist" => Demand::Missing,
                    // `In`, and whatever else is in no set.
                    _ => Demand::In(values),
                },
            }
        });
        Self(labels.chain(expressions).collect())
    }

    /// Whether everything is selected.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an object is selected whose labels `label` finds.
    pub(crate) fn matches<'l>(&self, label: impl Fn(&str) -> Option<&'l str>) -> bool {
        let met = |requirement: &Requirement| requirement.demand.is_met_by(label(&requirement.key));
        self.0.iter().all(met)
    }
}

fn texts<'a>(values: impl IntoIterator<Item = &'a Value>) -> BTreeSet<String> {
    let texts = values.into_iter().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

impl Demand {
    fn is_met_by(&self, value: Option<&str>) -> bool {
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match self {
            Self::Exists => value.is_some(),
            Self::Missing => value.is_none(),
            Self::In(values) => value.is_some_and(|value| values.contains(value)),
            Self::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
            Self::Greater(than) => number().is_some_and(|value| value > *than),
            Self::Less(than) => number().is_some_and(|value| value < *than),
        }
    }
}

#[derive(Clone, Copy)]
enum Operator {
    In,
    NotIn,
    Equals,
    NotEquals,
    Greater,
    Less,
}

/// Errors are messages: they only differ in their words.
struct Parser<'a>(Lexer<'a>);

impl Parser<'_> {
    fn selector(&mut self) -> Result<Vec<Requirement>, String> {
        let mut requirements = Vec::new();
        match self.0.peek() {
            "" => return Ok(requirements),
            word if begins_requirement(word) => {}
            word => return Err(found(word, "!, identifier, or 'end of string'")),
        }
        loop {
            let requirement = self.requirement();
            requirements
                .push(requirement.map_err(|why| format!("unable to parse requirement: {why}"))?);
            if !self.another()? {
                return Ok(requirements);
            }
        }
    }

    /// Whether a comma and one more requirement follow.
    fn another(&mut self) -> Result<bool, String> {
        match self.0.next() {
            "" => Ok(false),
            "," => match self.0.peek() {
                word if begins_requirement(word) => Ok(true),
                word => Err(found(word, "identifier after ','")),
            },
            word => Err(found(word, "',' or 'end of string'")),
        }
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let negated = self.0.peek() == "!";
        if negated {
            self.0.next();
        }
        let key = self.key()?;
        let demand = match self.0.peek() {
            _ if negated => Demand::Missing,
            "" | "," => Demand::Exists,
            _ => self.demand(&key)?,
        };
        Ok(Requirement { key, demand })
    }

    fn key(&mut self) -> Result<String, String> {
        let key = self.identifier()?;
        match key_problems(&key).as_slice() {
            [] => Ok(key),
            problems => {
                Err(FieldError::invalid(FieldPath::root(), key, problems.join("; ")).to_string())
            }
        }
    }

    fn identifier(&mut self) -> Result<String, String> {
        match self.0.next() {
            word if is_identifier(word) => Ok(word.to_owned()),
            word => Err(found(word, "identifier")),
        }
    }

    fn demand(&mut self, key: &str) -> Result<Demand, String> {
        let operator = self.operator()?;
        let values = match operator {
            Operator::In | Operator::NotIn => self.set()?,
            Operator::Equals | Operator::NotEquals | Operator::Greater | Operator::Less => {
                BTreeSet::from([self.value()?])
            }
        };
        demand(operator, key, values)
    }

    fn operator(&mut self) -> Result<Operator, String> {
        match self.0.next() {
            "in" => Ok(Operator::In),
            "notin" => Ok(Operator::NotIn),
            "=" | "==" => Ok(Operator::Equals),
            "!=" => Ok(Operator::NotEquals),
            ">" => Ok(Operator::Greater),
            "<" => Ok(Operator::Less),
            word => Err(found(word, "in, notin, =, ==, !=, gt, lt")),
        }
    }

    /// The one value of `=`; nothing at all is the empty value.
    fn value(&mut self) -> Result<String, String> {
        match self.0.peek() {
            "" | "," => Ok(String::new()),
            _ => self.identifier(),
        }
    }

    /// The values of `in`: `(a,b)`. What is left out between commas is the empty value.
    fn set(&mut self) -> Result<BTreeSet<String>, String> {
        match self.0.next() {
            "(" => {}
            word => return Err(format!("found '{word}' expected: '('")),
        }
        match self.0.peek() {
            "," | ")" => {}
            word if is_identifier(word) => {}
            word => return Err(found(word, "',', ')' or identifier")),
        }
        let mut values = BTreeSet::new();
        loop {
            values.insert(self.element()?);
            match self.0.next() {
                ")" => return Ok(values),
                "," => {}
                word => return Err(found(word, "',' or ')'")),
            }
        }
    }

    fn element(&mut self) -> Result<String, String> {
        match self.0.peek() {
            "," | ")" => Ok(String::new()),
            word if is_identifier(word) => self.identifier(),
            word => Err(found(word, "',', or identifier")),
        }
    }
}

fn begins_requirement(word: &str) -> bool {
    word == "!" || is_identifier(word)
}

fn found(word: &str, expected: &str) -> String {
    format!("found '{word}', expected: {expected}")
}

fn demand(operator: Operator, key: &str, values: BTreeSet<String>) -> Result<Demand, String> {
    let mut errors = Vec::new();
    let number = |errors: &mut Vec<FieldError>| {
        let value = values.first().map(String::as_str).unwrap_or_default();
        value.parse().unwrap_or_else(|_| {
            let why = "for 'Gt', 'Lt' operators, the value must be an integer";
            errors.push(FieldError::invalid(FieldPath::of("values[0]"), value, why));
            0
        })
    };
    let than = match operator {
        Operator::Greater | Operator::Less => number(&mut errors),
        Operator::In | Operator::NotIn | Operator::Equals | Operator::NotEquals => 0,
    };
    for (index, value) in values.iter().enumerate() {
        let problems = value_problems(value);
        if !problems.is_empty() {
            let path = FieldPath::of("values").index(index).key(key);
            errors.push(FieldError::invalid(
                path,
                value.as_str(),
                problems.join("; "),
            ));
        }
    }
    match errors.as_slice() {
        [] => Ok(match operator {
            Operator::In | Operator::Equals => Demand::In(values),
            Operator::NotIn | Operator::NotEquals => Demand::NotIn(values),
            Operator::Greater => Demand::Greater(than),
            Operator::Less => Demand::Less(than),
        }),
        [one] => Err(one.to_string()),
        several => {
            let texts: Vec<String> = several.iter().map(ToString::to_string).collect();
            Err(format!("[{}]", texts.join(", ")))
        }
    }
}
