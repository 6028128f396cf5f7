//! Who we are and whom we believe: a certificate authority of our own and what it issued.
//!
//! Everything is in one directory, for its owner's eyes only:
//!
//! ```text
//! ca.crt  ca.key           the authority; made with the directory, never replaced by the program
//! serving.pem              what the listener shows; renewed by itself
//! admin.pem                what the administrator's kubeconfig shows; renewed by itself
//! admin.token              the same administrator as a bearer token
//! service-account.key      signs the tokens of service accounts
//! ```
//!
//! A file that is missing, other than the authority's two, is made again: removing one is how its
//! owner revokes it. A file that is there and cannot be used is an error that says what to do,
//! because a key that was replaced behind someone's back locks out everyone who trusted it.
//! Without a directory everything lives in memory and ends with the process.

mod authority;
pub(crate) mod files;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use rcgen::KeyPair;
use ring::rand::{SecureRandom as _, SystemRandom};

pub(crate) use x509::{Authority, Leaf};

use super::tokens::Tokens;
use authority::Purpose;
use x509::Unusable;

/// The DNS names under which every embedded API can be reached: from the same machine, and where a
/// client inside a cluster would look for one.
const DNS_NAMES: [&str; 5] = [
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    "localhost",
];

/// How many octets of chance an administrator's token has.
const ADMIN_TOKEN_BYTES: usize = 32;

/// The authority and the place where it and its certificates are kept.
#[derive(Debug)]
pub(crate) struct Pki {
    place: Place,
    authority: Authority,
}

/// Where everything is kept.
#[derive(Debug)]
enum Place {
    Directory(PathBuf),
    /// Texts by the name that their file would have.
    Memory(Mutex<BTreeMap<String, String>>),
}

impl Pki {
    /// Opens the directory, or makes it if it is not there; in memory without one.
    pub(crate) fn open(directory: Option<PathBuf>, now: Timestamp) -> Result<Self, PkiError> {
        let (certificate, key) = match &directory {
            Some(directory) => authority_files(directory, now)?,
            None => authority::create(now)?,
        };
        let shown = directory.clone().unwrap_or_default();
        let authority =
            Authority::parse(certificate, &key).map_err(|unusable| lost(&shown, unusable))?;
        if let Some(problem) = authority.untimely(now) {
            let fix = "set the machine's clock, or remove the directory it is in to make a new authority \
                (every kubeconfig has to be handed out again)";
            return Err(PkiError::damaged(shown.join(AUTHORITY), problem, fix));
        }
        let place = directory.map_or_else(|| Place::Memory(Mutex::default()), Place::Directory);
        Ok(Self { place, authority })
    }

    /// The authority.
    pub(crate) fn authority(&self) -> &Authority {
        &self.authority
    }

    /// A certificate to serve with at `address`: the one at hand, or a new one where that is soon
    /// to expire or is for other addresses.
    pub(crate) fn serving(&self, address: IpAddr, now: Timestamp) -> Result<Leaf, PkiError> {
        let names = serving_names(address);
        self.leaf("serving.pem", &Purpose::Serving(names), now)
    }

    /// A certificate with which the administrator proves who they are.
    pub(crate) fn admin(&self, now: Timestamp) -> Result<Leaf, PkiError> {
        self.leaf("admin.pem", &Purpose::Admin, now)
    }

    /// A token with which the administrator proves who they are.
    pub(crate) fn admin_token(&self) -> Result<String, PkiError> {
        let made = || {
            let mut secret = [0; ADMIN_TOKEN_BYTES];
            let filled = SystemRandom::new().fill(&mut secret);
            filled.expect("the system gives random numbers, or TLS would not have worked either");
            Ok(URL_SAFE_NO_PAD.encode(secret))
        };
        self.secret("admin.token", made, |text| {
            match URL_SAFE_NO_PAD.decode(text.trim()) {
                Ok(secret) if secret.len() == ADMIN_TOKEN_BYTES => Ok(text.trim().to_owned()),
                Ok(_) | Err(_) => Err("not a token that was made here".to_owned()),
            }
        })
    }

    /// What issues and checks the tokens of service accounts.
    pub(crate) fn tokens(&self) -> Result<Tokens, PkiError> {
        let made = || Ok(KeyPair::generate()?.serialize_pem());
        self.secret("service-account.key", made, |text| {
            let key = KeyPair::from_pem(text).map_err(|error| error.to_string())?;
            Tokens::new(key.serialized_der())
        })
    }

