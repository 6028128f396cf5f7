//! The tree on a screen, or as indented lines on a pipe.

use std::fmt::Write as _;

use super::{Forest, Leaf, ZoneNode};
use crate::output::{FAINT, HEADING, harmless, styled};

/// How depth is shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::get) enum Drawing {
    /// With lines, for people.
    Lines,
    /// With two blanks a level, for programs.
    Indent,
}

/// A thing in the tree.
enum Branch<'a> {
    Zone(&'a ZoneNode),
    Record(&'a Leaf),
}

impl Forest {
    /// The whole forest, a line for every object.
    pub(in crate::get) fn draw(&self, drawing: Drawing) -> String {
        let mut text = String::new();
        for root in &self.roots {
            self.draw_zone(&self.zones[*root], drawing, "", &mut text);
        }
        if !self.loose.is_empty() {
            push(&mut text, "", &styled(HEADING, "in no zone that is shown"));
            let leaves = self.loose.iter().map(Branch::Record).collect();
            self.draw_all(leaves, drawing, "", &mut text);
        }
        text
    }

    fn draw_zone(&self, zone: &ZoneNode, drawing: Drawing, margin: &str, text: &mut String) {
        let zones = zone.below.iter().map(|at| Branch::Zone(&self.zones[*at]));
        let records = zone.records.iter().map(Branch::Record);
        if margin.is_empty() {
            push(text, "", &zone.title());
        }
        self.draw_all(records.chain(zones).collect(), drawing, margin, text);
    }

    /// Draws what hangs below one thing.
    fn draw_all(
        &self,
        branches: Vec<Branch<'_>>,
        drawing: Drawing,
        margin: &str,
        text: &mut String,
    ) {
        let last = branches.len().saturating_sub(1);
        for (at, branch) in branches.into_iter().enumerate() {
            let (twig, below) = match drawing {
                Drawing::Lines if at == last => ("└─ ", "   "),
                Drawing::Lines => ("├─ ", "│  "),
                Drawing::Indent => ("  ", "  "),
            };
            let head = format!("{margin}{twig}");
            match branch {
                Branch::Record(leaf) => push(text, &head, &leaf.title()),
                Branch::Zone(zone) => {
                    push(text, &head, &zone.title());
                    self.draw_zone(zone, drawing, &format!("{margin}{below}"), text);
                }
            }
        }
    }
}

fn push(text: &mut String, head: &str, title: &str) {
    writeln!(text, "{head}{title}").expect("writing to a string cannot fail");
}

impl ZoneNode {
    fn title(&self) -> String {
        let name = self
            .name
            .as_ref()
            .map_or_else(|| harmless(&self.written), ToString::to_string);
        let count = match self.records.len() {
            1 => "1 record".to_owned(),
            count => format!("{count} records"),
        };
        let serial = self
            .serial
            .map(|serial| format!("serial {serial}, "))
            .unwrap_or_default();
        let key = styled(FAINT, &self.key);
        let name = styled(HEADING, name);
        format!("{name}  {key}  {serial}{count}  {}", self.standing.styled())
    }
}

impl Leaf {
    fn title(&self) -> String {
        let words = [harmless(&self.written), harmless(&self.content)].join(" ");
        let key = styled(FAINT, &self.key);
        format!("{}  {key}  {}", words.trim(), self.standing.styled())
    }
}
