//! The hash that owners and names are shortened with: SHA-224 in the digits and letters of base 36.

use sha2::{Digest as _, Sha224};

const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
const BASE: u32 = 36;

/// The hash of a text. Each leading octet of zeros is a `0`, as in other encodings of this family: a number alone would
/// lose them.
pub fn hash36(text: &str) -> String {
    base36(&Sha224::digest(text.as_bytes()))
}

/// The first characters of the hash of a text.
pub fn short_hash36(text: &str, chars: usize) -> String {
    let mut hash = hash36(text);
    hash.truncate(chars);
    hash
}

fn base36(octets: &[u8]) -> String {
    let zeros = octets.iter().take_while(|octet| **octet == 0).count();
    let mut number = octets[zeros..].to_vec();
    let mut digits = Vec::new();
    while !number.is_empty() {
        digits.push(DIGITS[divide(&mut number)]);
    }
    digits.extend(std::iter::repeat_n(b'0', zeros));
    digits.iter().rev().copied().map(char::from).collect()
}

/// Divides a number by the base, drops the octets that became zero, and tells the remainder.
fn divide(number: &mut Vec<u8>) -> usize {
    let mut remainder = 0u32;
    for octet in number.iter_mut() {
        let part = remainder << 8 | u32::from(*octet);
        *octet = u8::try_from(part / BASE).expect("a remainder below the base leaves an octet");
        remainder = part % BASE;
    }
    let zeros = number.iter().take_while(|octet| **octet == 0).count();
    number.drain(..zeros);
    remainder as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_peer() {
        // P7: the vectors of its own code, the leading zero among them.
        let uid = "9c8f876c-4ddc-44a3-9842-460f97e6c037";
        assert_eq!(hash36(uid), "32ah7xkbrefse005knttdnvhaybhyeezwh0d6cln7r6l");
        let short = |text| short_hash36(text, 8);
        assert_eq!(short(uid), "32ah7xkb");
        assert_eq!(short("pb.com"), "jsys0tw1");
        assert_eq!(short("foo.example.com"), "qtn4u6on");
        assert_eq!(short("host36.example.com"), "0b9jcol7");
    }

    #[test]
    fn leading_zeros_are_kept_one_by_one() {
        assert_eq!(base36(&[]), "");
        assert_eq!(base36(&[0]), "0");
        assert_eq!(base36(&[0, 0, 35]), "00z");
        assert_eq!(base36(&[1, 0]), "74");
    }
}
