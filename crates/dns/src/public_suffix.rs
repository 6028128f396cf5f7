//! Names below which anybody may register a name of their own: `com`, `co.uk`, `github.io`.
//!
//! The list is Mozilla's, compiled in: a newer one comes with a newer dependency. A top-level name that the list does not
//! know is no public suffix here, although the list's own algorithm would call it one: zones such as `cluster.local` and
//! `corp.internal` have one owner.

use crate::Name;

/// Who lets others register names below a name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PublicSuffix {
    /// A registry of the public tree: `com`, `co.uk`. Nobody has all names below it.
    Registry,
    /// Somebody who owns the name and gives parts of it to others: `github.io`.
    Owner,
}

impl PublicSuffix {
    /// Whether a name is one, and whose.
    pub fn of(name: &Name) -> Option<PublicSuffix> {
        let text = name.to_string();
        let text = text.trim_end_matches('.').as_bytes();
        let suffix = psl::suffix(text).filter(psl::Suffix::is_known)?;
        if suffix.as_bytes() != text {
            return None;
        }
        match suffix.typ()? {
            psl::Type::Icann => Some(PublicSuffix::Registry),
            psl::Type::Private => Some(PublicSuffix::Owner),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_suffix_is_a_name_of_the_list_and_nothing_above_or_below_it() {
        use PublicSuffix::{Owner, Registry};
        let cases = [
            ("com.", Some(Registry)),
            ("co.uk.", Some(Registry)),
            ("xn--55qx5d.cn.", Some(Registry)),
            ("github.io.", Some(Owner)),
            ("example.com.", None),
            ("example.co.uk.", None),
            ("a.github.io.", None),
            ("ck.", None),
            ("anything.ck.", Some(Registry)),
            ("www.ck.", None),
            ("local.", None),
            ("cluster.local.", None),
            (".", None),
        ];
        for (text, expected) in cases {
            let name = Name::parse(text).unwrap();
            assert_eq!(PublicSuffix::of(&name), expected, "{text}");
        }
    }
}
