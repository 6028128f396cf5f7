//! The Go modules of `conformance/control-plane`, carried inside this crate.
//!
//! Go needs them as files in a folder. That folder lies in the cache and not in the source tree, so
//! that a test program works wherever its sources have gone: several checkouts may share one target
//! folder, and then a program built in one runs for another.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::cache;

/// A Go module without sources of its own: it only says which versions of others to use.
pub(super) struct Module {
    go_mod: &'static str,
    go_sum: &'static str,
}

/// etcd and Kubernetes.
pub(super) const CONTROL_PLANE: Module = Module {
    go_mod: include_str!("../../../../conformance/control-plane/go.mod"),
    go_sum: include_str!("../../../../conformance/control-plane/go.sum"),
};

/// The Gateway API's kinds.
pub(super) const GATEWAY_API: Module = Module {
    go_mod: include_str!("../../../../conformance/control-plane/gateway-api/go.mod"),
    go_sum: include_str!("../../../../conformance/control-plane/gateway-api/go.sum"),
};

impl Module {
    /// The two files, whose content names everything that is made from the module.
    pub(super) fn files(&self) -> [(&'static str, &'static str); 2] {
        [("go.mod", self.go_mod), ("go.sum", self.go_sum)]
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
    fn a_module_is_written_once_and_whole() {
        for module in [CONTROL_PLANE, GATEWAY_API] {
            let folder = module.folder().unwrap();
            assert_eq!(module.folder().unwrap(), folder);
            for (name, text) in module.files() {
                assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), text);
            }
        }
    }
}
