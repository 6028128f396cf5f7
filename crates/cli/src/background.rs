//! A thread in the background: what runs there gives way to everything else in this process.
//!
//! Controllers have much to do at the very moment in which others wait for the API and for answers, and nobody waits for
//! a controller as such. Where the system knows no priorities of threads, the thread has that of all others.

use std::io;
use std::thread::{self, JoinHandle};

use tokio::runtime::{Builder, EnterGuard, Handle};
use tokio::sync::oneshot;

/// How much the thread gives way, from 0 to 19: beside one that is busy it gets a thirtieth of a processor, and all of
/// one that is idle.
const NICENESS: i32 = 15;

/// A runtime on a thread of its own.
#[derive(Debug)]
pub(crate) struct Background {
    handle: Handle,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Background {
    pub(crate) fn start(name: &str) -> io::Result<Background> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let run = move || {
            give_way();
            // An owner that is gone means the same.
            let _ = runtime.block_on(stopped);
        };
        Ok(Background {
            handle,
            stop,
            thread: thread::Builder::new().name(name.to_owned()).spawn(run)?,
        })
    }

    /// While the guard is held, tasks that are started run in the background.
    pub(crate) fn enter(&self) -> EnterGuard<'_> {
        self.handle.enter()
    }

    /// Ends what still runs there.
    pub(crate) fn stop(self) {
        let Background { stop, thread, .. } = self;
        drop(stop);
        if thread.join().is_err() {
            tracing::error!("A thread in the background panicked");
        }
    }
}

fn give_way() {
    // Elsewhere niceness belongs to the whole process.
    if cfg!(target_os = "linux") {
        // Where it may not be changed, the thread has that of all others.
        let _ = rustix::process::setpriority_process(None, NICENESS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_started_in_the_background_runs_on_its_own_nicer_thread() {
        let background = Background::start("aside").unwrap();
        let task = {
            let _inside = background.enter();
            tokio::spawn(async {
                let niceness = rustix::process::getpriority_process(None).ok();
                (thread::current().name().map(str::to_owned), niceness)
            })
        };
        let own = rustix::process::getpriority_process(None).unwrap();
        let nicer = if cfg!(target_os = "linux") {
            NICENESS
        } else {
            own
        };
        assert_eq!(
            task.await.unwrap(),
            (Some("aside".to_owned()), Some(nicer.max(own)))
        );
        background.stop();
    }
}
