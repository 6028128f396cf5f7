//! Certificates, good and bad.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// The host that is asked for.
pub(crate) const HOST: &str = "app.example.org";

/// A certificate and its key.
pub(crate) struct Identity {
    pub(crate) certificate: CertificateDer<'static>,
    pub(crate) key: PrivateKeyDer<'static>,
}

/// Whom one can choose to believe.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new(name: &str) -> Authority {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let key = KeyPair::generate().unwrap();
        Authority(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    pub(crate) fn certificate(&self) -> CertificateDer<'static> {
        self.0.der().clone()
    }

    pub(crate) fn for_host(&self, host: &str) -> Identity {
        self.sign(&params(host))
    }

    pub(crate) fn expired(&self, host: &str) -> Identity {
        let mut params = params(host);
        params.not_before = rcgen::date_time_ymd(2020, 1, 1);
        params.not_after = rcgen::date_time_ymd(2021, 1, 1);
        self.sign(&params)
    }

    fn sign(&self, params: &CertificateParams) -> Identity {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        identity(certificate.der().clone(), &key)
    }
}

pub(crate) fn self_signed(host: &str) -> Identity {
    let key = KeyPair::generate().unwrap();
    let certificate = params(host).self_signed(&key).unwrap();
    identity(certificate.der().clone(), &key)
}

fn params(host: &str) -> CertificateParams {
    CertificateParams::new(vec![host.to_owned()]).unwrap()
}

fn identity(certificate: CertificateDer<'static>, key: &KeyPair) -> Identity {
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    Identity {
        certificate,
        key: PrivateKeyDer::Pkcs8(key),
    }
}
