//! What a command did, step by step, as one table at its end.
//!
//! A step that fails does not stop the ones after it: one run shows everything there is to repair. A step that this
//! machine cannot do is skipped with a reason, unless the run is strict, as it is in CI: there a skip is a failure.

use std::fmt::{self, Display};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// The steps so far, in order.
pub(crate) struct Report {
    strict: bool,
    started: Instant,
    steps: Vec<Step>,
    details: Vec<(String, Duration)>,
}

/// How a step ended when nothing failed.
pub(crate) enum Outcome {
    /// It did what it should; the text says what, where there is something to say.
    Passed(String),
    /// This machine cannot do it; the text says why.
    Skipped(String),
}

struct Step {
    name: String,
    mark: Mark,
    note: String,
    took: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Passed,
    Skipped,
    Failed,
}

impl Report {
    /// Begins a report; `CI=true` in the environment makes it strict.
    pub(crate) fn begin() -> Self {
        Self::new(std::env::var("CI").is_ok_and(|value| value == "true"))
    }

    fn new(strict: bool) -> Self {
        Self {
            strict,
            started: Instant::now(),
            steps: Vec::new(),
            details: Vec::new(),
        }
    }

    /// Runs a step and remembers how it ended.
    pub(crate) fn step(&mut self, name: &str, work: impl FnOnce() -> Result<Outcome>) {
        eprintln!("\n== {name} ==");
        let started = Instant::now();
        let (mark, note) = match work() {
            Ok(Outcome::Passed(note)) => (Mark::Passed, note),
            Ok(Outcome::Skipped(why)) if self.strict => {
                (Mark::Failed, format!("must not be skipped here: {why}"))
            }
            Ok(Outcome::Skipped(why)) => (Mark::Skipped, why),
            Err(error) => (Mark::Failed, format!("{error:#}")),
        };
        if mark != Mark::Passed {
            eprintln!("{mark}: {note}");
        }
        self.steps.push(Step {
            name: name.to_owned(),
            mark,
            note,
            took: started.elapsed(),
        });
    }

    /// Adds a line about the time that a part of a step took.
    pub(crate) fn detail(&mut self, name: String, took: Duration) {
        self.details.push((name, took));
    }

    /// Prints the table; an error when a step failed.
    pub(crate) fn finish(self) -> Result<()> {
        eprintln!("\n{self}");
        let failed = self.count(Mark::Failed);
        if failed > 0 {
            bail!("{failed} of {} steps failed", self.steps.len());
        }
        Ok(())
    }

    fn count(&self, mark: Mark) -> usize {
        self.steps.iter().filter(|step| step.mark == mark).count()
    }
}

impl Outcome {
    /// It did what it should, and there is nothing to add.
    pub(crate) fn passed() -> Self {
        Self::Passed(String::new())
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.steps.iter().map(|step| step.name.len()).max();
        for step in &self.steps {
            let line = format!(
                "{:<width$}  {:<7}  {:>8}  {}",
                step.name,
                step.mark.to_string(),
                seconds(step.took),
                // All of it was printed when it happened.
                step.note.lines().next().unwrap_or_default(),
                width = width.unwrap_or_default(),
            );
            writeln!(f, "{}", line.trim_end())?;
        }
        for (name, took) in &self.details {
            writeln!(f, "{:>10}  {name}", seconds(*took))?;
        }
        let (passed, failed, skipped) = (
            self.count(Mark::Passed),
            self.count(Mark::Failed),
            self.count(Mark::Skipped),
        );
        let took = seconds(self.started.elapsed());
        write!(
            f,
            "{passed} passed, {failed} failed, {skipped} skipped in {took}"
        )
    }
}

impl Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Passed => "ok",
            Self::Skipped => "skipped",
            Self::Failed => "FAILED",
        })
    }
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    fn report(strict: bool) -> Report {
        let mut report = Report::new(strict);
        report.step("first", || Ok(Outcome::Passed("12 files".to_owned())));
        report.step("second", || Ok(Outcome::Skipped("no Go".to_owned())));
        report
    }

    #[test]
    fn a_step_after_a_failed_one_still_runs() {
        let mut report = Report::new(false);
        report.step("bad", || Err(anyhow!("it broke")));
        report.step("good", || Ok(Outcome::passed()));
        assert_eq!(report.count(Mark::Passed), 1);
        let error = report.finish().unwrap_err();
        assert_eq!(error.to_string(), "1 of 2 steps failed");
    }

    #[test]
    fn a_step_is_one_line_of_the_table() {
        let mut report = Report::new(false);
        report.step("bad", || Err(anyhow!("it broke:\n  line 1\n  line 2")));
        let table = report.to_string();
        assert_eq!(table.lines().count(), 2, "{table}");
        assert!(table.contains("it broke:"), "{table}");
    }

    #[test]
    fn what_took_long_is_listed_below_the_steps() {
        let mut report = report(false);
        report.detail("dns algebra".to_owned(), Duration::from_millis(61_250));
        let table = report.to_string();
        let lines: Vec<_> = table.lines().collect();
        assert_eq!(lines[2], "    61.2 s  dns algebra", "{table}");
    }

    #[test]
    fn a_skip_is_told_with_its_reason_and_is_no_failure() {
        let report = report(false);
        let table = report.to_string();
        assert!(table.contains("second  skipped"), "{table}");
        assert!(table.contains("no Go"), "{table}");
        assert!(table.contains("1 passed, 0 failed, 1 skipped"), "{table}");
        report.finish().unwrap();
    }

    #[test]
    fn a_skip_is_a_failure_when_the_run_is_strict() {
        let report = report(true);
        assert!(
            report
                .to_string()
                .contains("must not be skipped here: no Go"),
            "{report}"
        );
        assert!(report.finish().is_err());
    }
}
