//! Whose certificates webhooks are believed by, and what is said of those that are not.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{CertificateError, ClientConfig, Error, RootCertStore, crypto};

/// How many sets of authorities are remembered: as many clients as kube-apiserver keeps.
const REMEMBERED_MAX: usize = 200;

/// Authorities in PEM; nothing for those of the machine.
type Authorities = Option<Arc<[u8]>>;

/// TLS, by the authorities that are believed.
#[derive(Debug, Default)]
pub(super) struct Trust {
    made: Mutex<HashMap<Authorities, Arc<ClientConfig>>>,
}

impl Trust {
    /// TLS that believes these authorities, or those of the machine. The error says what is wrong with them.
    pub(super) fn tls(&self, authorities: Option<&Arc<[u8]>>) -> Result<Arc<ClientConfig>, String> {
        let key = authorities.cloned();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(config) = made.get(&key) {
            return Ok(Arc::clone(config));
        }
        let config = Arc::new(config(authorities.map(|authorities| &**authorities))?);
        if made.len() >= REMEMBERED_MAX {
            made.clear();
        }
        made.insert(key, Arc::clone(&config));
        Ok(config)
    }
}

fn config(authorities: Option<&[u8]>) -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    match authorities {
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        Some(pem) => {
            let certificates = CertificateDer::pem_slice_iter(pem).filter_map(Result::ok);
            let (added, _ignored) = roots.add_parsable_certificates(certificates);
            if added == 0 {
                let why = "unable to load root certificates: unable to parse bytes as PEM block";
                return Err(why.to_owned());
            }
        }
    }
    let provider = Arc::new(crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// What is wrong with a certificate, as Go says it.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the enums may grow, and every error can say what it is"
)]
pub(super) fn in_words(error: &Error) -> String {
    let about = "tls: failed to verify certificate: x509:";
    match error {
        Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        ) => {
            format!("{about} certificate signed by unknown authority")
        }
        Error::InvalidCertificate(
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. },
        ) => format!("{about} certificate has expired or is not yet valid"),
        Error::InvalidCertificate(CertificateError::NotValidForNameContext {
            expected,
            presented,
        }) => format!(
            "{about} certificate is valid for {}, not {}",
            presented.join(", "),
            expected.to_str()
        ),
        Error::InvalidCertificate(other) => format!("{about} {other:?}"),
        other => format!("tls: {other}"),
    }
}
