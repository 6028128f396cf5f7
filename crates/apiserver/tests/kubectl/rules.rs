//! Differences that are accepted, as `conformance/kubectl.toml` lists them.

use std::fmt;
use std::path::Path;

use testkit::accepted::{Accepted, Letters};

/// Where two texts differ.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    /// Where the script is written.
    script: String,
    command: String,
    place: &'static str,
    ours: String,
    theirs: String,
}

impl Difference {
    /// The lines that differ, without those that both begin and end with. If one side only says more, it is what that is.
    pub(crate) fn between(
        ours: &str,
        theirs: &str,
        (script, command): (&str, &str),
    ) -> Option<Self> {
        if ours == theirs {
            return None;
        }
        let (ours, theirs): (Vec<&str>, Vec<&str>) =
            (ours.split('\n').collect(), theirs.split('\n').collect());
        let same = |(one, other): &(&&str, &&str)| one == other;
        let begin = ours.iter().zip(&theirs).take_while(same).count();
        let (ours, theirs) = (&ours[begin..], &theirs[begin..]);
        let end = ours.iter().rev().zip(theirs.iter().rev());
        let end = end.take_while(same).count();
        let (ours, theirs) = (&ours[..ours.len() - end], &theirs[..theirs.len() - end]);
        let (ours, theirs) = match (more(ours, theirs), more(theirs, ours)) {
            (Some(more), _) => (more, Vec::new()),
            (None, Some(more)) => (Vec::new(), more),
            (None, None) => (ours.to_vec(), theirs.to_vec()),
        };
        Some(Self {
            script: script.to_owned(),
            command: command.to_owned(),
            place: "",
            ours: ours.join("\n"),
            theirs: theirs.join("\n"),
        })
    }

    /// The same, found there.
    pub(crate) fn in_its(self, place: &'static str) -> Self {
        Self { place, ..self }
    }
}

/// What some lines say more than others, which they have all of, in their order.
fn more<'a>(lines: &[&'a str], others: &[&str]) -> Option<Vec<&'a str>> {
    let mut others = others.iter().peekable();
    let is_more = |line: &&&str| others.next_if_eq(line).is_none();
    let more = lines.iter().filter(is_more).copied().collect();
    others.next().is_none().then_some(more)
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            script,
            command,
            place,
            ours,
            theirs,
        } = self;
        write!(
            f,
            "{script}: {command}: {place}\n--- ours\n{ours}\n--- theirs\n{theirs}"
        )
    }
}

/// The accepted differences of commands, which are written without `kubectl`.
pub(crate) struct Rules(Accepted<3>);

impl Rules {
    pub(crate) fn read(file: &Path) -> Result<Self, String> {
        let fields = ["command", "ours", "theirs"];
        Accepted::read(file, fields, Letters::AsWritten).map(Self)
    }

    /// Whether a rule accepts the difference.
    pub(crate) fn accept(&self, difference: &Difference) -> bool {
        let Difference {
            command,
            ours,
            theirs,
            ..
        } = difference;
        self.0.accept([command, ours, theirs])
    }

    /// What is wrong with rules that were not needed.
    pub(crate) fn unused(&self) -> Vec<String> {
        self.0.unused()
    }
}

#[test]
fn only_lines_that_differ_are_told() {
    let found = Difference::between("a\nb\nc\n", "a\nx\ny\nc\n", ("", "")).unwrap();
    assert_eq!((found.ours.as_str(), found.theirs.as_str()), ("b", "x\ny"));
    let found = Difference::between("a\na\n", "a\n", ("", "")).unwrap();
    assert_eq!((found.ours.as_str(), found.theirs.as_str()), ("a", ""));
    let found = Difference::between("a\nc", "x\na\nb\nc\nd", ("", "")).unwrap();
    assert_eq!(
        (found.ours.as_str(), found.theirs.as_str()),
        ("", "x\nb\nd")
    );
    assert!(Difference::between("a", "a", ("", "")).is_none());
}
