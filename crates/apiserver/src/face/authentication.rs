//! Who asks? Judged from what a request brings along: a client certificate, a bearer token, or nothing.
//!
//! The answer is a user or 401, never a broken connection: TLS takes any certificate whose key its
//! holder has, and what the certificate is worth is judged here, every second anew.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{HeaderMap, Method, header, request};
use jiff::Timestamp;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    DigitallySignedStruct, DistinguishedName, Error as TlsError, RootCertStore, SignatureScheme,
};
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::tokens::{ServiceAccounts, TokenError, Tokens};
use crate::refusal::Refusal;
use crate::user::User;

/// What anyone may ask without saying who they are: whether the API lives, and what it is.
const PUBLIC: [&str; 5] = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

/// Everything that credentials are compared with.
pub(crate) struct Authentication {
    certificates: Arc<dyn ClientCertVerifier>,
    /// Compared as digests, which takes the same time whatever the difference.
    admin_token: blake3::Hash,
    tokens: Arc<Tokens>,
    accounts: Arc<dyn ServiceAccounts>,
}

/// What was shown on a connection, and what it was found to be worth.
#[derive(Debug)]
pub(crate) struct Papers {
    certificates: Vec<CertificateDer<'static>>,
    /// Whom it speaks for in one second. Certificates count their time in seconds: within one, nothing changes.
    speaks_for: Mutex<Option<(i64, Option<User>)>>,
}

impl Papers {
    pub(crate) fn new(certificates: &[CertificateDer<'static>]) -> Self {
        Self {
            certificates: certificates.to_vec(),
            speaks_for: Mutex::default(),
        }
    }
}

/// Why a credential proves nothing.
#[derive(Debug, thiserror::Error)]
enum Worthless {
    #[error("client certificate: {0}")]
    Certificate(TlsError),
    #[error("client certificate: its subject cannot be read")]
    Subject,
    #[error("bearer token: {0}")]
    Token(#[from] TokenError),
    #[error("bearer token: its service account is gone")]
    AccountGone,
}

impl Authentication {
    /// Believes certificates of `authority`, the administrator's token, and tokens of service accounts
    /// that exist.
    pub(super) fn new(
        authority: &CertificateDer<'static>,
        admin_token: &str,
        tokens: Arc<Tokens>,
        accounts: Arc<dyn ServiceAccounts>,
        provider: Arc<CryptoProvider>,
    ) -> Self {
        let mut roots = RootCertStore::empty();
        roots
            .add(authority.clone())
            .expect("the authority was read as one when it was opened");
        let certificates = WebPkiClientVerifier::builder_with_provider(roots.into(), provider)
            .build()
            .expect("there is an authority and no revocation list");
        Self {
            certificates,
            admin_token: blake3::hash(admin_token.as_bytes()),
            tokens,
            accounts,
        }
    }

    /// Who sent this request over a connection on which `papers` were shown.
    ///
    /// One good credential is enough. A bad one without a good one is refused even where nobody
    /// needs a name: someone thinks they have one.
    pub(crate) fn judge(
        &self,
        request: &request::Parts,
        papers: &Papers,
        now: Timestamp,
    ) -> Result<User, Refusal> {
        let certificate = self.by_certificate(papers, now);
        let token = || self.by_token(&request.headers, now);
        let found = match certificate {
            Ok(Some(user)) => Ok(Some(user)),
            Ok(None) => token(),
            Err(worthless) => match token() {
                Ok(Some(user)) => Ok(Some(user)),
                Ok(None) | Err(_) => Err(worthless),
            },
        };
        match found {
            Ok(Some(user)) => Ok(user),
            Ok(None) if is_public(request) => Ok(User::anonymous()),
            Ok(None) => Err(Refusal::unauthorized()),
            Err(worthless) => {
                tracing::debug!(path = request.uri.path(), "not let in: {worthless}");
                Err(Refusal::unauthorized())
            }
        }
    }

