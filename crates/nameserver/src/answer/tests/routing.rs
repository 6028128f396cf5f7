//! Routed sets: which member an answer holds (N6).

use std::collections::BTreeMap;
use std::sync::Arc;

use dns::{RecordSet, SetKey, Zone};
use proptest::prelude::*;

use super::*;
use crate::Places;

/// Networks of the documentation, each somewhere: `192.0.2.0/24` in Ireland, `198.51.100.0/24` in France but for its upper half,
/// which is somewhere in Asia, and `2001:db8::/32` in Ireland.
pub(super) fn places() -> Arc<Places> {
    let octets = testkit::geo_database::places(&[
        ("192.0.2.0/24", Some("IE"), Some("EU")),
        ("198.51.100.0/24", Some("FR"), Some("EU")),
        ("198.51.100.128/25", None, Some("AS")),
        ("2001:db8::/32", Some("IE"), Some("EU")),
    ]);
    Arc::new(Places::read(octets).unwrap())
}

/// A zone `example.org.` of lines such as `www 60 A 192.0.2.1 set=eu weight=10 geo=GEO-EU`.
pub(super) fn routed(lines: &str) -> Zones {
    let soa = "@ 300 SOA ns noc 1 2 3 4 5";
    let reading = zonefile::parse(&format!("$ORIGIN example.org.\n{soa}\n"), None);
    let (mut zone, serial) = reading.zone.unwrap();
    let mut sets = BTreeMap::<SetKey, Vec<_>>::new();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split(' ').collect();
        let value = |key: &str| words.iter().find_map(|word| word.strip_prefix(key));
        let membership = value("set=").map(|set| dns::routing::Membership {
            identifier: set.parse().unwrap(),
            routing: dns::routing::Routing {
                weight: value("weight=").map(|text| text.parse().unwrap()),
                geo: value("geo=").map(|text| text.parse().unwrap()),
            },
        });
        let rtype: dns::Rtype = words[2].parse().unwrap();
        let ttl = dns::Ttl::from_secs(words[1].parse::<u32>().unwrap()).unwrap();
        let data = dns::Rdata::parse(rtype, words[3], zone.origin()).unwrap();
        let name = dns::Name::parse(&format!("{}.example.org.", words[0])).unwrap();
        let records = sets.entry(SetKey::new(name, rtype)).or_default();
        records.push((membership, ttl, data));
    }
    put(&mut zone, sets);
    let version = Version { zone, serial };
    let zones = Zones::new().with(&[Publication::Version(version)]);
    zones.knowing(Some(places()))
}

type Records = Vec<(Option<dns::routing::Membership>, dns::Ttl, dns::Rdata)>;

fn put(zone: &mut Zone, sets: BTreeMap<SetKey, Records>) {
    for (key, records) in sets {
        zone.put(key, RecordSet::assemble(records).unwrap())
            .unwrap();
    }
}

/// What a client is answered, without chance.
#[track_caller]
fn check_from(zones: &Zones, client: &str, query: &str, expected: &[&str]) {
    let octets = compose(query);
    let answer = ask_from(client, &octets, Transport::Udp, zones, &mut NoChance).unwrap();
    assert_eq!(show(&answer), expected, "{query} from {client}");
}

/// How often each answer comes, in so many questions from one seed.
fn tally(zones: &Zones, questions: u32) -> BTreeMap<String, u32> {
    let mut chance = StdRng::seed_from_u64(7);
    let octets = compose("www.example.org. A");
    let mut tally = BTreeMap::new();
    for _ in 0..questions {
        let answer = ask_from("192.0.2.1", &octets, Transport::Udp, zones, &mut chance).unwrap();
        let address = show(&answer)[1].rsplit(' ').next().unwrap().to_owned();
        *tally.entry(address).or_default() += 1;
    }
    tally
}

const GEO: &str = "
    www 60 A 203.0.113.1 set=ie geo=IE
    www 61 A 203.0.113.2 set=eu geo=GEO-EU
    www 62 A 203.0.113.3 set=rest geo=*
";

