//! Objects read back before they leave: by the parsers that admission and controllers use, into the zone that
//! controllers will make of them. It must be the file's.

use std::collections::{BTreeMap, BTreeSet};

use api::parse;
use api::{Problem, Record};
use dns::delegation::{Claim, Judge};
use dns::zonefile::LineProblem;
use dns::{Name, Rdata, RecordSet, SetKey, Soa, Ttl};
use kube::ResourceExt as _;

use super::file::ZoneFile;
use super::objects::{Objects, apex_ns};

/// Everything that the objects cannot say, with its line.
pub(super) fn problems(objects: &Objects, file: &ZoneFile) -> Vec<LineProblem> {
    let mut problems = Problems(Vec::new());
    let zone = read(objects, file, &mut problems);
    check_names(objects, &mut problems);
    let same = zone.is_some_and(|zone| zone.hash() == file.zone.hash());
    if problems.0.is_empty() && !same {
        let fault = "the objects would not say what the file says; this is a fault of ours, please report it";
        problems.add(0, fault.to_owned());
    }
    problems.0
}

/// What is wrong, in the order in which it was found.
struct Problems(Vec<LineProblem>);

impl Problems {
    fn add(&mut self, line: usize, message: String) {
        let text = String::new();
        self.0.push(LineProblem {
            line,
            message,
            text,
        });
    }

    /// The value, or its problem where that belongs.
    fn check<T>(&mut self, read: Result<T, Problem>, source: &impl Source) -> Option<T> {
        read.map_err(|problem| self.place(&problem, source)).ok()
    }

    fn place(&mut self, problem: &Problem, source: &impl Source) {
        let (line, subject) = source.place(problem);
        self.add(line, format!("{subject}: {}", problem.message));
    }
}

/// What an object was made from.
trait Source {
    /// The line that a problem of the object belongs to, and what stands there.
    fn place(&self, problem: &Problem) -> (usize, String);
}

/// The Zone: a name server stands on a line of its own, everything else is the SOA record's.
impl Source for ZoneFile {
    fn place(&self, problem: &Problem) -> (usize, String) {
        let field = problem
            .field
            .strip_prefix("spec.")
            .unwrap_or(&problem.field);
        let index = field
            .strip_prefix("nameservers[")
            .and_then(|rest| rest.strip_suffix(']'));
        let index = index.and_then(|index| index.parse::<usize>().ok());
        let servers = self.zone.get(&apex_ns(&self.zone));
        match index
            .zip(servers)
            .and_then(|(index, set)| set.data().get(index))
        {
            Some(data) => (self.line(self.zone.origin(), data), format!("{data:?}")),
            None => (self.soa_line(), field.to_owned()),
        }
    }
}

/// A Record and its line.
impl Source for (&Record, usize) {
    fn place(&self, _: &Problem) -> (usize, String) {
        let (record, line) = self;
        let spec = &record.spec;
        (*line, format!("{} {}", spec.domain_name, spec.type_))
    }
}

/// A record; without a TTL it has the zone's.
type Entry = (Name, Option<Ttl>, Rdata);

/// The zone that controllers will make of the objects, if it is one.
fn read(objects: &Objects, file: &ZoneFile, problems: &mut Problems) -> Option<dns::Zone> {
    let origin = file.zone.origin();
    let (claim, found) = parse::zone::parse(&objects.zone);
    for problem in &found {
        problems.place(problem, file);
    }
    let soa = claim
        .soa
        .and_then(|soa| problems.check(soa.under(origin), file));
    let mut entries: Vec<Entry> = Vec::new();
    for server in &claim.name_servers {
        let data = problems.check(server.under(origin), file);
        entries.extend(data.map(|data| (origin.clone(), None, data)));
    }
    let judge = Judge {
        origin,
        namespace: &objects.zone.namespace().unwrap_or_default(),
        delegations: &claim.delegations,
    };
    for (record, line) in objects.records.iter().zip(&objects.lines) {
        entries.extend(read_record(&(record, *line), &judge, problems));
    }
    assemble(origin, soa?, entries)
}

/// What one Record claims, if the zone lets it in.
fn read_record(
    source: &(&Record, usize),
    judge: &Judge<'_>,
    problems: &mut Problems,
) -> Option<Entry> {
    let (record, line) = *source;
    let (claim, found) = parse::record::parse(record);
    for problem in &found {
        problems.place(problem, source);
    }
    let (place, content) = claim.place.zip(claim.content)?;
    let name = problems.check(place.under(judge.origin), source);
    let data = problems.check(content.under(judge.origin), source);
    let (name, data) = name.zip(data)?;
    let namespace = record.namespace().unwrap_or_default();
    let claim = Claim {
        name: &name,
        rtype: data.rtype(),
        namespace: &namespace,
    };
    if !judge.allows_record(claim) {
        problems.add(
            line,
            format!("{name} {}: the Zone would not let it in", data.rtype()),
        );
    }
    Some((name, content.ttl, data))
}

fn assemble(origin: &Name, soa: Soa, entries: Vec<Entry>) -> Option<dns::Zone> {
    let mut sets = BTreeMap::<SetKey, Vec<(Ttl, Rdata)>>::new();
    for (name, ttl, data) in entries {
        let key = SetKey::new(name, data.rtype());
        sets.entry(key)
            .or_default()
            .push((ttl.unwrap_or(soa.ttl), data));
    }
    let mut zone = dns::Zone::new(origin.clone(), soa);
    for (key, members) in sets {
        zone.put(key, RecordSet::new(members).ok()?).ok()?;
    }
    Some(zone)
}

fn check_names(objects: &Objects, problems: &mut Problems) {
    let mut seen = BTreeSet::new();
    for (record, line) in objects.records.iter().zip(&objects.lines) {
        let name = record.name_any();
        if !seen.insert(name.clone()) {
            problems.add(
                *line,
                format!("another record would get the same object name, {name}"),
            );
        }
    }
}
