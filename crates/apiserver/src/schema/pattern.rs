//! Patterns: regular expressions as Go understands them.
//!
//! CustomResourceDefinitions are written against Go's syntax. Rust's is close but not the same: it reads `[a[b]` and
//! `[a&&b]` as set operations, `\w` as Unicode, and does not know `\Q…\E`. A pattern is translated so that it means
//! here what it means there; the text of the original is kept for messages.

use std::fmt;
use std::iter::Peekable;
use std::str::Chars;

use regex::{Regex, RegexBuilder};

/// The most memory that one compiled pattern may take: the regex crate's own default is ten times that, and a
/// definition has hundreds of patterns.
const MAX_COMPILED_BYTES: usize = 1 << 20;
/// Go's bound for `{n,m}`.
const MAX_REPEAT: u32 = 1000;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    source: String,
    regex: Regex,
}

/// Why a text is no pattern, as Go says it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct PatternFault(String);

impl fmt::Display for PatternFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error parsing regexp: {}", self.0)
    }
}

impl Pattern {
    /// Compiles a pattern in Go's syntax.
    pub(crate) fn parse(source: &str) -> Result<Self, PatternFault> {
        let translated = Translator::new(source).translate()?;
        let regex = RegexBuilder::new(&translated)
            .size_limit(MAX_COMPILED_BYTES)
            .build()
            .map_err(|error| unexpected(source, &error))?;
        let source = source.to_owned();
        Ok(Self { source, regex })
    }

    /// Whether the pattern is found anywhere in the text.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// The pattern as it was written.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }
}

/// What the translation let through and the regex crate does not take.
fn unexpected(source: &str, error: &regex::Error) -> PatternFault {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    let last = last.strip_prefix("error: ").unwrap_or(last);
    PatternFault(format!("{last}: `{source}`"))
}

struct Translator<'a> {
    source: &'a str,
    rest: Peekable<Chars<'a>>,
    out: String,
    /// Open groups.
    depth: usize,
    /// Whether there is something that `*` could repeat.
    repeatable: Repeatable,
    /// The last repetition, as it was written.
    repetition: String,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Repeatable {
    Nothing,
    Piece,
    Repetition,
}

impl<'a> Translator<'a> {
    fn new(source: &'a str) -> Self {
        Self {
            source,
            rest: source.chars().peekable(),
            out: String::with_capacity(source.len() + 16),
            depth: 0,
            repeatable: Repeatable::Nothing,
            repetition: String::new(),
        }
    }

    fn translate(mut self) -> Result<String, PatternFault> {
        while let Some(next) = self.rest.next() {
            self.piece(next)?;
        }
        if self.depth > 0 {
            return Err(self.fault("missing closing )", self.source));
        }
        Ok(self.out)
    }

    fn piece(&mut self, next: char) -> Result<(), PatternFault> {
        match next {
            '\\' => self.escape(),
            '[' => self.class(),
            '(' => self.open(),
            ')' => self.close(),
            '|' => {
                self.out.push('|');
                self.repeatable = Repeatable::Nothing;
                Ok(())
            }
            '*' | '+' | '?' => self.repeat(next.to_string()),
            '{' => self.brace(),
            '^' | '$' | '.' => {
                self.out.push(next);
                self.repeatable = Repeatable::Piece;
                Ok(())
            }
            other => {
                self.literal(other);
                Ok(())
            }
        }
    }

    /// A count, or else an ordinary character.
    fn brace(&mut self) -> Result<(), PatternFault> {
        if let Some(count) = self.counted() {
            return self.counted_repeat(&count);
        }
        self.literal('{');
        Ok(())
    }

    fn literal(&mut self, literal: char) {
        push_literal(&mut self.out, literal);
        self.repeatable = Repeatable::Piece;
    }

    fn open(&mut self) -> Result<(), PatternFault> {
        self.depth += 1;
        self.out.push('(');
        self.repeatable = Repeatable::Nothing;
        if self.rest.peek() != Some(&'?') {
            return Ok(());
        }
        let remaining: String = self.rest.clone().collect();
        if let Some(end) = name_end(&remaining) {
            self.take(end);
            return Ok(());
        }
        let flags = remaining.find([':', ')']).filter(|end| {
            remaining[1..*end]
                .chars()
                .all(|flag| "imsU-".contains(flag))
        });
        match flags {
            Some(end) if end > 1 || remaining[end..].starts_with(':') => {
                if remaining[end..].starts_with(')') {
                    self.depth -= 1;
                }
                self.take(end + 1);
                Ok(())
            }
            _ => {
                let shown: String = format!("({}", remaining.chars().take(2).collect::<String>());
                Err(self.fault("invalid or unsupported Perl syntax", &shown))
            }
        }
    }

    /// Copies so many bytes as they are.
    fn take(&mut self, bytes: usize) {
        let mut taken = 0;
        while taken < bytes {
            let Some(next) = self.rest.next() else { return };
            taken += next.len_utf8();
            self.out.push(next);
        }
    }

