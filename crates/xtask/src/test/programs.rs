//! Test programs: one for each library and each file of integration tests, built together and run several at a time.
//!
//! Most tests wait, for an API, a clock or another process, so programs that run one after the other leave the machine idle.
//! What a program prints is shown when it has failed; what takes long says so while it runs.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use cargo_metadata::{Artifact, Message};

use crate::run::{cargo, output, outside_cargo};

/// So many programs run at once, each with a thread for every core.
const AT_ONCE: usize = 3;

/// A test program.
pub(super) struct Program {
    /// Its crate's folder and, of integration tests, their own name.
    pub(super) name: String,
    path: PathBuf,
    /// Where cargo would run it.
    folder: PathBuf,
}

/// A test program and those of its tests that are to run, at least one.
pub(super) struct Chosen {
    pub(super) program: Program,
    tests: Vec<String>,
    all: bool,
}

/// What became of a program.
pub(super) struct Ran {
    pub(super) name: String,
    pub(super) tests: usize,
    pub(super) printed: String,
    pub(super) succeeded: bool,
    pub(super) took: Duration,
}

/// Builds the test programs of these packages.
pub(super) fn build(packages: &[&str]) -> Result<Vec<Program>> {
    let mut command = cargo(["test", "--no-run", "--locked"]);
    command.args(packages);
    command.arg("--message-format=json-render-diagnostics");
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start cargo")?;
    let printed = child.stdout.take().expect("it was asked for as a pipe");
    let mut programs = Vec::new();
    for message in Message::parse_stream(BufReader::new(printed)) {
        if let Message::CompilerArtifact(artifact) = message.context("cannot read cargo")? {
            programs.extend(program(artifact));
        }
    }
    if !child.wait()?.success() {
        bail!("the tests do not build");
    }
    programs.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(programs)
}

fn program(artifact: Artifact) -> Option<Program> {
    let path = artifact.executable.filter(|_| artifact.profile.test)?;
    let folder = artifact.manifest_path.parent()?;
    let is_separate = artifact.target.is_test();
    let own = is_separate.then_some(artifact.target.name.as_str());
    let words: Vec<_> = folder.file_name().into_iter().chain(own).collect();
    Some(Program {
        name: words.join(" "),
        path: path.into_std_path_buf(),
        folder: folder.to_path_buf().into_std_path_buf(),
    })
}

impl Program {
    /// The tests of the program that are wanted, unless there are none.
    pub(super) fn choose(self, wanted: impl Fn(&str) -> bool) -> Result<Option<Chosen>> {
        let listed = output(self.command().args(["--list", "--format", "terse"]))?;
        let there: Vec<_> = listed.lines().filter_map(test).collect();
        let tests: Vec<_> = there.iter().filter(|test| wanted(test)).collect();
        Ok((!tests.is_empty()).then(|| Chosen {
            all: tests.len() == there.len(),
            tests: tests.into_iter().map(ToString::to_string).collect(),
            program: self,
        }))
    }

    fn command(&self) -> Command {
        let mut command = outside_cargo(Command::new(&self.path));
        command
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder);
        command
    }
}

/// The name in `name: test`; benchmarks are listed as well.
fn test(line: &str) -> Option<&str> {
    line.strip_suffix(": test")
}

/// Runs the tests and shows what became of each program as soon as it has ended.
pub(super) fn run(
    chosen: Vec<Chosen>,
    variables: &[(&str, String)],
    mut see: impl FnMut(Ran),
) -> Result<()> {
    let waiting = Mutex::new(VecDeque::from(chosen));
    let next = || {
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.pop_front()
    };
    let (ends, ended) = channel();
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            let ends: Sender<Result<Ran>> = ends.clone();
            scope.spawn(move || {
                while let Some(chosen) = next() {
                    // Nobody listens any more when another program could not be run.
                    if ends.send(chosen.run(variables)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(ends);
        ended.into_iter().try_for_each(|ran| ran.map(&mut see))
    })
}

impl Chosen {
    fn run(self, variables: &[(&str, String)]) -> Result<Ran> {
        let Chosen {
            program,
            tests,
            all,
        } = self;
        let began = Instant::now();
        let mut command = program.command();
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        if !all {
            command.arg("--exact").args(&tests);
        }
        let cannot = || format!("cannot run {}", program.path.display());
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(cannot)?;
        let output = child.stdout.take().expect("it was asked for as a pipe");
        let mut printed = String::new();
        for line in BufReader::new(output).split(b'\n') {
            let line = line.with_context(cannot)?;
            let line = String::from_utf8_lossy(&line);
            if line.contains("has been running for over") {
                eprintln!("{}: {line}", program.name);
            }
            printed.extend([&line, "\n"]);
        }
        let succeeded = child.wait().with_context(cannot)?.success();
        Ok(Ran {
            name: program.name,
            tests: tests.len(),
            printed,
            succeeded,
            took: began.elapsed(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This very program.
    fn ourselves() -> Program {
        Program {
            name: "xtask".to_owned(),
            path: std::env::current_exe().unwrap(),
            folder: crate::run::root().join("crates/xtask"),
        }
    }

    fn ran(wanted: impl Fn(&str) -> bool) -> Vec<Ran> {
        let chosen = ourselves().choose(wanted).unwrap();
        let mut all = Vec::new();
        run(chosen.into_iter().collect(), &[], |ran| all.push(ran)).unwrap();
        all
    }

    #[test]
    fn only_the_tests_that_are_wanted_run_and_their_words_are_kept() {
        let wanted = "run::tests::the_root_is_where_the_workspace_manifest_is";
        let [ran] = ran(|test| test == wanted).try_into().ok().unwrap();
        assert!(ran.succeeded && ran.tests == 1, "{}", ran.printed);
        let line = format!("test {wanted} ... ok\n");
        assert!(ran.printed.contains(&line), "{}", ran.printed);
        assert!(
            ran.printed.contains("1 passed; 0 failed"),
            "{}",
            ran.printed
        );
    }

    #[test]
    fn a_program_without_a_wanted_test_does_not_run() {
        assert!(ran(|_| false).is_empty());
    }

    #[test]
    fn a_program_that_cannot_be_run_is_named() {
        let mut program = ourselves();
        program.path = PathBuf::from("/nowhere/at-all");
        let error = program.choose(|_| true).err().unwrap();
        assert!(format!("{error:#}").contains("at-all"), "{error:#}");
    }

    #[test]
    fn names_are_read_from_a_list_and_benchmarks_are_left_out() {
        assert_eq!(test("a::b: test"), Some("a::b"));
        assert_eq!(test("a::c: benchmark"), None);
    }
}
