//! Running other programs: loudly, in the workspace's root, with a failure that names the command.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::LazyLock;

use anyhow::{Context, Result, bail};

/// The workspace's root: two folders above this crate.
///
/// Cargo says at run time where the crate lies. What it said when this was compiled may be another
/// checkout, if two of them share a target folder.
pub(crate) fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        let crate_folder = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = crate_folder.ancestors().nth(2);
        root.expect("this crate lies in crates/xtask").to_owned()
    });
    &ROOT
}

/// The cargo that runs us, in the workspace's root.
pub(crate) fn cargo<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let cargo = std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from);
    let mut command = outside_cargo(Command::new(cargo));
    command.args(arguments).current_dir(root());
    command
}

/// The command, without what cargo tells us about ourselves.
///
/// Some build scripts look at these variables, and whatever depends on them would be built anew whenever someone builds
/// without us.
pub(crate) fn outside_cargo(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os() {
        let about_us = ["CARGO_PKG_", "CARGO_MANIFEST_"];
        if about_us
            .iter()
            .any(|about| name.to_string_lossy().starts_with(about))
        {
            command.env_remove(name);
        }
    }
    command
}

/// Runs a command with our own input and output.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = describe(command);
    eprintln!("$ {shown}");
    let status = command
        .status()
        .with_context(|| format!("cannot start `{shown}`"))?;
    succeeded(&shown, status)
}

/// Runs a command silently and returns what it printed.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let shown = describe(command);
    let output = command
        .output()
        .with_context(|| format!("cannot start `{shown}`"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("`{shown}`: {}: {}", output.status, said.trim());
    }
    String::from_utf8(output.stdout)
        .with_context(|| format!("`{shown}` printed something that is not UTF-8"))
}

fn succeeded(shown: &str, status: ExitStatus) -> Result<()> {
    if !status.success() {
        bail!("`{shown}`: {status}");
    }
    Ok(())
}

/// The command as one would type it: the program without its folder, then the arguments.
fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program());
    std::iter::once(program.file_name().unwrap_or(program.as_os_str()))
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_described_as_one_would_type_it() {
        let mut command = Command::new("/usr/bin/cargo");
        command.args(["test", "--workspace"]);
        assert_eq!(describe(&command), "cargo test --workspace");
    }

    #[test]
    fn a_command_that_fails_is_an_error_that_names_it_and_what_it_said() {
        let error =
            output(cargo(["no-such-command"]).env("CARGO_TERM_COLOR", "never")).unwrap_err();
        let text = format!("{error:#}");
        assert!(
            text.starts_with("`cargo no-such-command`: exit status: 101"),
            "{text}"
        );
        assert!(text.contains("no such command"), "{text}");
    }

    #[test]
    fn a_program_that_does_not_exist_is_an_error_that_names_it() {
        let error = run(&mut Command::new("/nowhere/at-all")).unwrap_err();
        assert!(
            error.to_string().contains("cannot start `at-all`"),
            "{error}"
        );
    }

    #[test]
    fn the_root_is_where_the_workspace_manifest_is() {
        assert!(root().join("Cargo.lock").is_file());
    }
}
