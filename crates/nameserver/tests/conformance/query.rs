//! Queries: octets, what they are called in reports and rules, and what sort of question they are.

use std::fmt;

use domain::base::iana::{Class, Rtype};

/// How a query is sent.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Transport {
    Udp,
    Tcp,
}

/// What is unusual about a query, the first that holds; what most of them vary besides (case, flags, EDNS, transport) is not
/// counted.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Kind {
    /// A name of a zone, or one that its data speaks of, and a type.
    Name,
    /// A name below one.
    Below,
    /// A name whose first label is another.
    Beside,
    /// A name above one, the root among them.
    Above,
    /// A name that no zone is responsible for.
    Elsewhere,
    /// A name as long as can be.
    Long,
    /// Any type.
    Any,
    /// A type that no zone has.
    UnknownType,
    /// A type that is no data.
    MetaType,
    /// A zone, whole or what changed.
    Transfer,
    /// Any class.
    AnyClass,
    /// A class that is not the Internet's.
    Class,
    /// Another opcode.
    Opcode,
    /// A version of EDNS that does not exist, or options that nobody knows.
    Edns,
    /// Octets that are no query, or a bad one.
    Malformed,
    /// What did not fit into a datagram.
    Again,
}

/// A query, or what stands for one.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) kind: Kind,
    pub(crate) transport: Transport,
    /// The message; whoever sends it puts a number into the first two octets.
    pub(crate) octets: Vec<u8>,
    /// What follows the transport in its text.
    pub(crate) what: String,
}

impl Query {
    /// The same over TCP.
    pub(crate) fn again(&self) -> Query {
        Query {
            kind: Kind::Again,
            transport: Transport::Tcp,
            ..self.clone()
        }
    }
}

impl Kind {
    /// Whether it is only compared what became of the query: which code, or none.
    pub(crate) fn is_fault(self) -> bool {
        matches!(
            self,
            Kind::Malformed | Kind::Opcode | Kind::Transfer | Kind::Class
        )
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Name => "name",
            Kind::Below => "below",
            Kind::Beside => "beside",
            Kind::Above => "above",
            Kind::Elsewhere => "elsewhere",
            Kind::Long => "long",
            Kind::Any => "any",
            Kind::UnknownType => "unknown type",
            Kind::MetaType => "meta type",
            Kind::Transfer => "transfer",
            Kind::AnyClass => "any class",
            Kind::Class => "class",
            Kind::Opcode => "opcode",
            Kind::Edns => "edns",
            Kind::Malformed => "malformed",
            Kind::Again => "again over TCP",
        }
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let transport = match self.transport {
            Transport::Udp => "udp",
            Transport::Tcp => "tcp",
        };
        write!(f, "{transport} {}", self.what)
    }
}

/// A query as fields, before it is octets. What is wrong with a malformed one is done to its octets.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// Labels from left to right.
    pub(crate) name: Vec<Vec<u8>>,
    pub(crate) rtype: Rtype,
    pub(crate) class: u16,
    pub(crate) opcode: u8,
    /// The bits of the header beside QR and the opcode: AA, TC, RD, RA, Z, AD, CD and the code.
    pub(crate) bits: u16,
    pub(crate) edns: Option<Edns>,
    /// The SOA of an IXFR, for the authority section: its data.
    pub(crate) known: Option<Vec<u8>>,
}

/// An OPT record as fields.
#[derive(Clone, Debug)]
pub(crate) struct Edns {
    pub(crate) payload: u16,
    pub(crate) version: u8,
    pub(crate) dnssec_ok: bool,
    /// Code and data.
    pub(crate) options: Vec<(u16, Vec<u8>)>,
}

/// The flags by their bits in the second word of the header.
pub(crate) const FLAGS: [(u16, &str); 8] = [
    (0x0400, "aa"),
    (0x0200, "tc"),
    (0x0100, "rd"),
    (0x0080, "ra"),
    (0x0040, "z"),
    (0x0020, "ad"),
    (0x0010, "cd"),
    (0x000f, "rcode"),
];

