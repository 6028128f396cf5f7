//! What does not fit into the value of a label, shortened so that no two of them are the same.

/// The longest label value Kubernetes takes.
pub(super) const LABEL_CHARS_MAX: usize = 63;

/// Hexadecimal digits of the hash in a shortened value: 128 bit.
const HASH_CHARS: usize = 32;

/// The beginning of a name and the hash of the whole text, without a dot.
pub(super) fn shortened(name: &str, whole: &str) -> String {
    let hash = blake3::hash(whole.as_bytes()).to_hex();
    let name = name.replace('.', "-");
    let start: String = name
        .chars()
        .take(LABEL_CHARS_MAX - 1 - HASH_CHARS)
        .collect();
    format!("{start}-{}", &hash[..HASH_CHARS])
}