    fn close(&mut self) -> Result<(), PatternFault> {
        if self.depth == 0 {
            return Err(self.fault("unexpected )", self.source));
        }
        self.depth -= 1;
        self.out.push(')');
        self.repeatable = Repeatable::Piece;
        Ok(())
    }

    fn repeat(&mut self, operator: String) -> Result<(), PatternFault> {
        match self.repeatable {
            Repeatable::Nothing => {
                return Err(self.fault("missing argument to repetition operator", &operator));
            }
            Repeatable::Repetition => {
                let both = format!("{}{operator}", self.repetition);
                return Err(self.fault("invalid nested repetition operator", &both));
            }
            Repeatable::Piece => {}
        }
        self.out.push_str(&operator);
        if self.rest.peek() == Some(&'?') {
            self.take(1);
        }
        self.repeatable = Repeatable::Repetition;
        self.repetition = operator;
        Ok(())
    }

    /// What is between braces if it is a count; otherwise the brace is an ordinary character.
    fn counted(&self) -> Option<String> {
        let inside: String = self.rest.clone().take_while(|next| *next != '}').collect();
        let closed = self.rest.clone().any(|next| next == '}');
        let (min, max) = inside.split_once(',').unwrap_or((&inside, ""));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        (closed && !min.is_empty() && is_number(min) && is_number(max)).then_some(inside)
    }

    fn counted_repeat(&mut self, count: &str) -> Result<(), PatternFault> {
        for _ in 0..=count.len() {
            self.rest.next();
        }
        let operator = format!("{{{count}}}");
        let bounds: Vec<u32> = count
            .split(',')
            .filter(|bound| !bound.is_empty())
            .map(|bound| bound.parse().unwrap_or(u32::MAX))
            .collect();
        let is_ordered = bounds.is_sorted();
        if !is_ordered || bounds.iter().any(|bound| *bound > MAX_REPEAT) {
            return Err(self.fault("invalid repeat count", &operator));
        }
        self.repeat(operator)
    }

    fn escape(&mut self) -> Result<(), PatternFault> {
        self.repeatable = Repeatable::Piece;
        let Some(next) = self.rest.next() else {
            return Err(PatternFault(
                "trailing backslash at end of expression: ``".into(),
            ));
        };
        match next {
            'Q' => {
                self.quoted();
                Ok(())
            }
            'A' | 'z' | 'B' => {
                self.out.extend(['\\', next]);
                Ok(())
            }
            // Go's word boundary knows only ASCII.
            'b' => {
                self.out.push_str(r"(?-u:\b)");
                Ok(())
            }
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => {
                self.out.push_str(&perl_class(next));
                Ok(())
            }
            'p' | 'P' => self.property(next),
            other => {
                let literal = self.escaped_literal(other)?;
                self.literal(literal);
                Ok(())
            }
        }
    }

    /// `\pL`, `\p{Greek}`, `\p{^Greek}`.
    fn property(&mut self, sign: char) -> Result<(), PatternFault> {
        self.out.extend(['\\', sign]);
        match self.rest.next() {
            Some('{') => {
                self.out.push('{');
                for next in self.rest.by_ref() {
                    self.out.push(next);
                    if next == '}' {
                        return Ok(());
                    }
                }
                Err(self.fault("invalid character class range", self.source))
            }
            Some(letter) => {
                self.out.push(letter);
                Ok(())
            }
            None => Err(self.fault("invalid character class range", self.source)),
        }
    }

    fn quoted(&mut self) {
        let remaining: String = self.rest.clone().collect();
        let (text, length) = match remaining.split_once("\\E") {
            Some((text, _)) => (text, text.len() + 2),
            None => (remaining.as_str(), remaining.len()),
        };
        let mut skipped = 0;
        while skipped < length {
            skipped += self.rest.next().map_or(length, char::len_utf8);
        }
        for literal in text.chars() {
            push_literal(&mut self.out, literal);
        }
    }

    /// The character that an escape stands for.
    fn escaped_literal(&mut self, escaped: char) -> Result<char, PatternFault> {
        match escaped {
            'a' => Ok('\u{7}'),
            'f' => Ok('\u{c}'),
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            't' => Ok('\t'),
            'v' => Ok('\u{b}'),
            'x' => self.hexadecimal(),
            '0'..='7' => self.octal(escaped),
            other if other.is_ascii() && !other.is_ascii_alphanumeric() => Ok(other),
            other => Err(self.fault("invalid escape sequence", &format!("\\{other}"))),
        }
    }

    fn hexadecimal(&mut self) -> Result<char, PatternFault> {
        let digits: String = if self.rest.next_if_eq(&'{').is_some() {
            let mut digits = String::new();
            while let Some(digit) = self.rest.next_if(char::is_ascii_hexdigit) {
                digits.push(digit);
            }
            if self.rest.next_if_eq(&'}').is_none() {
                digits.clear();
            }
            digits
        } else {
            let pair: String = self.rest.clone().take(2).collect();
            self.rest.nth(1);
            pair
        };
        u32::from_str_radix(&digits, 16)
            .ok()
            .and_then(char::from_u32)
            .ok_or_else(|| self.fault("invalid escape sequence", &format!("\\x{digits}")))
    }

