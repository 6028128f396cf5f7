//! Cuts a zone file into entries: one record or directive each.
//!
//! An entry is a line, or several where parentheses span them. Cutting first
//! lets the reader go on after a bad entry. The rules are RFC 1035 §5.1's.

/// How much of an entry an error message shows.
const SHOWN_CHARS_MAX: usize = 120;

/// The text of one entry.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Entry<'a> {
    /// The line it starts on, counted from 1.
    pub(super) line: usize,
    text: &'a str,
    /// Why it cannot be an entry.
    pub(super) fault: Option<&'static str>,
}

impl Entry<'_> {
    /// Whether the entry is about the owner of the one before it.
    pub(super) fn inherits_owner(&self) -> bool {
        self.text.starts_with([' ', '\t'])
    }

    /// The entry on one line: comments dropped, parentheses and line ends blank.
    pub(super) fn flat(&self) -> String {
        let mut flat = String::with_capacity(self.text.len());
        for (part, symbol) in symbols(self.text) {
            match symbol {
                Symbol::Comment => {}
                Symbol::Open | Symbol::Close | Symbol::LineEnd => flat.push(' '),
                Symbol::Quote | Symbol::Quoted | Symbol::Plain => flat.push_str(part),
            }
        }
        flat
    }

    /// The text for an error message.
    pub(super) fn shown(&self) -> String {
        shorten(self.text.trim())
    }
}

/// A text cut to what a message should show.
pub(super) fn shorten(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// The entries of a file, blank ones and comments among them.
pub(super) fn entries(text: &str) -> impl Iterator<Item = Entry<'_>> {
    let mut rest = text;
    let mut line = 1;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (length, fault) = match entry_length(rest) {
            Ok(length) => (length, None),
            // Unclosed: give up this line only, the next may be fine.
            Err(fault) => (
                rest.find('\n').map_or(rest.len(), |end| end + 1),
                Some(fault),
            ),
        };
        let entry = Entry {
            line,
            text: &rest[..length],
            fault,
        };
        line += entry.text.matches('\n').count();
        rest = &rest[length..];
        Some(entry)
    })
}

/// Cuts off the first word: what stands before a blank that is not escaped.
pub(super) fn word(text: &str) -> (&str, &str) {
    let text = text.trim_ascii_start();
    let mut parts = symbols(text).scan(0, |end, (part, _)| {
        *end += part.len();
        Some((*end - part.len(), part))
    });
    let end = parts.find(|(_, part)| matches!(*part, " " | "\t" | "\r"));
    text.split_at(end.map_or(text.len(), |(at, _)| at))
}

/// How far the first entry reaches, its line end included.
fn entry_length(text: &str) -> Result<usize, &'static str> {
    let (mut length, mut open, mut quoted) = (0, 0_usize, false);
    for (part, symbol) in symbols(text) {
        length += part.len();
        match symbol {
            Symbol::LineEnd if open == 0 => return Ok(length),
            Symbol::Quote => quoted = !quoted,
            Symbol::Quoted if part == "\n" => {
                return Err("a double quote is not closed on its line");
            }
            Symbol::Open => open += 1,
            Symbol::Close => {
                open = open
                    .checked_sub(1)
                    .ok_or("a closing parenthesis has no partner")?;
            }
            Symbol::LineEnd | Symbol::Quoted | Symbol::Comment | Symbol::Plain => {}
        }
    }
    match (quoted, open) {
        (true, _) => Err("a double quote is not closed"),
        (false, 0) => Ok(length),
        (false, _) => Err("a parenthesis is not closed"),
    }
}

/// What a character means where it stands.
#[derive(Clone, Copy)]
enum Symbol {
    Quote,
    Quoted,
    Comment,
    Open,
    Close,
    LineEnd,
    Plain,
}

/// The characters of a text with their meaning; an escaped one comes with its
/// backslash.
fn symbols(text: &str) -> impl Iterator<Item = (&str, Symbol)> {
    let mut rest = text;
    let (mut quoted, mut comment) = (false, false);
    std::iter::from_fn(move || {
        let mut chars = rest.chars();
        let char = chars.next()?;
        let escaped = char == '\\' && !comment;
        let second = if escaped {
            chars.next().map_or(0, char::len_utf8)
        } else {
            0
        };
        let (part, left) = rest.split_at(char.len_utf8() + second);
        rest = left;
        let symbol = match char {
            '\n' if !quoted => {
                comment = false;
                Symbol::LineEnd
            }
            _ if comment => Symbol::Comment,
            '"' => {
                quoted = !quoted;
                Symbol::Quote
            }
            _ if quoted => Symbol::Quoted,
            ';' => {
                comment = true;
                Symbol::Comment
            }
            '(' => Symbol::Open,
            ')' => Symbol::Close,
            _ => Symbol::Plain,
        };
        Some((part, symbol))
    })
}
