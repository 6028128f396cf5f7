//! Step by step: what is to happen, in which phase, at which time.

mod histories;

use std::sync::LazyLock;

use k8s_openapi::ByteString;

use super::holding::Fields;
use super::*;

static NAMES: LazyLock<BTreeSet<String>> = LazyLock::new(|| ["a.b.svc".to_owned()].into());
static TERMS: LazyLock<Terms> = LazyLock::new(Terms::default);

fn noon() -> Timestamp {
    "2030-01-01T12:00:00Z".parse().unwrap()
}

fn days(count: i64) -> SignedDuration {
    SignedDuration::from_hours(24 * count)
}

fn facts(now: Timestamp) -> Facts<'static> {
    Facts {
        now,
        names: &NAMES,
        carried_for: None,
        terms: &TERMS,
    }
}

fn carried(now: Timestamp, carried_for: Duration) -> Facts<'static> {
    Facts {
        carried_for: Some(carried_for),
        ..facts(now)
    }
}

/// What the Secret holds after a step.
fn after(fields: Option<&Fields>, step: &Step, facts: &Facts<'_>) -> Fields {
    let holding = carry_out(step, read(fields), facts, &mut fresh_key).unwrap();
    holding.expect("a step that changes something").fields()
}

fn made(now: Timestamp) -> Fields {
    let step = next(&read(None), &facts(now));
    after(None, &step, &facts(now))
}

/// Takes the step that is due, which has to be this one.
fn take(fields: &Fields, step: &Step, facts: &Facts<'_>) -> Fields {
    assert_eq!(next(&read(Some(fields)), facts), *step);
    after(Some(fields), step, facts)
}

fn whole(fields: &Fields) -> Box<Holding> {
    match read(Some(fields)) {
        Found::Whole(holding) => holding,
        Found::Missing | Found::Damaged(_) => panic!("damaged: {:?}", read(Some(fields))),
    }
}

fn step(fields: &Fields, facts: &Facts<'_>) -> Step {
    next(&read(Some(fields)), facts)
}

fn text<'a>(fields: &'a Fields, name: &str) -> &'a str {
    str::from_utf8(&fields[name].0).unwrap()
}

/// An authority whose time has come, and the next, which is being made known.
fn announced() -> (Fields, Timestamp) {
    let now = noon() + days(244);
    let fields = take(&renewed(), &Step::Announce, &facts(now));
    (fields, now)
}

/// An authority in the last third of its life, with a leaf that is not.
fn renewed() -> Fields {
    let (fields, later) = (made(noon()), noon() + days(244));
    let step = step(&fields, &facts(later));
    assert!(matches!(step, Step::Renew { .. }), "{step:?}");
    after(Some(&fields), &step, &facts(later))
}

#[test]
fn where_there_is_nothing_everything_is_made() {
    let why = "there are none".to_owned();
    assert_eq!(next(&read(None), &facts(noon())), Step::Replace { why });
    let holding = whole(&made(noon()));
    assert!(matches!(holding.phase, Phase::Steady));
    assert_eq!(holding.leaf.names, *NAMES);
    assert_eq!(holding.authority.valid.until, noon() + AUTHORITY_LIFE);
    assert_eq!(holding.leaf.valid.until, noon() + LEAF_LIFE);
    assert_eq!(holding.leaf.valid.from, noon() - BACKDATED);
}

#[test]
fn what_is_written_is_what_is_read() {
    let (fields, now) = announced();
    let switched = after(Some(&fields), &Step::Switch, &facts(now));
    for fields in [made(noon()), fields, switched] {
        assert_eq!(whole(&fields).fields(), fields);
    }
}

#[test]
fn nothing_happens_until_the_leaf_is_due() {
    let fields = made(noon());
    let due = days(60);
    let rest = Step::Rest(Duration::try_from(due).unwrap());
    assert_eq!(step(&fields, &facts(noon())), rest);
    let second = Duration::from_secs(1);
    let before = noon() + due - second;
    assert_eq!(step(&fields, &facts(before)), Step::Rest(second));
    let renew = step(&fields, &facts(noon() + due));
    assert!(matches!(renew, Step::Renew { .. }), "{renew:?}");
}