/// The smallest place that a client is in and a member is for.
#[test]
fn the_member_for_the_smallest_place_answers() {
    let zones = routed(GEO);
    for (client, answer) in [
        ("192.0.2.9", "an www.example.org. 60 A 203.0.113.1"),
        ("2001:db8::9", "an www.example.org. 60 A 203.0.113.1"),
        ("198.51.100.9", "an www.example.org. 61 A 203.0.113.2"),
        ("198.51.100.200", "an www.example.org. 62 A 203.0.113.3"),
        ("203.0.113.9", "an www.example.org. 62 A 203.0.113.3"),
        ("127.0.0.1", "an www.example.org. 62 A 203.0.113.3"),
        ("::ffff:192.0.2.9", "an www.example.org. 60 A 203.0.113.1"),
    ] {
        check_from(
            &zones,
            client,
            "www.example.org. A",
            &["NOERROR aa", answer],
        );
    }
}

/// Without a database everyone is somewhere else.
#[test]
fn without_a_database_the_members_for_anyone_answer() {
    let zones = routed(GEO).knowing(None);
    let rest = "an www.example.org. 62 A 203.0.113.3";
    check_from(
        &zones,
        "192.0.2.9",
        "www.example.org. A",
        &["NOERROR aa", rest],
    );
}

/// Somebody answers rather than nobody.
#[test]
fn where_no_member_is_for_a_client_the_default_member_answers() {
    let zones = routed(
        "www 60 A 203.0.113.1 set=ie geo=IE weight=1
         www 61 A 203.0.113.2 set=us geo=US weight=2",
    );
    let default = "an www.example.org. 61 A 203.0.113.2";
    check_from(
        &zones,
        "203.0.113.9",
        "www.example.org. A",
        &["NOERROR aa", default],
    );
}

#[test]
fn a_member_without_a_place_is_for_anyone() {
    let zones = routed(
        "www 60 A 203.0.113.1 set=ie geo=IE
         www 61 A 203.0.113.2 set=rest",
    );
    for (client, answer) in [
        ("192.0.2.9", "an www.example.org. 60 A 203.0.113.1"),
        ("198.51.100.9", "an www.example.org. 61 A 203.0.113.2"),
    ] {
        check_from(
            &zones,
            client,
            "www.example.org. A",
            &["NOERROR aa", answer],
        );
    }
}

/// A chain may pass several routed sets, at wildcards too; each is chosen from, and a member is answered whole.
#[test]
fn every_routed_set_on_the_way_is_chosen_from() {
    let zones = routed(
        "www 300 CNAME lb.www
         lb.www 60 CNAME ie.lb set=ie geo=IE
         lb.www 60 CNAME rest.lb set=rest geo=*
         *.lb 30 A 203.0.113.1 set=a geo=GEO-EU
         *.lb 30 A 203.0.113.2 set=a geo=GEO-EU
         *.lb 31 A 203.0.113.3 set=b geo=*",
    );
    check_from(
        &zones,
        "192.0.2.9",
        "www.example.org. A",
        &[
            "NOERROR aa",
            "an www.example.org. 300 CNAME lb.www.example.org.",
            "an lb.www.example.org. 60 CNAME ie.lb.example.org.",
            "an ie.lb.example.org. 30 A 203.0.113.1",
            "an ie.lb.example.org. 30 A 203.0.113.2",
        ],
    );
    check_from(
        &zones,
        "203.0.113.9",
        "www.example.org. A",
        &[
            "NOERROR aa",
            "an www.example.org. 300 CNAME lb.www.example.org.",
            "an lb.www.example.org. 60 CNAME rest.lb.example.org.",
            "an rest.lb.example.org. 31 A 203.0.113.3",
        ],
    );
}

/// Where the zone hands over, everyone is handed over to the same.
#[test]
fn a_cut_is_the_same_for_everyone() {
    let zones = routed(
        "sub 60 NS ns1.example.net. set=a weight=1
         sub 60 NS ns2.example.net. set=b weight=2",
    );
    check_from(
        &zones,
        "192.0.2.9",
        "www.sub.example.org. A",
        &["NOERROR", "au sub.example.org. 60 NS ns2.example.net."],
    );
}

