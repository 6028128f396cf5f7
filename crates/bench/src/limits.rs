//! What the system lets this process have.

use std::fs;

/// How many files the process may have open; nothing where the system does not say.
pub(crate) fn open_files() -> Option<usize> {
    parse(&fs::read_to_string("/proc/self/limits").ok()?)
}

/// The first of the two limits, which is the one that holds: `Max open files  1024  524288  files`.
fn parse(limits: &str) -> Option<usize> {
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn the_limit_that_holds_is_the_soft_one() {
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax processes  7  8  processes\nMax open files  1024  524288  files\n";
        assert_eq!(parse(limits), Some(1024));
    }

    #[test]
    fn no_limit_is_found_where_there_is_none() {
        for limits in ["", "Max open files  unlimited  unlimited  files\n"] {
            assert_eq!(parse(limits), None);
        }
    }
}