#[test]
fn a_new_leaf_changes_nothing_about_whom_to_believe() {
    let fields = made(noon());
    let later = facts(noon() + days(61));
    let renewed = after(Some(&fields), &step(&fields, &later), &later);
    assert_eq!(whole(&renewed).bundle(), whole(&fields).bundle());
    assert_ne!(renewed["tls.crt"], fields["tls.crt"]);
    assert_ne!(renewed["tls.key"], fields["tls.key"]);
    assert_eq!(renewed["ca.key"], fields["ca.key"]);
}

#[test]
fn a_leaf_for_other_names_is_replaced() {
    let fields = made(noon());
    let names = ["c.d.svc".to_owned()].into();
    let moved = Facts {
        names: &names,
        ..facts(noon())
    };
    let renew = step(&fields, &moved);
    let why = "it is for {\"a.b.svc\"}".to_owned();
    assert_eq!(renew, Step::Renew { why });
    assert_eq!(
        whole(&after(Some(&fields), &renew, &moved)).leaf.names,
        names
    );
}

#[test]
fn an_authority_is_replaced_in_three_steps() {
    let steady = renewed();
    let old = text(&steady, "ca.crt").to_owned();
    let (announced, now) = announced_from(&steady);
    let new = text(&announced, "next.crt").to_owned();
    let both = format!("{old}{new}");
    assert_eq!(whole(&announced).bundle(), both);
    assert_eq!(announced["tls.crt"], steady["tls.crt"]);

    let now = now + HEARD_AFTER;
    let switched = take(&announced, &Step::Switch, &carried(now, HEARD_AFTER));
    assert_eq!(whole(&switched).bundle(), both);
    assert_eq!(text(&switched, "ca.crt"), new);
    assert_eq!(text(&switched, "previous.crt"), old);
    let names: Vec<_> = switched.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["ca.crt", "ca.key", "previous.crt", "tls.crt", "tls.key"]
    );

    assert_eq!(step(&switched, &facts(now)), Step::Rest(OVERLAP));
    let forgotten = take(&switched, &Step::Forget, &facts(now + OVERLAP));
    assert_eq!(whole(&forgotten).bundle(), new);
    assert_eq!(forgotten["tls.crt"], switched["tls.crt"]);
    assert!(matches!(
        step(&forgotten, &facts(now + OVERLAP)),
        Step::Rest(_)
    ));
}

fn announced_from(fields: &Fields) -> (Fields, Timestamp) {
    let now = noon() + days(244);
    (take(fields, &Step::Announce, &facts(now)), now)
}

#[test]
fn nothing_of_a_new_authority_is_shown_before_every_configuration_has_carried_it_for_long_enough() {
    let (fields, now) = announced();
    let second = Duration::from_secs(1);
    let early = carried(now, HEARD_AFTER.saturating_sub(second));
    assert_eq!(step(&fields, &early), Step::Rest(second));
    for later in [days(0), days(1), days(50)] {
        let unheard = step(&fields, &facts(now + later));
        assert!(matches!(unheard, Step::Rest(_)), "{unheard:?}");
    }
}

#[test]
fn while_a_new_authority_is_not_heard_of_the_old_one_renews_the_leaf() {
    let (fields, now) = announced();
    let later = facts(now + days(61));
    let renewed = after(Some(&fields), &step(&fields, &later), &later);
    assert_eq!(whole(&renewed).bundle(), whole(&fields).bundle());
    assert_ne!(renewed["tls.crt"], fields["tls.crt"]);
}

#[test]
fn close_to_the_end_of_its_authority_a_leaf_is_not_renewed_again_and_again() {
    let (fields, now) = announced();
    let later = facts(now + days(61));
    let renewed = after(Some(&fields), &step(&fields, &later), &later);
    let last = whole(&renewed).leaf.valid.until;
    assert_eq!(last, noon() + AUTHORITY_LIFE);
    let close = step(&renewed, &facts(last - Duration::from_mins(1)));
    assert!(matches!(close, Step::Rest(_)), "{close:?}");
}

#[test]
fn when_the_old_authority_is_over_the_new_one_takes_over_at_once() {
    let (fields, _) = announced();
    let over = noon() + AUTHORITY_LIFE;
    assert_eq!(step(&fields, &facts(over)), Step::Switch);
}

