//! Addresses, datagrams, and the end of a server.

use super::*;

/// N1.
#[tokio::test]
async fn every_address_answers_over_udp_and_tcp() {
    let listeners = ["127.0.0.1:0", "[::1]:0"].map(|address| address.parse().unwrap());
    let mut running = open(Options {
        listeners: listeners.to_vec(),
        ..options()
    });
    running.publish(example(1)).await;
    for address in running.server.addresses() {
        assert_eq!(www(*address).await.as_deref(), Some("1"), "{address}");
        let mut stream = TcpStream::connect(address).await.unwrap();
        send(&mut stream, &query(7, "www.example.org.", Rtype::TXT)).await;
        let answer = receive(&mut stream).await.unwrap();
        assert_eq!(text(&answer).as_deref(), Some("1"), "{address}");
    }
    running.stop().await;
}

/// N6: over both transports and both families.
#[tokio::test]
async fn the_address_of_a_client_says_where_it_is() {
    let octets = testkit::geo_database::places(&[
        ("127.0.0.0/8", Some("IE"), Some("EU")),
        ("::1/128", Some("US"), Some("NA")),
    ]);
    let listeners = ["127.0.0.1:0", "[::1]:0"].map(|address| address.parse().unwrap());
    let mut running = open(Options {
        listeners: listeners.to_vec(),
        places: Some(Arc::new(Places::read(octets).unwrap())),
        ..options()
    });
    let Publication::Version(mut routed) = example(1) else {
        unreachable!("it is a version")
    };
    let member = |geo: &str| {
        let membership = format!("{{\"setIdentifier\":\"{geo}\",\"geo\":\"{geo}\"}}");
        let data = dns::Rdata::parse(dns::Rtype::TXT, geo, &name(".")).unwrap();
        (Some(membership.parse().unwrap()), dns::Ttl::ZERO, data)
    };
    let set = dns::RecordSet::assemble(["IE", "US", "*"].map(member)).unwrap();
    let key = dns::SetKey::new(name("www.example.org."), dns::Rtype::TXT);
    routed.zone.put(key, set).unwrap();
    running.publish(Publication::Version(routed)).await;
    for (address, country) in running.server.addresses().iter().zip(["IE", "US"]) {
        assert_eq!(www(*address).await.as_deref(), Some(country));
        let mut stream = TcpStream::connect(address).await.unwrap();
        send(&mut stream, &query(7, "www.example.org.", Rtype::TXT)).await;
        let answer = receive(&mut stream).await.unwrap();
        assert_eq!(text(&answer).as_deref(), Some(country));
    }
    running.stop().await;
}

/// The client here takes answers from the address it asked and from no other.
#[tokio::test]
async fn an_answer_comes_from_the_address_that_was_asked() {
    let mut running = open(Options {
        listeners: vec!["0.0.0.0:0".parse().unwrap()],
        ..options()
    });
    running.publish(example(1)).await;
    let port = running.address().port();
    for host in ["127.0.0.1", "127.0.0.2", "127.1.2.3"] {
        let address = SocketAddr::new(host.parse().unwrap(), port);
        assert_eq!(www(address).await.as_deref(), Some("1"), "{host}");
    }
}

/// N4: what is truncated over UDP is whole over TCP.
#[tokio::test]
async fn a_large_answer_takes_tcp() {
    let mut running = open(options());
    let addresses: Vec<String> = (0..=255)
        .map(|number| format!("many A 192.0.2.{number}"))
        .collect();
    let addresses = addresses.join("\n");
    let zone = format!("$ORIGIN example.org.\n$TTL 300\n@ SOA ns noc 1 2 3 4 5\n{addresses}\n");
    running.publish(Publication::Version(version(&zone))).await;
    let question = query(7, "many.example.org.", Rtype::A);
    let short = ask(running.address(), &question).await;
    assert!(Message::from_slice(&short).unwrap().header().tc());
    let mut stream = TcpStream::connect(running.address()).await.unwrap();
    send(&mut stream, &question).await;
    let whole = receive(&mut stream).await.unwrap();
    let message = Message::from_slice(&whole).unwrap();
    assert_eq!(
        (message.header().tc(), message.header_counts().ancount()),
        (false, 256)
    );
    let counts = running.server.counters().counts();
    assert_eq!((counts.udp.truncated, counts.tcp.truncated), (1, 0));
}

/// G51, G56: silence is no end of service.
#[tokio::test]
async fn datagrams_that_are_no_query_are_dropped() {
    let mut running = open(options());
    running.publish(example(1)).await;
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket.connect(running.address()).await.unwrap();
    let mut an_answer = query(9, "www.example.org.", Rtype::TXT);
    an_answer[2] = 0x80;
    for octets in [&[][..], b"short", &an_answer] {
        socket.send(octets).await.unwrap();
    }
    socket
        .send(&query(8, "www.example.org.", Rtype::TXT))
        .await
        .unwrap();
    let mut buffer = [0; 512];
    let received = timeout(PATIENCE, socket.recv(&mut buffer)).await;
    let length = received.expect("an answer in time").unwrap();
    assert_eq!(
        buffer[..2],
        [0, 8],
        "the first answer is to the last datagram"
    );
    assert_eq!(text(&buffer[..length]).as_deref(), Some("1"));
    let counts = running.server.counters().counts();
    assert_eq!(
        (counts.udp.queries, counts.udp.dropped),
        (3, 2),
        "an empty one is not even counted"
    );
}

#[tokio::test]
async fn an_address_that_is_taken_is_told() {
    let first = open(options());
    let second = try_open(Options {
        listeners: vec![first.address()],
        ..options()
    });
    let message = second.err().map(|err| err.to_string());
    assert_eq!(
        message,
        Some(format!("cannot listen on {}", first.address()))
    );
}

#[tokio::test]
async fn a_server_that_stopped_leaves_its_port() {
    let running = open(options());
    let address = running.address();
    running.stop().await;
    let again = open(Options {
        listeners: vec![address],
        ..options()
    });
    assert_eq!(again.address(), address);
}

#[tokio::test]
async fn a_server_that_is_dropped_stops() {
    let Running {
        server,
        publications,
        mut sightings,
    } = open(options());
    drop(server);
    let ended = timeout(PATIENCE, sightings.recv()).await;
    assert_eq!(ended.expect("the end in time"), None);
    drop(publications);
}