/// The class of the Internet.
pub(crate) const IN: u16 = 1;

/// Any class.
pub(crate) const ANY: u16 = 255;

impl Draft {
    pub(crate) fn octets(&self) -> Vec<u8> {
        let bits = u16::from(self.opcode) << 11 | self.bits;
        let counts = [
            1,
            0,
            u16::from(self.known.is_some()),
            u16::from(self.edns.is_some()),
        ];
        let mut octets = vec![0, 0];
        octets.extend(bits.to_be_bytes());
        octets.extend(counts.into_iter().flat_map(u16::to_be_bytes));
        octets.extend(self.name_octets());
        octets.extend(self.rtype.to_int().to_be_bytes());
        octets.extend(self.class.to_be_bytes());
        if let Some(data) = &self.known {
            octets.extend(self.name_octets());
            octets.extend(record(Rtype::SOA.to_int(), IN, 0, data));
        }
        if let Some(edns) = &self.edns {
            octets.extend(edns.octets());
        }
        octets
    }

    /// What is asked, as reports and rules name it: `www.example.org. A, rd edns=1232 do`.
    pub(crate) fn what(&self) -> String {
        let mut text = format!("{} {},", shown(&self.name), self.rtype);
        let mut word = |word: String| {
            text.push(' ');
            text.push_str(&word);
        };
        if self.class != IN {
            word(format!("class={}", Class::from_int(self.class)));
        }
        if self.opcode != 0 {
            word(format!("opcode={}", self.opcode));
        }
        for (bit, flag) in FLAGS {
            if self.bits & bit != 0 {
                word(flag.to_owned());
            }
        }
        if self.known.is_some() {
            word("soa".to_owned());
        }
        if let Some(edns) = &self.edns {
            word(format!("edns={}", edns.payload));
            if edns.payload < 512 {
                word("small".to_owned());
            }
            if edns.dnssec_ok {
                word("do".to_owned());
            }
            if edns.version != 0 {
                word(format!("version={}", edns.version));
            }
            for (code, _) in &edns.options {
                word(format!("option={code}"));
            }
        }
        text
    }

    fn name_octets(&self) -> Vec<u8> {
        name_octets(&self.name)
    }
}

impl Edns {
    pub(crate) fn octets(&self) -> Vec<u8> {
        let mut data = Vec::new();
        for (code, value) in &self.options {
            data.extend(code.to_be_bytes());
            data.extend(length(value));
            data.extend(value);
        }
        let flags = u32::from(self.version) << 16 | u32::from(self.dnssec_ok) << 15;
        let root = [0];
        let opt = record(Rtype::OPT.to_int(), self.payload, flags, &data);
        root.into_iter().chain(opt).collect()
    }
}

/// A name without compression.
pub(crate) fn name_octets(labels: &[Vec<u8>]) -> Vec<u8> {
    let mut octets = Vec::new();
    for label in labels {
        octets.push(u8::try_from(label.len()).expect("a label is short"));
        octets.extend(label);
    }
    octets.push(0);
    octets
}

/// A record behind its owner.
pub(crate) fn record(rtype: u16, class: u16, ttl: u32, data: &[u8]) -> Vec<u8> {
    let mut octets = Vec::new();
    octets.extend(rtype.to_be_bytes());
    octets.extend(class.to_be_bytes());
    octets.extend(ttl.to_be_bytes());
    octets.extend(length(data));
    octets.extend(data);
    octets
}

fn length(octets: &[u8]) -> [u8; 2] {
    let length = u16::try_from(octets.len()).expect("data is short");
    length.to_be_bytes()
}

/// A name as text, letter for letter.
pub(crate) fn shown(labels: &[Vec<u8>]) -> String {
    let name = domain::base::Name::from_octets(name_octets(labels)).expect("a name");
    if labels.is_empty() {
        ".".to_owned()
    } else {
        format!("{name}.")
    }
}