#[test]
fn an_authority_that_is_over_or_has_not_begun_is_replaced() {
    let fields = made(noon());
    let over = noon() + AUTHORITY_LIFE;
    for (now, expected) in [
        (
            over,
            "ca.crt: it expired at 2031-01-01T12:00:00Z, and now it is 2031-01-01T12:00:00Z",
        ),
        (
            noon() - days(1),
            "ca.crt: it is valid from 2030-01-01T11:00:00Z, and now it is 2029-12-31T12:00:00Z",
        ),
    ] {
        let why = expected.to_owned();
        assert_eq!(step(&fields, &facts(now)), Step::Replace { why });
    }
}

#[test]
fn a_clock_that_was_set_back_gets_a_leaf_that_is_good_now() {
    let fields = made(noon());
    let ahead = facts(noon() + days(61));
    let renewed = after(Some(&fields), &step(&fields, &ahead), &ahead);
    let back = facts(noon() + days(1));
    let again = after(Some(&renewed), &step(&renewed, &back), &back);
    assert!(whole(&again).leaf.valid.untimely(back.now).is_none());
    assert_eq!(whole(&again).bundle(), whole(&fields).bundle());
}

#[test]
fn a_clock_that_is_a_little_slow_changes_nothing() {
    let fields = made(noon());
    let slow = step(&fields, &facts(noon() - BACKDATED));
    assert!(matches!(slow, Step::Rest(_)), "{slow:?}");
}

#[test]
fn a_next_authority_from_the_future_is_announced_anew() {
    let (fields, now) = announced();
    let back = now - days(2);
    // The leaf is from the future, too.
    let renewed = after(Some(&fields), &step(&fields, &facts(back)), &facts(back));
    let again = take(&renewed, &Step::Announce, &carried(back, OVERLAP));
    assert_ne!(again["next.crt"], fields["next.crt"]);
}

#[test]
fn what_is_damaged_is_replaced_and_everything_wrong_with_it_is_said() {
    let (good, other) = (made(noon()), made(noon()));
    let (next, _) = announced();
    let put = |name: &str, value: &ByteString| {
        let mut fields = good.clone();
        fields.insert(name.to_owned(), value.clone());
        fields
    };
    let without = |names: &[&str]| {
        let mut fields = good.clone();
        fields.retain(|name, _| !names.contains(&name.as_str()));
        fields
    };
    let mut both = put("previous.crt", &other["ca.crt"]);
    both.extend(
        next.into_iter()
            .filter(|(name, _)| name.starts_with("next")),
    );
    let garbage = ByteString(b"garbage".to_vec());
    for (fields, expected) in [
        (
            without(&["tls.key", "ca.crt"]),
            "ca.crt: it is missing; tls.key: it is missing",
        ),
        (
            Fields::new(),
            "ca.crt: it is missing; ca.key: it is missing; tls.crt: it is missing; tls.key: it is missing",
        ),
        (
            put("ca.key", &other["ca.key"]),
            "ca.key: it does not belong to the certificate",
        ),
        (put("ca.crt", &garbage), "ca.crt: no certificate in it"),
        (
            put("ca.crt", &ByteString(vec![255])),
            "ca.crt: it is not text",
        ),
        (
            put("ca.key", &garbage),
            "ca.key: no usable private key in it",
        ),
        (
            put("tls.key", &other["tls.key"]),
            "tls.crt, tls.key: the key does not belong to the certificate",
        ),
        (
            put("tls.crt", &garbage),
            "tls.crt, tls.key: no certificate in it",
        ),
        (put("next.crt", &other["ca.crt"]), "next.key: it is missing"),
        (
            put("previous.crt", &garbage),
            "previous.crt: no certificate in it",
        ),
        (
            both,
            "next.crt, previous.crt: only one of them can be there",
        ),
        (
            without(&["ca.crt", "ca.key"])
                .into_iter()
                .chain(
                    other
                        .clone()
                        .into_iter()
                        .filter(|(name, _)| name.starts_with("ca")),
                )
                .collect(),
            "tls.crt: it was not issued by ca.crt",
        ),
        (
            put("ca.crt", &good["tls.crt"]),
            "ca.crt: it may not issue certificates",
        ),
    ] {
        let Step::Replace { why } = step(&fields, &facts(noon())) else {
            panic!("kept: {expected}");
        };
        assert!(why.starts_with(expected), "{why} is not {expected}");
    }
}

#[test]
fn keys_are_not_in_what_is_logged() {
    let (fields, _) = announced();
    let shown = format!("{:?}", whole(&fields));
    assert!(!shown.contains("PRIVATE"), "{shown}");
}
