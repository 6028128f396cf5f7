//! The certificate authority.

use jiff::Timestamp;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PublicKeyData as _,
};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;

use crate::leaf::{self, Leaf};
use crate::validity::Validity;

/// The authority's certificate and key.
#[derive(Debug)]
pub struct Authority {
    /// The certificate in PEM, as those who believe it have it.
    pub pem: String,
    /// The certificate.
    pub certificate: CertificateDer<'static>,
    /// From when and until when it is good.
    pub valid: Validity,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// The certificate, in PEM, of a new authority that has this key.
    pub fn create(name: &str, key: &KeyPair, valid: Validity) -> Result<String, rcgen::Error> {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![
            KeyUsagePurpose::KeyCertSign,
            KeyUsagePurpose::DigitalSignature,
        ];
        valid.write(&mut params);
        Ok(params.self_signed(key)?.pem())
    }

    /// Reads an authority; the error says what is wrong with which of the two texts.
    pub fn parse(pem: String, key: &str) -> Result<Self, Unusable> {
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
                return Err(Unusable::Key(
                    "it does not belong to the certificate".to_owned(),
                ));
            }
            Validity::of(&parsed).map_err(Unusable::Certificate)?
        };
        let issuer = Issuer::from_ca_cert_der(&certificate, key)
            .map_err(|error| Unusable::certificate(error.to_string()))?;
        Ok(Self {
            pem,
            certificate,
            valid,
            issuer,
        })
    }

    /// What keeps it from being used now, if anything does.
    pub fn untimely(&self, now: Timestamp) -> Option<String> {
        self.valid.untimely(now)
    }

    /// A certificate for whoever has this key, good for no longer than the authority itself.
    pub fn issue(
        &self,
        mut params: CertificateParams,
        key: &KeyPair,
        valid: Validity,
    ) -> Result<Leaf, rcgen::Error> {
        let until = valid.until.min(self.valid.until);
        Validity { until, ..valid }.write(&mut params);
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let certificate = params.signed_by(key, &self.issuer)?;
        let text = format!("{}{}", key.serialize_pem(), certificate.pem());
        Ok(Leaf::parse(&text).expect("it was issued just now"))
    }

    /// What signs, for certificates of any form.
    pub fn issuer(&self) -> &Issuer<'static, KeyPair> {
        &self.issuer
    }

    /// The key in PEM, to be kept where nobody else looks.
    pub fn key_pem(&self) -> String {
        self.issuer.key().serialize_pem()
    }
}

/// Why an authority cannot be used, and which of its two texts is at fault.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Unusable {
    /// The certificate.
    Certificate(String),
    /// The key.
    Key(String),
}

impl Unusable {
    fn certificate(why: impl Into<String>) -> Self {
        Self::Certificate(why.into())
    }
}
