//! Record data from the wire: the type in the first two octets, the data in the rest. And names from the wire.

#![no_main]

use dns::{Name, Rdata, Rtype};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    if let Ok(name) = Name::from_wire(octets) {
        assert_eq!(Name::parse(&name.to_string()).as_ref(), Ok(&name));
    }
    let Some((rtype, wire)) = octets.split_first_chunk() else {
        return;
    };
    let rtype = Rtype::from_int(u16::from_be_bytes(*rtype));

    if let Ok(data) = Rdata::from_wire(rtype, wire) {
        assert_eq!(Rdata::from_wire(rtype, data.as_wire()).as_ref(), Ok(&data));
        let printed = data.to_string();
        assert!(!printed.contains('\n'), "{printed:?}");
        assert_eq!(
            Rdata::parse(rtype, &printed, &Name::root()).as_ref(),
            Ok(&data)
        );
        let _ = (data.check(), data.target());
    }
});
