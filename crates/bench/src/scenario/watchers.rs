//! A write reaches the last of a thousand watchers within ten times the time it takes to reach one.
//!
//! Two APIs stand side by side, one with a single watcher and one with a thousand. They are written to in
//! turns, and each write is timed from the moment it is sent until the last watcher has the whole line. Each timed
//! write follows one that is not timed, so that neither side pays for memory that the other has just displaced.

mod arrivals;
mod door;
mod https;
mod stage;

use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::runtime::Handle;

use super::runtime;
use crate::limits;
use crate::report::{Findings, LeftOut, Measurement, Row};
use https::Protocol;
use stage::Stage;

/// How many writes are timed on each side.
const WRITES: usize = 200;

/// How many writes come before the first that is timed.
const WARM_UP: usize = 20;

/// How many watchers there are on the crowded side.
const MANY: usize = 1000;

/// The same where each watcher has a connection: the listener serves 768 at once.
const MANY_CONNECTIONS: usize = 700;

/// The open files that come on top of two for each connection: the stores, the runtimes, this program.
const OTHER_FILES: usize = 100;

/// Where an API keeps its objects, and how its watchers reach it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Home {
    Memory,
    Disk,
    /// On disk and over HTTPS, as `zonewright up` serves.
    Https(Protocol),
}

const HOMES: [Home; 4] = [
    Home::Memory,
    Home::Disk,
    Home::Https(Protocol::Http2),
    Home::Https(Protocol::Http1),
];

impl Home {
    fn name(self) -> &'static str {
        match self {
            Self::Memory => "in memory, no sockets",
            Self::Disk => "on disk, no sockets",
            Self::Https(Protocol::Http2) => "on disk, HTTP/2, 250 to a connection",
            Self::Https(Protocol::Http1) => "on disk, HTTP/1.1, a connection each",
        }
    }

    /// How many times as long the crowd may take.
    fn promise(self) -> Option<f64> {
        match self {
            Self::Memory | Self::Disk => Some(10.0),
            Self::Https(_) => None,
        }
    }

    fn many(self) -> usize {
        match self {
            Self::Memory | Self::Disk | Self::Https(Protocol::Http2) => MANY,
            Self::Https(Protocol::Http1) => MANY_CONNECTIONS,
        }
    }

    /// Why this cannot be measured under a limit of open files.
    fn obstacle(self, open_files: Option<usize>) -> Option<String> {
        let needed = match self {
            Self::Memory | Self::Disk | Self::Https(Protocol::Http2) => return None,
            // Both ends are in this process.
            Self::Https(Protocol::Http1) => 2 * self.many() + OTHER_FILES,
        };
        let allowed = open_files.filter(|allowed| *allowed < needed)?;
        Some(format!(
            "needs {needed} open files and may have {allowed}; try again after `ulimit -n {needed}`"
        ))
    }
}

pub(super) fn measure() -> Result<Findings> {
    let mut findings = Findings::default();
    let open_files = limits::open_files();
    for home in HOMES {
        match home.obstacle(open_files) {
            None => {
                let row = row(home).with_context(|| format!("{} failed", home.name()))?;
                findings.rows.push(row);
            }
            Some(why) => findings.left_out.push(LeftOut {
                case: home.name().to_owned(),
                why,
            }),
        }
    }
    Ok(findings)
}

fn row(home: Home) -> Result<Row> {
    let server = runtime()?;
    // Whoever comes through a socket comes from another process in life, and from another runtime here.
    let outside = runtime()?;
    let clients = match home {
        Home::Memory | Home::Disk => &server,
        Home::Https(_) => &outside,
    };
    // As a task, so that the writer is woken like everyone else.
    let times = clients.spawn(in_turns(home, server.handle().clone()));
    let Times { few, many } = clients.block_on(times)??;
    Ok(Row {
        case: home.name().to_owned(),
        base: Measurement::of("1 watcher", few)?,
        compared: Measurement::of(&format!("{} watchers", home.many()), many)?,
        at_most: home.promise(),
    })
}

/// The times of the writes on both sides.
#[derive(Default)]
struct Times {
    few: Vec<Duration>,
    many: Vec<Duration>,
}

async fn in_turns(home: Home, server: Handle) -> Result<Times> {
    let mut few = Stage::open(home, 1, server.clone()).await?;
    let mut many = Stage::open(home, home.many(), server).await?;
    for _ in 0..WARM_UP {
        few.write().await?;
        many.write().await?;
    }
    let mut times = Times::default();
    for _ in 0..WRITES {
        few.write().await?;
        times.few.push(few.write().await?);
        many.write().await?;
        times.many.push(many.write().await?);
    }
    few.close().await?;
    many.close().await?;
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_connection_for_each_watcher_needs_many_files() {
        let obstacles = HOMES.map(|home| home.obstacle(Some(1024)));
        let [None, None, None, Some(why)] = obstacles else {
            panic!("{obstacles:?}");
        };
        assert_eq!(
            why,
            "needs 1500 open files and may have 1024; try again after `ulimit -n 1500`"
        );
    }

    #[test]
    fn nothing_is_in_the_way_where_enough_files_are_allowed_or_no_limit_is_known() {
        for open_files in [Some(4096), None] {
            assert_eq!(
                HOMES.map(|home| home.obstacle(open_files)),
                [const { None }; 4]
            );
        }
    }
}
