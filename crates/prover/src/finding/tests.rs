//! Which of several findings is told.

use super::*;

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn absent(at: &str) -> Finding {
    let sight = Sight {
        at: name(at),
        through: Vec::new(),
        others: 0,
    };
    Finding::Absent {
        looked_at: vec![sight],
    }
}

fn all() -> [Finding; 5] {
    let at = name("a.example.");
    [
        Finding::Synthesised { at: at.clone() },
        Finding::Disagree {
            at: at.clone(),
            with: vec!["192.0.2.1:53".parse().unwrap()],
            without: vec!["192.0.2.2:53".parse().unwrap()],
        },
        Finding::Refused {
            at: at.clone(),
            why: EgressError::Address("10.0.0.1".parse().unwrap()),
        },
        Finding::Unclear {
            at,
            why: Fault::Silence(Duration::from_secs(3)),
        },
        absent("a.example."),
    ]
}

#[test]
fn of_several_findings_the_one_is_told_that_most_can_be_done_about() {
    let findings = all();
    for (index, better) in findings.iter().enumerate() {
        for worse in &findings[index + 1..] {
            for both in [[better, worse], [worse, better]] {
                assert_eq!(Finding::of_all(both.map(Finding::clone)), *better);
            }
        }
    }
}

#[test]
fn a_text_is_absent_where_it_was_looked_for_everywhere() {
    let both = Finding::of_all([absent("a.example."), absent("b.example.")]);
    let words = "no TXT record at a.example.; no TXT record at b.example.";
    assert_eq!(both.to_string(), words);
}

#[test]
fn each_finding_is_a_sentence() {
    let told = all().map(|finding| finding.to_string());
    let words = [
        "a wildcard answers for a.example., which proves nothing; create the record at that very name",
        "the name servers of a.example. do not agree yet: 192.0.2.1:53 and not 192.0.2.2:53",
        "the name servers of a.example. cannot be asked: 10.0.0.1 is not a public address; the operator can allow it with --allow-address",
        "cannot look at a.example. now: no answer within 3s",
        "no TXT record at a.example.",
    ];
    assert_eq!(told, words);
}
