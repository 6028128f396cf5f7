//! The way through the zones: RFC 1034 §4.3.2, with DNAME (RFC 6672), wildcards (RFC 4592) and empty non-terminals
//! (RFC 8020).
//!
//! A name is looked up in the zone responsible for it. What is found there ends the answer, or leads on to another
//! name, perhaps in another zone of ours, with which it starts again.

use dns::{Location, Name, Rdata, RecordSet, SetKey, Zone};
use domain::base::iana::{ExtendedErrorCode, OptRcode, Rtype};

use super::choose::Chooser;
use super::reply::{Reply, Set};
use crate::Zones;
use crate::zones::Served;

/// How many aliases are followed for one question. Resolvers give up after eight to sixteen; what is left of a longer
/// chain they ask for themselves.
const ALIASES_MAX: usize = 16;

/// How many name servers of one set are looked up for their addresses: a set of thousands would cost milliseconds.
const NAME_SERVERS_MAX: usize = 100;

/// Looks a question up.
pub(super) fn resolve<'z>(
    asked: &Name,
    rtype: Rtype,
    zones: &'z Zones,
    chooser: &mut Chooser<'_>,
) -> Reply<'z> {
    let Some(mut served) = zones.responsible(asked, rtype.into()) else {
        return Reply::error(OptRcode::REFUSED).because(ExtendedErrorCode::NOT_AUTHORITATIVE);
    };
    let mut reply = Reply::new();
    let mut name = asked.clone();
    let mut visited = Vec::new();
    while let Some(target) = visit(served, &name, rtype, chooser, &mut reply) {
        visited.push(name);
        if visited.len() >= ALIASES_MAX || visited.contains(&target) {
            break;
        }
        match zones.responsible(&target, rtype.into()) {
            Some(next) => served = next,
            None => break,
        }
        name = target;
    }
    reply
}

/// Looks at one name in its zone, and tells the next name if this one is an alias.
fn visit<'z>(
    served: &'z Served,
    name: &Name,
    rtype: Rtype,
    chooser: &mut Chooser<'_>,
    reply: &mut Reply<'z>,
) -> Option<Name> {
    let zone = served.zone();
    let node = match zone.locate(name) {
        // DS is the one type that the zone above a cut answers for.
        Location::Cut(cut) if rtype == Rtype::DS && cut.name == *name => cut.name,
        Location::Cut(cut) => return hand_over(zone, &cut, name, rtype, reply),
        Location::Here => name.clone(),
        Location::Wildcard(wildcard) => wildcard,
        Location::Nowhere => {
            deny(served, OptRcode::NXDOMAIN, reply);
            return None;
        }
    };
    answer_at(served, &node, name, rtype, chooser, reply)
}

/// Leads on, from where the zone ends or moves.
fn hand_over<'z>(
    zone: &'z Zone,
    cut: &SetKey,
    name: &Name,
    rtype: Rtype,
    reply: &mut Reply<'z>,
) -> Option<Name> {
    let set = zone.get(cut).expect("a cut is where a set is");
    if cut.rtype == dns::Rtype::DNAME {
        return redirect(&cut.name, set, name, rtype, reply);
    }
    refer(zone, &cut.name, set, reply);
    None
}

/// Answers `name` with the sets at `node`.
fn answer_at<'z>(
    served: &'z Served,
    node: &Name,
    name: &Name,
    rtype: Rtype,
    chooser: &mut Chooser<'_>,
    reply: &mut Reply<'z>,
) -> Option<Name> {
    let zone = served.zone();
    if let Some(set) = find(served, node, name, rtype, chooser) {
        if set.data[0].rtype() == dns::Rtype::NS {
            reply.additional = addresses(zone, &set.data).collect();
        }
        reply.answer.push(set);
        return None;
    }
    let alias = zone.get(&SetKey::new(node.clone(), dns::Rtype::CNAME));
    let Some(alias) = alias.filter(|_| follows_aliases(rtype)) else {
        deny(served, OptRcode::NOERROR, reply);
        return None;
    };
    let alias = chooser.choose(alias);
    reply.answer.push(Set::of(name, alias));
    alias.data()[0].target()
}

