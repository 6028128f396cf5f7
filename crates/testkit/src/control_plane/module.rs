//! The Go modules of `conformance`, carried inside this crate.
//!
//! Go needs them as files in a folder. That folder lies in the cache and not in the source tree, so
//! that a test program works wherever its sources have gone: several checkouts may share one target
//! folder, and then a program built in one runs for another.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::cache;

/// A Go module. Most have no sources of their own: they only say which versions of others to use.
pub(super) struct Module {
    go_mod: &'static str,
    go_sum: &'static str,
    sources: &'static [(&'static str, &'static str)],
}

/// etcd and Kubernetes.
pub(super) const CONTROL_PLANE: Module = Module {
    go_mod: include_str!("../../../../conformance/control-plane/go.mod"),
    go_sum: include_str!("../../../../conformance/control-plane/go.sum"),
    sources: &[],
};

/// The Gateway API's kinds.
pub(super) const GATEWAY_API: Module = Module {
    go_mod: include_str!("../../../../conformance/control-plane/gateway-api/go.mod"),
    go_sum: include_str!("../../../../conformance/control-plane/gateway-api/go.sum"),
    sources: &[],
};

/// A program on client-go.
pub(super) const CLIENT_GO: Module = Module {
    go_mod: include_str!("../../../../conformance/client-go/go.mod"),
    go_sum: include_str!("../../../../conformance/client-go/go.sum"),
    sources: &[
        (
            "eyes.go",
            include_str!("../../../../conformance/client-go/eyes.go"),
        ),
        (
            "hands.go",
            include_str!("../../../../conformance/client-go/hands.go"),
        ),
        (
            "lead.go",
            include_str!("../../../../conformance/client-go/lead.go"),
        ),
        (
            "main.go",
            include_str!("../../../../conformance/client-go/main.go"),
        ),
        (
            "wire.go",
            include_str!("../../../../conformance/client-go/wire.go"),
        ),
    ],
};

/// A program that tells how Kubernetes writes its kinds in protocol buffers.
pub(super) const WIRE: Module = Module {
    go_mod: include_str!("../../../../conformance/wire/go.mod"),
    go_sum: include_str!("../../../../conformance/wire/go.sum"),
    sources: &[
        (
            "draw.go",
            include_str!("../../../../conformance/wire/draw.go"),
        ),
        (
            "main.go",
            include_str!("../../../../conformance/wire/main.go"),
        ),
    ],
};

/// helm.
pub(super) const HELM: Module = Module {
    go_mod: include_str!("../../../../conformance/helm/go.mod"),
    go_sum: include_str!("../../../../conformance/helm/go.sum"),
    sources: &[],
};

/// A program on controller-runtime.
pub(super) const MANAGER: Module = Module {
    go_mod: include_str!("../../../../conformance/manager/go.mod"),
    go_sum: include_str!("../../../../conformance/manager/go.sum"),
    sources: &[(
        "main.go",
        include_str!("../../../../conformance/manager/main.go"),
    )],
};

/// kubectl of one minor version: all releases share their main.
macro_rules! kubectl {
    ($minor:literal) => {
        Module {
            go_mod: include_str!(concat!(
                "../../../../conformance/kubectls/",
                $minor,
                "/go.mod"
            )),
            go_sum: include_str!(concat!(
                "../../../../conformance/kubectls/",
                $minor,
                "/go.sum"
            )),
            sources: &[(
                "main.go",
                include_str!("../../../../conformance/kubectls/main.go"),
            )],
        }
    };
}

/// kubectl of minor versions before the control plane's own, the oldest first.
pub(super) const KUBECTLS: [(&str, Module); 4] = [
    ("1.28", kubectl!("1.28")),
    ("1.31", kubectl!("1.31")),
    ("1.32", kubectl!("1.32")),
    ("1.34", kubectl!("1.34")),
];

/// Kuadrant's end-to-end suite.
pub(super) const KUADRANT: Module = Module {
    go_mod: include_str!("../../../../conformance/kuadrant/go.mod"),
    go_sum: include_str!("../../../../conformance/kuadrant/go.sum"),
    sources: &[],
};

impl Module {
    /// Its files, whose content names everything that is made from the module.
    pub(super) fn files(&self) -> Vec<(&'static str, &'static str)> {
        let mut files = vec![("go.mod", self.go_mod), ("go.sum", self.go_sum)];
        files.extend(self.sources);
        files
    }

    /// The version that it asks for of another module.
    pub(super) fn requires(&self, module: &str) -> Option<&'static str> {
        self.go_mod.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            (words.next() == Some(module)).then(|| words.next())?
        })
    }

    /// A folder with the module's files, to run `go` in.
    pub(super) fn folder(&self) -> io::Result<PathBuf> {
        let mut hash = blake3::Hasher::new();
        for (name, text) in self.files() {
            hash.update(&text.len().to_le_bytes());
            hash.update(name.as_bytes());
            hash.update(text.as_bytes());
        }
        let key = &hash.finalize().to_hex()[..32];
        cache::made(&cache::folder("go-modules")?, key, |folder| {
            self.write(folder)
        })
    }

    fn write(&self, folder: &Path) -> io::Result<()> {
        self.files().into_iter().try_for_each(|(name, text)| {
            let path = folder.join(name);
            fs::write(&path, text).map_err(cache::at(&path))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kubectl_is_of_the_minor_version_it_is_listed_with() {
        for (minor, module) in KUBECTLS {
            let required = module.requires("k8s.io/kubectl").unwrap();
            let after_the_dot = minor.strip_prefix("1.").unwrap();
            assert!(required.starts_with(&format!("v0.{after_the_dot}.")));
        }
    }

    #[test]
    fn a_module_is_written_once_and_whole() {
        let modules = [
            CONTROL_PLANE,
            GATEWAY_API,
            CLIENT_GO,
            WIRE,
            HELM,
            MANAGER,
            KUADRANT,
        ];
        let kubectls = KUBECTLS.map(|(_, module)| module);
        for module in modules.into_iter().chain(kubectls) {
            let folder = module.folder().unwrap();
            assert_eq!(module.folder().unwrap(), folder);
            for (name, text) in module.files() {
                assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), text);
            }
        }
    }
}
