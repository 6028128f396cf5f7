//! Ten thousand Records are answered a second after the last is acknowledged, at little cost to whoever makes them.
//!
//! Four clients make Records of one zone, as fast as they can. On one side nobody looks after the API; on the other our
//! controllers and our name server do. The sides take turns, each time with everything new.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tokio::task::spawn_blocking;

use crate::asker::Asker;
use crate::numbers::{self, Numbers};
use crate::records;
use crate::report::{Figure, Findings, Measurement, Row};
use crate::stage::{Home, Stage};

const RECORDS: u16 = 10_000;
const CLIENTS: usize = 4;

/// How often each side is measured: where a turn takes a minute, less often.
fn turns(home: Home) -> usize {
    match home {
        Home::Embedded => 5,
        Home::Cluster => 3,
    }
}

pub(super) async fn measure(program: &Path) -> Result<Findings> {
    let mut findings = Findings::default();
    for home in [Home::Embedded, Home::Cluster] {
        let (mut alone, mut attended) = (Vec::new(), Vec::new());
        for _ in 0..turns(home) {
            alone.push(create(&Stage::alone(home).await?).await?);
            attended.push(attend(home, program).await?);
        }
        let worst = |of: fn(&Attendance) -> f64| attended.iter().map(of).fold(0.0, f64::max);
        let figures = [
            (
                "last acknowledged until answered, at worst",
                worst(|it| it.answered.as_secs_f64()),
                1.0,
                "s",
            ),
            (
                "writes to a Record, at worst",
                worst(|it| it.record_writes),
                2.0,
                "per Record",
            ),
            (
                "writes to Zones and slices, at worst",
                worst(|it| it.other_writes),
                0.5,
                "per Record",
            ),
        ];
        findings
            .figures
            .extend(figures.map(|(what, value, at_most, unit)| Figure {
                case: home.name().to_owned(),
                what,
                value,
                at_most,
                unit,
            }));
        findings.rows.push(Row {
            case: home.name().to_owned(),
            base: Measurement::of("creation alone", alone)?,
            compared: Measurement::of(
                "attended",
                attended.into_iter().map(|it| it.created).collect(),
            )?,
            at_most: Some(match home {
                Home::Embedded => 1.1,
                Home::Cluster => 2.0,
            }),
        });
    }
    Ok(findings)
}

/// How an API fared that was looked after.
struct Attendance {
    created: Duration,
    answered: Duration,
    record_writes: f64,
    other_writes: f64,
}

async fn attend(home: Home, program: &Path) -> Result<Attendance> {
    let stage = Stage::attended(home, program).await?;
    let at = stage.attendance()?;
    let created = create(&stage).await?;
    let acknowledged = Instant::now();
    let asker = Asker::new(at.dns)?;
    let answered = spawn_blocking(move || -> Result<Instant> {
        // The last ones of each client; then all, which can only be there.
        let mut answered = acknowledged;
        let records = usize::from(RECORDS);
        for number in records - CLIENTS..records {
            answered = asker.until(&records::name(number), records::address(number, 0))?;
        }
        for number in 0..records {
            let address = asker.ask(&records::name(number))?;
            let expected = Some(records::address(number, 0));
            ensure!(address == expected, "record {number} is {address:?}");
        }
        Ok(answered)
    });
    let answered = answered.await?? - acknowledged;
    numbers::settled(at.http).await?;
    let numbers = Numbers::read(at.http).await?;
    let writes = |resource: &str| {
        let resource = format!("resource=\"{resource}\"");
        numbers.sum("zonewright_api_writes_total", &resource) / f64::from(RECORDS)
    };
    Ok(Attendance {
        created,
        answered,
        record_writes: writes("records"),
        other_writes: writes("zones") + writes("zoneslices"),
    })
}

/// How long it takes to make all of the Records.
async fn create(stage: &Stage) -> Result<Duration> {
    let clients = stage.clients(CLIENTS).await?;
    records::create_zone(&clients[0]).await?;
    let began = Instant::now();
    records::create_all(&clients, RECORDS.into()).await?;
    Ok(began.elapsed())
}
