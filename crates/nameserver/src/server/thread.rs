//! Threads with a runtime of their own, so that nobody else's work is in their way.

use std::io;
use std::sync::mpsc::sync_channel;
use std::thread;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;

use super::OpenError;

/// Starts a thread and returns once it is prepared. It makes its runtime itself: a runtime must not be dropped where others
/// await, which is where servers are opened. It holds `end` until it has ended.
pub(super) fn start<T>(
    name: String,
    end: mpsc::Sender<()>,
    prepare: impl FnOnce() -> io::Result<T> + Send + 'static,
    run: impl FnOnce(Runtime, T) + Send + 'static,
) -> Result<(), OpenError> {
    let (ready, prepared) = sync_channel(1);
    let work = move || {
        let runtime = Builder::new_current_thread().enable_all().build();
        let started = runtime.and_then(|runtime| {
            let prepared = {
                let _context = runtime.enter();
                prepare()?
            };
            Ok((runtime, prepared))
        });
        match started {
            Ok((runtime, prepared)) => {
                let _ = ready.send(Ok(()));
                run(runtime, prepared);
            }
            Err(err) => _ = ready.send(Err(err)),
        }
        drop(end);
    };
    thread::Builder::new()
        .name(name)
        .spawn(work)
        .map_err(OpenError::Thread)?;
    let prepared = prepared
        .recv()
        .unwrap_or_else(|err| Err(io::Error::other(err)));
    prepared.map_err(OpenError::Thread)
}
