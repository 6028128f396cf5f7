use super::{Accepted, Letters};

const FIELDS: [&str; 4] = ["request", "where", "ours", "theirs"];

fn parse(text: &str) -> Result<Accepted<4>, String> {
    Accepted::parse(text, FIELDS, Letters::AsWritten)
}

fn rule(request: &str, place: &str) -> String {
    format!(
        "[[difference]]\nrequest = {request}\nwhere = '{place}'\nours = 'absent'\ntheirs = '*=='\nwhy = 'x'\n"
    )
}

#[test]
fn a_rule_accepts_what_all_its_patterns_match() {
    let accepted = parse(&rule("'GET /api*'", "/resources/*/hash")).unwrap();
    let accepts = |request, place, ours, theirs| accepted.accept([request, place, ours, theirs]);
    assert!(!accepts("GET /apiz", "/resources/1/hash", "here", "b=="));
    assert!(!accepts("GET /apiz", "/resources/1/hash", "absent", "b="));
    assert!(!accepts("GET /apiz", "/resources/1/h", "absent", "b=="));
    assert!(!accepts("POST /apiz", "/resources/1/hash", "absent", "b=="));
    assert!(!accepts("get /apiz", "/resources/1/hash", "absent", "b=="));
    assert_eq!(
        accepted.unused(),
        ["the rule `GET /api*` at `/resources/*/hash` accepts nothing"]
    );
    assert!(accepted.would_accept(["GET /apiz", "/resources/1/hash", "absent", "b=="]));
    assert_eq!(accepted.unused().len(), 1);
    assert!(accepts("GET /api", "/resources/1/hash", "absent", "a\nb=="));
    assert!(accepted.unused().is_empty());
    assert_eq!(accepted.uses(), (1, 1));
}

#[test]
fn the_first_rule_that_accepts_is_the_one_that_is_needed() {
    let accepted = parse(&(rule("'GET *'", "/a") + &rule("'GET /x'", "/a"))).unwrap();
    assert!(accepted.accept(["GET /x", "/a", "absent", "=="]));
    assert_eq!(
        accepted.unused(),
        ["the rule `GET /x` at `/a` accepts nothing"]
    );
}

#[test]
fn each_of_several_texts_must_be_needed() {
    let accepted = parse(&rule("['GET *', 'PUT *']", "/a")).unwrap();
    assert!(accepted.accept(["GET /x", "/a", "absent", "=="]));
    assert_eq!(
        accepted.unused(),
        ["the rule `GET *`, `PUT *` at `/a` does not need `PUT *`"]
    );
    assert!(accepted.accept(["PUT /x", "/a", "absent", "=="]));
    assert!(accepted.unused().is_empty());
}

#[test]
fn other_signs_of_patterns_mean_themselves() {
    let accepted = parse(&rule("'GET /x?[*].y'", "/a")).unwrap();
    assert!(accepted.accept(["GET /x?*.y", "/a", "absent", "=="]));
    assert!(!accepted.accept(["GET /*.y", "/a", "absent", "=="]));
    assert!(!accepted.accept(["GET /x?zzy", "/a", "absent", "=="]));
}

#[test]
fn letters_may_be_the_same_in_either_case() {
    let text = rule("'* Example.org.'", "answer");
    let accepted = Accepted::parse(&text, FIELDS, Letters::InEitherCase).unwrap();
    assert!(accepted.accept(["udp eXAMPLE.ORG.", "answer", "ABSENT", "=="]));
}

#[test]
fn files_that_are_wrong_are_refused() {
    let error = |text: &str| parse(text).unwrap_err();
    let whole = rule("'GET /x'", "/a");
    assert_eq!(
        error("[[difference]]\nrequest = 'x'"),
        "rule 1: no field `where`"
    );
    assert!(error("[[differences]]").contains("unknown field"));
    assert_eq!(
        error(&format!("{whole}code = '1'")),
        "rule 1: unknown field `code`"
    );
    let unexplained = whole.replace("why = 'x'", "why = ' '");
    assert_eq!(
        error(&(whole.clone() + &unexplained)),
        "rule 2: no reason: `why` is empty or missing"
    );
    assert_eq!(error(&whole.repeat(26)), "26 rules, 25 are the most");
}
