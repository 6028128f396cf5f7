//! How one name's traffic is shared: weights and places.
//!
//! A place that only one provider knows is accepted here; whether it is this provider is judged later.

mod membership;

use std::fmt;
use std::str::FromStr;

pub use membership::{Membership, MembershipError, SetIdentifier, SetIdentifierError};

/// The share of a set that does not say how large its share is.
const SHARE_DEFAULT: u8 = 1;

/// Which part of a name's traffic a record set is for. The default is all of it.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Routing {
    /// The share among the sets of the same name and type.
    pub weight: Option<Weight>,
    /// The clients it is for.
    pub geo: Option<GeoCode>,
}

impl Routing {
    /// Whether the set is for everyone, and no other stands beside it.
    pub fn is_plain(&self) -> bool {
        self.weight.is_none() && self.geo.is_none()
    }

    /// The share among those that are for the same clients. Without a weight it is the least that is ever chosen beside
    /// others.
    pub fn share(&self) -> u8 {
        self.weight.map_or(SHARE_DEFAULT, Weight::get)
    }

    /// Whether the set is for clients from anywhere, unless another one is for them in particular.
    pub fn is_from_anywhere(&self) -> bool {
        matches!(self.geo, None | Some(GeoCode::Default))
    }
}

/// The share of one record set among those of its name, relative to the sum of their weights. Where all of them are
/// zero the shares are equal.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Weight(u8);

/// A number that is no weight. The bound is Route 53's, the lowest of those who route by weight.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a weight is a whole number from 0 to 255")]
pub struct WeightError;

impl Weight {
    /// Takes a number of any integer type.
    pub fn new(weight: impl TryInto<u8>) -> Result<Weight, WeightError> {
        weight.try_into().map(Weight).map_err(|_| WeightError)
    }

    /// The number.
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl FromStr for Weight {
    type Err = WeightError;

    fn from_str(text: &str) -> Result<Weight, WeightError> {
        // `u8::from_str` takes a leading plus, which no provider does.
        if !text.bytes().all(|octet| octet.is_ascii_digit()) {
            return Err(WeightError);
        }
        text.parse().map(Weight).map_err(|_| WeightError)
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Where clients come from.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum GeoCode {
    /// Anywhere that has no code of its own, `*`.
    Default,
    /// A continent, such as `GEO-EU`.
    Continent(Continent),
    /// A country by its two letters of ISO 3166-1, such as `IE`.
    Country(Country),
    /// A place that only its provider knows, such as `europe-west1`.
    Region(String),
}

/// A text that stands for no place. The sentences begin as the peer's do.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum GeoCodeError {
    /// `GEO-` and something that is no continent.
    #[error("unexpected continent code. The continents are AF, AN, AS, EU, NA, OC and SA")]
    Continent,
    /// Neither a country nor anything else we know.
    #[error(
        "unexpected geo code. Prefix with GEO- for continents or use ISO_3166 Alpha 2 supported \
         code for countries"
    )]
    Unknown,
}

/// A continent.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Continent {
    /// Africa, `AF`.
    Africa,
    /// Antarctica, `AN`.
    Antarctica,
    /// Asia, `AS`.
    Asia,
    /// Europe, `EU`.
    Europe,
    /// North America, `NA`.
    NorthAmerica,
    /// Oceania, `OC`.
    Oceania,
    /// South America, `SA`.
    SouthAmerica,
}

/// A country by its two letters.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Country([u8; 2]);

const CONTINENTS: [Continent; 7] = [
    Continent::Africa,
    Continent::Antarctica,
    Continent::Asia,
    Continent::Europe,
    Continent::NorthAmerica,
    Continent::Oceania,
    Continent::SouthAmerica,
];

/// The officially assigned codes of ISO 3166-1, and XK, which geo databases use for Kosovo.
const COUNTRIES: &str = "\
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS \
    BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE \
    EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM \
    HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC \
    LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA \
    NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW \
    SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO \
    TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW";

/// Groups of countries that only Azure knows: the Middle East, and Australia with the Pacific.
const AZURE_GROUPS: [&str; 2] = ["GEO-AP", "GEO-ME"];

impl Continent {
    /// The two letters that stand for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Africa => "AF",
            Self::Antarctica => "AN",
            Self::Asia => "AS",
            Self::Europe => "EU",
            Self::NorthAmerica => "NA",
            Self::Oceania => "OC",
            Self::SouthAmerica => "SA",
        }
    }

    /// The continent that two letters stand for.
    pub fn from_letters(letters: &str) -> Option<Continent> {
        CONTINENTS
            .into_iter()
            .find(|continent| continent.as_str() == letters)
    }
}

impl Country {
    /// The two letters.
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).expect("the letters are ASCII")
    }

    /// The country that two letters stand for.
    pub fn from_letters(letters: &str) -> Option<Country> {
        let country = COUNTRIES.split(' ').find(|country| *country == letters)?;
        country.as_bytes().try_into().ok().map(Country)
    }
}

impl fmt::Debug for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for GeoCode {
    type Err = GeoCodeError;