/// The set of a type. Any type is the lowest there is: one set is enough for a question that should not be asked, and
/// the same one every time (RFC 8482 §4.1).
fn find<'z>(
    served: &'z Served,
    node: &Name,
    name: &Name,
    rtype: Rtype,
    chooser: &mut Chooser<'_>,
) -> Option<Set<'z>> {
    let zone = served.zone();
    let soa = || (node == zone.origin()).then(|| Set::one(name, zone.soa().ttl, served.soa()));
    match rtype {
        Rtype::SOA => soa(),
        Rtype::ANY => {
            let lowest = zone.sets_at(node).next();
            let before_soa = lowest.filter(|(key, _)| key.rtype < dns::Rtype::SOA);
            let mut lowest = || lowest.map(|(_, set)| Set::of(name, chooser.choose(set)));
            match before_soa {
                Some(_) => lowest(),
                None => soa().or_else(lowest),
            }
        }
        _ => {
            let key = SetKey::new(node.clone(), rtype.into());
            let set = zone.get(&key)?;
            Some(Set::of(name, chooser.choose(set)))
        }
    }
}

/// Whether an alias stands for this type too. What DNSSEC says about a name it says about the alias itself (RFC 4035 §3.1.1).
fn follows_aliases(rtype: Rtype) -> bool {
    !matches!(rtype, Rtype::CNAME | Rtype::NSEC | Rtype::RRSIG)
}

/// Says that there is nothing, and for how long that holds (RFC 2308 §3).
fn deny<'z>(served: &'z Served, rcode: OptRcode, reply: &mut Reply<'z>) {
    let origin = served.zone().origin();
    reply.rcode = rcode;
    reply
        .authority
        .push(Set::one(origin, served.negative_ttl(), served.soa()));
}

/// Points at the servers of the zone below. An answer that started with an alias of ours stays an authoritative one.
fn refer<'z>(zone: &'z Zone, cut: &Name, servers: &'z RecordSet, reply: &mut Reply<'z>) {
    reply.authoritative = !reply.answer.is_empty();
    reply.authority.push(Set::of(cut, servers));
    let (glue, others): (Vec<_>, Vec<_>) =
        addresses(zone, servers.data()).partition(|set| set.owner.is_at_or_below(cut));
    reply.glue = glue.len();
    reply.additional = glue;
    reply.additional.extend(others);
}

/// The addresses of name servers, as far as this zone knows them. Glue is among them: below a cut, but meant for this.
fn addresses<'z>(zone: &'z Zone, servers: &[Rdata]) -> impl Iterator<Item = Set<'z>> {
    let targets: Vec<Name> = servers
        .iter()
        .take(NAME_SERVERS_MAX)
        .filter_map(Rdata::target)
        .filter(|target| target.is_at_or_below(zone.origin()))
        .collect();
    targets.into_iter().flat_map(move |target| {
        let node = match zone.locate(&target) {
            Location::Wildcard(wildcard) => wildcard,
            Location::Cut(_) | Location::Here | Location::Nowhere => target.clone(),
        };
        [dns::Rtype::A, dns::Rtype::AAAA]
            .into_iter()
            .filter_map(move |rtype| {
                let set = zone.get(&SetKey::new(node.clone(), rtype))?;
                Some(Set::of(&target, set))
            })
    })
}

/// Follows a DNAME: the part of the name below it moves to its target (RFC 6672 §3.2).
fn redirect<'z>(
    owner: &Name,
    dname: &'z RecordSet,
    name: &Name,
    rtype: Rtype,
    reply: &mut Reply<'z>,
) -> Option<Name> {
    // A chain may pass here twice; the record is told once.
    let is_told = |set: &Set<'_>| set.owner == *owner && set.data[0].rtype() == dns::Rtype::DNAME;
    if !reply.answer.iter().any(is_told) {
        reply.answer.push(Set::of(owner, dname));
    }
    let target = dname.data()[0].target()?;
    let Some(moved) = moved(name, owner, &target) else {
        reply.rcode = OptRcode::YXDOMAIN;
        return None;
    };
    reply
        .answer
        .push(Set::synthesized(name, dname.ttl(), &moved));
    (rtype != Rtype::CNAME).then_some(moved)
}

/// The name with `target` in place of `owner`, which it is below; nothing if that is too long to be a name.
fn moved(name: &Name, owner: &Name, target: &Name) -> Option<Name> {
    let kept = name.as_wire().len() - owner.as_wire().len();
    Name::from_wire(&[&name.as_wire()[..kept], target.as_wire()].concat()).ok()
}
