//! Queries made from a seed: the same seed and the same zones give the same queries.
//!
//! A query starts as a name and a type that make sense in the zones, and then some of it is bent: its name, its type, its
//! class, flags, EDNS, letters, transport. How often each happens is written here once.

use dns::{Name, Rtype as ZoneType};
use domain::base::iana::Rtype;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};

use crate::malformed;
use crate::query::{ANY, Draft, Edns, IN, Kind, Query, Transport, name_octets};
use crate::world::World;

/// Of a hundred queries, so many are of each kind.
const SHARES: [(Kind, u32); 15] = [
    (Kind::Name, 38),
    (Kind::Below, 19),
    (Kind::Beside, 14),
    (Kind::Above, 4),
    (Kind::Elsewhere, 3),
    (Kind::Long, 2),
    (Kind::Any, 5),
    (Kind::UnknownType, 2),
    (Kind::MetaType, 2),
    (Kind::Transfer, 1),
    (Kind::AnyClass, 1),
    (Kind::Class, 1),
    (Kind::Opcode, 1),
    (Kind::Edns, 4),
    (Kind::Malformed, 3),
];

/// Types that are asked for whether a zone has them or not.
const USUAL_TYPES: [Rtype; 18] = [
    Rtype::A,
    Rtype::AAAA,
    Rtype::NS,
    Rtype::SOA,
    Rtype::CNAME,
    Rtype::DNAME,
    Rtype::MX,
    Rtype::TXT,
    Rtype::PTR,
    Rtype::SRV,
    Rtype::DS,
    Rtype::DNSKEY,
    Rtype::NSEC,
    Rtype::RRSIG,
    Rtype::NSEC3,
    Rtype::NSEC3PARAM,
    Rtype::HTTPS,
    Rtype::CAA,
];

/// OPT, TKEY, TSIG, MAILB, MAILA; 0, 128 and 65535, which are set aside.
const META_TYPES: [u16; 8] = [41, 249, 250, 253, 254, 0, 128, 65_535];

/// Sizes of datagrams around those that matter.
const PAYLOADS: [u16; 14] = [
    0, 1, 511, 512, 513, 700, 1_000, 1_231, 1_232, 1_233, 1_400, 4_096, 65_534, 65_535,
];

/// The least room that an answer has, and the most that ours take.
const TIGHT_PAYLOADS: [u16; 2] = [512, 1_232];

/// How many queries everything is done to.
const FAULTY: usize = 5;

/// Labels that exist nowhere, or mean something where they do.
const LABELS: [&[u8]; 12] = [
    b"*", b"www", b"ns", b"a", b"nosuch", b"_tcp", b"\0", b"x.y", b"zz", b"**", b"-", b"\xff",
];

/// The longest name there is, in octets.
const NAME_OCTETS_MAX: usize = 255;

/// Makes queries.
pub(crate) struct Generator<'w> {
    world: &'w World,
    names: Vec<&'w Name>,
    origins: Vec<&'w Name>,
    types: Vec<Rtype>,
    chance: StdRng,
}

type Labels = Vec<Vec<u8>>;

impl<'w> Generator<'w> {
    pub(crate) fn new(world: &'w World, seed: u64) -> Self {
        let types = world.types().into_iter().map(on_the_wire);
        Self {
            world,
            names: world.names.keys().collect(),
            origins: world.origins().collect(),
            types: types.chain(USUAL_TYPES).collect(),
            chance: StdRng::seed_from_u64(seed),
        }
    }

    /// The next query.
    pub(crate) fn query(&mut self) -> Query {
        let kind = self.kind();
        // Whether an answer with long names fits depends on how well a server compresses them.
        let transport = if kind != Kind::Long && self.chance.random_bool(0.75) {
            Transport::Udp
        } else {
            Transport::Tcp
        };
        let draft = self.draft(kind);
        if kind == Kind::Malformed {
            return malformed::query(&draft, transport, &mut self.chance);
        }
        whole(kind, transport, &draft)
    }

    /// What chance brings too seldom: every name in all classes at once, every name in capitals with so little room that some
    /// sets just fit and some do not, every fault over each transport.
    pub(crate) fn rare(&mut self) -> Vec<Query> {
        let mut queries = Vec::new();
        for name in &self.names {
            let plain = Draft {
                name: labels(name),
                rtype: Rtype::A,
                class: IN,
                opcode: 0,
                bits: 0,
                edns: None,
                known: None,
            };
            let any_class = Draft {
                class: ANY,
                ..plain.clone()
            };
            queries.push(whole(Kind::AnyClass, Transport::Udp, &any_class));
            for payload in TIGHT_PAYLOADS {
                let edns = Some(Edns {
                    payload,
                    version: 0,
                    dnssec_ok: false,
                    options: Vec::new(),
                });
                let tight = Draft {
                    name: plain
                        .name
                        .iter()
                        .map(|it| it.to_ascii_uppercase())
                        .collect(),
                    edns,
                    ..plain.clone()
                };
                queries.push(whole(Kind::Name, Transport::Udp, &tight));
            }
        }
        for transport in [Transport::Udp, Transport::Tcp] {
            for _ in 0..FAULTY {
                let draft = self.draft(Kind::Malformed);
                queries.extend(malformed::queries(&draft, transport, &mut self.chance));
            }
        }
        queries
    }

