//! Reads what test programs print and keeps count.
//!
//! A program prints how many tests it runs, one line per test, the last words of those that failed, and a result. A program
//! that prints no result has crashed, and so has one that fails for no test's sake.

use std::collections::BTreeSet;
use std::fmt::{self, Display};

/// What ran so far.
#[derive(Default)]
pub(super) struct Tally {
    complaints: Vec<&'static str>,
    passed: usize,
    failed: Vec<String>,
    skipped: Vec<String>,
    crashed: Vec<String>,
}

/// What one program printed, line by line.
#[derive(Default)]
struct Program {
    passed: Option<usize>,
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

    /// Takes in what a program printed and whether it succeeded; tells whether all is well.
    pub(super) fn read(&mut self, name: &str, printed: &str, succeeded: bool) -> bool {
        let mut program = Program::default();
        for line in printed.lines() {
            program.read(line, &self.complaints);
        }
        let crashed = program.passed.is_none() || (!succeeded && program.failed.is_empty());
        self.passed += program.passed.unwrap_or_default();
        let is_complaint = |name: &String| program.complaining.contains(name);
        let (skipped, failed): (Vec<_>, Vec<_>) =
            program.failed.into_iter().partition(is_complaint);
        let is_well = failed.is_empty() && !crashed;
        self.skipped.extend(skipped);
        self.failed.extend(failed);
        self.crashed.extend(crashed.then(|| name.to_owned()));
        is_well
    }

    /// Whether a test failed, or a program crashed.
    pub(super) fn failed(&self) -> bool {
        !self.failed.is_empty() || !self.crashed.is_empty()
    }
}

impl Program {
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
        } else if let Some(result) = line.strip_prefix("test result: ") {
            self.passed = Some(passed(result));
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
        if !self.skipped.is_empty() {
            write!(f, ", {} skipped", self.skipped.len())?;
        }
        if !self.crashed.is_empty() {
            write!(f, ", crashed: {}", self.crashed.join(", "))?;
        }
        Ok(())
    }
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

    #[track_caller]
    fn check(complaints: &[&'static str], programs: &[(&str, bool)], well: bool, told: &str) {
        let mut tally = Tally::new(complaints.to_vec());
        let mut all = true;
        for (printed, succeeded) in programs {
            all &= tally.read("dns", printed, *succeeded);
        }
        assert_eq!((all, !tally.failed()), (well, well), "{tally}");
        assert_eq!(tally.to_string(), told);
    }

    #[test]
    fn passed_tests_are_added_up_over_all_programs() {
        check(&[], &[(GOOD, true), (GOOD, true)], true, "4 passed");
    }

    #[test]
    fn a_test_that_lacks_a_part_is_skipped_and_others_still_fail() {
        let lacks = ["no control plane: "];
        check(
            &lacks,
            &[(BAD, false)],
            false,
            "1 passed, 1 failed: bad, 1 skipped",
        );
        let only = BAD.replace("test bad ... FAILED\n", "");
        check(&lacks, &[(&only, false)], true, "1 passed, 1 skipped");
    }

    #[test]
    fn a_complaint_about_a_part_that_is_there_is_a_failure() {
        check(
            &[],
            &[(BAD, false)],
            false,
            "1 passed, 2 failed: bad, lacking",
        );
    }

    #[test]
    fn a_name_that_two_programs_share_is_judged_in_each() {
        let again = BAD.replace("no control plane: go", "go");
        let told = "2 passed, 3 failed: bad, bad, lacking, 1 skipped";
        let lacks = ["no control plane: "];
        check(&lacks, &[(BAD, false), (&again, false)], false, told);
    }

    #[test]
    fn a_program_without_a_result_has_crashed() {
        let cut = "running 9 tests\ntest a ... ok\n";
        for printed in [cut, "", "error while loading shared libraries\n"] {
            let told = "2 passed, crashed: dns";
            check(&[], &[(printed, false), (GOOD, true)], false, told);
        }
    }

    #[test]
    fn a_program_that_fails_after_its_tests_have_passed_has_crashed() {
        check(&[], &[(GOOD, false)], false, "2 passed, crashed: dns");
    }
}
