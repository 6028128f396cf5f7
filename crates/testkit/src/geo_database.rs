//! Databases of places in `MaxMind`'s format, as small as a test needs them.
//!
//! The format is [`MaxMind` DB 2.0](https://maxmind.github.io/MaxMind-DB/): a binary tree over the bits of addresses, whose leaves point at
//! data, and a description at the end. IPv4 addresses are the lowest of IPv6.

use std::net::{IpAddr, Ipv6Addr};

/// What stands between the tree and the data.
const SEPARATOR: [u8; 16] = [0; 16];

/// What the description begins with.
const DESCRIPTION_START: &[u8] = b"\xab\xcd\xefMaxMind.com";

/// The bits of a pointer in the tree: 16 million nodes and octets of data.
const RECORD_BITS: u16 = 24;

/// The bits in front of an IPv4 address.
const IPV4_OFFSET_BITS: u8 = 96;

/// A network such as `192.0.2.0/24`, and the letters of its country and continent.
pub type Network<'a> = (&'a str, Option<&'a str>, Option<&'a str>);

/// The octets of a database with these networks. Of two that contain an address the smaller counts.
///
/// # Panics
///
/// If a network is none.
pub fn places(networks: &[Network<'_>]) -> Vec<u8> {
    let mut networks: Vec<_> = networks
        .iter()
        .map(|(network, country, continent)| (bits(network), entry(*country, *continent)))
        .collect();
    networks.sort_by_key(|((_, prefix), _)| *prefix);
    let mut tree = Tree::default();
    let mut data = Vec::new();
    for ((address, prefix), entry) in networks {
        tree.insert(address, prefix, data.len());
        data.extend(entry);
    }
    [
        tree.octets(),
        SEPARATOR.to_vec(),
        data,
        DESCRIPTION_START.to_vec(),
        description("Test-Country", tree.0.len()),
    ]
    .concat()
}

/// The octets of a database that knows nothing of places: who runs a network.
pub fn owners() -> Vec<u8> {
    let mut tree = Tree::default();
    tree.insert(0, 0, 0);
    let owner = map(&[("autonomous_system_organization", string("Example"))]);
    [
        tree.octets(),
        SEPARATOR.to_vec(),
        owner,
        DESCRIPTION_START.to_vec(),
        description("Test-ASN", tree.0.len()),
    ]
    .concat()
}

/// Where a path through the tree leads on to.
#[derive(Clone, Copy, Default)]
enum Next {
    #[default]
    Nowhere,
    Node(usize),
    Data(usize),
}

/// The nodes of the tree: what follows a 0, and what follows a 1.
struct Tree(Vec<[Next; 2]>);

impl Default for Tree {
    fn default() -> Tree {
        Tree(vec![[Next::Nowhere; 2]])
    }
}

impl Tree {
    fn insert(&mut self, address: u128, prefix: u8, data: usize) {
        let bit = |depth: u8| usize::from(address >> (127 - depth) & 1 == 1);
        let mut node = 0;
        for depth in 0..prefix.saturating_sub(1) {
            node = match self.0[node][bit(depth)] {
                Next::Node(next) => next,
                // What was said of the larger network goes on for the rest of it.
                leaf @ (Next::Nowhere | Next::Data(_)) => {
                    self.0.push([leaf; 2]);
                    self.0[node][bit(depth)] = Next::Node(self.0.len() - 1);
                    self.0.len() - 1
                }
            };
        }
        match prefix.checked_sub(1) {
            Some(last) => self.0[node][bit(last)] = Next::Data(data),
            None => self.0[node] = [Next::Data(data); 2],
        }
    }

    fn octets(&self) -> Vec<u8> {
        let pointer = |next: &Next| match next {
            Next::Nowhere => self.0.len(),
            Next::Node(node) => *node,
            Next::Data(at) => self.0.len() + SEPARATOR.len() + at,
        };
        let octets = |next: &Next| {
            let pointer = u32::try_from(pointer(next)).expect("the database is small");
            let [_, rest @ ..] = pointer.to_be_bytes();
            rest
        };
        self.0.iter().flatten().flat_map(octets).collect()
    }
}

/// The bits of a network, and how many of them count.
fn bits(network: &str) -> (u128, u8) {
    let (address, prefix) = network.split_once('/').expect("a network has a length");
    let prefix: u8 = prefix.parse().expect("a length is a number");
    match address.parse().expect("a network has an address") {
        IpAddr::V4(address) => (u32::from(address).into(), prefix + IPV4_OFFSET_BITS),
        IpAddr::V6(address) => (Ipv6Addr::to_bits(address), prefix),
    }
}

fn entry(country: Option<&str>, continent: Option<&str>) -> Vec<u8> {
    let country = country.map(|it| ("country", map(&[("iso_code", string(it))])));
    let continent = continent.map(|it| ("continent", map(&[("code", string(it))])));
    let fields: Vec<_> = [country, continent].into_iter().flatten().collect();
    map(&fields)
}

fn description(kind: &str, nodes: usize) -> Vec<u8> {
    let nodes = u32::try_from(nodes).expect("the database is small");
    map(&[
        ("binary_format_major_version", uint16(2)),
        ("binary_format_minor_version", uint16(0)),
        ("build_epoch", uint64(1)),
        ("database_type", string(kind)),
        ("description", map(&[("en", string("made for a test"))])),
        ("ip_version", uint16(6)),
        ("languages", array(&[string("en")])),
        ("node_count", uint32(nodes)),
        ("record_size", uint16(RECORD_BITS)),
    ])
}

/// A value: its type and size in one octet; a type above seven has an octet of its own, and so has what a size is above 28.
fn value(kind: u8, size: usize, octets: &[u8]) -> Vec<u8> {
    let size = u8::try_from(size).expect("values are small");
    let mut head = match kind {
        0..=7 => vec![kind << 5 | size.min(29)],
        _ => vec![size.min(29), kind - 7],
    };
    head.extend(size.checked_sub(29));
    [&head, octets].concat()
}

fn string(text: &str) -> Vec<u8> {
    value(2, text.len(), text.as_bytes())
}

fn uint16(number: u16) -> Vec<u8> {
    value(5, 2, &number.to_be_bytes())
}

fn uint32(number: u32) -> Vec<u8> {
    value(6, 4, &number.to_be_bytes())
}

fn uint64(number: u64) -> Vec<u8> {
    value(9, 8, &number.to_be_bytes())
}

fn array(items: &[Vec<u8>]) -> Vec<u8> {
    value(11, items.len(), &items.concat())
}

fn map(fields: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let pairs = fields
        .iter()
        .map(|(key, field)| [string(key), field.clone()].concat());
    value(7, fields.len(), &pairs.collect::<Vec<_>>().concat())
}
