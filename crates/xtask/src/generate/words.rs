//! The page of condition types and reasons.

use api::{ConditionType, Reason};

use super::NOTICE;
use super::table::{code, table};

pub(super) fn page() -> String {
    let types: Vec<_> = ConditionType::ALL
        .iter()
        .map(|word| {
            let good = if word.is_trouble() { "False" } else { "True" };
            [
                code(word.as_str()),
                code(good),
                word.explanation().to_owned(),
            ]
        })
        .collect();
    let reasons: Vec<_> = Reason::ALL
        .iter()
        .map(|word| [code(word.as_str()), word.explanation().to_owned()])
        .collect();
    format!(
        "<!-- {NOTICE} -->\n\n# Conditions\n\nEvery kind reports in `status.conditions`. These are all the types and reasons there are; \
         other programs may rely on their spelling.\n\n## Types\n\n{}## Reasons\n\n{}",
        table(["type", "good when", "meaning"], &types),
        table(["reason", "meaning"], &reasons),
    )
    .trim_end()
    .to_owned()
        + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_that_means_trouble_is_good_when_false() {
        let page = page();
        assert!(page.contains("| `Ready` | `True` |"), "{page}");
        assert!(page.contains("| `Held` | `False` |"), "{page}");
    }
}
