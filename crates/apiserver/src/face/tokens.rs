//! Tokens of service accounts: JSON Web Tokens, signed with ECDSA on P-256, as kube-apiserver makes them.
//!
//! A token says which account it is for, to whom it may be shown and until when. Whether the account
//! still exists is for [`ServiceAccounts`] to say.

#[cfg(test)]
mod tests;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::{SignedDuration, Timestamp};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _,
    UnparsedPublicKey,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::user::{User, service_account_name};

/// Who issues the tokens. It is also the audience that this API accepts, and the one that a token
/// gets when nobody asks for another.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc";

/// How far apart two clocks may be.
const LEEWAY: SignedDuration = SignedDuration::from_mins(1);

const ALGORITHM: &str = "ES256";

/// Tells whether a service account that a token speaks of is still there.
pub(crate) trait ServiceAccounts: Send + Sync {
    /// Whether there is an account of this name with this uid.
    fn exists(&self, namespace: &str, name: &str, uid: &str) -> bool;
}

impl<F: Fn(&str, &str, &str) -> bool + Send + Sync> ServiceAccounts for F {
    fn exists(&self, namespace: &str, name: &str, uid: &str) -> bool {
        self(namespace, name, uid)
    }
}

/// The key that tokens are signed and checked with.
#[derive(Debug)]
pub(crate) struct Tokens {
    key: EcdsaKeyPair,
    /// What the header calls the key: a digest of it.
    key_id: String,
}

/// What a token is to say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grant<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
    /// The uid of the service account.
    pub(crate) uid: &'a str,
    /// To whom it may be shown; nobody means this API.
    pub(crate) audiences: &'a [String],
    pub(crate) expires: Timestamp,
    /// Tells this token from all others.
    pub(crate) id: Uuid,
}

/// What a token says.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Claims {
    #[serde(rename = "aud")]
    pub(crate) audiences: Vec<String>,
    #[serde(rename = "exp")]
    pub(crate) expires: i64,
    #[serde(rename = "iat")]
    pub(crate) issued: i64,
    #[serde(rename = "iss")]
    pub(crate) issuer: String,
    #[serde(rename = "jti")]
    pub(crate) id: String,
    #[serde(rename = "kubernetes.io")]
    pub(crate) bound: Bound,
    #[serde(rename = "nbf")]
    pub(crate) not_before: i64,
    #[serde(rename = "sub")]
    pub(crate) subject: String,
}

/// The objects without which a token is worth nothing.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Bound {
    pub(crate) namespace: String,
    pub(crate) serviceaccount: Reference,
}

/// An object by its name and identity.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Reference {
    pub(crate) name: String,
    pub(crate) uid: String,
}

/// Why a token proves nothing.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum TokenError {
    #[error("not a token that was issued here")]
    Foreign,
    #[error("service account token has expired")]
    Expired,
    #[error("service account token is not valid yet")]
    NotYet,
    #[error("the token is for another audience")]
    Audience,
}

#[derive(Deserialize, Serialize)]
struct Header {
    alg: String,
    kid: String,
}

impl Tokens {
    /// From a key in PKCS #8.
    pub(super) fn new(pkcs8: &[u8]) -> Result<Self, String> {
        let random = SystemRandom::new();
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &random)
            .map_err(|error| format!("not a key on P-256: {error}"))?;
        let digest = ring::digest::digest(&ring::digest::SHA256, key.public_key().as_ref());
        let key_id = URL_SAFE_NO_PAD.encode(digest);
        Ok(Self { key, key_id })
    }

    /// A token.
    pub(crate) fn issue(&self, grant: &Grant<'_>, now: Timestamp) -> String {
        self.sign(ALGORITHM, &grant.claims(now))
    }

    fn sign(&self, algorithm: &str, claims: &Claims) -> String {
        let header = Header {
            alg: algorithm.to_owned(),
            kid: self.key_id.clone(),
        };
        let signed = format!("{}.{}", encode(&header), encode(claims));
        let signature = self
            .key
            .sign(&SystemRandom::new(), signed.as_bytes())
            .expect("the system gives random numbers, or TLS would not have worked either");
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    /// What a token says, if it was issued here, is good now, and is for us.
    pub(crate) fn verify(&self, token: &str, now: Timestamp) -> Result<Claims, TokenError> {
        let (signed, signature) = token.rsplit_once('.').ok_or(TokenError::Foreign)?;
        let (header, claims) = signed.split_once('.').ok_or(TokenError::Foreign)?;
        self.check_signature(signed, signature)?;
        let header: Header = decode(header)?;
        if header.alg != ALGORITHM {
            return Err(TokenError::Foreign);
        }
        decode::<Claims>(claims)?.judged(now)
    }

    fn check_signature(&self, signed: &str, signature: &str) -> Result<(), TokenError> {
        let signature = URL_SAFE_NO_PAD
            .decode(signature)
            .map_err(|_| TokenError::Foreign)?;
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, self.key.public_key());
        public
            .verify(signed.as_bytes(), &signature)
            .map_err(|_| TokenError::Foreign)
    }
}

impl Grant<'_> {
    fn claims(&self, now: Timestamp) -> Claims {
        let audiences = match self.audiences {
            [] => vec![ISSUER.to_owned()],
            several => several.to_vec(),
        };
        Claims {
            audiences,
            expires: self.expires.as_second(),
            issued: now.as_second(),
            issuer: ISSUER.to_owned(),
            id: self.id.to_string(),
            bound: Bound {
                namespace: self.namespace.to_owned(),
                serviceaccount: Reference {
                    name: self.name.to_owned(),
                    uid: self.uid.to_owned(),
                },
            },
            not_before: now.as_second(),
            subject: service_account_name(self.namespace, self.name),
        }
    }
}

impl Claims {
    /// The account that the token speaks for.
    pub(crate) fn user(&self) -> User {
        let Bound {
            namespace,
            serviceaccount: Reference { name, uid },
        } = &self.bound;
        User::service_account(namespace, name, uid).with_credential(format!("JTI={}", self.id))
    }

    fn judged(self, now: Timestamp) -> Result<Self, TokenError> {
        let (early, late) = ((now + LEEWAY).as_second(), (now - LEEWAY).as_second());
        match () {
            () if self.issuer != ISSUER => Err(TokenError::Foreign),
            () if self.not_before.max(self.issued) > early => Err(TokenError::NotYet),
            () if self.expires < late => Err(TokenError::Expired),
            () if !self.audiences.iter().any(|audience| audience == ISSUER) => {
                Err(TokenError::Audience)
            }
            () => Ok(self),
        }
    }
}

fn encode(part: &impl Serialize) -> String {
    let json = serde_json::to_vec(part).expect("texts and numbers always become JSON");
    URL_SAFE_NO_PAD.encode(json)
}

fn decode<T: for<'de> Deserialize<'de>>(part: &str) -> Result<T, TokenError> {
    let json = URL_SAFE_NO_PAD
        .decode(part)
        .map_err(|_| TokenError::Foreign)?;
    serde_json::from_slice(&json).map_err(|_| TokenError::Foreign)
}
