//! The text of a path, step by step.

use super::{Comparison, Filter, JsonPath, Slice, Step, Test};
use serde_json::Value;

/// A text that is no path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct NotAPath;

/// Unions and filters hold paths of their own, but these are short: no column that makes sense
/// nests them deeper.
const MAX_DEPTH: usize = 16;

impl JsonPath {
    /// Parses a path. A closing brace ends it, because a column is one expression of a template.
    pub(crate) fn parse(text: &str) -> Result<Self, NotAPath> {
        parse(text, 0)
    }
}

fn parse(text: &str, depth: usize) -> Result<JsonPath, NotAPath> {
    if depth > MAX_DEPTH {
        return Err(NotAPath);
    }
    let mut parser = Parser {
        rest: text,
        steps: Vec::new(),
        depth,
    };
    while parser.step()? {}
    Ok(JsonPath(parser.steps))
}

struct Parser<'a> {
    rest: &'a str,
    steps: Vec<Step>,
    depth: usize,
}

impl<'a> Parser<'a> {
    /// Takes one step; says whether there may be another.
    fn step(&mut self) -> Result<bool, NotAPath> {
        let Some(first) = self.rest.chars().next() else {
            return Ok(false);
        };
        match first {
            '}' => return Ok(false),
            ' ' | '@' | '$' => self.skip(first.len_utf8()),
            '.' if self.rest.starts_with("..") => self.descend()?,
            '.' => {
                self.skip(1);
                self.field();
            }
            '[' if self.rest.starts_with("[?(") => self.filter()?,
            '[' => self.bracket()?,
            '"' | '\'' => self.quoted(first)?,
            '+' | '-' | '0'..='9' => self.number()?,
            c if c == '_' || c.is_alphanumeric() => self.word(),
            _ => return Err(NotAPath),
        }
        Ok(true)
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    fn descend(&mut self) -> Result<(), NotAPath> {
        if self.steps.last() == Some(&Step::Descend) {
            return Err(NotAPath);
        }
        self.skip(2);
        self.steps.push(Step::Descend);
        if self
            .rest
            .starts_with(|c: char| c == '_' || c.is_alphanumeric())
        {
            self.field();
        }
        Ok(())
    }

    /// A field's name, in which a backslash keeps the next character from ending it.
    fn field(&mut self) {
        let mut escaped = false;
        let end = self.rest.find(|c: char| {
            let ends = !escaped && is_terminator(c);
            escaped = c == '\\' && !escaped;
            ends
        });
        let name = self.take(end);
        self.steps.push(match name {
            "*" => Step::Wildcard,
            name => Step::Field(name.replace('\\', "")),
        });
    }

    fn take(&mut self, end: Option<usize>) -> &'a str {
        let (taken, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        taken
    }

    fn bracket(&mut self) -> Result<(), NotAPath> {
        let (inside, rest) = self.rest[1..].split_once(']').ok_or(NotAPath)?;
        self.rest = rest;
        if inside.contains(',') {
            let part = |part: &str| parse(&format!("[{}]", part.trim_matches(' ')), self.depth + 1);
            let paths: Result<Vec<_>, _> = inside.split(',').map(part).collect();
            self.steps.push(Step::Union(paths?));
        } else if let Some(key) = quoted_key(inside) {
            let JsonPath(steps) = parse(&format!(".{key}"), self.depth + 1)?;
            self.steps.extend(steps);
        } else {
            self.steps.push(Step::Slice(slice(inside)?));
        }
        Ok(())
    }

    fn filter(&mut self) -> Result<(), NotAPath> {
        let text = &self.rest[3..];
        let end = end_of_filter(text).ok_or(NotAPath)?;
        let inside = &text[..end];
        self.rest = text[end + 1..].strip_prefix(']').ok_or(NotAPath)?;
        let depth = self.depth + 1;
        let is_operator = |c: char| "!<>=".contains(c);
        let filter = match inside.find(is_operator) {
            Some(at) if at > 0 => {
                let rest = &inside[at..];
                let length = rest.find(|c| !is_operator(c)).ok_or(NotAPath)?;
                let comparison = comparison(&rest[..length]);
                let right = parse(&rest[length..], depth)?;
                let left = parse(&inside[..at], depth)?;
                Filter {
                    left,
                    test: Test::Compare(comparison, right),
                }
            }
            Some(_) | None => Filter {
                left: parse(inside, depth)?,
                test: Test::Exists,
            },
        };
        self.steps.push(Step::Filter(filter));
        Ok(())
    }

    fn quoted(&mut self, quote: char) -> Result<(), NotAPath> {
        let mut escaped = false;
        let end = self.rest[1..].find(|c: char| {
            let ends = c == quote && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let text = &self.rest[1..][..end.ok_or(NotAPath)?];
        self.skip(text.len() + 2);
        self.steps.push(Step::Literal(unescape(text)?.into()));
        Ok(())
    }

    fn number(&mut self) -> Result<(), NotAPath> {
        let signed = usize::from(self.rest.starts_with(['+', '-']));
        let end = self.rest[signed..].find(|c: char| c != '.' && !c.is_ascii_digit());
        let text = self.take(end.map(|end| end + signed));
        let whole = text.parse::<i64>().map(Value::from);
        let number = whole.or_else(|_| text.parse::<f64>().map(Value::from));
        self.steps
            .push(Step::Literal(number.map_err(|_| NotAPath)?));
        Ok(())
    }

    fn word(&mut self) {
        let end = self.rest.find(is_terminator);
        let step = match self.take(end) {
            "true" => Step::Literal(true.into()),
            "false" => Step::Literal(false.into()),
            _ => Step::Word,
        };
        self.steps.push(step);
    }
}

fn is_terminator(c: char) -> bool {
    " \t\r\n.,[]$@{}".contains(c)
}

fn quoted_key(text: &str) -> Option<&str> {
    let key = text.strip_prefix('\'')?.strip_suffix('\'')?;
    (!key.contains('\'')).then_some(key)
}

fn slice(text: &str) -> Result<Slice, NotAPath> {
    if text == "*" {
        return Ok(Slice::default());
    }
    let mut slice = Slice {
        single: !text.contains(':'),
        ..Slice::default()
    };
    for (index, part) in text.split(':').enumerate() {
        let number = match part {
            "" => None,
            part if part.starts_with('+') => return Err(NotAPath),
            part => Some(part.parse().map_err(|_| NotAPath)?),
        };
        match index {
            0 => slice.from = number,
            1 => slice.to = number,
            2 => slice.step = number,
            _ => return Err(NotAPath),
        }
    }
    Ok(slice)
}

/// Where the parenthesis closes that a filter opened, not counting those in quotes.
fn end_of_filter(text: &str) -> Option<usize> {
    let (mut quote, mut escaped) = (None, false);
    text.find(|c: char| {
        let plain = !escaped;
        escaped = c == '\\' && plain;
        match (quote, c) {
            (None, ')') => return true,
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), close) if open == close && plain => quote = None,
            (None | Some(_), _) => {}
        }
        false
    })
}

fn comparison(operator: &str) -> Comparison {
    match operator {
        "==" => Comparison::Equal,
        "!=" => Comparison::NotEqual,
        "<" => Comparison::Less,
        "<=" => Comparison::LessOrEqual,
        ">" => Comparison::Greater,
        ">=" => Comparison::GreaterOrEqual,
        _ => Comparison::Unknown,
    }
}

/// Of the escapes of Go only those that occur in words: the quotes, the backslash, line breaks and
/// tabs.
fn unescape(text: &str) -> Result<String, NotAPath> {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        plain.push(match c {
            '\\' => match chars.next() {
                Some(same @ ('\\' | '"' | '\'')) => same,
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some(_) | None => return Err(NotAPath),
            },
            c => c,
        });
    }
    Ok(plain)
}
