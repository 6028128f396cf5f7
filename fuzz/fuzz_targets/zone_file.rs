//! Whole zone files: what is read and printed reads back as the same zone, without a problem.

#![no_main]

use dns::zonefile::{parse, print, print_record, records};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Some((zone, serial)) = parse(text, None).zone {
        let printed = print(&zone, serial);
        let again = parse(&printed, None);
        assert_eq!(again.problems, [], "{printed}");
        let (read_back, same_serial) = again.zone.expect("a printed zone is a zone");
        assert_eq!(same_serial, serial);
        assert_eq!(read_back.hash(), zone.hash(), "{printed}");
        assert_eq!(print(&read_back, serial), printed);
    }
    for record in records(text, None).0 {
        let line = print_record(&record.name, record.ttl, &record.data);
        let (read_back, problems) = records(&line, None);
        assert_eq!(problems, [], "{line}");
        let [read_back] = read_back.try_into().expect("one line is one record");
        assert_eq!(
            (&read_back.name, read_back.ttl, &read_back.data),
            (&record.name, record.ttl, &record.data)
        );
    }
});