    fn kind(&mut self) -> Kind {
        let all = SHARES.choose_weighted(&mut self.chance, |(_, share)| *share);
        all.expect("shares are not zero").0
    }

    fn draft(&mut self, kind: Kind) -> Draft {
        let known: &'w Name = self
            .names
            .choose(&mut self.chance)
            .expect("there are zones");
        let mut draft = Draft {
            name: self.name(kind, known),
            rtype: self.rtype(kind, known),
            class: IN,
            opcode: 0,
            bits: self.bits(),
            edns: self.edns(),
            known: None,
        };
        match kind {
            Kind::AnyClass => draft.class = ANY,
            Kind::Class => draft.class = self.class(),
            Kind::Opcode => draft.opcode = self.opcode(),
            Kind::Edns => draft.edns = Some(self.strange_edns()),
            Kind::Transfer if draft.rtype == Rtype::IXFR => draft.known = self.known_soa(),
            Kind::Name
            | Kind::Below
            | Kind::Beside
            | Kind::Above
            | Kind::Elsewhere
            | Kind::Long
            | Kind::Any
            | Kind::UnknownType
            | Kind::MetaType
            | Kind::Transfer
            | Kind::Malformed
            | Kind::Again => {}
        }
        if self.chance.random_bool(0.3) {
            self.mix_case(&mut draft.name);
        }
        draft
    }

    fn name(&mut self, kind: Kind, known: &Name) -> Labels {
        let labels = labels(known);
        match kind {
            Kind::Below => self.below(labels),
            Kind::Beside => self.beside(labels),
            Kind::Above => {
                let kept = self.chance.random_range(0..=labels.len());
                labels[kept..].to_vec()
            }
            Kind::Elsewhere => self.elsewhere(labels),
            Kind::Long => self.long(labels),
            Kind::Transfer | Kind::Opcode if self.chance.random_bool(0.7) => {
                let origin = self.origins.choose(&mut self.chance);
                self::labels(origin.expect("there are zones"))
            }
            Kind::Any | Kind::Edns | Kind::AnyClass | Kind::UnknownType | Kind::MetaType
                if self.chance.random_bool(0.3) =>
            {
                self.below(labels)
            }
            Kind::Name
            | Kind::Any
            | Kind::UnknownType
            | Kind::MetaType
            | Kind::Transfer
            | Kind::AnyClass
            | Kind::Class
            | Kind::Opcode
            | Kind::Edns
            | Kind::Malformed
            | Kind::Again => labels,
        }
    }

    fn below(&mut self, mut labels: Labels) -> Labels {
        for _ in 0..self.chance.random_range(1..4) {
            let label = self.label();
            labels.insert(0, label);
        }
        within_limit(labels)
    }

    fn beside(&mut self, mut labels: Labels) -> Labels {
        if let Some(first) = labels.first_mut() {
            if self.chance.random_bool(0.3) {
                // A neighbour: one letter is another.
                let at = self.chance.random_range(0..first.len());
                first[at] = first[at].wrapping_add(1);
            } else {
                labels[0] = self.label();
            }
        }
        within_limit(labels)
    }

    fn elsewhere(&mut self, mut labels: Labels) -> Labels {
        match self.chance.random_range(0..3) {
            0 => vec![self.label(), b"example".to_vec(), b"com".to_vec()],
            // `badexample.org` is not below `example.org`.
            1 => {
                if let Some(label) = labels.iter_mut().nth_back(1)
                    && label.len() < 60
                {
                    label.splice(..0, *b"bad");
                }
                within_limit(labels)
            }
            _ => vec![self.label()],
        }
    }

    /// As many labels as fit, long ones or short ones.
    fn long(&mut self, mut labels: Labels) -> Labels {
        let longest = *[1, 7, 63].choose(&mut self.chance).expect("three");
        loop {
            let room = NAME_OCTETS_MAX - name_octets(&labels).len();
            if room < 2 {
                return labels;
            }
            let letter = self.chance.random_range(b'a'..=b'z');
            labels.insert(0, vec![letter; longest.min(room - 1)]);
        }
    }

    fn label(&mut self) -> Vec<u8> {
        match self.chance.random_range(0..4) {
            0 => LABELS.choose(&mut self.chance).expect("twelve").to_vec(),
            // A label of another name, which may exist here too.
            1 | 2 => {
                let name: &Name = self
                    .names
                    .choose(&mut self.chance)
                    .expect("there are zones");
                let all: Labels = labels(name);
                let label = all.choose(&mut self.chance);
                label.cloned().unwrap_or_else(|| b"root".to_vec())
            }
            _ => {
                let length = self.chance.random_range(1..9);
                let letters = (0..length).map(|_| self.chance.random_range(b'a'..=b'z'));
                letters.collect()
            }
        }
    }

