//! Where clients are: networks and their countries, from a database in `MaxMind`'s format (N6).
//!
//! The file is read into memory once. Databases of `MaxMind`, DB-IP and others have the two fields that
//! are looked at: `country.iso_code` and `continent.code`.

use std::io;
use std::net::IpAddr;
use std::path::Path;

use dns::routing::{Continent, Country, GeoCode};
use maxminddb::{LookupResult, MaxMindDbError, Reader, WithinOptions, path};

/// How many networks may be without a place before a database is taken for one that knows no places at all.
const SAMPLE_MAX: usize = 1_000;

/// The bits in front of an IPv4 address in the tree of a database that holds both families.
const IPV4_OFFSET_BITS: u8 = 96;

/// A database of places.
#[derive(Debug)]
pub struct Places(Reader<Vec<u8>>);

/// Why a file is no database of places.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlacesError {
    /// It cannot be read.
    #[error("the file cannot be read")]
    Read(#[source] io::Error),
    /// It is something else.
    #[error("the file is no database in MaxMind's format")]
    Format(#[source] MaxMindDbError),
    /// It is about something else, such as the owners of networks.
    #[error("the database is of type {0:?} and knows no countries or continents")]
    Kind(String),
}

/// What is known about a client.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Whereabouts {
    /// The place, from the smallest on.
    pub(crate) places: [Option<GeoCode>; 2],
    /// How many leading bits of the address it took to know.
    pub(crate) prefix: u8,
}

impl Places {
    /// Reads a database.
    pub fn open(path: &Path) -> Result<Places, PlacesError> {
        Places::read(std::fs::read(path).map_err(PlacesError::Read)?)
    }

    /// A database from its octets.
    pub fn read(octets: Vec<u8>) -> Result<Places, PlacesError> {
        let places = Places(Reader::from_source(octets).map_err(PlacesError::Format)?);
        if !places.knows_places().map_err(PlacesError::Format)? {
            return Err(PlacesError::Kind(places.0.metadata().database_type.clone()));
        }
        Ok(places)
    }

    /// Where an address is. One that is not known, or whose entry is damaged, is nowhere.
    pub(crate) fn find(&self, address: IpAddr) -> Whereabouts {
        let Ok(found) = self.0.lookup(address) else {
            return Whereabouts::default();
        };
        let prefix = found.network().map_or(0, |network| {
            let embedded = address.is_ipv4() && network.is_ipv6();
            let bits = network.prefix();
            if embedded {
                bits.saturating_sub(IPV4_OFFSET_BITS)
            } else {
                bits
            }
        });
        Whereabouts {
            places: places(&found),
            prefix,
        }
    }

    fn knows_places(&self) -> Result<bool, MaxMindDbError> {
        for network in self.0.networks(WithinOptions::default())?.take(SAMPLE_MAX) {
            if places(&network?).iter().any(Option::is_some) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Country and continent of an entry, as far as it has them.
fn places(entry: &LookupResult<'_, Vec<u8>>) -> [Option<GeoCode>; 2] {
    let country: Option<&str> = entry
        .decode_path(&path!["country", "iso_code"])
        .unwrap_or_default();
    let continent: Option<&str> = entry
        .decode_path(&path!["continent", "code"])
        .unwrap_or_default();
    [
        country
            .and_then(Country::from_letters)
            .map(GeoCode::Country),
        continent
            .and_then(Continent::from_letters)
            .map(GeoCode::Continent),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::geo_database;

    fn database() -> Places {
        let octets = geo_database::places(&[
            ("192.0.2.0/24", Some("IE"), Some("EU")),
            ("198.51.100.0/25", None, Some("AS")),
            ("203.0.113.0/24", Some("XX"), Some("YY")),
            ("203.0.113.7/32", Some("US"), None),
            ("2001:db8::/32", Some("IE"), Some("EU")),
            ("2001:db8:1::/48", Some("FR"), Some("EU")),
        ]);
        Places::read(octets).unwrap()
    }

    /// An address, the places it is in, and how many of its bits are the network's.
    #[test]
    fn an_address_is_where_the_smallest_network_around_it_is() {
        let cases = [
            ("192.0.2.1", "IE GEO-EU", 24),
            ("198.51.100.1", "GEO-AS", 25),
            ("203.0.113.1", "", 30),
            ("203.0.113.7", "US", 32),
            ("2001:db8::1", "IE GEO-EU", 48),
            ("2001:db8:1::1", "FR GEO-EU", 48),
            ("2001:db8:8000::1", "IE GEO-EU", 33),
        ];
        for (address, expected, prefix) in cases {
            let found = database().find(address.parse().unwrap());
            let places = found.places.iter().flatten().map(ToString::to_string);
            let places = places.collect::<Vec<_>>().join(" ");
            assert_eq!(
                (places.as_str(), found.prefix),
                (expected, prefix),
                "{address}"
            );
        }
    }

    #[test]
    fn what_is_no_database_of_places_is_refused() {
        let told = |octets: Vec<u8>| Places::read(octets).unwrap_err().to_string();
        let format = "the file is no database in MaxMind's format";
        assert_eq!(told(Vec::new()), format);
        assert_eq!(told(b"example.org. SOA".to_vec()), format);
        assert_eq!(
            told(geo_database::owners()),
            "the database is of type \"Test-ASN\" and knows no countries or continents"
        );
    }

    /// Cut anywhere or damaged anywhere, it is refused or has places that it should not have; nothing else happens.
    #[test]
    fn a_damaged_database_harms_nobody() {
        let octets = geo_database::places(&[("192.0.2.0/24", Some("IE"), Some("EU"))]);
        let look = |octets: Vec<u8>| {
            if let Ok(places) = Places::read(octets) {
                for address in ["192.0.2.1", "2001:db8::1", "255.255.255.255"] {
                    places.find(address.parse().unwrap());
                }
            }
        };
        for length in 0..octets.len() {
            look(octets[..length].to_vec());
        }
        for at in 0..octets.len() {
            for bit in 0..8 {
                let mut damaged = octets.clone();
                damaged[at] ^= 1 << bit;
                look(damaged);
            }
        }
    }
}