    fn leaf(&self, name: &str, purpose: &Purpose, now: Timestamp) -> Result<Leaf, PkiError> {
        if let Some(leaf) = self.kept(name, Leaf::parse)? {
            let good = leaf.is_for(&purpose.names(), &self.authority.certificate);
            if good && !leaf.is_due(now) {
                return Ok(leaf);
            }
        }
        let leaf = authority::issue(&self.authority, purpose, now)?;
        self.keep(name, &leaf.text())?;
        Ok(leaf)
    }

    /// A secret that is made once and then kept.
    fn secret<T>(
        &self,
        name: &str,
        made: impl FnOnce() -> Result<String, PkiError>,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, PkiError> {
        if let Some(secret) = self.kept(name, &parse)? {
            return Ok(secret);
        }
        let text = made()?;
        self.keep(name, &text)?;
        Ok(parse(&text).expect("it was made just now"))
    }

    fn kept<T>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, PkiError> {
        let (path, text) = match &self.place {
            Place::Directory(directory) => {
                let path = directory.join(name);
                (path.clone(), files::read(&path)?)
            }
            Place::Memory(texts) => {
                let texts = texts.lock().unwrap_or_else(PoisonError::into_inner);
                (PathBuf::new(), texts.get(name).cloned())
            }
        };
        let Some(text) = text else {
            return Ok(None);
        };
        let fix =
            "remove the file to have a new one made: whoever holds the old one is then locked out";
        parse(&text)
            .map(Some)
            .map_err(|problem| PkiError::damaged(path, problem, fix))
    }

    fn keep(&self, name: &str, text: &str) -> Result<(), PkiError> {
        match &self.place {
            Place::Directory(directory) => files::write(&directory.join(name), text),
            Place::Memory(texts) => {
                let mut texts = texts.lock().unwrap_or_else(PoisonError::into_inner);
                texts.insert(name.to_owned(), text.to_owned());
                Ok(())
            }
        }
    }
}

/// The certificate of the authority.
const AUTHORITY: &str = "ca.crt";
/// The key of the authority.
const AUTHORITY_KEY: &str = "ca.key";

/// The authority's two texts, from a directory that has both or is made with both.
fn authority_files(directory: &Path, now: Timestamp) -> Result<(String, String), PkiError> {
    if files::is_empty(directory)? {
        if let Some(parent) = directory.parent() {
            files::create_directory(parent)?;
        }
        let (certificate, key) = authority::create(now)?;
        let texts = [(AUTHORITY, certificate.as_str()), (AUTHORITY_KEY, &key)];
        files::write_directory(directory, &texts)?;
        return Ok((certificate, key));
    }
    let part = |name: &str| {
        let path = directory.join(name);
        let missing =
            || PkiError::damaged(path.clone(), "it is missing".to_owned(), restore(directory));
        files::read(&path)?.ok_or_else(missing)
    };
    Ok((part(AUTHORITY)?, part(AUTHORITY_KEY)?))
}

fn lost(directory: &Path, unusable: Unusable) -> PkiError {
    let (name, problem) = match unusable {
        Unusable::Certificate(problem) => (AUTHORITY, problem),
        Unusable::Key(problem) => (AUTHORITY_KEY, problem),
    };
    PkiError::damaged(directory.join(name), problem, restore(directory))
}

fn restore(directory: &Path) -> String {
    format!(
        "restore it from a backup, or remove {} to make a new authority (every kubeconfig has to be handed out again)",
        directory.display()
    )
}

/// The names and addresses that a listener at `address` is reached by.
fn serving_names(address: IpAddr) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = DNS_NAMES.map(str::to_owned).into();
    names.extend(["127.0.0.1".to_owned(), "::1".to_owned()]);
    if !address.is_unspecified() {
        names.insert(address.to_string());
    }
    names
}

/// Why there is no identity to serve with.
#[derive(Debug, thiserror::Error)]
pub enum PkiError {
    /// A file could not be read or written.
    #[error("cannot {doing} {}: {source}", path.display())]
    File {
        /// What was tried.
        doing: &'static str,
        /// With which file or directory.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A file is there, or should be, and cannot be used.
    #[error("{}: {problem}; {fix}", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What its owner can do.
        fix: String,
    },
    /// A certificate could not be made.
    #[error("certificate: {0}")]
    Certificate(#[from] rcgen::Error),
}

impl PkiError {
    fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File {
            doing,
            path,
            source,
        }
    }

    fn damaged(path: PathBuf, problem: String, fix: impl fmt::Display) -> Self {
        let fix = fix.to_string();
        Self::Damaged { path, problem, fix }
    }
}
