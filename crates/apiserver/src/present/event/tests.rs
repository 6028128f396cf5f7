//! One change, told to several watchers.

use super::*;
use crate::table::fixtures::resource;

fn things(version: &str) -> Arc<Resource> {
    Arc::new(resource("example.dev", version, "Thing", "things"))
}

fn lines() -> Lines {
    let object = json!({ "metadata": { "name": "a" }, "spec": { "size": 1 } });
    let Value::Object(object) = object else {
        unreachable!("an object was written")
    };
    Lines::new(Arc::new(Stored::new(object, 7)))
}

fn encoder(view: View, resource: &Arc<Resource>) -> EventEncoder {
    let form = media_type::Answer {
        format: Format::Json,
        view,
        pretty: false,
    };
    EventEncoder::new(form, Arc::clone(resource), IncludeObject::None)
}

fn tell(encoder: &mut EventEncoder, lines: &Lines, happened: EventType) -> Bytes {
    encoder.encode_shared(lines, happened, &Clock::System)
}

/// Whether two lines are the same bytes in memory.
fn are_shared(one: &Bytes, other: &Bytes) -> bool {
    std::ptr::eq(one.as_ptr(), other.as_ptr())
}

#[test]
fn those_who_see_a_change_alike_share_one_line() {
    let (things, lines) = (things("v1"), lines());
    let [one, other] =
        [(); 2].map(|()| tell(&mut encoder(View::Plain, &things), &lines, EventType::Added));
    assert!(are_shared(&one, &other));
    let expected = concat!(
        r#"{"type":"ADDED","object":{"kind":"Thing","apiVersion":"example.dev/v1","#,
        r#""metadata":{"name":"a","resourceVersion":"7"},"spec":{"size":1}}}"#,
        "\n"
    );
    assert_eq!(one, expected);
}

#[test]
fn a_shared_line_is_the_line_that_would_be_written_alone() {
    let (one, two) = (things("v1"), things("v2"));
    let lines = lines();
    let views = [
        View::Plain,
        View::Metadata(MetaVersion::V1),
        View::Metadata(MetaVersion::V1Beta1),
    ];
    let happenings = [EventType::Added, EventType::Modified, EventType::Deleted];
    // More ways than are kept: the last ones are written anew each time.
    for resource in [&one, &two] {
        for view in views {
            for happened in happenings {
                let mut encoder = encoder(view, resource);
                let event = Event::Object(happened, Arc::clone(&lines.object));
                let alone = encoder.encode(&[event], &Clock::System);
                assert_eq!(tell(&mut encoder, &lines, happened), alone);
                assert_eq!(tell(&mut encoder, &lines, happened), alone);
            }
        }
    }
}

#[test]
fn a_kind_that_was_defined_anew_does_not_speak_in_old_words() {
    let lines = lines();
    let mut old = encoder(View::Plain, &things("v1"));
    let mut new = encoder(View::Plain, &things("v1"));
    let [old, new] = [&mut old, &mut new].map(|encoder| tell(encoder, &lines, EventType::Added));
    assert!(!are_shared(&old, &new));
}

#[test]
fn a_table_tells_its_columns_once_to_each_watcher() {
    let (things, lines) = (things("v1"), lines());
    for _ in 0..2 {
        let mut encoder = encoder(View::Table(MetaVersion::V1), &things);
        let columns = [(); 2].map(|()| {
            let line = tell(&mut encoder, &lines, EventType::Modified);
            let event: Value = serde_json::from_slice(&line).unwrap();
            event["object"]["columnDefinitions"]
                .as_array()
                .is_some_and(|columns| !columns.is_empty())
        });
        assert_eq!(columns, [true, false]);
    }
}