/// Each answer holds one member, as often as its weight says: within five standard deviations.
#[test]
fn members_are_answered_as_often_as_their_weights_say() {
    let zones = routed(
        "www 60 A 203.0.113.1 set=a weight=60
         www 60 A 203.0.113.2 set=b weight=30
         www 60 A 203.0.113.3 set=c weight=10
         www 60 A 203.0.113.4 set=d weight=0",
    );
    let questions = 10_000;
    let tally = tally(&zones, questions);
    for (address, percent) in [
        ("203.0.113.1", 60),
        ("203.0.113.2", 30),
        ("203.0.113.3", 10),
    ] {
        let share = f64::from(percent) / 100.0;
        let deviation = (f64::from(questions) * share * (1.0 - share)).sqrt();
        let off = (f64::from(tally[address]) - f64::from(questions) * share).abs();
        assert!(off < 5.0 * deviation, "{address}: {tally:?}");
    }
    assert_eq!(tally.len(), 3, "0 is never chosen beside others: {tally:?}");
}

#[test]
fn where_all_weights_are_nothing_the_shares_are_equal() {
    for weight in ["weight=0", ""] {
        let lines = (1..=4).map(|it| format!("www 60 A 203.0.113.{it} set={it} {weight}\n"));
        let tally = tally(&routed(&lines.collect::<String>()), 4_000);
        assert_eq!(tally.len(), 4);
        // Five standard deviations of 1000 are 137.
        assert!(
            tally.values().all(|count| count.abs_diff(1_000) < 137),
            "{tally:?}"
        );
    }
}

/// Weights decide among the members for one place, and nowhere else.
#[test]
fn place_comes_before_weight() {
    let zones = routed(
        "www 60 A 203.0.113.1 set=a geo=IE weight=1
         www 60 A 203.0.113.2 set=b geo=IE weight=3
         www 60 A 203.0.113.3 set=c geo=* weight=255",
    );
    let tally = tally(&zones, 1_000);
    assert_eq!(
        tally.keys().collect::<Vec<_>>(),
        ["203.0.113.1", "203.0.113.2"]
    );
    // Five standard deviations of 250 are 69.
    assert!(tally["203.0.113.1"].abs_diff(250) < 69, "{tally:?}");
}

/// The same seed gives the same answers.
#[test]
fn chance_is_all_that_answers_depend_on_beside_the_question() {
    let zones = routed("www 60 A 203.0.113.1 set=a\nwww 60 A 203.0.113.2 set=b");
    assert_eq!(tally(&zones, 100), tally(&zones, 100));
}

proptest! {
    /// Whatever the members are, an answer is one of them, and never one for another place than the client's unless there is
    /// no other.
    #[test]
    fn an_answer_is_a_member_for_the_client_or_the_default(
        members in prop::collection::vec((prop::option::of(0..3_u8), prop::sample::select(vec!["", "geo=*", "geo=IE", "geo=FR", "geo=GEO-EU", "geo=GEO-AS"])), 1..6),
        client in prop::sample::select(vec!["192.0.2.1", "198.51.100.1", "198.51.100.129", "203.0.113.1"]),
        seed: u64,
    ) {
        let lines = members.iter().enumerate().map(|(index, (weight, geo))| {
            let weight = weight.map_or_else(String::new, |weight| format!("weight={weight}"));
            format!("www 60 A 203.0.113.{index} set=m{index} {weight} {geo}\n")
        });
        let zones = routed(&lines.collect::<String>());
        let octets = compose("www.example.org. A");
        let mut chance = StdRng::seed_from_u64(seed);
        let answer = ask_from(client, &octets, Transport::Udp, &zones, &mut chance).unwrap();
        let address = show(&answer)[1].rsplit('.').next().unwrap().to_owned();
        let chosen = members[address.parse::<usize>().unwrap()];
        let homes: &[&str] = match client {
            "192.0.2.1" => &["geo=IE", "geo=GEO-EU"],
            "198.51.100.1" => &["geo=FR", "geo=GEO-EU"],
            "198.51.100.129" => &["geo=GEO-AS"],
            _ => &[],
        };
        let anyone: &[&str] = &["", "geo=*"];
        let rank = |geo: &str| match homes.iter().position(|home| *home == geo) {
            Some(position) => position,
            None if anyone.contains(&geo) => 2,
            None => 3,
        };
        let best = members.iter().map(|(_, geo)| rank(geo)).min().unwrap();
        prop_assert_eq!(rank(chosen.1), best);
        let share = |weight: Option<u8>| weight.unwrap_or(1);
        let others = members.iter().filter(|(_, geo)| rank(geo) == best);
        if others.clone().any(|(weight, _)| share(*weight) > 0) {
            prop_assert!(share(chosen.0) > 0);
        }
    }
}
