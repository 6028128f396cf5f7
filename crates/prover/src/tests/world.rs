//! A world of name servers in memory, from a text.
//!
//! ```text
//! 192.0.2.1 serves com.                  a server and a zone of it, with its records below; several zones, several lines
//!   example.com. NS ns.example.com.
//! 192.0.2.2 is silent                    or: slow, lame, garbled; any other word is the code that it answers everything with
//! ```

use std::collections::BTreeMap;
use std::future::pending;
use std::net::{IpAddr, SocketAddr};
use std::sync::Mutex;
use std::time::Duration;

use dns::{Name, Rtype};
use tokio::time::sleep;

use crate::check::Network;
use crate::fault::Fault;
use crate::message::{Answer, Code, Data, Question, Record};

/// How long a slow server takes: a moment less than it may.
const SLOW: Duration = Duration::from_millis(2_900);

pub(super) struct World {
    servers: BTreeMap<IpAddr, Server>,
    pub(super) asked: Mutex<Vec<(SocketAddr, Question)>>,
}

#[derive(Default)]
struct Server {
    manner: String,
    zones: BTreeMap<Name, Vec<(Name, Content)>>,
}

#[derive(Clone)]
enum Content {
    Data(Data),
    Dname(Name),
}

impl World {
    pub(super) fn read(text: &str) -> World {
        let mut servers: BTreeMap<IpAddr, Server> = BTreeMap::new();
        let mut at = None;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            if line.starts_with(' ') {
                let (server, zone): (IpAddr, Name) = at.clone().unwrap();
                let zones = &mut servers.get_mut(&server).unwrap().zones;
                zones.get_mut(&zone).unwrap().push(record(&words));
                continue;
            }
            let address: IpAddr = words[0].parse().unwrap();
            let server = servers.entry(address).or_default();
            if words[1] == "serves" {
                let zone = name(words[2]);
                server.zones.entry(zone.clone()).or_default();
                at = Some((address, zone));
            } else {
                server.manner = words[2].to_owned();
            }
        }
        let asked = Mutex::new(Vec::new());
        World { servers, asked }
    }
}

impl Network for World {
    async fn ask(&self, server: SocketAddr, question: &Question) -> Result<Answer, Fault> {
        let asked = (server, question.clone());
        self.asked.lock().unwrap().push(asked);
        let Some(server) = self.servers.get(&server.ip()) else {
            return Err(Fault::Network("nobody listens there".to_owned()));
        };
        match server.manner.as_str() {
            "" => Ok(server.answer(question)),
            "silent" => pending().await,
            "slow" => {
                sleep(SLOW).await;
                Ok(server.answer(question))
            }
            "lame" => Ok(Answer {
                authoritative: false,
                ..server.answer(question)
            }),
            "resolving" => Ok(Answer {
                authoritative: false,
                recursive: question.recursive,
                ..server.answer(question)
            }),
            "garbled" => Err(Fault::Garbage),
            code => Ok(answer(Code::Other(code.to_owned()), Vec::new())),
        }
    }
}

impl Server {
    /// As RFC 1034 §4.3.2 has it, as far as a look needs it.
    fn answer(&self, question: &Question) -> Answer {
        let name = &question.name;
        let zone = name.ancestors().find(|it| self.zones.contains_key(it));
        let Some(apex) = zone else {
            // The way that some servers point whoever asks for what they do not have.
            return Answer {
                authoritative: false,
                authority: vec![owned(&Name::root(), Data::Server(self::name("a.root.")))],
                ..answer(Code::NoError, Vec::new())
            };
        };
        let zone = &self.zones[&apex];
        let cut = name.ancestors().find(|it| {
            let is_cut = |(owner, content): &(Name, Content)| {
                owner == it && matches!(content, Content::Data(Data::Server(_)))
            };
            it.is_below(&apex) && zone.iter().any(is_cut)
        });
        match cut {
            Some(cut) => referral(zone, &cut),
            None => spoken(zone, &apex, question),
        }
    }
}

fn referral(zone: &[(Name, Content)], cut: &Name) -> Answer {
    let servers: Vec<Record> = data(zone, cut, cut);
    let glue = servers.iter().flat_map(|record| match &record.data {
        Data::Server(host) => data(zone, host, host),
        Data::Text(_) | Data::Alias(_) | Data::Address(_) => Vec::new(),
    });
    Answer {
        authoritative: false,
        additional: glue.collect(),
        authority: servers,
        ..answer(Code::NoError, Vec::new())
    }
}

fn spoken(zone: &[(Name, Content)], apex: &Name, question: &Question) -> Answer {
    let name = &question.name;
    let is_there = |name: &Name| zone.iter().any(|(owner, _)| owner.is_at_or_below(name));
    let exists = |name: &Name| name == apex || is_there(name);
    if exists(name) {
        return answer(Code::NoError, of_type(data(zone, name, name), question));
    }
    let dname = zone.iter().find_map(|(owner, content)| match content {
        Content::Dname(target) if name.is_below(owner) => Some((owner, target)),
        Content::Dname(_) | Content::Data(_) => None,
    });
    if let Some((owner, target)) = dname {
        let prefix = name.to_string();
        let prefix = prefix.strip_suffix(&owner.to_string()).unwrap().to_owned();
        let target = self::name(&format!("{prefix}{target}"));
        return answer(Code::NoError, vec![owned(name, Data::Alias(target))]);
    }
    let encloser = name.ancestors().find(|it| exists(it)).unwrap();
    let wildcard = self::name(&format!("*.{encloser}").replace("..", "."));
    if exists(&wildcard) {
        return answer(
            Code::NoError,
            of_type(data(zone, &wildcard, name), question),
        );
    }
    answer(Code::NxDomain, Vec::new())
}

/// The records of a name, said to be of another.
fn data(zone: &[(Name, Content)], from: &Name, owner: &Name) -> Vec<Record> {
    let found = zone.iter().filter_map(|(at, content)| match content {
        Content::Data(data) if at == from => Some(owned(owner, data.clone())),
        Content::Data(_) | Content::Dname(_) => None,
    });
    found.collect()
}

fn of_type(records: Vec<Record>, question: &Question) -> Vec<Record> {
    let fits = |record: &Record| match &record.data {
        Data::Alias(_) => true,
        Data::Text(_) => question.rtype == Rtype::TXT,
        Data::Server(_) => question.rtype == Rtype::NS,
        Data::Address(IpAddr::V4(_)) => question.rtype == Rtype::A,
        Data::Address(IpAddr::V6(_)) => question.rtype == Rtype::AAAA,
    };
    records.into_iter().filter(fits).collect()
}

fn answer(code: Code, records: Vec<Record>) -> Answer {
    Answer {
        authoritative: true,
        recursive: false,
        code,
        records,
        authority: Vec::new(),
        additional: Vec::new(),
    }
}

fn record(words: &[&str]) -> (Name, Content) {
    let content = match words[1] {
        "TXT" => Content::Data(Data::Text(words[2..].join(" ").into_bytes())),
        "CNAME" => Content::Data(Data::Alias(name(words[2]))),
        "NS" => Content::Data(Data::Server(name(words[2]))),
        "A" | "AAAA" => Content::Data(Data::Address(words[2].parse().unwrap())),
        "DNAME" => Content::Dname(name(words[2])),
        other => panic!("{other} is no type of this world"),
    };
    (name(words[0]), content)
}

fn owned(owner: &Name, data: Data) -> Record {
    let owner = owner.clone();
    Record { owner, data }
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}
