//! Where the kubeconfig is: named by a flag, by a variable, by being there, or by the pod we run in.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};

use crate::args::DATA;

/// The variable that kubectl reads, too.
const VARIABLE: &str = "KUBECONFIG";
/// Set in every pod.
const POD_VARIABLE: &str = "KUBERNETES_SERVICE_HOST";
/// Where `up` and kubectl keep theirs, below the data directory and the home directory.
const OWN_FILE: &str = "kubeconfig";
const USER_FILE: &str = ".kube/config";

/// Who says which API it is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Source {
    /// `--kubeconfig`.
    Given(PathBuf),
    /// `$KUBECONFIG`: one file, or several that are merged.
    Variable(OsString),
    /// What a `zonewright up` in this directory has written.
    Own(PathBuf),
    /// The user's own.
    User(PathBuf),
    /// The service account of the pod we run in.
    Pod,
}

/// What there is besides the flag.
#[derive(Clone, Debug, Default)]
struct Surroundings {
    variable: Option<OsString>,
    own: Option<PathBuf>,
    user: Option<PathBuf>,
    pod: bool,
}

impl Source {
    /// The flag if it is given, otherwise the first of what is there.
    pub(super) fn find(given: Option<&Path>) -> Option<Source> {
        Source::choose(given, Surroundings::look())
    }

    fn choose(given: Option<&Path>, around: Surroundings) -> Option<Source> {
        let given = given.map(|path| Source::Given(path.to_owned()));
        // Set and empty is kubectl's way of saying "not set".
        let variable = around.variable.filter(|value| !value.is_empty());
        given
            .or(variable.map(Source::Variable))
            .or(around.own.map(Source::Own))
            .or(around.user.map(Source::User))
            .or(around.pod.then_some(Source::Pod))
    }

    /// What it says.
    pub(super) async fn config(&self) -> anyhow::Result<Config> {
        let kubeconfig = match self {
            Source::Given(path) | Source::Own(path) | Source::User(path) => {
                Kubeconfig::read_from(path)
            }
            Source::Variable(_) => Kubeconfig::from_env().map(Option::unwrap_or_default),
            Source::Pod => return Config::incluster().with_context(|| self.unusable()),
        };
        let kubeconfig = kubeconfig.with_context(|| self.unusable())?;
        Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
            .await
            .with_context(|| self.unusable())
    }

    fn unusable(&self) -> String {
        format!("{self} cannot be used; name another with --kubeconfig")
    }
}

impl Surroundings {
    fn look() -> Surroundings {
        let there = |path: PathBuf| path.is_file().then_some(path);
        Surroundings {
            variable: std::env::var_os(VARIABLE),
            own: there(Path::new(DATA).join(OWN_FILE)),
            user: std::env::home_dir().and_then(|home| there(home.join(USER_FILE))),
            pod: std::env::var_os(POD_VARIABLE).is_some(),
        }
    }
}

/// What to do when nobody names an API.
pub(crate) fn nothing_found() -> anyhow::Error {
    anyhow::anyhow!(
        "no kubeconfig: there is none in --kubeconfig, ${VARIABLE}, {DATA}/{OWN_FILE} or ~/{USER_FILE}; \
         run `zonewright up` here, which writes one, or name one with --kubeconfig"
    )
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Given(path) | Source::Own(path) | Source::User(path) => {
                write!(f, "the kubeconfig {}", path.display())
            }
            Source::Variable(value) => write!(
                f,
                "the kubeconfig {} of ${VARIABLE}",
                value.to_string_lossy()
            ),
            Source::Pod => f.write_str("the pod's service account"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sources that are there, by their letters: variable, own, user, pod.
    fn around(letters: &str) -> Surroundings {
        let there = |letter: char| letters.contains(letter);
        let path = |letter: char| there(letter).then(|| PathBuf::from(letter.to_string()));
        Surroundings {
            variable: path('v').map(Into::into),
            own: path('o'),
            user: path('u'),
            pod: there('p'),
        }
    }

    /// O3: the flag, the variable, what `up` wrote here, the user's own, the pod's.
    #[test]
    fn the_first_that_is_there_counts() {
        let given = Path::new("given");
        let rows = [
            (Some(given), "voup", Some(Source::Given(given.to_owned()))),
            (None, "voup", Some(Source::Variable("v".into()))),
            (None, "oup", Some(Source::Own("o".into()))),
            (None, "up", Some(Source::User("u".into()))),
            (None, "p", Some(Source::Pod)),
            (None, "", None),
        ];
        for (given, letters, source) in rows {
            assert_eq!(Source::choose(given, around(letters)), source, "{letters}");
        }
    }

    #[test]
    fn an_empty_variable_is_not_set() {
        let around = Surroundings {
            variable: Some(OsString::new()),
            ..around("u")
        };
        assert_eq!(Source::choose(None, around), Some(Source::User("u".into())));
    }
}
