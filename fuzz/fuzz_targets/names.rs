//! Names from text: as a whole name, as a `domainName` field and as a host.

#![no_main]

use dns::{DomainName, Name, host_name};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(name) = Name::parse(text) {
        check(&name);
    }
    if let Ok(field) = DomainName::parse(text) {
        assert_eq!(DomainName::parse(&field.to_string()).as_ref(), Ok(&field));
    }
    if let Ok(host) = host_name(text) {
        assert!(host.is_host());
        assert_eq!(host_name(&host.to_string()).as_ref(), Ok(&host));
        check(&host);
    }
});

/// What holds for every name.
fn check(name: &Name) {
    assert_eq!(Name::parse(&name.to_string()).as_ref(), Ok(name));
    assert_eq!(Name::from_wire(name.as_wire()).as_ref(), Ok(name));
    assert_eq!(name.ancestors().count(), name.label_count() + 1);
    for ancestor in name.ancestors() {
        assert!(name.is_at_or_below(&ancestor));
        assert!(&ancestor <= name);
    }
}
