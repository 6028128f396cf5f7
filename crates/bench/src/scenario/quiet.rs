//! A minute in which nobody changes anything costs nothing: no writes but leases, 20 ms of processor time.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use tokio::time::sleep;

use crate::numbers::{self, Numbers};
use crate::records;
use crate::report::{Figure, Findings};
use crate::stage::{Home, Stage};

const RECORDS: usize = 10_000;
const CLIENTS: usize = 16;
const MINUTE: Duration = Duration::from_mins(1);

/// How long what was begun by the last write may take to end: zones are stored, connections closed.
const CALMS_WITHIN: Duration = Duration::from_mins(1);

/// It has ended when so little is done in a second.
const CALM: Duration = Duration::from_millis(2);

pub(super) async fn measure(program: &Path) -> Result<Findings> {
    let mut findings = Findings::default();
    for home in [Home::Embedded, Home::Cluster] {
        let stage = Stage::attended(home, program).await?;
        let at = stage.attendance()?;
        let clients = stage.clients(CLIENTS).await?;
        records::create_zone(&clients[0]).await?;
        records::create_all(&clients, RECORDS).await?;
        drop(clients);
        numbers::settled(at.http).await?;
        calm(&stage).await?;
        let wrote = async || -> Result<f64> {
            let numbers = Numbers::read(at.http).await?;
            Ok(numbers.sum("zonewright_api_writes_total", ""))
        };
        let (writes, revision) = (wrote().await?, stage.revision().await?);
        let cpu = stage.cpu()?;
        sleep(MINUTE).await;
        let cpu = stage.cpu()?.saturating_sub(cpu);
        let revisions = stage.revision().await? - revision;
        let writes = match home {
            // All there are, whoever made them.
            Home::Embedded => f64::from(u32::try_from(revisions)?),
            Home::Cluster => wrote().await? - writes,
        };
        let figures = [
            ("writes but leases in a minute", writes, 0.0, "writes"),
            (
                "processor time in a minute",
                cpu.as_secs_f64() * 1e3,
                20.0,
                "ms",
            ),
        ];
        findings
            .figures
            .extend(figures.map(|(what, value, at_most, unit)| Figure {
                case: format!("{}, {RECORDS} Records", home.name()),
                what,
                value,
                at_most,
                unit,
            }));
    }
    Ok(findings)
}

/// Returns after a second in which next to nothing was done.
async fn calm(stage: &Stage) -> Result<()> {
    let calm = testkit::eventually(CALMS_WITHIN, "the program to rest", async || {
        let before = stage.cpu().map_err(|error| error.to_string())?;
        sleep(Duration::from_secs(1)).await;
        let after = stage.cpu().map_err(|error| error.to_string())?;
        let worked = after.saturating_sub(before);
        if worked <= CALM {
            Ok(())
        } else {
            Err(format!("{worked:?} of processor time in a second"))
        }
    });
    Ok(calm.await?)
}
