use serde_json::json;

use super::{Action, Sequence, read};

fn one(step: &str) -> Sequence {
    let text = format!("name: n\nsteps:\n- {step}\n");
    read("f", &text).unwrap().remove(0)
}

fn check_refused(step: &str, why: &str) {
    let error = read("f", &format!("name: n\nsteps:\n- GET /a\n- {step}\n"))
        .map(|_| ())
        .unwrap_err();
    assert!(
        error.starts_with("f-1, step 2: ") && error.contains(why),
        "{error}"
    );
}

#[test]
fn a_request_is_a_line_with_or_without_details() {
    let sequence = one("GET /a?b=c");
    assert!(
        matches!(&sequence.steps[0].action, Action::Send(request, 1) if request.path == "/a?b=c")
    );
    let sequence = one("POST /a: {body: {x: y}, times: 3, code: 409}");
    let Action::Send(request, 3) = &sequence.steps[0].action else {
        panic!("not three times")
    };
    assert_eq!(request.details.body, Some(json!({ "x": "y" })));
    assert_eq!(
        (request.details.code, &*sequence.steps[0].title),
        (Some(409), "POST /a")
    );
}

#[test]
fn watches_have_names_and_events_are_counted() {
    let sequence = one("watch w GET /a");
    assert!(matches!(&sequence.steps[0].action, Action::Watch(name, _) if name == "w"));
    let sequence = one("events w: 3");
    assert!(
        matches!(&sequence.steps[0].action, Action::Events(_, events) if events.count == Some(3))
    );
    let sequence = one("events w: end");
    assert!(
        matches!(&sequence.steps[0].action, Action::Events(_, events) if events.count.is_none())
    );
}

#[test]
fn raw_bodies_may_repeat_a_part() {
    let sequence = one("POST /a: {raw: [x, {text: ab, times: 2}, z]}");
    let Action::Send(request, 1) = &sequence.steps[0].action else {
        panic!("no request")
    };
    assert_eq!(request.details.raw.as_ref().unwrap().text(), "xababz");
}

#[test]
fn a_file_may_hold_several_sequences() {
    let sequences = read("f", "name: one\nsteps: []\n---\nname: two\nsteps: []\n").unwrap();
    let told: Vec<_> = sequences.iter().map(|s| (&*s.place, &*s.name)).collect();
    assert_eq!(told, [("f-1", "one"), ("f-2", "two")]);
}

#[test]
fn bad_steps_are_refused_with_their_place() {
    check_refused("GET a", "`a` is no path");
    check_refused("get /a", "`get` is no method");
    check_refused("GET", "`GET` is no step");
    check_refused("GET /a: {colour: red}", "unknown field `colour`");
    check_refused(
        "GET /a: {body: {}, raw: x}",
        "one of `body`, `raw` and `edit`",
    );
    check_refused("PATCH /a: {type: paint}", "unknown variant `paint`");
    check_refused("events w: -1", "no number of events");
    check_refused("[GET, /a]", "a step is one line");
}