    fn rtype(&mut self, kind: Kind, known: &Name) -> Rtype {
        let chosen = match kind {
            Kind::Any => return Rtype::ANY,
            Kind::UnknownType => return Rtype::from_int(self.chance.random_range(262..32_768)),
            Kind::MetaType => META_TYPES
                .choose(&mut self.chance)
                .copied()
                .map(Rtype::from_int),
            Kind::Transfer => [Rtype::AXFR, Rtype::IXFR].choose(&mut self.chance).copied(),
            // What UPDATE and NOTIFY speak of.
            Kind::Opcode => Some(Rtype::SOA),
            Kind::Name
            | Kind::Below
            | Kind::Beside
            | Kind::Above
            | Kind::Elsewhere
            | Kind::Long
            | Kind::AnyClass
            | Kind::Class
            | Kind::Edns
            | Kind::Malformed
            | Kind::Again => {
                let there: Vec<_> = self.world.names[known].iter().copied().collect();
                let there = there.choose(&mut self.chance).copied().map(on_the_wire);
                there.filter(|_| self.chance.random_bool(0.5))
            }
        };
        chosen.unwrap_or_else(|| *self.types.choose(&mut self.chance).expect("many"))
    }

    fn opcode(&mut self) -> u8 {
        // NOTIFY and UPDATE are the ones that servers know.
        if self.chance.random_bool(0.3) {
            self.chance.random_range(4..6)
        } else {
            self.chance.random_range(1..16)
        }
    }

    fn class(&mut self) -> u16 {
        // CH, HS, NONE, and those that nobody has heard of.
        let known = *[3, 4, 254, 0, 2].choose(&mut self.chance).expect("five");
        if self.chance.random_bool(0.9) {
            known
        } else {
            self.chance.random_range(5..254)
        }
    }

    fn bits(&mut self) -> u16 {
        let mut bits = 0;
        // RD, Z, AD and CD.
        for (bit, often) in [(0x0100, 0.3), (0x0040, 0.02), (0x0020, 0.1), (0x0010, 0.1)] {
            if self.chance.random_bool(often) {
                bits |= bit;
            }
        }
        bits
    }

    fn edns(&mut self) -> Option<Edns> {
        self.chance.random_bool(0.6).then(|| Edns {
            payload: *PAYLOADS.choose(&mut self.chance).expect("many"),
            version: 0,
            dnssec_ok: self.chance.random_bool(0.4),
            options: Vec::new(),
        })
    }

    fn strange_edns(&mut self) -> Edns {
        let version = if self.chance.random_bool(0.4) {
            *[1, 2, 255].choose(&mut self.chance).expect("three")
        } else {
            0
        };
        let mut options = Vec::new();
        for _ in 0..self.chance.random_range(0..3) {
            // NSID, COOKIE, PADDING and one for experiments.
            let code = *[3, 10, 12, 65_001].choose(&mut self.chance).expect("four");
            let data: &[u8] = if code == 3 { b"" } else { b"01234567" };
            options.push((code, data.to_vec()));
        }
        Edns {
            payload: *PAYLOADS.choose(&mut self.chance).expect("many"),
            version,
            dnssec_ok: self.chance.random_bool(0.4),
            options,
        }
    }

    /// An SOA that a secondary could have: nothing but its serial is looked at.
    fn known_soa(&mut self) -> Option<Vec<u8>> {
        self.chance.random_bool(0.8).then(|| {
            let serial: u32 = *[0, 1, 2_026_010_100, u32::MAX]
                .choose(&mut self.chance)
                .expect("four");
            let names = [0, 0];
            let numbers = [serial, 1, 1, 1, 1];
            let numbers = numbers.into_iter().flat_map(u32::to_be_bytes);
            names.into_iter().chain(numbers).collect()
        })
    }

    fn mix_case(&mut self, labels: &mut Labels) {
        for octet in labels.iter_mut().flatten() {
            if octet.is_ascii_alphabetic() && self.chance.random() {
                *octet ^= 0x20;
            }
        }
    }
}

/// A query to which nothing is done.
fn whole(kind: Kind, transport: Transport, draft: &Draft) -> Query {
    Query {
        kind,
        transport,
        octets: draft.octets(),
        what: draft.what(),
    }
}

fn labels(name: &Name) -> Labels {
    name.labels()
        .filter(|label| !label.is_empty())
        .map(<[u8]>::to_vec)
        .collect()
}

/// The name without as many labels from the left as are too many.
fn within_limit(mut labels: Labels) -> Labels {
    while name_octets(&labels).len() > NAME_OCTETS_MAX {
        labels.remove(0);
    }
    labels
}

fn on_the_wire(rtype: ZoneType) -> Rtype {
    Rtype::from_int(rtype.to_int())
}
