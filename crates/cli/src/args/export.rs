//! The arguments of `zonewright export`.

use api::{Zone, ZoneKey};

use super::value;
use crate::kind::{Kind, Kinds, kinds};

const EXAMPLES: &str = "\
Examples:
  zonewright export zone/dns/example-org > example.org.zone
  zonewright export zone/dns/example-org | named-checkzone example.org /dev/stdin";

/// Print a Zone as a zone file.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Export {
    /// The Zone by its namespace and its name, such as zone/dns/example-org.
    #[arg(value_name = "zone/NS/NAME", value_parser = zone)]
    pub(crate) zone: ZoneKey,
}

fn zone(text: &str) -> Result<ZoneKey, String> {
    let parts: Vec<&str> = text.split('/').collect();
    let [kind, namespace, name] = parts[..] else {
        return Err("write zone, a namespace and a name, such as zone/dns/example-org".to_owned());
    };
    if kinds(kind) != Ok(Kinds(vec![Kind::of::<Zone>()])) {
        return Err(format!("only a zone has a zone file, not \"{kind}\""));
    }
    let (namespace, name) = (value::namespace(namespace)?, value::object_name(name)?);
    Ok(ZoneKey::new(&namespace, &name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_named_by_kind_namespace_and_name() {
        for text in [
            "zone/dns/example.org",
            "zones/dns/example.org",
            "zn/dns/example.org",
        ] {
            assert_eq!(zone(text), Ok(ZoneKey::new("dns", "example.org")), "{text}");
        }
        for (text, reason) in [
            ("example.org", "write zone, a namespace and a name"),
            ("zone/example.org", "write zone, a namespace and a name"),
            ("zone/a/b/c", "write zone, a namespace and a name"),
            ("record/dns/www", "only a zone has a zone file"),
            ("/dns/www", "only a zone has a zone file"),
            ("zone//www", "write the name of a namespace"),
            ("zone/dns/", "write the name of an object"),
            ("zone/dns/../x", "write zone, a namespace and a name"),
        ] {
            let told = zone(text).unwrap_err();
            assert!(told.starts_with(reason), "{text}: {told}");
        }
    }
}
