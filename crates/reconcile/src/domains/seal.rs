//! What the installation's key says: tokens, proofs and managed hosts.
//!
//! Everything that is believed later carries the key's word, an HMAC over what it is said about. A namespace is named by
//! its uid, so that one that is deleted and made again inherits nothing; a domain by its canonical form. Each kind of word
//! begins with its own name: a token can never pass for a proof.

use std::fmt::{self, Write as _};

use api::DomainVerification;
use api::parse::domain_verification as parsed;
use dns::Name;
use ring::hmac;

/// Octets of the key: as many as its hash has.
const KEY_BYTES: usize = 32;

const TOKEN: &str = "token";
const VERIFIED: &str = "verified";
const MANAGED_HOST: &str = "managed-host";

/// The installation's key.
#[derive(Clone)]
pub struct Keyring(hmac::Key);

impl Keyring {
    /// How many random octets a key is made from.
    pub const BYTES: usize = KEY_BYTES;

    /// The key that is kept in these octets; nothing if they are too few.
    pub fn new(octets: &[u8]) -> Option<Keyring> {
        let enough = octets.len() >= KEY_BYTES;
        enough.then(|| Keyring(hmac::Key::new(hmac::HMAC_SHA256, octets)))
    }

    /// What proves a domain when it is found in DNS (V4).
    pub fn token(&self, namespace_uid: &str, domain: &Name) -> String {
        self.word(&[TOKEN, namespace_uid, &domain.to_string()])
    }

    /// What says that a domain was proven (V6).
    pub fn proof(&self, namespace_uid: &str, domain: &Name) -> String {
        self.word(&[VERIFIED, namespace_uid, &domain.to_string()])
    }

    /// Whether a proof is this key's word about that domain in that namespace.
    pub fn proves(&self, namespace_uid: &str, domain: &Name, proof: &str) -> bool {
        self.says(&[VERIFIED, namespace_uid, &domain.to_string()], proof)
    }

    /// The domain that a DomainVerification in that namespace proves, if its proof is this key's word.
    pub fn proven(&self, namespace_uid: &str, object: &DomainVerification) -> Option<Name> {
        let domain = parsed::parse(object).ok()?.domain;
        let proof = object.status.as_ref()?.proof.as_deref()?;
        self.proves(namespace_uid, &domain, proof).then_some(domain)
    }

    /// What says that a managed host was drawn for a namespace (V1).
    pub(super) fn seal(&self, namespace_uid: &str, guid: &str) -> String {
        self.word(&[MANAGED_HOST, namespace_uid, guid])
    }

    pub(super) fn sealed(&self, namespace_uid: &str, guid: &str, seal: &str) -> bool {
        self.says(&[MANAGED_HOST, namespace_uid, guid], seal)
    }

    fn word(&self, parts: &[&str]) -> String {
        hex(hmac::sign(&self.0, &message(parts)).as_ref())
    }

    /// Compared in a time that does not tell how much of it was right.
    fn says(&self, parts: &[&str], word: &str) -> bool {
        unhex(word).is_some_and(|word| hmac::verify(&self.0, &message(parts), &word).is_ok())
    }
}

/// Its text says nothing of the key.
impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyring").finish_non_exhaustive()
    }
}

/// The parts with something between them that none of them can hold.
fn message(parts: &[&str]) -> Vec<u8> {
    parts.join("\0").into_bytes()
}

/// Lower-case hexadecimal: what every form for DNS records takes as it is.
pub(super) fn hex(octets: &[u8]) -> String {
    let mut text = String::with_capacity(2 * octets.len());
    for octet in octets {
        let _ = write!(text, "{octet:02x}");
    }
    text
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let canonical = |digit: &u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(digit);
    if !digits.len().is_multiple_of(2) || !digits.iter().all(canonical) {
        return None;
    }
    let pairs = digits.chunks_exact(2);
    let octets = pairs.map(|pair| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16).ok()
    });
    octets.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    fn key(octet: u8) -> Keyring {
        Keyring::new(&[octet; KEY_BYTES]).unwrap()
    }

    #[test]
    fn a_token_is_that_of_one_installation_one_namespace_and_one_domain() {
        // V4.
        let token = key(1).token("uid-a", &name("example.com."));
        assert_eq!(token.len(), 64, "256 bits");
        assert_eq!(token, key(1).token("uid-a", &name("EXAMPLE.com.")));
        for other in [
            key(2).token("uid-a", &name("example.com.")),
            key(1).token("uid-b", &name("example.com.")),
            key(1).token("uid-a", &name("example.net.")),
            key(1).token("uid-a", &name("a.example.com.")),
            key(1).proof("uid-a", &name("example.com.")),
        ] {
            assert_ne!(token, other);
        }
    }

    #[test]
    fn a_proof_is_believed_from_this_key_about_this_domain_in_this_namespace_only() {
        // V6, V9.
        let domain = name("example.com.");
        let proof = key(1).proof("uid-a", &domain);
        assert!(key(1).proves("uid-a", &domain, &proof));
        assert!(!key(2).proves("uid-a", &domain, &proof));
        assert!(!key(1).proves("uid-b", &domain, &proof));
        assert!(!key(1).proves("uid-a", &name("example.net."), &proof));
        let token = key(1).token("uid-a", &domain);
        let upper = proof.to_uppercase();
        for forged in ["", "00", "yes", "ä", &proof[..62], &token, &upper] {
            assert!(!key(1).proves("uid-a", &domain, forged), "{forged}");
        }
    }

    #[test]
    fn a_key_has_as_many_octets_as_its_hash() {
        assert!(Keyring::new(&[0; KEY_BYTES - 1]).is_none());
        assert!(Keyring::new(&[0; KEY_BYTES]).is_some());
    }

    #[test]
    fn the_text_of_a_key_does_not_tell_it() {
        assert_eq!(format!("{:?}", key(7)), "Keyring { .. }");
    }
}
