//! Who may speak to the API server, and how each side proves who it is.
//!
//! Every control plane has a certificate authority of its own, made at its start and gone with it.
//! Clients trust it and nothing else: a client that meets another test's API server on a port that
//! changed hands refuses to talk. Clients prove themselves by bearer tokens.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use k8s_openapi::ByteString;
use kube::config::AuthInfo;
use kube::{Client, Config};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, KeyUsagePurpose};
use serde_json::json;

/// Where the API server finds what it proves itself with.
pub(super) const SERVER_CERTIFICATE: &str = "server.crt";
/// The private key that belongs to [`SERVER_CERTIFICATE`].
pub(super) const SERVER_KEY: &str = "server.key";
/// The public key that the tokens of service accounts are checked with.
pub(super) const SERVICE_ACCOUNT_PUBLIC_KEY: &str = "service-account.pub";
/// The private key that signs them.
pub(super) const SERVICE_ACCOUNT_KEY: &str = "service-account.key";
/// The tokens of all identities, in the API server's own format.
pub(super) const TOKENS: &str = "tokens.csv";

/// Someone the API server knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// May do everything.
    Admin,
    /// A person who may do nothing until a namespace is opened to them; see
    /// [`ControlPlane::bind_tenant`](super::ControlPlane::bind_tenant).
    Tenant,
    /// Our own program in a cluster. It has the rights that a test gives it, none by itself.
    ServiceAccount,
    /// Kubernetes' own controllers, with the rights the API server gives them.
    ControllerManager,
}

impl Identity {
    const ALL: [Self; 4] = [
        Self::Admin,
        Self::Tenant,
        Self::ServiceAccount,
        Self::ControllerManager,
    ];

    /// The user name that the API server and its webhooks see.
    pub fn user(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Tenant => "tenant",
            Self::ServiceAccount => "system:serviceaccount:zonewright-system:zonewright",
            Self::ControllerManager => "system:kube-controller-manager",
        }
    }

    /// The groups of that user; the API server adds `system:authenticated` to all.
    pub fn groups(self) -> &'static [&'static str] {
        match self {
            Self::Admin => &["system:masters"],
            Self::Tenant | Self::ControllerManager => &[],
            Self::ServiceAccount => &[
                "system:serviceaccounts",
                "system:serviceaccounts:zonewright-system",
            ],
        }
    }

    /// Where this identity is at home.
    fn namespace(self) -> &'static str {
        match self {
            Self::Admin | Self::Tenant | Self::ControllerManager => "default",
            Self::ServiceAccount => "zonewright-system",
        }
    }

    /// The file name of this identity's kubeconfig.
    pub(super) fn kubeconfig(self) -> &'static str {
        match self {
            Self::Admin => "admin.kubeconfig",
            Self::Tenant => "tenant.kubeconfig",
            Self::ServiceAccount => "service-account.kubeconfig",
            Self::ControllerManager => "controller-manager.kubeconfig",
        }
    }
}

/// The secrets of one control plane.
pub(super) struct Credentials {
    authority_pem: String,
    authority_der: Vec<u8>,
    secret: Vec<u8>,
}

impl Credentials {
    /// Makes all keys and writes the files that the API server is started with.
    pub(super) fn create(directory: &Path) -> Result<Self, CredentialsError> {
        let authority = authority()?;
        let (server_key, service_account_key) = (KeyPair::generate()?, KeyPair::generate()?);
        let names = ["127.0.0.1".to_owned(), "localhost".to_owned()];
        let server = CertificateParams::new(names)?.signed_by(&server_key, &authority)?;
        let credentials = Self {
            authority_pem: authority.pem(),
            authority_der: authority.der().to_vec(),
            secret: authority.key().serialize_der(),
        };
        let write = |name: &str, text: String| fs::write(directory.join(name), text);
        write(SERVER_CERTIFICATE, server.pem())?;
        write(SERVER_KEY, server_key.serialize_pem())?;
        write(
            SERVICE_ACCOUNT_PUBLIC_KEY,
            service_account_key.public_key_pem(),
        )?;
        write(SERVICE_ACCOUNT_KEY, service_account_key.serialize_pem())?;
        write(TOKENS, credentials.tokens())?;
        Ok(credentials)
    }

    /// Writes a kubeconfig for each identity.
    pub(super) fn write_kubeconfigs(&self, directory: &Path, url: &str) -> io::Result<()> {
        for identity in Identity::ALL {
            fs::write(
                directory.join(identity.kubeconfig()),
                self.kubeconfig(identity, url),
            )?;
        }
        Ok(())
    }

    pub(super) fn client(&self, identity: Identity, url: &str) -> Client {
        let url = url
            .parse()
            .expect("the address was made from an IP address and a port");
        let mut config = Config::new(url);
        config.root_cert = Some(vec![self.authority_der.clone()]);
        config.auth_info = AuthInfo {
            token: Some(self.token(identity).into()),
            ..AuthInfo::default()
        };
        Client::try_from(config).expect("the certificate was made by us and is whole")
    }

    fn kubeconfig(&self, identity: Identity, url: &str) -> String {
        let name = identity.user();
        // Every JSON text is a YAML text.
        let config = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{ "name": "test", "cluster": {
                "server": url,
                "certificate-authority-data": ByteString(self.authority_pem.clone().into_bytes()),
            }}],
            "users": [{ "name": name, "user": { "token": self.token(identity) } }],
            "contexts": [{ "name": name, "context": {
                "cluster": "test",
                "user": name,
                "namespace": identity.namespace(),
            }}],
            "current-context": name,
        });
        config.to_string()
    }

    /// A token that only the holder of this control plane's secret can make.
    fn token(&self, identity: Identity) -> String {
        let context = format!("zonewright testkit, bearer token of {}", identity.user());
        blake3::Hash::from_bytes(blake3::derive_key(&context, &self.secret))
            .to_hex()
            .to_string()
    }

    /// One line for each identity: token, user name, user id, and the groups, if any, in quotes.
    fn tokens(&self) -> String {
        let line = |identity: Identity| {
            let (token, user, groups) = (self.token(identity), identity.user(), identity.groups());
            let groups = if groups.is_empty() {
                String::new()
            } else {
                format!(",\"{}\"", groups.join(","))
            };
            format!("{token},{user},{user}{groups}\n")
        };
        Identity::ALL.map(line).concat()
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

/// Why the keys and certificates of a control plane could not be made.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    /// A certificate could not be made.
    #[error("certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// A file could not be written.
    #[error("credentials: {0}")]
    File(#[from] io::Error),
}

fn authority() -> Result<CertifiedIssuer<'static, KeyPair>, rcgen::Error> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    CertifiedIssuer::self_signed(params, KeyPair::generate()?)
}
