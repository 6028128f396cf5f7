//! Record data from text: the type on the first line, the data on the rest.

#![no_main]

use dns::{Name, Rdata, RdataText, Rtype};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Some((rtype, text)) = text.split_once('\n') else {
        return;
    };
    let Ok(rtype) = rtype.parse::<Rtype>() else {
        return;
    };
    let origin = Name::parse("example.org.").expect("a plain name");

    if let Ok(data) = Rdata::parse(rtype, text, &origin) {
        let printed = data.to_string();
        assert!(!printed.contains('\n'), "{printed:?}");
        assert_eq!(
            Rdata::parse(rtype, &printed, &Name::root()).as_ref(),
            Ok(&data)
        );
        assert_eq!(Rdata::from_wire(rtype, data.as_wire()).as_ref(), Ok(&data));
        // Whatever they say, they say it without a panic.
        let _ = (data.check(), data.target());
    }
    if let Ok(unresolved) = RdataText::parse(rtype, text) {
        assert_eq!(unresolved.rtype(), rtype);
        let _ = unresolved.resolve(&origin);
    }
});
