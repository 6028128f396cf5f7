//! The certificate authority: made once, kept for years, never replaced without being told to.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PublicKeyData as _,
};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use super::leaf::{self, Leaf, Validity};
use crate::user;

/// How long the authority lives: renewing it means handing out every kubeconfig again.
const AUTHORITY_LIFE: SignedDuration = SignedDuration::from_hours(10 * 365 * 24);
/// How long what it issues lives. Renewal is by itself, and a stolen key is not good for ever.
const LEAF_LIFE: SignedDuration = SignedDuration::from_hours(365 * 24);
/// Certificates begin a little in the past, for clients whose clock is slow.
const BACKDATED: SignedDuration = SignedDuration::from_hours(1);

/// The authority's certificate and key.
#[derive(Debug)]
pub(crate) struct Authority {
    /// The certificate in PEM, as it stands in kubeconfigs.
    pub(crate) pem: String,
    pub(crate) certificate: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
    valid: Validity,
}

/// What a certificate is issued for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Purpose {
    /// To serve under these DNS names and addresses.
    Serving(BTreeSet<String>),
    /// To be the administrator.
    Admin,
}

impl Authority {
    /// A new authority: its certificate and its key, in PEM.
    pub(super) fn create(now: Timestamp) -> Result<(String, String), rcgen::Error> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        // The second of its birth keeps two authorities apart where certificates are listed by name.
        let name = format!("zonewright-ca@{}", now.as_second());
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![
            KeyUsagePurpose::KeyCertSign,
            KeyUsagePurpose::DigitalSignature,
        ];
        let (from, until) = (now - BACKDATED, now + AUTHORITY_LIFE);
        valid_for(&mut params, Validity { from, until });
        Ok((params.self_signed(&key)?.pem(), key.serialize_pem()))
    }

    /// Reads an authority; the error says what is wrong with which of the two texts.
    pub(super) fn parse(pem: String, key: &str) -> Result<Self, Unusable> {
        let certificate = CertificateDer::from_pem_slice(pem.as_bytes())
            .map_err(|error| Unusable::certificate(format!("no certificate in it: {error}")))?;
        let key = KeyPair::from_pem(key)
            .map_err(|error| Unusable::Key(format!("no usable private key in it: {error}")))?;
        let valid = {
            let parsed = leaf::parse(&certificate).map_err(Unusable::Certificate)?;
            if !parsed.is_ca() {
                return Err(Unusable::certificate("it may not issue certificates"));
            }
            if parsed.public_key().raw != key.subject_public_key_info() {
                return Err(Unusable::Key("it does not belong to ca.crt".to_owned()));
            }
            Validity::of(&parsed).map_err(Unusable::Certificate)?
        };
        let issuer = Issuer::from_ca_cert_der(&certificate, key)
            .map_err(|error| Unusable::certificate(error.to_string()))?;
        Ok(Self {
            pem,
            certificate,
            issuer,
            valid,
        })
    }

    /// What keeps it from being used now, if anything does.
    pub(super) fn untimely(&self, now: Timestamp) -> Option<String> {
        let Validity { from, until } = self.valid;
        match () {
            () if now < from => Some(format!("it is valid from {from}, and now it is {now}")),
            () if now >= until => Some(format!("it expired at {until}, and now it is {now}")),
            () => None,
        }
    }

    /// A certificate with a key of its own.
    pub(super) fn issue(&self, purpose: &Purpose, now: Timestamp) -> Result<Leaf, rcgen::Error> {
        let key = KeyPair::generate()?;
        let mut params = purpose.params()?;
        let until = (now + LEAF_LIFE).min(self.valid.until);
        let from = now - BACKDATED;
        valid_for(&mut params, Validity { from, until });
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let certificate = params.signed_by(&key, &self.issuer)?;
        let text = format!("{}{}", key.serialize_pem(), certificate.pem());
        Ok(Leaf::parse(&text).expect("it was issued just now"))
    }
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

/// Why an authority cannot be used, and which of its two files is at fault.
#[derive(Debug)]
pub(super) enum Unusable {
    Certificate(String),
    Key(String),
}

impl Unusable {
    fn certificate(why: impl Into<String>) -> Self {
        Self::Certificate(why.into())
    }
}

/// Sets the time for which a certificate is good, to the second; nothing here is before 1970.
fn valid_for(params: &mut CertificateParams, valid: Validity) {
    let date = |time: Timestamp| {
        let seconds = u64::try_from(time.as_second()).unwrap_or(0);
        rcgen::date_time_ymd(1970, 1, 1) + Duration::from_secs(seconds)
    };
    params.not_before = date(valid.from);
    params.not_after = date(valid.until);
}

#[cfg(test)]
impl Authority {
    /// Signs anything, for tests with certificates that we would not issue.
    pub(crate) fn issuer_for_tests(&self) -> &Issuer<'static, KeyPair> {
        &self.issuer
    }
}
