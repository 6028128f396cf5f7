//! The managed domain, and the hosts that are drawn from it (V1).

use std::fmt;

use dns::Name;

use super::seal::{Keyring, hex};

/// Octets of chance in a managed host: nobody is given one twice.
const GUID_BYTES: usize = 16;

/// Between the guid and its seal.
const MARK: char = '.';

/// What the operator gives names under.
#[derive(Clone, Debug)]
pub struct ManagedDomain {
    /// Everything below it is ours to give.
    pub domain: Name,
    /// The Secret with the certificate of its hosts, in the namespace of each Ingress.
    pub tls_secret: Option<String>,
}

/// The part of a managed host that was drawn.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Guid(String);

impl Guid {
    /// How many random octets one is made from.
    pub const BYTES: usize = GUID_BYTES;

    /// The one that these octets make.
    pub fn new(drawn: [u8; GUID_BYTES]) -> Guid {
        Guid(hex(&drawn))
    }

    /// Reads one as it stands in host names.
    pub fn read(text: &str) -> Option<Guid> {
        let canonical = |it: u8| it.is_ascii_digit() || (b'a'..=b'f').contains(&it);
        let fits = text.len() == 2 * GUID_BYTES && text.bytes().all(canonical);
        fits.then(|| Guid(text.to_owned()))
    }

    /// The annotation that says whose it is.
    pub fn sealed(&self, key: &Keyring, namespace_uid: &str) -> String {
        format!("{}{MARK}{}", self.0, key.seal(namespace_uid, &self.0))
    }

    /// Reads such an annotation: nothing if we did not write it for this namespace.
    pub fn unseal(text: &str, key: &Keyring, namespace_uid: &str) -> Option<Guid> {
        let (guid, seal) = text.split_once(MARK)?;
        let guid = Guid::read(guid)?;
        key.sealed(namespace_uid, &guid.0, seal).then_some(guid)
    }

    /// The host as an Ingress spells it: without the final dot.
    pub fn host(&self, managed: &ManagedDomain) -> String {
        let host = format!("{}{MARK}{}", self.0, managed.domain);
        host.trim_end_matches('.').to_owned()
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ManagedDomain {
    /// The guid of a host that was drawn from this domain.
    pub fn guid(&self, host: &Name) -> Option<Guid> {
        let drawn = host.parent().is_some_and(|parent| parent == self.domain);
        let label = host.labels().next().filter(|_| drawn)?;
        Guid::read(std::str::from_utf8(label).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn managed() -> ManagedDomain {
        ManagedDomain {
            domain: Name::parse("apps.example.net.").unwrap(),
            tls_secret: None,
        }
    }

    #[test]
    fn a_managed_host_is_drawn_below_the_managed_domain() {
        let host = Guid::new([0xab; GUID_BYTES]).host(&managed());
        assert_eq!(host, format!("{}.apps.example.net", "ab".repeat(16)));
        let name = Name::parse(&format!("{host}.")).unwrap();
        assert_eq!(managed().guid(&name), Some(Guid::new([0xab; GUID_BYTES])));
    }

    #[test]
    fn only_a_guid_right_below_the_domain_is_a_managed_host() {
        let guid = "ab".repeat(16);
        let hosts = [
            "apps.example.net.".to_owned(),
            "www.apps.example.net.".to_owned(),
            format!("a.{guid}.apps.example.net."),
            format!("{guid}.example.net."),
            format!("{}.apps.example.net.", "zz".repeat(16)),
        ];
        for host in hosts {
            let name = Name::parse(&host).unwrap();
            assert_eq!(managed().guid(&name), None, "{host}");
        }
    }

    #[test]
    fn a_seal_is_for_one_namespace() {
        // V1: a value that does not verify is replaced.
        let key = Keyring::new(&[1; Keyring::BYTES]).unwrap();
        let guid = Guid::new([3; GUID_BYTES]);
        let sealed = guid.sealed(&key, "uid-a");
        assert_eq!(Guid::unseal(&sealed, &key, "uid-a"), Some(guid));
        assert_eq!(Guid::unseal(&sealed, &key, "uid-b"), None);
        let other = Keyring::new(&[2; Keyring::BYTES]).unwrap();
        assert_eq!(Guid::unseal(&sealed, &other, "uid-a"), None);
        for forged in ["", "03", ".", "03.03", &sealed[..40]] {
            assert_eq!(Guid::unseal(forged, &key, "uid-a"), None, "{forged}");
        }
    }
}
