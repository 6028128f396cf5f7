//! Reads what the test harness prints and keeps count.
//!
//! The harness prints, for each binary, how many tests it runs, one line per test, the last words of those that failed,
//! and a result. A binary that prints no result has crashed.

use std::collections::BTreeSet;
use std::fmt::{self, Display};

/// What ran so far.
#[derive(Default)]
pub(super) struct Tally {
    complaints: Vec<&'static str>,
    passed: usize,
    failed: Vec<String>,
    skipped: Vec<String>,
    crashed: usize,
    binary: Option<Binary>,
}

/// The binary whose output is being read.
#[derive(Default)]
struct Binary {
    /// Tests that failed, by name.
    failed: Vec<String>,
    /// The test whose last words are being read.
    speaker: Option<String>,
    /// Tests whose last words begin with a complaint.
    complaining: BTreeSet<String>,
}

impl Tally {
    /// Counts a failed test as skipped when a line of its last words begins with one of these.
    pub(super) fn new(complaints: Vec<&'static str>) -> Self {
        Self {
            complaints,
            ..Self::default()
        }
    }

    /// Takes in one line of output.
    pub(super) fn read(&mut self, line: &str) {
        if is_begin(line) {
            self.crashed += usize::from(self.binary.is_some());
            self.binary = Some(Binary::default());
        } else if let Some(result) = line.strip_prefix("test result: ") {
            self.passed += passed(result);
            self.close();
        } else if let Some(binary) = &mut self.binary {
            binary.read(line, &self.complaints);
        }
    }

    /// Whether a test failed, or a binary crashed.
    pub(super) fn failed(&self) -> bool {
        !self.failed.is_empty() || self.crashes() > 0
    }

    /// Whether a test was skipped.
    pub(super) fn skipped(&self) -> bool {
        !self.skipped.is_empty()
    }

    /// Whether nothing ran.
    pub(super) fn is_empty(&self) -> bool {
        self.passed == 0 && !self.failed() && !self.skipped()
    }

    fn close(&mut self) {
        let binary = self.binary.take().unwrap_or_default();
        let is_complaint = |name: &String| binary.complaining.contains(name);
        let (skipped, failed): (Vec<_>, Vec<_>) = binary.failed.into_iter().partition(is_complaint);
        self.skipped.extend(skipped);
        self.failed.extend(failed);
    }

    fn crashes(&self) -> usize {
        self.crashed + usize::from(self.binary.is_some())
    }
}

impl Binary {
    fn read(&mut self, line: &str, complaints: &[&str]) {
        let speaker = line
            .strip_prefix("---- ")
            .and_then(|line| line.strip_suffix(" stdout ----"));
        let failed = line
            .strip_prefix("test ")
            .and_then(|line| line.strip_suffix(" ... FAILED"));
        if let Some(name) = failed {
            // A test that should have panicked says so behind its name.
            let name = name.split(" - should panic").next().unwrap_or(name);
            self.failed.push(name.to_owned());
        } else if speaker.is_some() {
            self.speaker = speaker.map(str::to_owned);
        } else if complaints
            .iter()
            .any(|complaint| line.starts_with(complaint))
        {
            self.complaining.extend(self.speaker.clone());
        }
    }
}

impl Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed", self.passed)?;
        if !self.failed.is_empty() {
            let names = self.failed.join(", ");
            write!(f, ", {} failed: {names}", self.failed.len())?;
        }
        if self.skipped() {
            write!(f, ", {} skipped", self.skipped.len())?;
        }
        match self.crashes() {
            0 => Ok(()),
            crashes => write!(f, ", crashed binaries: {crashes}"),
        }
    }
}

/// `running 12 tests`
fn is_begin(line: &str) -> bool {
    let count = line
        .strip_prefix("running ")
        .and_then(|line| line.split_once(" test"));
    count.is_some_and(|(count, _)| count.parse::<usize>().is_ok())
}

/// 12 of `ok. 12 passed; 0 failed; …`.
fn passed(result: &str) -> usize {
    let before = result
        .split_once(" passed;")
        .map_or("", |(before, _)| before);
    before
        .rsplit(' ')
        .next()
        .and_then(|count| count.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "running 2 tests\ntest a ... ok\ntest b ... ok\n\n\
        test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";

    const BAD: &str = "running 3 tests\ntest good ... ok\ntest bad ... FAILED\ntest lacking ... FAILED\n\nfailures:\n\n\
        ---- bad stdout ----\nthread 'bad' panicked at src/a.rs:1:1:\nno luck\n\n\
        ---- lacking stdout ----\nthread 'lacking' panicked at src/b.rs:1:1:\nno control plane: go is not installed\n\n\
        failures:\n    bad\n    lacking\n\ntest result: FAILED. 1 passed; 2 failed; 0 ignored\n";

    fn tally(complaints: &[&'static str], output: &str) -> Tally {
        let mut tally = Tally::new(complaints.to_vec());
        output.lines().for_each(|line| tally.read(line));
        tally
    }

    #[test]
    fn passed_tests_are_added_up_over_all_binaries() {
        let tally = tally(&[], &GOOD.repeat(2));
        assert!(!tally.failed() && !tally.is_empty());
        assert_eq!(tally.to_string(), "4 passed");
    }

    #[test]
    fn a_test_that_lacks_a_part_is_skipped_and_others_still_fail() {
        let tally = tally(&["no control plane: "], BAD);
        assert!(tally.failed() && tally.skipped());
        assert_eq!(tally.to_string(), "1 passed, 1 failed: bad, 1 skipped");
    }

    #[test]
    fn a_complaint_about_a_part_that_is_there_is_a_failure() {
        let tally = tally(&[], BAD);
        assert!(!tally.skipped());
        assert_eq!(tally.to_string(), "1 passed, 2 failed: bad, lacking");
    }

    #[test]
    fn a_name_that_two_binaries_share_is_judged_in_each() {
        let again = BAD.replace("no control plane: go", "go");
        let tally = tally(&["no control plane: "], &(BAD.to_owned() + &again));
        assert_eq!(
            tally.to_string(),
            "2 passed, 3 failed: bad, bad, lacking, 1 skipped"
        );
    }

    #[test]
    fn a_binary_without_a_result_has_crashed() {
        for output in [
            format!("running 9 tests\ntest a ... ok\n{GOOD}"),
            format!("{GOOD}running 1 test\n"),
        ] {
            let tally = tally(&[], &output);
            assert!(tally.failed(), "{output}");
            assert_eq!(tally.to_string(), "2 passed, crashed binaries: 1");
        }
    }

    #[test]
    fn a_run_without_a_test_is_empty() {
        assert!(
            tally(
                &[],
                "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored\n"
            )
            .is_empty()
        );
    }
}
