//! Every `.rs` file is reached from a file that cargo knows, along `mod` declarations. A file that is not reached is
//! compiled by nobody.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenTree};

use super::tree::{Tree, parent, resolve};
use super::{Facts, Finding};
use crate::tokens::{attribute, inside, is_sign, lex, word};

pub(super) fn check(facts: &Facts) -> Vec<Finding> {
    let mut reached = BTreeSet::new();
    for root in facts.crates.iter().flat_map(|member| &member.roots) {
        let folder = parent(root).to_owned();
        follow(&facts.tree, root, &folder, &mut reached);
    }
    facts
        .tree
        .files_with_extension("rs")
        .filter(|(path, _)| !reached.contains(*path))
        .map(|(path, _)| Finding::about(path, "no module names this file"))
        .collect()
}

/// A `mod name;`, possibly within inline modules.
#[derive(Debug, PartialEq, Eq)]
struct Declared {
    within: Vec<String>,
    name: String,
    path: Option<String>,
}

/// Marks a file and all that it declares; `folder` is where its modules live.
fn follow(tree: &Tree, file: &str, folder: &str, reached: &mut BTreeSet<String>) {
    let Some(text) = tree.text(file) else { return };
    if !reached.insert(file.to_owned()) {
        return;
    }
    for module in declarations(&lex(text), &[]) {
        for (file, folder) in places(&module, file, folder) {
            follow(tree, &file, &folder, reached);
        }
    }
}

/// Where a declared module may be, each with the folder of its own modules.
fn places(module: &Declared, file: &str, folder: &str) -> Vec<(String, String)> {
    let Declared { within, name, path } = module;
    let home = within
        .iter()
        .fold(folder.to_owned(), |folder, name| join(&folder, name));
    if let Some(path) = path {
        let base = if within.is_empty() {
            parent(file)
        } else {
            &home
        };
        let file = resolve(base, path);
        let folder = parent(&file).to_owned();
        return vec![(file, folder)];
    }
    let folder = join(&home, name);
    vec![
        (format!("{folder}.rs"), folder.clone()),
        (format!("{folder}/mod.rs"), folder),
    ]
}

fn declarations(tokens: &[TokenTree], within: &[String]) -> Vec<Declared> {
    let mut found = Vec::new();
    let mut path = None;
    for (at, token) in tokens.iter().enumerate() {
        if let Some(attribute) = attribute(tokens, at) {
            path = path_attribute(&inside(attribute)).or(path);
        }
        match token {
            TokenTree::Ident(keyword) if keyword == "mod" => {
                let Some(name) = word(tokens.get(at + 1)) else {
                    continue;
                };
                let path = path.take();
                match tokens.get(at + 2) {
                    Some(TokenTree::Group(body)) => {
                        let within = [within, &[name]].concat();
                        found.extend(declarations(&inside(body), &within));
                    }
                    end if is_sign(end, ';') => found.push(Declared {
                        within: within.to_vec(),
                        name,
                        path,
                    }),
                    _ => {}
                }
            }
            // The body of a macro such as `cfg_if!`, which may declare modules too.
            TokenTree::Group(group)
                if group.delimiter() == Delimiter::Brace && !names_module(tokens, at) =>
            {
                found.extend(declarations(&inside(group), within));
            }
            TokenTree::Group(_)
            | TokenTree::Ident(_)
            | TokenTree::Punct(_)
            | TokenTree::Literal(_) => {}
        }
    }
    found
}

/// Whether the group at `at` is the body of `mod name { … }`.
fn names_module(tokens: &[TokenTree], at: usize) -> bool {
    at >= 2 && word(tokens.get(at - 2)).is_some_and(|keyword| keyword == "mod")
}

fn path_attribute(attribute: &[TokenTree]) -> Option<String> {
    let is_path = word(attribute.first())? == "path" && is_sign(attribute.get(1), '=');
    let literal = attribute.get(2).filter(|_| is_path)?.to_string();
    Some(literal.trim_matches('"').to_owned())
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::crates::Crate;
    use super::super::expect;
    use super::*;

    #[track_caller]
    fn check_tree(roots: &[&str], files: &[(&str, &str)], expected: &[&str]) {
        let member = Crate {
            name: "a".to_owned(),
            folder: "crates/a".to_owned(),
            roots: roots.iter().map(|root| (*root).to_owned()).collect(),
            needs: Vec::new(),
        };
        expect(check, &Facts::of(files, vec![member]), expected);
    }

    #[test]
    fn a_file_that_no_module_names_is_found() {
        check_tree(
            &["crates/a/src/lib.rs"],
            &[
                ("crates/a/src/lib.rs", "mod kept; // mod lost;"),
                ("crates/a/src/kept.rs", ""),
                ("crates/a/src/lost.rs", ""),
            ],
            &["crates/a/src/lost.rs: no module names this file"],
        );
    }

    #[test]
    fn a_module_lives_beside_the_file_or_in_the_folder_that_names_it() {
        check_tree(
            &["src/lib.rs", "tests/whole.rs"],
            &[
                (
                    "src/lib.rs",
                    "pub mod a; mod r#type; mod inline { mod deep; }",
                ),
                ("src/a.rs", "pub(crate) mod b;"),
                ("src/a/b.rs", "mod c;"),
                ("src/a/b/c.rs", ""),
                ("src/type.rs", ""),
                ("src/inline/deep.rs", ""),
                ("tests/whole.rs", "mod common;"),
                ("tests/common/mod.rs", "mod parts;"),
                ("tests/common/parts.rs", ""),
            ],
            &[],
        );
    }

    #[test]
    fn a_path_attribute_moves_one_module_only() {
        check_tree(
            &["src/lib.rs"],
            &[
                ("src/lib.rs", "#[path = \"other/place.rs\"] mod x; mod y;"),
                ("src/other/place.rs", "mod z;"),
                ("src/other/z.rs", ""),
                ("src/y.rs", ""),
                ("src/x.rs", ""),
            ],
            &["src/x.rs: no module names this file"],
        );
    }

    #[test]
    fn modules_declared_inside_a_macro_count() {
        check_tree(
            &["src/lib.rs"],
            &[
                ("src/lib.rs", "cfg_if! { if #[cfg(unix)] { mod unix; } }"),
                ("src/unix.rs", ""),
            ],
            &[],
        );
    }
}
