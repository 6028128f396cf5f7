//! The reference shows every behaviour of the contract.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use dns::Name;
use dns::hosted::{Change, Held};
use provider::battery::Stage;
use provider::{Boxed, InMemory, Provider, ZoneId};

struct Memory {
    provider: InMemory,
    zone: ZoneId,
    apex: Name,
}

async fn stage() -> Memory {
    let memory = Memory {
        provider: InMemory::default(),
        zone: ZoneId("zone-1".to_owned()),
        apex: Name::parse("example.org.").unwrap(),
    };
    memory.provider.create_zone(&memory.zone, &memory.apex);
    memory
}

impl Stage for Memory {
    fn provider(&self) -> &dyn Provider {
        &self.provider
    }

    fn zone(&self) -> &ZoneId {
        &self.zone
    }

    fn apex(&self) -> &Name {
        &self.apex
    }

    fn tamper<'a>(&'a self, change: &'a Change) -> Boxed<'a, ()> {
        let to = change.after.clone().map(Held::Set);
        self.provider.tamper(&self.zone, &change.key, to);
        Box::pin(std::future::ready(()))
    }
}

provider::battery!(stage);
