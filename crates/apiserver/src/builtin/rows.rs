//! The form that the tables by type and by kind have: a name at the margin, and below it, indented, what is said of it.

/// The indented lines of a table, each with the name that it stands below.
pub(super) fn of(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut name = "";
    let lines = table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.filter_map(move |line| {
        if line.starts_with(' ') {
            return Some((name, line.trim()));
        }
        name = line;
        None
    })
}
