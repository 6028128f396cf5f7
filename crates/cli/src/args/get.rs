//! The arguments of `zonewright get`.

use clap::ArgAction;

use super::value;
use crate::kind::{self, Kind, Kinds};

const EXAMPLES: &str = "\
Examples:
  zonewright get zones                   zones of the namespace in use
  zonewright get records,dnsrecords -A   two kinds, of all namespaces
  zonewright get zones --tree -A         zones by name, with their records and what keeps them back";

/// Show objects as the API lists them.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Get {
    /// What to show: zones, records, zoneslices, dnsrecords, dnshealthcheckprobes, policies,
    /// servicerecords, domainverifications, their short names, or dns for all. Several with commas.
    #[arg(value_name = "KIND", required = true, value_delimiter = ',', value_parser = kind::kinds)]
    kinds: Vec<Kinds>,

    /// Show the objects of all namespaces; --namespace does not matter then.
    #[arg(short = 'A', long, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", value_name = "BOOL", env = "ZONEWRIGHT_ALL_NAMESPACES")]
    pub(crate) all_namespaces: bool,

    /// Show the objects of this namespace. Without it: that of the kubeconfig's context, or
    /// "default".
    #[arg(short, long, value_name = "NS", value_parser = value::namespace, env = "ZONEWRIGHT_NAMESPACE")]
    pub(crate) namespace: Option<String>,

    /// Show zones as a tree by name, each with its records and what keeps them from being answered.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", value_name = "BOOL", env = "ZONEWRIGHT_TREE")]
    pub(crate) tree: bool,
}

impl Get {
    /// Every kind that is asked for, once.
    pub(crate) fn kinds(&self) -> Vec<&Kind> {
        let mut kinds: Vec<&Kind> = Vec::new();
        for kind in self.kinds.iter().flat_map(|Kinds(kinds)| kinds) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds
    }

    /// What no single flag can tell: flags that contradict each other.
    pub(crate) fn contradiction(&self) -> Option<String> {
        let grows = |kind: &&Kind| ["zones", "records"].contains(&kind.plural.as_str());
        let other = self.kinds().into_iter().find(|kind| !grows(kind))?;
        self.tree
            .then(|| format!("--tree shows zones and records, not {}", other.plural))
    }
}
