//! Canonical lines: all that a set says, members included, and back without loss.
//!
//! Each record is on a line of its own, as it is printed with its full name. Behind a member's record follows which member
//! it is, in what readers of zone files take for a comment:
//!
//! ```text
//! www.example.org. 60 IN A 192.0.2.1 ; routing {"setIdentifier":"eu-1","weight":120}
//! ```
//!
//! Only lines in exactly this form are read, so that equal content means equal text, and no line can smuggle in a directive
//! or another comment.

use super::entries::shorten;
use super::{FileRecord, LineProblem, push_fields, records};
use crate::routing::Membership;
use crate::{Name, Rdata, RecordSet, Ttl};

/// What stands between a record and its routing.
const SEPARATOR: &str = " ; routing ";

/// How every routing begins. A quote that is not escaped ends a text, so nothing inside of record data looks like this.
const ROUTING_START: &str = " ; routing {\"setIdentifier\":\"";

/// One record as a canonical line tells it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Line {
    /// The record.
    pub record: FileRecord,
    /// The member of a routed set that it is.
    pub membership: Option<Membership>,
}

/// Prints every record of a set behind what is there.
pub fn push_lines(text: &mut String, name: &Name, set: &RecordSet) {
    for record in set.records() {
        push(text, name, record);
    }
}

/// Prints one record.
pub fn print_line(name: &Name, record: (Option<&Membership>, Ttl, &Rdata)) -> String {
    let mut text = String::new();
    push(&mut text, name, record);
    text
}

/// Reads canonical lines: all of them, or what is wrong.
pub fn read_lines(text: &str) -> Result<Vec<Line>, Vec<LineProblem>> {
    let (records, problems) = records(text, None);
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut records = records.into_iter();
    let lines = text.split_inclusive('\n').enumerate();
    let lines = lines.map(|(index, line)| {
        let read = records.next().and_then(|record| read_line(line, record));
        read.ok_or_else(|| vec![odd(index + 1, line)])
    });
    lines.collect()
}

/// The line of a record, if it is the canonical one.
fn read_line(line: &str, record: FileRecord) -> Option<Line> {
    let membership = match line.find(ROUTING_START) {
        Some(at) => {
            let routing = line[at + SEPARATOR.len()..].strip_suffix('\n')?;
            Some(routing.parse().ok()?)
        }
        None => None,
    };
    let fields = (membership.as_ref(), record.ttl, &record.data);
    let printed = print_line(&record.name, fields);
    (printed == line).then_some(Line { record, membership })
}

fn push(
    text: &mut String,
    name: &Name,
    (membership, ttl, data): (Option<&Membership>, Ttl, &Rdata),
) {
    push_fields(text, name, ttl, data);
    if let Some(membership) = membership {
        text.push_str(SEPARATOR);
        text.push_str(&membership.to_string());
    }
    text.push('\n');
}

fn odd(line: usize, text: &str) -> LineProblem {
    LineProblem {
        line,
        message: "must be one record in canonical form".to_owned(),
        text: shorten(text.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(lines: &[Line]) -> String {
        let print = |Line { record, membership }: &Line| {
            let fields = (membership.as_ref(), record.ttl, &record.data);
            print_line(&record.name, fields)
        };
        lines.iter().map(print).collect()
    }

    /// N6.
    #[test]
    fn lines_are_read_as_they_are_printed() {
        let text = "\
www.example.org. 60 IN A 192.0.2.1 ; routing {\"setIdentifier\":\"eu-1\",\"weight\":120,\"geo\":\"GEO-EU\"}
www.example.org. 60 IN A 192.0.2.2 ; routing {\"setIdentifier\":\"a; \\\" ; routing {\\\"setIdentifier\\\":\\\"\"}
txt.example.org. 0 IN TXT \" ; routing {\" \"setIdentifier\" \":\"
txt.example.org. 0 IN TXT \" ; routing {\\\"setIdentifier\\\":\\\"a\\\"}\" ; routing {\"setIdentifier\":\"b\"}
example.org. 360 IN MX 10 mail.example.org.
";
        let lines = read_lines(text).unwrap();
        assert_eq!(print(&lines), text);
        let members: Vec<bool> = lines.iter().map(|line| line.membership.is_some()).collect();
        assert_eq!(members, [true, true, false, true, false]);
        assert_eq!(read_lines(""), Ok(Vec::new()));
    }

    #[test]
    fn another_form_of_the_same_is_refused() {
        let record = "www.example.org. 60 IN A 192.0.2.1";
        for odd in [
            format!("{record} ; routing {{\"setIdentifier\":\"a\"}}"),
            format!("{record} ; routing {{\"setIdentifier\":\"a\"}} \n"),
            format!("{record}  ; routing {{\"setIdentifier\":\"a\"}}\n"),
            format!("{record} ;routing {{\"setIdentifier\":\"a\"}}\n"),
            format!("{record} ; routing {{\"setIdentifier\": \"a\"}}\n"),
            format!("{record} ; routing {{\"setIdentifier\":\"a\",\"weight\":300}}\n"),
            format!("{record} ; routing {{}}\n"),
            format!("{record} ; a comment\n"),
            "; routing {\"setIdentifier\":\"a\"}\n".to_owned(),
        ] {
            let problems = read_lines(&odd).unwrap_err();
            assert_eq!(problems.len(), 1, "{odd:?}");
            assert_eq!(problems[0].line, 1);
            assert_eq!(
                problems[0].message, "must be one record in canonical form",
                "{odd:?}"
            );
        }
    }
}
