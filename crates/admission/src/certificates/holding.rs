//! What is held, in the fields of a Secret.
//!
//! ```text
//! ca.crt    ca.key       the authority at work
//! tls.crt   tls.key      the leaf that is shown, issued by it
//! next.crt  next.key     the authority that takes over     while there is one
//! previous.crt           the authority that is still believed    while there is one
//! ```

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use x509::{Authority, Leaf, Unusable, Validity};

use super::Phase;

/// The fields of the Secret.
pub type Fields = BTreeMap<String, ByteString>;

const AUTHORITY: (&str, &str) = ("ca.crt", "ca.key");
const NEXT: (&str, &str) = ("next.crt", "next.key");
const PREVIOUS: &str = "previous.crt";
const LEAF: (&str, &str) = ("tls.crt", "tls.key");

/// What was found in the place where certificates are kept.
#[derive(Debug)]
pub enum Found {
    /// Nothing.
    Missing,
    /// What cannot be used, and all that is wrong with it.
    Damaged(Vec<String>),
    /// What can be used, if its time has come.
    Whole(Box<Holding>),
}

/// Certificates and keys that fit together.
#[derive(Debug)]
pub struct Holding {
    /// The authority at work.
    pub authority: Authority,
    /// What it issued last, and what is shown.
    pub leaf: Leaf,
    /// How far the rotation has come.
    pub phase: Phase,
}

/// An authority that issues nothing any more.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Believed {
    /// Its certificate in PEM.
    pub pem: String,
    /// From when and until when it is good.
    pub valid: Validity,
}

impl Holding {
    /// The authorities to be believed, in PEM. Who takes over changes nothing about it.
    pub fn bundle(&self) -> String {
        let own = &self.authority.pem;
        match &self.phase {
            Phase::Steady => lines(own),
            Phase::Announced { next } => lines(own) + &lines(&next.pem),
            Phase::Switched { previous } => lines(&previous.pem) + &lines(own),
        }
    }

    /// The fields of the Secret.
    pub fn fields(&self) -> Fields {
        let mut fields = Fields::new();
        let mut put = |name: &str, text: String| {
            fields.insert(name.to_owned(), ByteString(text.into_bytes()));
        };
        put(AUTHORITY.0, self.authority.pem.clone());
        put(AUTHORITY.1, self.authority.key_pem());
        put(LEAF.0, self.leaf.certificate_pem.clone());
        put(LEAF.1, self.leaf.key_pem.clone());
        match &self.phase {
            Phase::Steady => {}
            Phase::Announced { next } => {
                put(NEXT.0, next.pem.clone());
                put(NEXT.1, next.key_pem());
            }
            Phase::Switched { previous } => put(PREVIOUS, previous.pem.clone()),
        }
        fields
    }
}

impl Found {
    /// The authorities to be believed, in PEM, if there are any.
    pub fn bundle(&self) -> Option<String> {
        match self {
            Self::Whole(holding) => Some(holding.bundle()),
            Self::Missing | Self::Damaged(_) => None,
        }
    }
}

/// Reads the fields of the Secret, if there is one.
pub fn read(fields: Option<&Fields>) -> Found {
    let Some(fields) = fields else {
        return Found::Missing;
    };
    let mut problems = Vec::new();
    let authority = authority(fields, AUTHORITY, &mut problems);
    let leaf = leaf(fields, &mut problems);
    let phase = phase(fields, &mut problems);
    if let (Some(authority), Some(leaf)) = (&authority, &leaf)
        && !x509::is_signed_by(&leaf.certificate, &authority.certificate)
    {
        problems.push("tls.crt: it was not issued by ca.crt".to_owned());
    }
    match (authority, leaf, phase) {
        (Some(authority), Some(leaf), Some(phase)) if problems.is_empty() => {
            Found::Whole(Box::new(Holding {
                authority,
                leaf,
                phase,
            }))
        }
        _ => Found::Damaged(problems),
    }
}

fn phase(fields: &Fields, problems: &mut Vec<String>) -> Option<Phase> {
    let is_next = fields.contains_key(NEXT.0) || fields.contains_key(NEXT.1);
    match (is_next, fields.contains_key(PREVIOUS)) {
        (false, false) => Some(Phase::Steady),
        (true, false) => authority(fields, NEXT, problems)
            .map(Box::new)
            .map(|next| Phase::Announced { next }),
        (false, true) => believed(fields, problems).map(|previous| Phase::Switched { previous }),
        (true, true) => {
            problems.push("next.crt, previous.crt: only one of them can be there".to_owned());
            None
        }
    }
}

fn authority(
    fields: &Fields,
    (certificate, key): (&str, &str),
    problems: &mut Vec<String>,
) -> Option<Authority> {
    let texts = (
        text(fields, certificate, problems),
        text(fields, key, problems),
    );
    let (Some(pem), Some(key_pem)) = texts else {
        return None;
    };
    let read = Authority::parse(pem.to_owned(), key_pem).map_err(|unusable| match unusable {
        Unusable::Certificate(why) => format!("{certificate}: {why}"),
        Unusable::Key(why) => format!("{key}: {why}"),
    });
    read.map_err(|problem| problems.push(problem)).ok()
}

fn leaf(fields: &Fields, problems: &mut Vec<String>) -> Option<Leaf> {
    let texts = (
        text(fields, LEAF.0, problems),
        text(fields, LEAF.1, problems),
    );
    let (Some(certificate), Some(key)) = texts else {
        return None;
    };
    let read = Leaf::parse(&(lines(key) + certificate));
    read.map_err(|why| problems.push(format!("tls.crt, tls.key: {why}")))
        .ok()
}

fn believed(fields: &Fields, problems: &mut Vec<String>) -> Option<Believed> {
    let pem = text(fields, PREVIOUS, problems)?;
    let valid = || {
        let certificate = CertificateDer::from_pem_slice(pem.as_bytes())
            .map_err(|error| format!("no certificate in it: {error}"))?;
        Validity::of(&x509::parse(&certificate)?)
    };
    let valid = valid().map_err(|why| problems.push(format!("{PREVIOUS}: {why}")));
    let pem = pem.to_owned();
    valid.ok().map(|valid| Believed { pem, valid })
}

fn text<'a>(fields: &'a Fields, name: &str, problems: &mut Vec<String>) -> Option<&'a str> {
    let found = match fields.get(name) {
        None => Err("it is missing"),
        Some(octets) => str::from_utf8(&octets.0).map_err(|_| "it is not text"),
    };
    found
        .map_err(|why| problems.push(format!("{name}: {why}")))
        .ok()
}

/// A text that another one can follow.
fn lines(text: &str) -> String {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{end}")
}
