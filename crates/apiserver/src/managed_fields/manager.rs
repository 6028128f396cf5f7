//! The name under which a client's changes are recorded.

use crate::refusal::{Fault, FieldError, FieldPath};

/// kube-apiserver's `FieldManagerMaxLength`.
const LONGEST: usize = 128;

/// The name from the query parameter `fieldManager` or, without one, from the user agent.
///
/// The query parameter must be short and printable; what is wrong with it is reported as errors of
/// the field `fieldManager`. Of the user agent the part before the first slash counts, with what
/// cannot be printed left out and what is too long cut off.
pub(crate) fn manager_of(
    field_manager: Option<&str>,
    user_agent: Option<&str>,
) -> Result<String, Vec<FieldError>> {
    let name = match field_manager {
        Some(name) if !name.is_empty() => check(name).map(|()| name.to_owned())?,
        Some(_) | None => from_user_agent(user_agent.unwrap_or_default()),
    };
    Ok(if name.is_empty() {
        "unknown".to_owned()
    } else {
        name
    })
}

fn check(name: &str) -> Result<(), Vec<FieldError>> {
    let path = FieldPath::of("fieldManager");
    let too_long = (name.len() > LONGEST).then(|| {
        let detail = format!("may not be more than {LONGEST} bytes");
        FieldError::new(path.clone(), Fault::TooLong, detail)
    });
    let unprintable =
        name.char_indices()
            .filter(|(_, c)| !is_printable(*c))
            .map(|(position, c)| {
                let detail = format!(
                    "invalid character U+{:04X} (at position {position})",
                    u32::from(c)
                );
                FieldError::invalid(path.clone(), name, detail)
            });
    let errors: Vec<FieldError> = too_long.into_iter().chain(unprintable).collect();
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

fn from_user_agent(user_agent: &str) -> String {
    let prefix = user_agent.split('/').next().unwrap_or_default();
    let mut name = String::new();
    for c in prefix.chars().filter(|c| is_printable(*c)) {
        if name.len() + c.len_utf8() > LONGEST {
            break;
        }
        name.push(c);
    }
    name
}

/// Whether `c` leaves a mark: letters, marks, numbers, punctuation, symbols and the plain space.
///
/// The standard library knows, but tells only in how it escapes. Combining marks are escaped at
/// the start of a text and nowhere else, so `c` is not looked at there.
fn is_printable(c: char) -> bool {
    match c {
        '\'' | '"' | '\\' => true,
        c => ['a', c].iter().collect::<String>().escape_debug().nth(1) != Some('\\'),
    }
}

#[cfg(test)]
mod tests {
    use super::manager_of;

    fn check(field_manager: Option<&str>, user_agent: Option<&str>, expected: Result<&str, &str>) {
        let found = manager_of(field_manager, user_agent).map_err(|errors| {
            errors
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("; ")
        });
        assert_eq!(found.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn query_parameter_goes_before_user_agent() {
        check(Some("helm"), Some("kubectl/v1.36"), Ok("helm"));
        check(Some(""), Some("kubectl/v1.36"), Ok("kubectl"));
        check(None, Some("kubectl/v1.36 (linux/amd64)"), Ok("kubectl"));
    }

    #[test]
    fn nobody_is_called_unknown() {
        check(None, None, Ok("unknown"));
        check(None, Some("/x"), Ok("unknown"));
        check(None, Some("\u{7}/x"), Ok("unknown"));
    }

    #[test]
    fn long_or_unprintable_parameter_is_refused() {
        let (fits, too_long) = ("x".repeat(128), "x".repeat(129));
        check(Some(&fits), None, Ok(&fits));
        check(
            Some(&too_long),
            None,
            Err("fieldManager: Too long: may not be more than 128 bytes"),
        );
        let error = |name, c, at| {
            format!("fieldManager: Invalid value: {name}: invalid character {c} (at position {at})")
        };
        let shown = "\"a\u{a0}\u{200b}\"";
        let expected = [error(shown, "U+00A0", 1), error(shown, "U+200B", 3)].join("; ");
        check(Some("a\u{a0}\u{200b}"), None, Err(&expected));
    }

    #[test]
    fn what_can_be_printed_is_kept() {
        for name in [
            "a b",
            "\"quoted\"",
            "it's",
            "back\\slash",
            "grün",
            "e\u{301}",
            "日本",
            "🦀",
        ] {
            check(Some(name), None, Ok(name));
            check(None, Some(name), Ok(name));
        }
    }

    #[test]
    fn user_agent_is_cleaned_and_cut() {
        check(None, Some("a\u{7}b\u{a0}c/1"), Ok("abc"));
        check(None, Some(&"x".repeat(200)), Ok(&"x".repeat(128)));
        // Half a letter does not fit, and what comes after it is not taken instead.
        let agent = format!("{}éx", "x".repeat(127));
        check(None, Some(&agent), Ok(&"x".repeat(127)));
    }
}
