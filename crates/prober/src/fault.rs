//! Why there is no status, in words that somebody can do something about.
//!
//! They stand in the status of an object that tenants read: nothing that a target has sent is repeated in them.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "the errors of others: those with words of their own are listed"
)]

use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::time::Duration;

use egress::EgressError;
use rustls::CertificateError;

/// Why there is no status.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// Nobody is connected to.
    #[error(transparent)]
    Egress(#[from] EgressError),
    /// One address of several.
    #[error("{0}: {1}")]
    At(IpAddr, Box<Fault>),
    /// There is no connection.
    #[error("no connection within {0:?}")]
    Unconnected(Duration),
    /// Everything together took too long.
    #[error("no answer within {0:?}")]
    Late(Duration),
    /// The way there is broken.
    #[error("{0}")]
    Connection(String),
    /// The certificate is not good for the host.
    #[error("certificate: {0}")]
    Certificate(&'static str),
    /// There is something else about TLS.
    #[error("TLS: {0}")]
    Tls(rustls::Error),
    /// What came is no answer.
    #[error("HTTP: {0}")]
    Http(hyper::Error),
    /// The connection was closed first.
    #[error("connection closed before an answer")]
    Silent,
    /// The host cannot be asked for.
    #[error("spec.hostname cannot be asked for over HTTP")]
    Nameless,
    /// The path cannot be asked for.
    #[error("spec.path cannot be asked for over HTTP")]
    Path,
}

impl Fault {
    pub(crate) fn of_http(error: hyper::Error) -> Fault {
        if error.is_incomplete_message() || error.is_canceled() {
            return Fault::Silent;
        }
        let source = std::error::Error::source(&error);
        match source.and_then(|source| source.downcast_ref::<io::Error>()) {
            Some(source) => connecting(source),
            None => Fault::Http(error),
        }
    }
}

/// What went wrong on the way to a target.
pub(crate) fn connecting(error: &io::Error) -> Fault {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    if let Some(inner) = inner {
        return of_tls(inner);
    }
    let words = match error.kind() {
        ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => {
            "connection reset".to_owned()
        }
        ErrorKind::UnexpectedEof => "connection closed before an answer".to_owned(),
        ErrorKind::HostUnreachable => "host unreachable".to_owned(),
        ErrorKind::NetworkUnreachable => "network unreachable".to_owned(),
        _ => error.to_string(),
    };
    Fault::Connection(words)
}

fn of_tls(error: &rustls::Error) -> Fault {
    match error {
        rustls::Error::InvalidCertificate(error) => Fault::Certificate(certificate(error)),
        rustls::Error::InvalidMessage(_) => {
            Fault::Connection("answers with something else than TLS".to_owned())
        }
        other => Fault::Tls(other.clone()),
    }
}

fn certificate(error: &CertificateError) -> &'static str {
    use CertificateError as Error;
    match error {
        Error::Expired | Error::ExpiredContext { .. } => "has expired",
        Error::NotValidYet | Error::NotValidYetContext { .. } => "is not valid yet",
        Error::Revoked => "was revoked",
        Error::UnknownIssuer => {
            "signed by nobody this process trusts; the operator can add an authority with SSL_CERT_FILE, or let any certificate pass with --insecure-health-checks"
        }
        Error::NotValidForName | Error::NotValidForNameContext { .. } => {
            "is for another host than spec.hostname"
        }
        Error::BadEncoding => "cannot be read",
        Error::BadSignature => "has a wrong signature",
        Error::InvalidPurpose | Error::InvalidPurposeContext { .. } => "is not for servers",
        _ => "cannot be verified",
    }
}
