//! One bad object never stops another (K4, P1, S2).

use api::{FieldPath, Problem};

use crate::story::{check, play};

/// P1: patterns and names that the peer cannot read.
#[test]
fn a_bad_zone_says_so_and_everyone_else_goes_on() {
    check(
        "zone bad/pattern one.example. records=**
         zone bad/name two..example. records=*
         zone bad/type three.example. records=*:NONSENSE records=www
         zone dns/org example.org. records=*
         record web/www www.example.org. A = 192.0.2.1
         record web/three www.three.example. A = 192.0.2.1
         record web/closed api.three.example. A = 192.0.2.1
         ? zone bad/pattern fqdn=one.example. Accepted=False/Invalid Published=True/Served
         ? zone bad/name fqdn=- Accepted=False/Invalid
         ? record web/www Published=True/Served
         ? record web/three parent=type.bad Published=True/Served
         ? record web/closed parent=- Accepted=False/NotDelegated
         ? message zone bad/pattern Accepted: spec.delegations[0].records[0].pattern: label \"**\" has more than one \"*\": got \"**\"; the rest of the Zone is in force",
    );
}

/// K4: an object that does not even have the shape of its kind.
#[test]
fn an_undecodable_zone_gets_its_own_answer() {
    let mut cluster = check(
        "zone dns/org example.org. records=*
         zone dns/com example.com. records=*
         record web/www www.example.org. A = 192.0.2.1",
    );
    let key = api::ZoneKey::new("dns", "org");
    let problem = Problem::bare(&FieldPath::spec().field("delegations"), "is required");
    cluster.writes.clear();
    cluster.break_zone(&key, problem);
    play(
        &mut cluster,
        "? zone dns/org Accepted=False/Undecodable Published=False/NotAccepted entries=0
         ? message zone dns/org Accepted: spec.delegations: is required
         ? record web/www parent=- Accepted=False/NoZone
         ? zone dns/com Published=True/Served
         ? writes zone dns/org 1",
    );
}

/// R5, S2: bad data is told and never published, whatever it tries.
#[test]
fn bad_data_is_refused_in_a_condition() {
    let rows = [
        ("A", "nonsense"),
        ("AAAA", "127.0.0.1"),
        ("TXT", "\"unterminated"),
        ("MX", "mail"),
        ("A", "192.0.2.1\\010evil 60 IN A 192.0.2.66"),
        ("A", "192.0.2.1 ; comment"),
        ("CNAME", "$INCLUDE /etc/passwd"),
        ("NONSENSE", "x"),
        ("OPT", "\\# 0"),
    ];
    for (rtype, data) in rows {
        check(&format!(
            "zone dns/org example.org. records=*
             record web/bad bad.example.org. {rtype} = {data}
             record web/www www.example.org. A = 192.0.2.1
             ? record web/bad fqdn=bad.example.org. parent=- Accepted=False/Invalid Published=False/NotAccepted
             ? entries dns/org www.example.org. 360 A 192.0.2.1"
        ));
    }
}

/// S2: a line break in data stays inside the data.
#[test]
fn data_never_becomes_a_second_record() {
    let mut cluster = check("zone dns/org example.org. records=*");
    let (mut record, _) = crate::line::record("evil/txt txt.example.org. TXT = x");
    record.spec.rdata = "\"a\nevil.example.org. 60 IN A 192.0.2.66\"".to_owned();
    crate::line::created(&mut record.metadata, 50, "uid-evil");
    cluster.put_record(record);
    cluster.run();
    let lines = crate::story::entries(&cluster, "dns/org");
    assert!(lines.len() <= 1, "{lines:?}");
    assert!(
        lines
            .iter()
            .all(|line| line.starts_with("txt.example.org. 360 TXT "))
    );
    assert!(lines.iter().all(|line| !line.contains('\n')));
}

/// Names that only clash with the zone's own are told, too.
#[test]
fn names_of_a_zone_that_repeat_its_own_are_told() {
    check(
        "zone dns/org example.org. records=* ns=ns1.example.org,ns2.example.net.
         ? zone dns/org Accepted=False/Invalid Published=True/Served
         ? entries dns/org example.org. 360 NS ns2.example.net.
         zone dns/org example.org. records=* ns=ns2.example.net.
         ? zone dns/org Accepted=True/Accepted",
    );
}

/// NS is never invented (Z8).
#[test]
fn a_zone_without_name_servers_is_served_and_says_so() {
    check(
        "zone dns/org example.org. records=@
         ? zone dns/org Accepted=True/NoNameServers Published=True/Served
         ? entries dns/org
         ? message zone dns/org Accepted: spec.nameservers: is empty, and there is no NS Record at example.org., so no other zone can delegate to this one; list the names of its name servers
         record dns/ns example.org. NS = ns1.example.net.
         ? zone dns/org Accepted=True/Accepted
         ? message zone dns/org Accepted: has authority over example.org.",
    );
}
