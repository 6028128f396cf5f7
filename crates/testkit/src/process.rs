//! Child processes that do not outlive their owner, however it ends.
//!
//! Dropping a [`Process`] kills and reaps it. That is not enough: a static is never dropped, and a
//! test process that is killed drops nothing. So each child asks the kernel for SIGKILL at the
//! death of its parent (`PR_SET_PDEATHSIG`), through util-linux' `setpriv`, which sets it and then
//! *becomes* the program: same process id, same exit status, nothing in between. Setting it from
//! Rust would need unsafe code between fork and exec, and a watching process could be killed
//! itself.
//!
//! The kernel means the parent *thread*. A test's thread ends with the test, so all children are
//! started by one thread that lasts as long as this process.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::thread;

use crate::tail::tail;

/// A running program with its log.
#[derive(Debug)]
pub(crate) struct Process {
    name: &'static str,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts `program`; both its outputs go to `<directory>/<name>.log`.
    pub(crate) fn spawn(
        name: &'static str,
        program: &Path,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
        directory: &Path,
    ) -> io::Result<Self> {
        let mut command = mortal(program);
        command.args(arguments.into_iter().map(Into::into));
        Self::start(name, command, directory)
    }

    /// The same for a [`mortal`] command.
    pub(crate) fn start(
        name: &'static str,
        mut command: Command,
        directory: &Path,
    ) -> io::Result<Self> {
        let log = directory.join(name).with_extension("log");
        let output = File::create(&log)?;
        command
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output);
        let child = spawn_on_lasting_thread(command).map_err(explain)?;
        Ok(Self { name, child, log })
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Fails once the program has ended, which none of them does by itself.
    pub(crate) fn running(&mut self) -> Result<(), Exited> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(self.exited(status.to_string())),
            Err(error) => Err(self.exited(error.to_string())),
        }
    }

    /// Where the log is and how it ends, for the error of someone who waited in vain.
    pub(crate) fn last_words(&self) -> String {
        let log = fs::read(&self.log).unwrap_or_default();
        format!(
            "the end of {}:\n{}",
            self.log.display(),
            tail(&String::from_utf8_lossy(&log))
        )
    }

    /// Kills the program and returns when it is gone.
    pub(crate) fn end(&mut self) {
        // Both fail only if the child is gone and reaped, and then all is well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn exited(&self, how: String) -> Exited {
        Exited {
            name: self.name,
            how,
            last_words: self.last_words(),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// A program ended that should have kept running.
#[derive(Debug, thiserror::Error)]
#[error("{name} ended with {how}; {last_words}")]
pub struct Exited {
    name: &'static str,
    how: String,
    last_words: String,
}

impl Exited {
    /// Whether it ended because someone else had its port: starting again with another one helps.
    pub(crate) fn port_was_taken(&self) -> bool {
        let last_words = self.last_words.to_ascii_lowercase();
        last_words.contains("address already in use") || last_words.contains("address in use")
    }
}

/// A command whose process dies with the thread that starts it.
pub fn mortal(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command
}

/// Says what to install if a [`mortal`] command could not be started.
pub(crate) fn explain(error: io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::NotFound {
        return error;
    }
    let message = "setpriv is not installed: without it a killed test would leave processes \
                   running; install util-linux 2.33 or newer";
    io::Error::new(io::ErrorKind::NotFound, message)
}

type Order = (Command, SyncSender<io::Result<Child>>);

fn spawn_on_lasting_thread(command: Command) -> io::Result<Child> {
    static SPAWNER: OnceLock<Sender<Order>> = OnceLock::new();
    let spawner = SPAWNER.get_or_init(|| {
        let (orders, inbox) = channel::<Order>();
        thread::spawn(move || {
            for (mut command, reply) in inbox {
                reply
                    .send(command.spawn())
                    .expect("who asked waits for the answer");
            }
        });
        orders
    });
    let (reply, answer) = sync_channel(1);
    spawner
        .send((command, reply))
        .expect("the spawning thread does not end");
    answer
        .recv()
        .expect("the spawning thread answers every order")
}
