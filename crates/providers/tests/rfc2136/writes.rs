//! What is written: together or not at all, and once.

use dns::hosted::{Batch, Change, Held};
use dns::{Rtype, Ttl};
use provider::battery::Stage as _;
use provider::{Error, Provider as _};
use testkit::name_server::Software;

use crate::fake::Stranger;
use crate::stage::{APEX, Server, batch, change, provider, set, tsig};

const UPDATERS: [Software; 2] = [Software::Bind, Software::Knot];

#[tokio::test]
async fn a_write_whose_answer_is_lost_took_effect_once() {
    // D3.
    for software in UPDATERS {
        let server = Server::start(software).await;
        let stranger = Stranger::before(server.address(), true).await;
        let cut = provider(stranger.address(), &tsig(), APEX);
        let write = batch([
            change("www.example.org.", Rtype::A, &[], &["192.0.2.1"]),
            change(
                "ns.example.org.",
                Rtype::A,
                &["192.0.2.53"],
                &["192.0.2.54"],
            ),
        ]);
        let error = cut.write(server.zone(), &write).await.unwrap_err();
        assert!(matches!(error, Error::Unclear(_)), "{software}: {error:?}");
        let once = server.provider.read(server.zone()).await.unwrap();
        assert!(write.changes.iter().all(|it| it.is_done_in(&once.holdings)));
        server.provider.write(server.zone(), &write).await.unwrap();
        // The SOA is among it: there is no other version.
        let twice = server.provider.read(server.zone()).await.unwrap();
        assert_eq!(once.holdings, twice.holdings, "{software}");
    }
}

#[tokio::test]
async fn a_batch_that_was_half_done_by_others_is_stale() {
    for software in UPDATERS {
        let server = Server::start(software).await;
        let first = change("a.example.org.", Rtype::A, &[], &["192.0.2.1"]);
        let second = change("b.example.org.", Rtype::A, &[], &["192.0.2.2"]);
        server.tamper(&first).await;
        let write = batch([first, second.clone()]);
        let written = server.provider.write(server.zone(), &write).await;
        assert!(
            matches!(written, Err(Error::Stale)),
            "{software}: {written:?}"
        );
        let held = server.provider.read(server.zone()).await.unwrap().holdings;
        assert_eq!(held.get(&second.key), None, "{software}");
    }
}

#[tokio::test]
async fn the_name_servers_of_the_zone_change_and_stay() {
    for software in UPDATERS {
        let server = Server::start(software).await;
        let (old, new) = (
            ["ns.example.org."],
            ["ns1.example.net.", "ns2.example.net."],
        );
        let longer = Change {
            after: Some(set(3600, Rtype::NS, &new)),
            ..change(APEX, Rtype::NS, &new, &new)
        };
        let shorter = Change {
            before: longer.after.clone(),
            ..change(APEX, Rtype::NS, &[], &old)
        };
        for change in [change(APEX, Rtype::NS, &old, &new), longer, shorter] {
            server
                .provider
                .write(server.zone(), &batch([change.clone()]))
                .await
                .unwrap();
            let held = server.provider.read(server.zone()).await.unwrap().holdings;
            assert_eq!(
                held.get(&change.key),
                change.after.map(Held::Set).as_ref(),
                "{software}"
            );
        }
        let gone = batch([change(APEX, Rtype::NS, &old, &[])]);
        let error = server
            .provider
            .write(server.zone(), &gone)
            .await
            .unwrap_err();
        assert_eq!(
            error.story(),
            "the provider refused: the name servers of the zone itself cannot be taken away"
        );
    }
}

#[tokio::test]
async fn batches_are_as_large_as_messages() {
    for software in UPDATERS {
        let server = Server::start(software).await;
        let limits = server.provider.limits();
        let text = format!("\"{}\"", "x".repeat(200));
        let make = |index: usize| {
            let owner = format!("some-rather-long-name-{index}.example.org.");
            change(&owner, Rtype::TXT, &[], &[&text])
        };
        let groups = (0..600).map(|index| vec![make(index)]);
        let batches = limits.cut(groups);
        let load = limits.load_of(&batches[0].changes);
        assert!(
            load.octets > 64_000 && load.fits(limits.batch_max),
            "{load:?}"
        );
        for batch in &batches {
            server.provider.write(server.zone(), batch).await.unwrap();
        }
        let held = server.provider.read(server.zone()).await.unwrap().holdings;
        assert_eq!(held.len(), 603, "{software}");
    }
}

#[tokio::test]
async fn what_fits_into_no_message_is_refused() {
    let server = Server::start(Software::Knot).await;
    let texts: Vec<String> = (0..150).map(|index| format!("\"{index:0>250}\"")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let large = Change {
        before: Some(set(300, Rtype::TXT, &texts)),
        ..change("large.example.org.", Rtype::TXT, &[], &texts)
    };
    let batches = server.provider.limits().cut([vec![large]]);
    let [batch] = &batches[..] else {
        panic!("one batch, not {batches:?}");
    };
    let error = server
        .provider
        .write(server.zone(), batch)
        .await
        .unwrap_err();
    assert_eq!(
        error.story(),
        "the provider refused: the change does not fit into a message of 65535 octets"
    );
}

#[tokio::test]
async fn a_ttl_that_others_changed_is_overwritten() {
    // RFC 2136 §3.2.5: servers compare data, not TTLs.
    for software in UPDATERS {
        let server = Server::start(software).await;
        let owner = "www.example.org.";
        let www = change(owner, Rtype::A, &[], &["192.0.2.1"]);
        server
            .provider
            .write(server.zone(), &batch([www.clone()]))
            .await
            .unwrap();
        server
            .tamper(&Change {
                after: Some(set(60, Rtype::A, &["192.0.2.1"])),
                ..www
            })
            .await;
        let next = change(owner, Rtype::A, &["192.0.2.1"], &["192.0.2.2"]);
        server
            .provider
            .write(server.zone(), &batch([next.clone()]))
            .await
            .unwrap();
        let held = server.provider.read(server.zone()).await.unwrap().holdings;
        let set = held.get(&next.key).and_then(Held::set).unwrap();
        assert_eq!(
            set.records.ttl(),
            Ttl::from_secs(300).unwrap(),
            "{software}"
        );
    }
}

#[tokio::test]
async fn nothing_to_do_is_done() {
    let server = Server::start(Software::Bind).await;
    server
        .provider
        .write(server.zone(), &Batch::default())
        .await
        .unwrap();
}
