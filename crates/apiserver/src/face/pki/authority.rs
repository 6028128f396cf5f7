//! The certificate authority: made once, kept for years, never replaced without being told to.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use rcgen::{CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, KeyPair};
use x509::{Authority, Leaf, Validity};

use crate::user;

/// How long the authority lives: renewing it means handing out every kubeconfig again.
const AUTHORITY_LIFE: SignedDuration = SignedDuration::from_hours(10 * 365 * 24);
/// How long what it issues lives. Renewal is by itself, and a stolen key is not good for ever.
const LEAF_LIFE: SignedDuration = SignedDuration::from_hours(365 * 24);
/// Certificates begin a little in the past, for clients whose clock is slow.
const BACKDATED: SignedDuration = SignedDuration::from_hours(1);

/// What a certificate is issued for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Purpose {
    /// To serve under these DNS names and addresses.
    Serving(BTreeSet<String>),
    /// To be the administrator.
    Admin,
}

/// A new authority: its certificate and its key, in PEM.
pub(super) fn create(now: Timestamp) -> Result<(String, String), rcgen::Error> {
    let key = KeyPair::generate()?;
    // The second of its birth keeps two authorities apart where certificates are listed by name.
    let name = format!("zonewright-ca@{}", now.as_second());
    let certificate = Authority::create(&name, &key, lasting(now, AUTHORITY_LIFE))?;
    Ok((certificate, key.serialize_pem()))
}

/// A certificate with a key of its own.
pub(super) fn issue(
    authority: &Authority,
    purpose: &Purpose,
    now: Timestamp,
) -> Result<Leaf, rcgen::Error> {
    let key = KeyPair::generate()?;
    authority.issue(purpose.params()?, &key, lasting(now, LEAF_LIFE))
}

impl Purpose {
    /// The names that the certificate is for.
    pub(super) fn names(&self) -> BTreeSet<String> {
        match self {
            Self::Serving(names) => names.clone(),
            Self::Admin => BTreeSet::new(),
        }
    }

    fn params(&self) -> Result<CertificateParams, rcgen::Error> {
        let names: Vec<String> = self.names().into_iter().collect();
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name = DistinguishedName::new();
        let subject = &mut params.distinguished_name;
        match self {
            Self::Serving(_) => subject.push(DnType::CommonName, "zonewright"),
            Self::Admin => {
                subject.push(DnType::OrganizationName, user::MASTERS);
                subject.push(DnType::CommonName, user::ADMIN);
            }
        }
        params.extended_key_usages = vec![match self {
            Self::Serving(_) => ExtendedKeyUsagePurpose::ServerAuth,
            Self::Admin => ExtendedKeyUsagePurpose::ClientAuth,
        }];
        Ok(params)
    }
}

fn lasting(now: Timestamp, life: SignedDuration) -> Validity {
    Validity {
        from: now - BACKDATED,
        until: now + life,
    }
}