    /// Up to three octal digits; a single one that is not zero would be a back reference.
    fn octal(&mut self, first: char) -> Result<char, PatternFault> {
        let mut digits = first.to_string();
        while digits.len() < 3
            && let Some(digit) = self.rest.next_if(|digit| ('0'..='7').contains(digit))
        {
            digits.push(digit);
        }
        if digits.len() == 1 && first != '0' {
            return Err(self.fault("invalid escape sequence", &format!("\\{first}")));
        }
        let code = u32::from_str_radix(&digits, 8).unwrap_or_default();
        Ok(char::from_u32(code).unwrap_or_default())
    }

    fn class(&mut self) -> Result<(), PatternFault> {
        let remaining: String = self.rest.clone().collect();
        self.out.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        let unclosed = |this: &Self| this.fault("missing closing ]", &format!("[{remaining}"));
        let mut first = true;
        loop {
            let next = self.rest.next().ok_or_else(|| unclosed(self))?;
            if next == ']' && !first {
                break;
            }
            first = false;
            self.class_entry(next).map_err(|fault| match fault {
                Some(fault) => fault,
                None => unclosed(self),
            })?;
        }
        self.out.push(']');
        self.repeatable = Repeatable::Piece;
        Ok(())
    }

    /// One entry of a class. Nothing as the fault means that the class is not closed.
    fn class_entry(&mut self, next: char) -> Result<(), Option<PatternFault>> {
        if next == '['
            && self.rest.peek() == Some(&':')
            && let Some(name) = posix_name(&self.rest.clone().collect::<String>())
        {
            self.out.push('[');
            self.take(name.len());
            return Ok(());
        }
        if next == '\\' {
            match self.rest.peek().copied() {
                Some(class @ ('d' | 'D' | 's' | 'S' | 'w' | 'W')) => {
                    self.rest.next();
                    self.out.push_str(&perl_class(class));
                    return Ok(());
                }
                Some(sign @ ('p' | 'P')) => {
                    self.rest.next();
                    return self.property(sign).map_err(Some);
                }
                Some(_) | None => {}
            }
        }
        let low = self.class_literal(next)?;
        let mut ahead = self.rest.clone();
        let is_range = ahead.next() == Some('-') && ahead.next().is_some_and(|end| end != ']');
        push_class_literal(&mut self.out, low);
        if is_range {
            self.rest.next();
            let next = self.rest.next().ok_or(None)?;
            let high = self.class_literal(next)?;
            if high < low {
                let range = format!("{low}-{high}");
                return Err(Some(self.fault("invalid character class range", &range)));
            }
            self.out.push('-');
            push_class_literal(&mut self.out, high);
        }
        Ok(())
    }

    fn class_literal(&mut self, next: char) -> Result<char, Option<PatternFault>> {
        if next != '\\' {
            return Ok(next);
        }
        let escaped = self.rest.next().ok_or(None)?;
        self.escaped_literal(escaped).map_err(Some)
    }

    #[expect(
        clippy::unused_self,
        reason = "reads as what it is: a fault of this pattern"
    )]
    fn fault(&self, what: &str, shown: &str) -> PatternFault {
        PatternFault(format!("{what}: `{shown}`"))
    }
}

/// Where the name of a group ends: `?P<name>` or `?<name>`.
fn name_end(remaining: &str) -> Option<usize> {
    let name = remaining
        .strip_prefix("?P<")
        .or_else(|| remaining.strip_prefix("?<"))?;
    let end = name.find('>')?;
    let is_word = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
    let is_name = end > 0 && name[..end].chars().all(is_word);
    is_name.then(|| remaining.len() - name.len() + end + 1)
}

/// `:alpha:]`, if that is what follows.
fn posix_name(remaining: &str) -> Option<&str> {
    let end = remaining.find(":]")?;
    let name = remaining[..end].strip_prefix(':')?;
    let name = name.strip_prefix('^').unwrap_or(name);
    let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_lowercase());
    is_name.then(|| &remaining[..end + 2])
}

/// Go's classes know only ASCII.
fn perl_class(class: char) -> String {
    let set = match class.to_ascii_lowercase() {
        'd' => "0-9",
        's' => r"\t\n\x0C\r ",
        _ => "0-9A-Za-z_",
    };
    let not = if class.is_ascii_uppercase() { "^" } else { "" };
    format!("[{not}{set}]")
}

fn push_literal(out: &mut String, literal: char) {
    out.push_str(&regex::escape(literal.encode_utf8(&mut [0; 4])));
}

/// Every sign that could mean something in a class is escaped.
fn push_class_literal(out: &mut String, literal: char) {
    if literal.is_ascii_punctuation() && !matches!(literal, '<' | '>') {
        out.push('\\');
    }
    out.push(literal);
}
