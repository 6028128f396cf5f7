//! Secrets are encrypted before the database sees them.
//!
//! AES-256-GCM with a random nonce before and the tag behind the text. Key and revision of the
//! object take part as associated data: a sealed value moved elsewhere or rolled back does not open.
//! A disk that is thrown away, a copied volume or a stray `strings` shows nothing of a Secret;
//! whoever can read `secret.key` beside the store can read them all.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};

use crate::key::Key;

const KEY: usize = 32;

/// Tells one sealing key from another without giving it away.
pub(super) const IDENTITY: usize = 16;

/// Seals and opens what must not be read on the disk.
pub(super) struct Sealer {
    key: LessSafeKey,
    identity: [u8; IDENTITY],
    random: SystemRandom,
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer").finish_non_exhaustive()
    }
}

/// Whether objects of this key are sealed.
pub(super) fn is_secret(key: &Key) -> bool {
    key.kind.is("", "secrets")
}

impl Sealer {
    /// A new key as the text of its file.
    pub(super) fn generate() -> Option<String> {
        let mut key = [0; KEY];
        SystemRandom::new().fill(&mut key).ok()?;
        Some(format!("{}\n", STANDARD.encode(key)))
    }

    /// The sealer of a key file's text, or nothing if there is no key in it.
    pub(super) fn from_text(text: &str) -> Option<Self> {
        let bytes = STANDARD.decode(text.trim_end()).ok()?;
        let key = UnboundKey::new(&AES_256_GCM, &bytes).ok()?;
        let hash = blake3::derive_key("zonewright 2026 identity of a sealing key", &bytes);
        Some(Self {
            key: LessSafeKey::new(key),
            identity: *hash.first_chunk().expect("a hash is longer"),
            random: SystemRandom::new(),
        })
    }

    pub(super) fn identity(&self) -> [u8; IDENTITY] {
        self.identity
    }

    /// Nonce, encrypted text and tag; nothing if the system has no random numbers to give.
    pub(super) fn seal(&self, key: &[u8], revision: u64, plain: &[u8]) -> Option<Vec<u8>> {
        let mut nonce = [0; NONCE_LEN];
        self.random.fill(&mut nonce).ok()?;
        let mut sealed = Vec::with_capacity(NONCE_LEN + plain.len() + AES_256_GCM.tag_len());
        sealed.extend(nonce);
        sealed.extend(plain);
        let nonce = Nonce::assume_unique_for_key(nonce);
        let aad = Aad::from(associated(key, revision));
        let text = &mut sealed[NONCE_LEN..];
        let tag = self.key.seal_in_place_separate_tag(nonce, aad, text).ok()?;
        sealed.extend(tag.as_ref());
        Some(sealed)
    }

    /// The text, or nothing if it was not sealed by this key for this place.
    pub(super) fn open(&self, key: &[u8], revision: u64, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, text) = sealed.split_first_chunk::<NONCE_LEN>()?;
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let mut text = text.to_vec();
        let aad = Aad::from(associated(key, revision));
        let length = self.key.open_in_place(nonce, aad, &mut text).ok()?.len();
        text.truncate(length);
        Some(text)
    }
}

fn associated(key: &[u8], revision: u64) -> Vec<u8> {
    [key, &revision.to_le_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealer() -> Sealer {
        Sealer::from_text(&Sealer::generate().unwrap()).unwrap()
    }

    #[test]
    fn what_was_sealed_opens_in_its_place_only() {
        let sealer = sealer();
        let sealed = sealer.seal(b"key", 7, b"canary").unwrap();
        assert!(!sealed.windows(6).any(|window| window == b"canary"));
        assert_eq!(
            sealer.open(b"key", 7, &sealed).as_deref(),
            Some(&b"canary"[..])
        );
        assert_eq!(sealer.open(b"other", 7, &sealed), None);
        assert_eq!(sealer.open(b"key", 8, &sealed), None);
        assert_eq!(self::sealer().open(b"key", 7, &sealed), None);
        assert_eq!(sealer.open(b"key", 7, &sealed[..11]), None);
    }

    #[test]
    fn no_nonce_is_used_twice() {
        let sealer = sealer();
        assert_ne!(sealer.seal(b"k", 1, b"x"), sealer.seal(b"k", 1, b"x"));
    }

    #[test]
    fn the_same_text_makes_the_same_sealer_and_another_text_another() {
        let text = Sealer::generate().unwrap();
        let identity = |text: &str| Sealer::from_text(text).map(|sealer| sealer.identity());
        assert_eq!(identity(&text), identity(text.trim_end()));
        assert_ne!(identity(&text), identity(&Sealer::generate().unwrap()));
        assert_eq!(identity("not a key"), None);
        assert_eq!(identity("dG9vIHNob3J0"), None);
    }

    #[test]
    fn only_core_secrets_are_secret() {
        assert!(is_secret(&Key::new("", "secrets", "default", "a")));
        assert!(!is_secret(&Key::new(
            "example.com",
            "secrets",
            "default",
            "a"
        )));
        assert!(!is_secret(&Key::new("", "configmaps", "default", "a")));
    }
}
