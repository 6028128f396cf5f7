//! What every loop needs, whatever it is about.

use kube::Client;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio::sync::watch;

use crate::clock::Clock;
use crate::events::Recorder;
use crate::health::Pulse;
use crate::metrics::Metrics;

/// Where a loop runs.
pub struct Surroundings {
    /// The way to the API.
    pub client: Client,
    /// Where wall time comes from.
    pub clock: Clock,
    /// Where chance comes from.
    pub chance: StdRng,
    /// Whether this process may write.
    pub leading: watch::Receiver<bool>,
    /// What is measured.
    pub metrics: Metrics,
    /// The sign of life.
    pub pulse: Pulse,
    /// Who this process is: a name that no other has.
    pub identity: String,
}

impl Surroundings {
    /// A way to the API on which writes are counted.
    pub(crate) fn counted(&self) -> Client {
        self.metrics.counting(&self.client)
    }

    /// Chance of somebody's own.
    pub(crate) fn draw(&mut self) -> StdRng {
        StdRng::from_rng(&mut self.chance)
    }

    /// Somebody who tells people what happens.
    pub(crate) fn recorder(&mut self) -> Recorder {
        let chance = self.draw();
        let (client, metrics) = (self.counted(), self.metrics.clone());
        Recorder::start(client, self.identity.clone(), self.clock, chance, metrics)
    }
}