    fn from_str(text: &str) -> Result<GeoCode, GeoCodeError> {
        let upper = text.to_ascii_uppercase();
        if upper == "*" {
            return Ok(GeoCode::Default);
        }
        if AZURE_GROUPS.contains(&upper.as_str()) {
            return Ok(GeoCode::Region(upper));
        }
        if let Some(letters) = upper.strip_prefix("GEO-") {
            let continent = Continent::from_letters(letters);
            return continent
                .map(GeoCode::Continent)
                .ok_or(GeoCodeError::Continent);
        }
        if let Some(country) = Country::from_letters(&upper) {
            return Ok(GeoCode::Country(country));
        }
        // EU, OC and AN are no countries; manifests from before the prefix mean the continent.
        if let Some(continent) = Continent::from_letters(&upper) {
            return Ok(GeoCode::Continent(continent));
        }
        if is_region(text) {
            Ok(GeoCode::Region(text.to_owned()))
        } else {
            Err(GeoCodeError::Unknown)
        }
    }
}

impl fmt::Display for GeoCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GeoCode::Default => f.write_str("*"),
            GeoCode::Continent(continent) => write!(f, "GEO-{}", continent.as_str()),
            GeoCode::Country(country) => f.write_str(country.as_str()),
            GeoCode::Region(region) => f.write_str(region),
        }
    }
}

/// Whether a text looks like a cloud's region: `us-east1`, `northamerica-northeast2`.
fn is_region(text: &str) -> bool {
    let Some((area, rest)) = text.split_once('-') else {
        return false;
    };
    let place = rest.trim_end_matches(|c: char| c.is_ascii_digit());
    let letters =
        |text: &str| !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_lowercase());
    letters(area) && letters(place) && (1..=2).contains(&(rest.len() - place.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_whole_numbers_up_to_255() {
        // G40.
        for (text, weight) in [("0", 0), ("1", 1), ("120", 120), ("255", 255), ("007", 7)] {
            assert_eq!(
                text.parse::<Weight>().map(Weight::get),
                Ok(weight),
                "{text}"
            );
        }
        for text in [
            "",
            "-1",
            "+1",
            "256",
            "65536",
            "1e2",
            "1.5",
            "0x10",
            " 1",
            "1 ",
            "99999999999999999999",
            "١",
        ] {
            assert_eq!(text.parse::<Weight>(), Err(WeightError), "{text:?}");
        }
        for number in [-1, i64::MIN, 256, 65_536, i64::MAX] {
            assert_eq!(Weight::new(number), Err(WeightError), "{number}");
        }
    }

    #[test]
    fn places_are_told_apart() {
        let continent = GeoCode::Continent;
        let country = |letters| GeoCode::Country(Country::from_letters(letters).unwrap());
        let region = |name: &str| GeoCode::Region(name.to_owned());
        let cases = [
            ("*", GeoCode::Default),
            ("GEO-EU", continent(Continent::Europe)),
            ("geo-eu", continent(Continent::Europe)),
            ("GEO-NA", continent(Continent::NorthAmerica)),
            ("GEO-AS", continent(Continent::Asia)),
            // Namibia, American Samoa and Saudi Arabia: without the prefix they are countries.
            ("NA", country("NA")),
            ("AS", country("AS")),
            ("SA", country("SA")),
            ("EU", continent(Continent::Europe)),
            ("IE", country("IE")),
            ("ie", country("IE")),
            ("XK", country("XK")),
            ("GEO-ME", region("GEO-ME")),
            ("europe-west1", region("europe-west1")),
            ("northamerica-northeast2", region("northamerica-northeast2")),
            ("europe-west12", region("europe-west12")),
        ];
        for (text, code) in cases {
            assert_eq!(text.parse::<GeoCode>(), Ok(code), "{text}");
        }
    }

    #[test]
    fn what_stands_for_no_place_is_refused() {
        // G40.
        for text in ["GEO-", "GEO-XX", "GEO-IE", "GEO-EUROPE", "geo-"] {
            assert_eq!(
                text.parse::<GeoCode>(),
                Err(GeoCodeError::Continent),
                "{text:?}"
            );
        }
        for text in [
            "",
            " ",
            "ZZ",
            "XX",
            "UK",
            "Ireland",
            "IRL",
            "default",
            "**",
            "I E",
            "IE ",
            "west",
            "us-",
            "-east1",
            "us-east",
            "us-east123",
            "US-EAST1",
            "us east1",
            "US-CA",
            "ÏE",
        ] {
            assert_eq!(
                text.parse::<GeoCode>(),
                Err(GeoCodeError::Unknown),
                "{text:?}"
            );
        }
    }

    #[test]
    fn a_place_is_written_as_it_is_read() {
        for text in [
            "*", "GEO-AF", "GEO-AN", "GEO-AS", "GEO-EU", "GEO-NA", "GEO-OC", "GEO-SA", "US",
            "us-east1", "GEO-AP",
        ] {
            assert_eq!(
                text.parse::<GeoCode>().map(|code| code.to_string()),
                Ok(text.to_owned())
            );
        }
    }

    #[test]
    fn the_list_of_countries_is_whole() {
        let countries: std::collections::BTreeSet<&str> = COUNTRIES.split(' ').collect();
        // 249 assigned codes and XK.
        assert_eq!(countries.len(), 250);
        assert!(countries.iter().all(|country| country.len() == 2));
    }
}
