//! From a `ZoneSlice` to the records in it (Z11).
//!
//! A slice is right as a whole or not at all: a version of a zone with a hole in it is not that
//! version.

use dns::zonefile::{self, Line, LineProblem};

use crate::problem::{FieldPath, Problem};
use crate::zone_slice::{CONTENT_BYTES_MAX, ZoneSlice};

/// Reads a slice. Its lines must be exactly those that printing its records gives: then equal
/// records mean equal content, and no line can smuggle in a directive or a comment.
pub fn parse(object: &ZoneSlice) -> Result<Vec<Line>, Vec<Problem>> {
    let field = FieldPath::spec().field("content");
    let content = object.spec.content.as_str();
    if content.len() > CONTENT_BYTES_MAX {
        let rule = format!("must have at most {CONTENT_BYTES_MAX} bytes");
        return Err(vec![Problem::new(&field, rule, content.len())]);
    }
    let refused = |fault: &LineProblem| {
        let rule = format!("line {}: {}", fault.line, fault.message);
        Problem::new(&field, rule, &fault.text)
    };
    zonefile::read_lines(content).map_err(|faults| faults.iter().map(refused).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zone_slice::ZoneSliceSpec;

    fn slice(content: &str) -> ZoneSlice {
        ZoneSlice::new(
            "slice",
            ZoneSliceSpec {
                content: content.to_owned(),
            },
        )
    }

    fn problems(content: &str) -> Vec<String> {
        parse(&slice(content))
            .unwrap_err()
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    /// Z11.
    #[test]
    fn canonical_lines_are_read_in_order() {
        let content = "example.org. 360 IN MX 10 mail.example.org.\n\
            www.example.org. 60 IN A 192.0.2.1\n\
            \\\"\\;.example.org. 0 IN TXT \"a;b\"\n";
        let lines = parse(&slice(content)).unwrap();
        let records = lines.iter().map(|line| &line.record);
        let printed: String = records
            .map(|record| zonefile::print_record(&record.name, record.ttl, &record.data))
            .collect();
        assert_eq!(printed, content);
        assert_eq!(lines.len(), 3);
        assert_eq!(parse(&slice("")), Ok(Vec::new()));
    }

    /// N6: a line says which member of a routed set its record is.
    #[test]
    fn lines_of_routed_sets_are_read_with_their_routing() {
        let routing = r#"{"setIdentifier":"eu-1","weight":120,"geo":"GEO-EU"}"#;
        let content = format!("www.example.org. 60 IN A 192.0.2.1 ; routing {routing}\n");
        let lines = parse(&slice(&content)).unwrap();
        let membership = lines[0].membership.as_ref().unwrap();
        assert_eq!(membership.to_string(), routing);
    }

    #[test]
    fn anything_but_canonical_lines_is_refused() {
        let odd = [
            "$ORIGIN example.org.\nwww.example.org. 60 IN A 192.0.2.1\n",
            "$TTL 60\n",
            "\n",
            "; a comment\n",
            "www.example.org. 60 IN A 192.0.2.1",
            "www.example.org.  60 IN A 192.0.2.1\n",
            "WWW.example.org. 60 IN A 192.0.2.1\n",
            "www.example.org. 60 IN A 192.0.2.1 ; a comment\n",
            "www.example.org. 60 IN A 192.0.2.1 ; routing {\"setIdentifier\": \"a\"}\n",
            "www.example.org. 60 IN A 192.0.2.1\n 60 IN A 192.0.2.2\n",
            "www.example.org. 60 IN TXT ( \"a\"\n \"b\" )\n",
        ];
        for content in odd {
            let found = problems(content);
            assert_eq!(found.len(), 1, "{content:?}: {found:?}");
            assert!(
                found[0].contains("must be one record in canonical form"),
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_broken_line_is_named() {
        let good = "www.example.org. 60 IN A 192.0.2.1\n";
        let found = problems(&format!("{good}www.example.org. 60 IN A nonsense\n{good}"));
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("spec.content: line 2: "), "{found:?}");
        assert!(
            problems("$INCLUDE /etc/passwd\n")[0].starts_with("spec.content: line 1: $INCLUDE")
        );
    }

    #[test]
    fn a_slice_is_bounded() {
        let line = "www.example.org. 60 IN A 192.0.2.1\n";
        let fits = CONTENT_BYTES_MAX / line.len();
        assert_eq!(parse(&slice(&line.repeat(fits))).unwrap().len(), fits);
        let found = problems(&line.repeat(fits + 1));
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("spec.content: must have at most 65536 bytes: got "),
            "{found:?}"
        );
    }
}