    /// The verifier for the TLS layer, which takes any certificate.
    pub(super) fn at_the_door(&self, provider: Arc<CryptoProvider>) -> Arc<dyn ClientCertVerifier> {
        Arc::new(Door {
            hints: self.certificates.root_hint_subjects().to_vec(),
            provider,
        })
    }

    fn by_certificate(&self, papers: &Papers, now: Timestamp) -> Result<Option<User>, Worthless> {
        let Some((certificate, intermediates)) = papers.certificates.split_first() else {
            return Ok(None);
        };
        let second = now.as_second();
        let speaks_for = papers.speaks_for.lock();
        let mut speaks_for = speaks_for.unwrap_or_else(PoisonError::into_inner);
        if let Some((judged, user)) = &*speaks_for
            && *judged == second
        {
            return Ok(user.clone());
        }
        let since_epoch = Duration::from_secs(u64::try_from(second).unwrap_or(0));
        self.certificates
            .verify_client_cert(
                certificate,
                intermediates,
                UnixTime::since_unix_epoch(since_epoch),
            )
            .map_err(Worthless::Certificate)?;
        let user = holder(certificate)?;
        *speaks_for = Some((second, user.clone()));
        Ok(user)
    }

    fn by_token(&self, headers: &HeaderMap, now: Timestamp) -> Result<Option<User>, Worthless> {
        let Some(token) = bearer(headers) else {
            return Ok(None);
        };
        if blake3::hash(token) == self.admin_token {
            return Ok(Some(User::admin()));
        }
        let token = std::str::from_utf8(token).map_err(|_| TokenError::Foreign)?;
        let claims = self.tokens.verify(token, now)?;
        let (namespace, account) = (&claims.bound.namespace, &claims.bound.serviceaccount);
        if !self.accounts.exists(namespace, &account.name, &account.uid) {
            return Err(Worthless::AccountGone);
        }
        Ok(Some(claims.user()))
    }
}

impl fmt::Debug for Authentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authentication").finish_non_exhaustive()
    }
}

/// Whom a certificate speaks for: its common name, in the groups that are its organizations. A
/// certificate without a name speaks for nobody.
fn holder(certificate: &CertificateDer<'_>) -> Result<Option<User>, Worthless> {
    let (_, parsed) = X509Certificate::from_der(certificate).map_err(|_| Worthless::Subject)?;
    let text = |part: &x509_parser::x509::AttributeTypeAndValue<'_>| {
        part.as_str()
            .map(str::to_owned)
            .map_err(|_| Worthless::Subject)
    };
    // Where a subject has several names, the last is the one that counts.
    let Some(name) = parsed.subject().iter_common_name().last().map(text) else {
        return Ok(None);
    };
    let name = name?;
    let groups = parsed.subject().iter_organization().map(text);
    let groups = groups.collect::<Result<Vec<String>, Worthless>>()?;
    let digest = ring::digest::digest(&ring::digest::SHA256, certificate);
    let id = digest
        .as_ref()
        .iter()
        .fold(String::from("X509SHA256="), |id, octet| {
            format!("{id}{octet:02x}")
        });
    let user = User::authenticated(name, groups).with_credential(id);
    Ok((!user.name.is_empty()).then_some(user))
}

/// The token of an `Authorization: Bearer` header; other schemes are as good as no header.
fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let value = headers.get(header::AUTHORIZATION)?.as_bytes().trim_ascii();
    let mut parts = value.splitn(3, |&octet| octet == b' ');
    let scheme = parts.next()?;
    let token = parts.next()?;
    (scheme.eq_ignore_ascii_case(b"bearer") && !token.is_empty()).then_some(token)
}

fn is_public(request: &request::Parts) -> bool {
    request.method == Method::GET && PUBLIC.contains(&request.uri.path())
}

/// The TLS layer's part: whoever shows a certificate must have its key.
#[derive(Debug)]
struct Door {
    /// Tells clients with several certificates which of them we know the authority of.
    hints: Vec<DistinguishedName>,
    provider: Arc<CryptoProvider>,
}

impl ClientCertVerifier for Door {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.hints
    }

    fn verify_client_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, TlsError> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
