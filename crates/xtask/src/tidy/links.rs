//! Links between the documents of the tree lead to a file that exists and to a heading it has. Links to other places are
//! not followed.

use super::markdown::{Spot, anchors, links};
use super::tree::{Tree, parent, resolve};
use super::{Facts, Finding};

pub(super) fn check(facts: &Facts) -> Vec<Finding> {
    let documents = facts.tree.files_with_extension("md");
    documents
        .flat_map(|(path, text)| {
            let links = links(text).into_iter();
            links.filter_map(move |link| broken(&facts.tree, path, &link))
        })
        .collect()
}

fn broken(tree: &Tree, document: &str, link: &Spot) -> Option<Finding> {
    if leads_outside(&link.text) {
        return None;
    }
    let (path, anchor) = link.text.split_once('#').unwrap_or((&link.text, ""));
    let target = match path {
        "" => document.to_owned(),
        path => match path.strip_prefix('/') {
            Some(path) => path.to_owned(),
            None => resolve(parent(document), path),
        },
    };
    let message = if !tree.holds(&target) {
        format!(
            "the link `{}` leads to {target}, which does not exist",
            link.text
        )
    } else if anchor.is_empty() || has_anchor(tree, &target, anchor) {
        return None;
    } else {
        format!(
            "the link `{}` leads to a heading that {target} does not have",
            link.text
        )
    };
    Some(Finding::at(document, link.line, message))
}

/// Whether a link starts with a scheme such as `https:`.
fn leads_outside(link: &str) -> bool {
    link.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

/// Only documents have headings; a line number such as `#L10` of another file is not judged.
fn has_anchor(tree: &Tree, target: &str, anchor: &str) -> bool {
    let mut documents = tree.files_with_extension("md");
    let document = documents.find(|(path, _)| *path == target);
    document.is_none_or(|(_, text)| anchors(text).iter().any(|name| name == anchor))
}

#[cfg(test)]
mod tests {
    use super::super::expect;
    use super::*;

    #[track_caller]
    fn check_link(link: &str, expected: &[&str]) {
        let document = format!("# Here\n\nSee [this]({link}).\n");
        let files = [
            ("docs/guide/start.md", document.as_str()),
            ("docs/reference/api.md", "# API\n\n## Zone status\n"),
            ("LICENSE", ""),
        ];
        expect(check, &Facts::of(&files, Vec::new()), expected);
    }

    #[test]
    fn links_that_lead_somewhere_pass() {
        for link in [
            "../reference/api.md",
            "../reference/api.md#zone-status",
            "../reference/",
            "/LICENSE",
            "../../LICENSE",
            "#here",
            "https://example.org/nowhere",
            "mailto:someone@example.org",
        ] {
            check_link(link, &[]);
        }
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        check_link(
            "api.md",
            &[
                "docs/guide/start.md:3: the link `api.md` leads to docs/guide/api.md, which does not exist",
            ],
        );
        check_link(
            "../reference/api.md#zone-spec",
            &[
                "docs/guide/start.md:3: the link `../reference/api.md#zone-spec` leads to a heading that docs/reference/api.md does not have",
            ],
        );
        check_link(
            "#there",
            &[
                "docs/guide/start.md:3: the link `#there` leads to a heading that docs/guide/start.md does not have",
            ],
        );
    }
}
