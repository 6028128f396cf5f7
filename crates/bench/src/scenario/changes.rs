//! One change among ten thousand Records is answered within 150 ms, and costs at a hundred thousand what it costs at a thousand.
//!
//! A Record gets another address; timed from the acknowledgement until the name server answers with it. Processor time
//! is that of all of `zonewright up`, its API included, until it has nothing left to do.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::asker::Asker;
use crate::numbers;
use crate::records;
use crate::report::{Figure, Findings, Measurement, Row};
use crate::stage::{Home, Stage};

const MANY: usize = 10_000;
const CHANGES: usize = 300;

/// For what a change costs.
const FEW: usize = 1_000;
const VERY_MANY: usize = 100_000;
const COSTED: usize = 100;
const TURNS: usize = 3;

/// Between two changes: at most so long, so that they do not fall into step with anything.
const PAUSE_MAX: Duration = Duration::from_millis(200);

/// Who fills the zone before anything is measured.
const FILLERS: usize = 16;

pub(super) async fn measure(program: &Path) -> Result<Findings> {
    let mut findings = Findings::default();
    let mut chance = StdRng::seed_from_u64(1);
    for home in [Home::Embedded, Home::Cluster] {
        let mut zone = Filled::open(home, program, MANY).await?;
        let answered = zone.changes(CHANGES, &mut chance).await?;
        let measurement = Measurement::of("acknowledged until answered", answered)?;
        findings.figures.push(Figure {
            case: format!("{}, {MANY} Records", home.name()),
            what: "one change, acknowledged until answered, p99",
            value: measurement.took.p99.as_secs_f64() * 1e3,
            at_most: 150.0,
            unit: "ms",
        });
    }
    let mut few = Filled::open(Home::Embedded, program, FEW).await?;
    let mut many = Filled::open(Home::Embedded, program, VERY_MANY).await?;
    let (mut at_few, mut at_many) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        at_few.push(few.cost(COSTED, &mut chance).await?);
        at_many.push(many.cost(COSTED, &mut chance).await?);
    }
    findings.rows.push(Row {
        case: "processor time of a change".to_owned(),
        base: Measurement::of("among 1,000", at_few)?,
        compared: Measurement::of("among 100,000", at_many)?,
        at_most: Some(2.0),
    });
    Ok(findings)
}

/// A zone with Records that are all answered.
struct Filled {
    stage: Stage,
    records: usize,
    edition: usize,
}

impl Filled {
    async fn open(home: Home, program: &Path, records: usize) -> Result<Filled> {
        let stage = Stage::attended(home, program).await?;
        let clients = stage.clients(FILLERS).await?;
        records::create_zone(&clients[0]).await?;
        records::create_all(&clients, records).await?;
        numbers::settled(stage.attendance()?.http).await?;
        Ok(Filled {
            stage,
            records,
            edition: 0,
        })
    }

    /// How long each of so many changes takes, one after the other, to be answered.
    async fn changes(&mut self, count: usize, chance: &mut StdRng) -> Result<Vec<Duration>> {
        let client = self.stage.client().await?;
        let server = self.stage.attendance()?.dns;
        let mut times = Vec::new();
        for _ in 0..count {
            self.edition += 1;
            let (number, edition) = (chance.random_range(0..self.records), self.edition);
            records::change(&client, number, edition).await?;
            let acknowledged = Instant::now();
            let answered = spawn_blocking(move || {
                let address = records::address(number, edition);
                Asker::new(server)?.until(&records::name(number), address)
            });
            times.push(answered.await?? - acknowledged);
            sleep(chance.random_range(Duration::ZERO..PAUSE_MAX)).await;
        }
        Ok(times)
    }

    /// The processor time of one of so many changes.
    async fn cost(&mut self, count: usize, chance: &mut StdRng) -> Result<Duration> {
        let before = self.stage.cpu()?;
        self.changes(count, chance).await?;
        let after = self.stage.cpu()?;
        Ok(after.saturating_sub(before) / u32::try_from(count)?)
    }
}
