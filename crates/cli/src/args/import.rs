//! The arguments of `zonewright import`.

use std::path::PathBuf;

use clap::ArgAction;
use dns::Name;

use super::value;

const EXAMPLES: &str = "\
Examples:
  zonewright import example.org.zone --zone example-org                 objects as YAML, for `kubectl apply -f -`
  zonewright import example.org.zone --zone example-org -n dns --apply  objects into the API
  dig @192.0.2.53 example.org AXFR | zonewright import - --zone example-org";

/// Turn a zone file into a Zone and its Records.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Import {
    /// The zone file, or "-" for standard input.
    pub(crate) file: PathBuf,

    /// The name that the Zone object gets, such as example-org. Every Record's name ends in it.
    #[arg(long, value_name = "NAME", value_parser = value::object_name, env = "ZONEWRIGHT_ZONE")]
    pub(crate) zone: String,

    /// The namespace of all objects. Without it: that of the kubeconfig's context, or "default".
    #[arg(short, long, value_name = "NS", value_parser = value::namespace, env = "ZONEWRIGHT_NAMESPACE")]
    pub(crate) namespace: Option<String>,

    /// What the zone is called, where the file leaves that to the server's configuration: what
    /// relative names are completed with until the first $ORIGIN. Without it: the owner of the SOA.
    #[arg(long, value_name = "DOMAIN", value_parser = value::domain, env = "ZONEWRIGHT_ORIGIN")]
    pub(crate) origin: Option<Name>,

    /// Put the objects into the API instead of printing them. What is there already is changed where
    /// it differs; nothing is deleted.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", value_name = "BOOL", env = "ZONEWRIGHT_APPLY")]
    pub(crate) apply: bool,
}
