//! Publications and sightings.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

#[tokio::test]
async fn before_anything_is_published_everything_is_refused() {
    let running = open(options());
    let answer = ask(running.address(), &query(1, "www.example.org.", Rtype::TXT)).await;
    assert_eq!(rcode(&answer), Rcode::REFUSED);
    assert!(running.server.stored().is_empty());
}

/// R8.
#[tokio::test]
async fn a_version_is_seen_once_it_is_answered() {
    let mut running = open(options());
    for serial in [1, 2, 7] {
        assert_eq!(running.publish(example(serial)).await, Some(Serial(serial)));
        assert_eq!(www(running.address()).await, Some(serial.to_string()));
    }
    let withdrawal = Publication::Withdrawal(name("example.org."));
    assert_eq!(running.publish(withdrawal).await, None);
    assert_eq!(www(running.address()).await, None);
}

/// The parent answers for the name then, but not as the zone that was withdrawn.
#[tokio::test]
async fn a_withdrawn_zone_is_not_seen_in_its_parent() {
    let mut running = open(options());
    running.publish(example(1)).await;
    let child = "child.example.org. 300 SOA ns.example. noc.example. 5 2 3 4 5\n";
    let seen = running.publish(Publication::Version(version(child))).await;
    assert_eq!(seen, Some(Serial(5)));
    let seen = running
        .publish(Publication::Withdrawal(name("child.example.org.")))
        .await;
    assert_eq!(seen, None);
}

/// Whoever is slow to take sightings gets the latest of each zone, and keeps nobody waiting.
#[tokio::test]
async fn nobody_waits_for_those_who_take_sightings() {
    let (publications, receiver) = mpsc::channel(1);
    let (sender, mut sightings) = mpsc::channel(1);
    let server = Server::open(options(), receiver, sender).unwrap();
    for serial in 1..=500 {
        let sent = timeout(PATIENCE, publications.send(example(serial))).await;
        sent.expect("room in time").unwrap();
    }
    let mut last = None;
    while last != Some(Serial(500)) {
        let sighting = timeout(PATIENCE, sightings.recv()).await;
        let serial = sighting.expect("a sighting in time").unwrap().serial;
        assert!(last < serial, "{last:?} before {serial:?}");
        last = serial;
    }
    assert_eq!(www(server.addresses()[0]).await.as_deref(), Some("500"));
}

/// N5.
#[tokio::test]
async fn what_was_published_is_served_after_the_publisher_is_gone() {
    let mut running = open(options());
    running.publish(example(1)).await;
    let Running {
        server,
        publications,
        sightings,
    } = running;
    drop((publications, sightings));
    for _ in 0..10 {
        assert_eq!(www(server.addresses()[0]).await.as_deref(), Some("1"));
    }
}

/// A version whose `a` is an alias of a name that only this version has.
fn linked(serial: u32) -> Publication {
    Publication::Version(version(&format!(
        "$ORIGIN example.org.\n$TTL 300\n@ SOA ns noc {serial} 2 3 4 5\na CNAME v{serial}\nv{serial} TXT \"{serial}\"\n"
    )))
}

/// N2: an answer that mixed two versions would point at a name that is not there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_mixes_two_versions() {
    let mut running = open(options());
    running.publish(linked(1)).await;
    let address = running.address();
    let done = Arc::new(AtomicBool::new(false));
    let askers: Vec<_> = (0..3)
        .map(|_| tokio::spawn(ask_until(address, done.clone())))
        .collect();
    for serial in 2..400 {
        assert_eq!(running.publish(linked(serial)).await, Some(Serial(serial)));
    }
    done.store(true, Ordering::Relaxed);
    for asker in askers {
        assert!(asker.await.unwrap() > 1, "versions changed while it asked");
    }
}

/// Asks until told to stop, and tells how many versions it saw.
async fn ask_until(address: SocketAddr, done: Arc<AtomicBool>) -> usize {
    let question = query(1, "a.example.org.", Rtype::TXT);
    let mut seen = std::collections::BTreeSet::new();
    let mut stream = TcpStream::connect(address).await.unwrap();
    while !done.load(Ordering::Relaxed) {
        send(&mut stream, &question).await;
        for answer in [
            receive(&mut stream).await.unwrap(),
            ask(address, &question).await,
        ] {
            assert_eq!(rcode(&answer), Rcode::NOERROR);
            seen.insert(text(&answer).expect("a text at the end of the alias"));
        }
    }
    seen.len()
}
