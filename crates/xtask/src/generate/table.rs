//! Markdown tables, and text that is safe inside them.

/// A table from its head and its rows; empty when there are no rows.
pub(super) fn table<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = line(&head.map(str::to_owned));
    text += &line(&head.map(|_| "---".to_owned()));
    text.extend(rows.iter().map(|row| line(row)));
    text + "\n"
}

/// Text as code; a backtick in it is allowed.
pub(super) fn code(text: &str) -> String {
    if text.contains('`') {
        format!("`` {text} ``")
    } else {
        format!("`{text}`")
    }
}

/// Rust documentation as plain Markdown on one line: links to Rust items, which lead nowhere outside rustdoc, become code.
pub(super) fn prose(text: &str) -> String {
    let mut rest = text;
    let mut plain = String::new();
    while let Some((before, after)) = rest.split_once("[`") {
        let Some((name, after)) = after.split_once("`]") else {
            break;
        };
        plain += before;
        plain += &code(name);
        rest = after
            .strip_prefix('(')
            .and_then(|link| link.split_once(')'))
            .map_or(after, |(_, after)| after);
    }
    plain += rest;
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn line(cells: &[String]) -> String {
    let cells = cells
        .iter()
        .map(|cell| cell.replace('|', "\\|").replace('\n', " "));
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_cannot_break_out_of_its_row() {
        let rows = [[code("a|b"), "c\nd".to_owned()]];
        assert_eq!(
            table(["x", "y"], &rows),
            "| x | y |\n| --- | --- |\n| `a\\|b` | c d |\n\n"
        );
    }

    #[test]
    fn a_table_without_rows_is_nothing() {
        assert_eq!(table(["x"], &[]), "");
    }

    #[test]
    fn links_to_rust_items_become_code() {
        for (rust, markdown) in [
            (
                "See [`Zone`] and [`Record`](super::Record).",
                "See `Zone` and `Record`.",
            ),
            (
                "See [RFC 1035](https://www.rfc-editor.org/rfc/rfc1035).",
                "See [RFC 1035](https://www.rfc-editor.org/rfc/rfc1035).",
            ),
            ("Two\n  lines.", "Two lines."),
            ("Open [`end", "Open [`end"),
        ] {
            assert_eq!(prose(rust), markdown);
        }
    }
}
