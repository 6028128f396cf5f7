//! Every test that `docs/reference/requirements.md` names exists and is a test.
//!
//! The document is one or more tables with the columns `number`, `what` and `tests`. A test is a code span, its file and
//! its function: `crates/dns/src/name.rs::escapes_survive`. A number without a test has an empty cell: it is not done.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenTree;

use super::markdown::{self, Row};
use super::{Facts, Finding};
use crate::tokens::{attribute, inside, is_sign, lex, word};

const DOCUMENT: &str = "docs/reference/requirements.md";
const COLUMNS: [&str; 3] = ["number", "what", "tests"];

pub(super) fn check(facts: &Facts) -> Vec<Finding> {
    let Some(document) = facts.tree.text(DOCUMENT) else {
        return vec![Finding::about(
            DOCUMENT,
            "the table of requirements is missing",
        )];
    };
    let rows: Vec<_> = markdown::rows(document)
        .into_iter()
        .filter(|row| row.head == COLUMNS)
        .collect();
    if rows.is_empty() {
        return vec![Finding::about(
            DOCUMENT,
            "no table with the columns number, what, tests",
        )];
    }
    let mut findings = repeated(&rows);
    for row in &rows {
        let problems = row.cells[2]
            .code
            .iter()
            .filter_map(|test| problem(facts, test));
        findings.extend(problems.map(|problem| Finding::at(DOCUMENT, row.line, problem)));
    }
    findings
}

/// Numbers that have more than one row.
fn repeated(rows: &[Row]) -> Vec<Finding> {
    let mut seen = BTreeMap::new();
    let mut findings = Vec::new();
    for row in rows {
        let number = row.cells[0].text.trim();
        if let Some(first) = seen.insert(number, row.line) {
            findings.push(Finding::at(
                DOCUMENT,
                row.line,
                format!("{number} stands in line {first} already"),
            ));
        }
    }
    findings
}

/// What is wrong with the name of a test.
fn problem(facts: &Facts, test: &str) -> Option<String> {
    let Some((file, function)) = test.split_once("::") else {
        return Some(format!(
            "`{test}` is not of the form `path/to/file.rs::function`"
        ));
    };
    let Some(text) = facts.tree.text(file) else {
        return Some(format!("`{test}`: there is no file {file}"));
    };
    let missing = !tests(&lex(text)).contains(function);
    missing.then(|| format!("`{test}`: {file} has no test of that name"))
}

/// The functions under an attribute whose path ends in `test`, also inside macros such as `proptest!`; and those that
/// `on_both!` makes tests of.
fn tests(tokens: &[TokenTree]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut marked = false;
    for (at, token) in tokens.iter().enumerate() {
        marked |= attribute(tokens, at).is_some_and(|attribute| ends_in_test(&inside(attribute)));
        match token {
            TokenTree::Ident(keyword) if keyword == "fn" => {
                found.extend(word(tokens.get(at + 1)).filter(|_| marked));
                marked = false;
            }
            TokenTree::Group(group) if is_on_both(tokens, at) => {
                found.extend(listed(&inside(group)));
            }
            TokenTree::Group(group) => found.extend(tests(&inside(group))),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    found
}

/// Whether what stands here is what `on_both!` is given.
fn is_on_both(tokens: &[TokenTree], at: usize) -> bool {
    let before = |steps: usize| at.checked_sub(steps).and_then(|at| tokens.get(at));
    is_sign(before(1), '!') && word(before(2)).is_some_and(|word| word == "on_both")
}

/// The words of a list in which each ends with a semicolon.
fn listed(tokens: &[TokenTree]) -> BTreeSet<String> {
    let named = tokens.iter().enumerate();
    let named = named.filter(|(at, _)| is_sign(tokens.get(at + 1), ';'));
    named.filter_map(|(_, token)| word(Some(token))).collect()
}

/// `test` and `tokio::test(…)`, but not `cfg(test)`.
fn ends_in_test(attribute: &[TokenTree]) -> bool {
    let path = attribute
        .iter()
        .take_while(|token| word(Some(token)).is_some() || is_sign(Some(token), ':'));
    word(path.last()).is_some_and(|word| word == "test")
}

#[cfg(test)]
mod tests {
    use super::super::expect;
    use super::*;

    const SOURCE: &str = "
        fn helper() {}
        #[cfg(test)]
        mod tests {
            fn builder() {}
            #[test]
            #[should_panic]
            fn plain() {}
            #[tokio::test(start_paused = true)]
            async fn paused() {}
            proptest! { #[test] fn random(x in 0..9) {} }
            // #[test] fn commented() {}
            on_both! {
                /// D1: a word; another.
                twice;
                thrice;
            }
            async fn twice(home: Home) { unlisted; }
        }";

    #[track_caller]
    fn check_tests(cell: &str, expected: &[&str]) {
        let document =
            format!("# R\n\n| number | what | tests |\n|---|---|---|\n| K5 | names | {cell} |\n");
        let files = [
            (DOCUMENT, document.as_str()),
            ("crates/dns/src/name.rs", SOURCE),
        ];
        expect(check, &Facts::of(&files, Vec::new()), expected);
    }

    #[test]
    fn tests_of_every_shape_are_found() {
        check_tests("`crates/dns/src/name.rs::plain`", &[]);
        check_tests(
            "`crates/dns/src/name.rs::paused` `crates/dns/src/name.rs::random`",
            &[],
        );
        check_tests(
            "`crates/dns/src/name.rs::twice` `crates/dns/src/name.rs::thrice`",
            &[],
        );
        check_tests("", &[]);
    }

    #[test]
    fn a_name_that_is_no_test_is_found() {
        for name in ["helper", "builder", "commented", "absent", "unlisted"] {
            let expected = format!(
                "{DOCUMENT}:5: `crates/dns/src/name.rs::{name}`: crates/dns/src/name.rs has no test of that name"
            );
            check_tests(&format!("`crates/dns/src/name.rs::{name}`"), &[&expected]);
        }
    }

    #[test]
    fn a_file_that_does_not_exist_is_found() {
        check_tests(
            "`crates/dns/src/gone.rs::plain`",
            &[
                "docs/reference/requirements.md:5: `crates/dns/src/gone.rs::plain`: there is no file crates/dns/src/gone.rs",
            ],
        );
    }

    #[test]
    fn a_span_that_is_not_a_test_is_found() {
        check_tests(
            "`plain`",
            &[
                "docs/reference/requirements.md:5: `plain` is not of the form `path/to/file.rs::function`",
            ],
        );
    }

    #[test]
    fn a_number_stands_once() {
        let document = "| number | what | tests |\n|---|---|---|\n| K5 | a | |\n| K5 | b | |\n";
        expect(
            check,
            &Facts::of(&[(DOCUMENT, document)], Vec::new()),
            &["docs/reference/requirements.md:4: K5 stands in line 3 already"],
        );
    }

    #[test]
    fn a_document_without_the_table_is_found() {
        expect(
            check,
            &Facts::of(&[], Vec::new()),
            &["docs/reference/requirements.md: the table of requirements is missing"],
        );
        expect(
            check,
            &Facts::of(
                &[(DOCUMENT, "| a | b |\n|---|---|\n| c | d |\n")],
                Vec::new(),
            ),
            &["docs/reference/requirements.md: no table with the columns number, what, tests"],
        );
    }
}
