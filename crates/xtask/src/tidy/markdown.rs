//! What the rules read from a Markdown document: blocks, code spans, links and headings, each with its line.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "Markdown has many kinds of events, and each function here is about two or three"
)]

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// A fenced block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// The nearest heading above it.
    pub(crate) heading: String,
    /// The line of the document on which its text begins, counted from 1.
    pub(crate) line: usize,
    /// What is between the fences.
    pub(crate) text: String,
}

/// A piece of text and where it stands.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The line of the document, counted from 1.
    pub(crate) line: usize,
    /// The text itself.
    pub(crate) text: String,
}

/// A row of a table below its head.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The line of the document, counted from 1.
    pub(crate) line: usize,
    /// The texts of the table's head, in lower case.
    pub(crate) head: Vec<String>,
    /// The row's cells.
    pub(crate) cells: Vec<Cell>,
}

/// A cell of a table.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    /// All of its text.
    pub(crate) text: String,
    /// Its code spans.
    pub(crate) code: Vec<String>,
}

/// The fenced blocks of a document.
pub(crate) fn blocks(document: &str) -> Vec<Block> {
    let (mut blocks, mut heading, mut text) = (Vec::new(), String::new(), String::new());
    let mut line = 0;
    for (event, range) in events(document) {
        match event {
            Event::Start(Tag::Heading { .. }) => text.clear(),
            Event::End(TagEnd::Heading(_)) => heading.clone_from(&text),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                text.clear();
                line = line_of(document, range.start) + 1;
            }
            Event::End(TagEnd::CodeBlock) => blocks.push(Block {
                heading: heading.clone(),
                line,
                text: text.clone(),
            }),
            Event::Text(part) | Event::Code(part) => text.push_str(&part),
            _ => {}
        }
    }
    blocks
}

/// The code spans of a document.
pub(crate) fn code_spans(document: &str) -> Vec<Spot> {
    events(document)
        .filter_map(|(event, range)| match event {
            Event::Code(text) => Some(spot(document, range.start, &text)),
            _ => None,
        })
        .collect()
}

/// Where the links and images of a document lead.
pub(crate) fn links(document: &str) -> Vec<Spot> {
    events(document)
        .filter_map(|(event, range)| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                Some(spot(document, range.start, &dest_url))
            }
            _ => None,
        })
        .collect()
}

/// The names by which a document's headings can be linked to.
pub(crate) fn anchors(document: &str) -> Vec<String> {
    let (mut anchors, mut text) = (Vec::<String>::new(), String::new());
    for (event, _) in events(document) {
        match event {
            Event::Start(Tag::Heading { .. }) => text.clear(),
            Event::Text(part) | Event::Code(part) => text.push_str(&part),
            Event::End(TagEnd::Heading(_)) => {
                let name = anchor(&text);
                let numbered = (1..).map(|number| format!("{name}-{number}"));
                let mut names = std::iter::once(name.clone()).chain(numbered);
                anchors.extend(names.find(|name| !anchors.contains(name)));
            }
            _ => {}
        }
    }
    anchors
}

/// The rows of all tables of a document.
pub(crate) fn rows(document: &str) -> Vec<Row> {
    let (mut rows, mut head, mut cells) = (Vec::new(), Vec::new(), Vec::<Cell>::new());
    for (event, range) in events(document) {
        match event {
            Event::Start(Tag::TableHead | Tag::TableRow) => cells.clear(),
            Event::Start(Tag::TableCell) => cells.push(Cell::default()),
            Event::Text(part) => write(&mut cells, &part, false),
            Event::Code(part) => write(&mut cells, &part, true),
            Event::End(TagEnd::TableHead) => {
                head = cells.iter().map(|cell| cell.text.to_lowercase()).collect();
            }
            Event::End(TagEnd::TableRow) => rows.push(Row {
                line: line_of(document, range.start),
                head: head.clone(),
                cells: std::mem::take(&mut cells),
            }),
            _ => {}
        }
    }
    rows
}

fn write(cells: &mut [Cell], part: &str, is_code: bool) {
    if let Some(cell) = cells.last_mut() {
        cell.text.push_str(part);
        if is_code {
            cell.code.push(part.to_owned());
        }
    }
}

/// The line of an offset, counted from 1.
pub(crate) fn line_of(document: &str, offset: usize) -> usize {
    document[..offset].matches('\n').count() + 1
}

fn events(document: &str) -> pulldown_cmark::OffsetIter<'_> {
    Parser::new_ext(document, Options::ENABLE_TABLES).into_offset_iter()
}

fn spot(document: &str, offset: usize, text: &str) -> Spot {
    Spot {
        line: line_of(document, offset),
        text: text.to_owned(),
    }
}

/// A heading as the web pages of Git hosts name it: lower case, words joined by hyphens, no other signs.
fn anchor(heading: &str) -> String {
    heading
        .trim()
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_knows_its_heading_and_its_line() {
        let document = "# One\n\ntext\n\n## Two `x`\n\n```text\na\nb\n```\n";
        let expected = Block {
            heading: "Two x".to_owned(),
            line: 8,
            text: "a\nb\n".to_owned(),
        };
        assert_eq!(blocks(document), [expected]);
    }

    #[test]
    fn code_and_links_inside_a_fence_are_not_code_and_links() {
        let document = "a `b` [c](d)\n\n```text\n`e` [f](g)\n```\n";
        let texts = |spots: Vec<Spot>| spots.into_iter().map(|spot| spot.text).collect::<Vec<_>>();
        assert_eq!(texts(code_spans(document)), ["b"]);
        assert_eq!(texts(links(document)), ["d"]);
    }

    #[test]
    fn a_heading_that_occurs_twice_gets_a_number() {
        let document = "# What's `new`?\n\n## Again\n\n## Again\n";
        assert_eq!(anchors(document), ["whats-new", "again", "again-1"]);
    }

    #[test]
    fn a_row_carries_the_head_of_its_table() {
        let document = "| Number | Tests |\n|---|---|\n| K5 | see `a` and `b` |\n";
        let rows = rows(document);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].line, 3);
        assert_eq!(rows[0].head, ["number", "tests"]);
        assert_eq!(rows[0].cells[0].text, "K5");
        assert_eq!(rows[0].cells[1].code, ["a", "b"]);
    }
}
