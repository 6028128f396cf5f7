//! Programs that come up: tried again when somebody took their port, and waited for until they answer.

use std::io;
use std::time::Duration;

use crate::process::{Exited, Process};
use crate::wait::{Overdue, eventually};

/// How often a start is tried when others take its ports. One collision is rare already.
pub(crate) const ATTEMPTS: usize = 5;

/// Why a program did not come up.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is nothing to start, or what it needs could not be made.
    #[error(transparent)]
    Missing(Box<dyn std::error::Error + Send + Sync>),
    /// A directory, a port or a process could not be had.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The program ended.
    #[error(transparent)]
    Exited(#[from] Exited),
    /// The program runs but does not answer, or not as it should.
    #[error("{overdue}; {last_words}")]
    NotReady {
        /// What was waited for, and the last answer.
        overdue: Overdue,
        /// The end of the program's log.
        last_words: String,
    },
}

impl StartError {
    pub(crate) fn missing(error: impl std::error::Error + Send + Sync + 'static) -> StartError {
        StartError::Missing(Box::new(error))
    }
}

/// What the system said when something was tried.
pub(crate) fn system(what: &'static str) -> impl Fn(io::Error) -> StartError {
    move |source| StartError::System { what, source }
}

/// Starts until nobody took the port meanwhile.
pub(crate) async fn start<T>(
    mut once: impl AsyncFnMut() -> Result<T, StartError>,
) -> Result<T, StartError> {
    let mut attempts = 1;
    loop {
        match once().await {
            Err(StartError::Exited(exited)) if exited.port_was_taken() && attempts < ATTEMPTS => {
                attempts += 1;
            }
            settled => return settled,
        }
    }
}

/// Waits until `answers`; fails at once when one of `processes` has ended. The last of them is the one that is waited for.
pub(crate) async fn ready(
    what: &str,
    within: Duration,
    processes: &mut [&mut Process],
    mut answers: impl AsyncFnMut() -> Result<(), String>,
) -> Result<(), StartError> {
    let asked = eventually(
        within,
        what,
        async || -> Result<Result<(), Exited>, String> {
            match processes
                .iter_mut()
                .try_for_each(|process| process.running())
            {
                Ok(()) => answers().await.map(Ok),
                Err(exited) => Ok(Err(exited)),
            }
        },
    );
    match asked.await {
        Ok(settled) => settled.map_err(StartError::Exited),
        Err(overdue) => {
            let last_words = processes.last().map(|process| process.last_words());
            Err(StartError::NotReady {
                overdue,
                last_words: last_words.unwrap_or_default(),
            })
        }
    }
}
