use super::Rules;
use crate::compare::Difference;

fn difference(request: &str, place: &str, ours: &str, theirs: &str) -> Difference {
    let [request, place, ours, theirs] = [request, place, ours, theirs].map(str::to_owned);
    Difference {
        step: "lists-1, step 1".to_owned(),
        request,
        place,
        ours,
        theirs,
    }
}

fn rule(request: &str, place: &str) -> String {
    format!(
        "[[difference]]\nrequest = '{request}'\nwhere = '{place}'\nours = 'absent'\ntheirs = '*=='\nwhy = 'x'\n"
    )
}

#[test]
fn a_rule_accepts_what_all_its_patterns_match() {
    let rules = Rules::parse(&rule("GET /api*", "/resources/*/hash")).unwrap();
    let accepts =
        |request, place, ours, theirs| rules.accept(&difference(request, place, ours, theirs));
    assert!(!accepts("GET /apiz", "/resources/1/hash", "here", "b=="));
    assert!(!accepts("GET /apiz", "/resources/1/hash", "absent", "b="));
    assert!(!accepts(
        "GET /apiz",
        "/resources/1/hashes",
        "absent",
        "b=="
    ));
    assert!(!accepts("POST /apiz", "/resources/1/hash", "absent", "b=="));
    assert_eq!(rules.unused(), ["`GET /api*` at `/resources/*/hash`"]);
    assert!(accepts(
        "GET /api/v1",
        "/resources/1/hash",
        "absent",
        "a\nb=="
    ));
    assert!(rules.unused().is_empty());
}

#[test]
fn the_first_rule_that_accepts_is_the_one_that_is_needed() {
    let rules = Rules::parse(&(rule("GET *", "/a") + &rule("GET /x", "/a"))).unwrap();
    assert!(rules.accept(&difference("GET /x", "/a", "absent", "==")));
    assert_eq!(rules.unused(), ["`GET /x` at `/a`"]);
}

#[test]
fn other_signs_of_patterns_mean_themselves() {
    let rules = Rules::parse(&rule("GET /x?watch=1", "/a")).unwrap();
    assert!(rules.accept(&difference("GET /x?watch=1", "/a", "absent", "==")));
    assert!(!rules.accept(&difference("GET /watch=1", "/a", "absent", "==")));
}

#[test]
fn files_that_are_wrong_are_refused() {
    let error = |text: &str| Rules::parse(text).map(|_| ()).unwrap_err();
    assert!(error("[[difference]]\nrequest = 'x'").contains("missing field"));
    assert!(error("[[differences]]").contains("unknown field"));
    let empty = rule("GET /x", "/a").replace("why = 'x'", "why = ' '");
    assert_eq!(error(&empty), "the rule for `GET /x` at `/a` has no reason");
    assert_eq!(
        error(&rule("GET /x", "/a").repeat(26)),
        "26 rules, 25 are the most"
    );
}
