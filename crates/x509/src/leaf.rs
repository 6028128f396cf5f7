//! A certificate that the authority issued, together with its key.
//!
//! Both are in one text, so that replacing the file replaces both.

use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;

use jiff::Timestamp;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::FromDer as _;

use crate::validity::Validity;

/// A certificate and its key.
pub struct Leaf {
    /// The certificate in PEM.
    pub certificate_pem: String,
    /// The key in PEM.
    pub key_pem: String,
    /// The certificate.
    pub certificate: CertificateDer<'static>,
    /// The key.
    pub key: PrivateKeyDer<'static>,
    /// The DNS names and addresses it is for.
    pub names: BTreeSet<String>,
    /// From when and until when it is good.
    pub valid: Validity,
}

impl Leaf {
    /// Reads the text of a file; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let certificate = CertificateDer::from_pem_slice(text.as_bytes())
            .map_err(|error| format!("no certificate in it: {error}"))?;
        let key = PrivateKeyDer::from_pem_slice(text.as_bytes())
            .map_err(|error| format!("no private key in it: {error}"))?;
        let (key_pem, certificate_pem) = split(text).ok_or("the key does not come first")?;
        let (names, valid, public) = {
            let parsed = parse(&certificate)?;
            let public = parsed.public_key().raw.to_vec();
            (names(&parsed), Validity::of(&parsed)?, public)
        };
        if public_key(&key)? != public {
            return Err("the key does not belong to the certificate".to_owned());
        }
        Ok(Self {
            certificate_pem,
            key_pem,
            certificate,
            key,
            names,
            valid,
        })
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        format!("{}{}", self.key_pem, self.certificate_pem)
    }

    /// Whether it should be replaced now: two thirds of its life are over, or the clock was set back.
    pub fn is_due(&self, now: Timestamp) -> bool {
        now < self.valid.from || now >= self.valid.due()
    }

    /// Whether it is for exactly these names and was signed with this authority's key.
    pub fn is_for(&self, names: &BTreeSet<String>, authority: &CertificateDer<'_>) -> bool {
        self.names == *names && is_signed_by(&self.certificate, authority)
    }
}

impl fmt::Debug for Leaf {
    /// Everything but the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leaf")
            .field("names", &self.names)
            .field("valid", &self.valid)
            .finish_non_exhaustive()
    }
}

/// Whether a certificate was signed with the key of another.
pub fn is_signed_by(certificate: &CertificateDer<'_>, authority: &CertificateDer<'_>) -> bool {
    let (Ok(certificate), Ok(authority)) = (parse(certificate), parse(authority)) else {
        return false;
    };
    certificate
        .verify_signature(Some(authority.public_key()))
        .is_ok()
}

/// A certificate, as a structure that borrows from its octets.
pub fn parse<'a>(der: &'a CertificateDer<'_>) -> Result<X509Certificate<'a>, String> {
    X509Certificate::from_der(der)
        .map(|(_, certificate)| certificate)
        .map_err(|error| format!("not a certificate: {error}"))
}

/// The public key that belongs to a private one, as certificates carry it.
fn public_key(key: &PrivateKeyDer<'_>) -> Result<Vec<u8>, String> {
    use rcgen::PublicKeyData as _;
    let key =
        rcgen::KeyPair::try_from(key).map_err(|error| format!("not a usable key: {error}"))?;
    Ok(key.subject_public_key_info())
}

fn split(text: &str) -> Option<(String, String)> {
    let at = text.find("-----BEGIN CERTIFICATE")?;
    (at > 0).then(|| (text[..at].to_owned(), text[at..].to_owned()))
}

fn names(certificate: &X509Certificate<'_>) -> BTreeSet<String> {
    let names = certificate.subject_alternative_name().ok().flatten();
    names
        .into_iter()
        .flat_map(|names| &names.value.general_names)
        .filter_map(name)
        .collect()
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the other forms of names are never ours"
)]
fn name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(octets) => address(octets).map(|address| address.to_string()),
        _ => None,
    }
}

fn address(octets: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(octets).map(IpAddr::from);
    v4.or_else(|_| <[u8; 16]>::try_from(octets).map(IpAddr::from))
        .ok()
}
