//! What must be seen live before anything goes (S4, S10).
//!
//! A watch may be behind, and the cache of it may have been emptied by mistake. So a source counts as gone only after the
//! API server itself was asked. What is fetched is read into an index of its own, by the same readers, so that nothing is
//! judged here otherwise than there.

use api::service_record::Source;
use dns::Name;
use kube::core::DynamicObject;

use super::{Placement, Policy, Publishing, SourceKey, SourceKind};
use crate::GatewayKey;

/// What to fetch, and from what is found whether a host may go.
///
/// The fetching must succeed as a whole: an answer other than "found" and "not found" ends it, and so does a kind that is
/// not installed, or whose definition is on its way out, for then its objects vanish without anybody having meant it.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// The host that must not be asked for.
    pub host: Name,
    /// Objects to get: none of them may ask for it.
    pub sources: Vec<Source>,
    /// Gateways to get: routes among these objects take their hosts from them.
    pub gateways: Vec<GatewayKey>,
    /// Kinds to list, by the export label, Gateways without: nobody at all may ask for it. Where it is not known who did.
    pub kinds: Vec<SourceKind>,
}

impl Proof {
    /// Whether what was seen shows that the host may go.
    pub fn is_given(&self, seen: &Seen) -> bool {
        let named = |key: &SourceKey| {
            self.sources
                .iter()
                .any(|it| SourceKey::of(it).as_ref() == Some(key))
        };
        let mut asking = seen.index.claimants(&self.host);
        let everybody = !self.kinds.is_empty();
        seen.readable && self.covers_lenders(seen) && !asking.any(|key| everybody || named(key))
    }

    /// Whether it is known what the Gateways say that routes take their hosts from.
    fn covers_lenders(&self, seen: &Seen) -> bool {
        let covers = |gateway: &GatewayKey| self.gateways.contains(gateway);
        let lenders = |key: &SourceKey| seen.index.lenders(key).iter().all(covers);
        self.kinds.contains(&SourceKind::Gateway) || seen.index.sources().all(lenders)
    }
}

/// What was fetched. What was not found is left out.
#[derive(Debug)]
pub struct Seen {
    index: Publishing,
    /// Whether everything could be read.
    readable: bool,
}

impl Default for Seen {
    fn default() -> Seen {
        let nothing = Policy {
            namespace: String::new(),
            placement: Placement::Central,
            endpoint_service: None,
            node_endpoints: false,
        };
        Seen {
            index: Publishing::new(nothing, None),
            readable: true,
        }
    }
}

impl Seen {
    /// An object that was found.
    pub fn show(&mut self, kind: SourceKind, object: DynamicObject) {
        let (_, readable) = self.index.apply_object(kind, object);
        self.readable &= readable;
    }
}
