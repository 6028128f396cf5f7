//! TCP: RFC 7766, and clients that want more than they should (G57, I6, I7).

use super::*;

const SHORT: Duration = Duration::from_millis(50);

async fn open_with(limits: Limits) -> Running {
    let mut running = open(Options {
        limits,
        ..options()
    });
    running.publish(example(1)).await;
    running
}

/// A zone with a text that fills most of a message.
fn long() -> Publication {
    let string = format!("\"{}\"", "x".repeat(250));
    let text = vec![string; 200].join(" ");
    Publication::Version(version(&format!(
        "$ORIGIN example.org.\n$TTL 300\n@ SOA ns noc 1 2 3 4 5\nlong TXT {text}\n"
    )))
}

/// Asks for it until there is no room for more questions, since nobody takes the answers.
async fn ask_without_reading(stream: &mut TcpStream) {
    let message = query(1, "long.example.org.", Rtype::TXT);
    let length = u16::try_from(message.len()).unwrap();
    let framed = [&length.to_be_bytes()[..], &message].concat();
    while let Ok(Ok(())) = timeout(SHORT, stream.write_all(&framed)).await {}
}

fn question(id: u16) -> Vec<u8> {
    query(id, "www.example.org.", Rtype::TXT)
}

/// RFC 7766 §6.2.1.1.
#[tokio::test]
async fn queries_in_a_row_are_all_answered_in_their_order() {
    let running = open_with(Limits::default()).await;
    let (mut reader, mut writer) = TcpStream::connect(running.address())
        .await
        .unwrap()
        .into_split();
    let writing = async {
        for id in 0..1_000 {
            let message = question(id);
            let length = u16::try_from(message.len()).unwrap();
            let framed = [&length.to_be_bytes()[..], &message].concat();
            writer.write_all(&framed).await.unwrap();
        }
    };
    let reading = async {
        for id in 0..1_000_u16 {
            let mut length = [0; 2];
            reader.read_exact(&mut length).await.unwrap();
            let mut answer = vec![0; usize::from(u16::from_be_bytes(length))];
            reader.read_exact(&mut answer).await.unwrap();
            assert_eq!(answer[..2], id.to_be_bytes());
            assert_eq!(text(&answer).as_deref(), Some("1"));
        }
    };
    let both = async { tokio::join!(writing, reading) };
    timeout(PATIENCE, both).await.expect("all answers in time");
}

#[tokio::test]
async fn a_query_may_come_in_pieces() {
    let running = open_with(Limits::default()).await;
    let mut stream = TcpStream::connect(running.address()).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let message = question(3);
    let length = u16::try_from(message.len()).unwrap();
    let framed = [
        &length.to_be_bytes()[..],
        &message,
        &length.to_be_bytes(),
        &message,
    ]
    .concat();
    for piece in framed.chunks(7) {
        stream.write_all(piece).await.unwrap();
        tokio::task::yield_now().await;
    }
    for _ in 0..2 {
        assert_eq!(
            text(&receive(&mut stream).await.unwrap()).as_deref(),
            Some("1")
        );
    }
}

/// A client that has asked everything may say so and still be answered.
#[tokio::test]
async fn a_client_that_closes_its_side_gets_its_answers() {
    let running = open_with(Limits::default()).await;
    let mut stream = TcpStream::connect(running.address()).await.unwrap();
    for id in 0..20 {
        send(&mut stream, &question(id)).await;
    }
    stream.shutdown().await.unwrap();
    for _ in 0..20 {
        assert!(receive(&mut stream).await.is_some());
    }
    assert_eq!(receive(&mut stream).await, None);
}

/// G57: of no length, and not even a header.
#[tokio::test]
async fn messages_that_are_no_query_are_passed_over() {
    let running = open_with(Limits::default()).await;
    let mut stream = TcpStream::connect(running.address()).await.unwrap();
    send(&mut stream, b"").await;
    send(&mut stream, b"short").await;
    send(&mut stream, &question(5)).await;
    assert_eq!(receive(&mut stream).await.unwrap()[..2], [0, 5]);
}

/// G57.
#[tokio::test]
async fn a_message_longer_than_any_query_ends_the_connection() {
    let running = open_with(Limits::default()).await;
    let mut stream = TcpStream::connect(running.address()).await.unwrap();
    send(&mut stream, &question(5)).await;
    assert!(receive(&mut stream).await.is_some());
    stream.write_all(&[0xff, 0xff, 0]).await.unwrap();
    assert_eq!(receive(&mut stream).await, None);
    assert_eq!(running.server.counters().counts().connections_cut, 1);
}

/// I6: octet by octet is not fast enough.
#[tokio::test]
async fn a_query_that_takes_too_long_ends_the_connection() {
    let running = open_with(Limits {
        read: SHORT,
        ..Limits::default()
    })
    .await;
    let (mut reader, mut writer) = TcpStream::connect(running.address())
        .await
        .unwrap()
        .into_split();
    let dripping = async {
        let message = [&[0, 200][..], &[0; 200]].concat();
        for octet in message.chunks(1) {
            if writer.write_all(octet).await.is_err() {
                return;
            }
            tokio::time::sleep(SHORT / 5).await;
        }
    };
    let mut buffer = [0; 1];
    tokio::select! {
        () = dripping => panic!("all of it was taken"),
        read = timeout(PATIENCE, reader.read(&mut buffer)) => {
            assert_eq!(read.expect("the end in time").unwrap_or(0), 0);
        }
    }
}

/// I6.
#[tokio::test]
async fn silence_ends_the_connection() {
    let running = open_with(Limits {
        read: SHORT,
        idle: SHORT,
        ..Limits::default()
    })
    .await;
    let mut silent = TcpStream::connect(running.address()).await.unwrap();
    assert_eq!(receive(&mut silent).await, None);
    let mut idle = TcpStream::connect(running.address()).await.unwrap();
    send(&mut idle, &question(1)).await;
    assert!(receive(&mut idle).await.is_some());
    assert_eq!(receive(&mut idle).await, None);
    let counts = running.server.counters().counts();
    assert_eq!((counts.connections, counts.connections_cut), (2, 0));
}

/// I7: answers are not piled up for a client that does not read them.
#[tokio::test]
async fn a_client_that_takes_no_answers_is_cut() {
    let mut running = open(Options {
        limits: Limits {
            write: SHORT,
            ..Limits::default()
        },
        ..options()
    });
    running.publish(long()).await;
    let mut stream = TcpStream::connect(running.address()).await.unwrap();
    let message = query(1, "long.example.org.", Rtype::TXT);
    let asking = async {
        let length = u16::try_from(message.len()).unwrap();
        let framed = [&length.to_be_bytes()[..], &message].concat();
        while stream.write_all(&framed).await.is_ok() {}
    };
    timeout(PATIENCE, asking).await.expect("the end in time");
    assert_eq!(running.server.counters().counts().connections_cut, 1);
}

/// I6.
#[tokio::test]
async fn a_client_has_so_many_connections_and_no_more() {
    let running = open_with(Limits {
        connections_per_client_max: 2,
        ..Limits::default()
    })
    .await;
    let mut streams = Vec::new();
    for id in 0..2 {
        let mut stream = TcpStream::connect(running.address()).await.unwrap();
        send(&mut stream, &question(id)).await;
        assert!(receive(&mut stream).await.is_some());
        streams.push(stream);
    }
    let mut third = TcpStream::connect(running.address()).await.unwrap();
    assert_eq!(receive(&mut third).await, None);
    assert_eq!(running.server.counters().counts().connections_refused, 1);
    // UDP goes on.
    assert_eq!(www(running.address()).await.as_deref(), Some("1"));
}

/// I6: the next one waits until another ends.
#[tokio::test]
async fn there_are_so_many_connections_and_no_more() {
    let running = open_with(Limits {
        connections_max: 1,
        ..Limits::default()
    })
    .await;
    let mut first = TcpStream::connect(running.address()).await.unwrap();
    send(&mut first, &question(1)).await;
    assert!(receive(&mut first).await.is_some());
    let mut second = TcpStream::connect(running.address()).await.unwrap();
    send(&mut second, &question(2)).await;
    let early = timeout(SHORT, second.peek(&mut [0; 1])).await;
    assert!(early.is_err(), "it is not served yet");
    drop(first);
    assert!(receive(&mut second).await.is_some());
}

/// What is on its way is finished; what is silent is closed.
#[tokio::test]
async fn a_server_that_stops_closes_its_connections() {
    let running = open_with(Limits::default()).await;
    let mut stream = TcpStream::connect(running.address()).await.unwrap();
    for id in 0..50 {
        send(&mut stream, &question(id)).await;
    }
    assert!(receive(&mut stream).await.is_some());
    running.stop().await;
    while let Some(answer) = receive(&mut stream).await {
        assert_eq!(text(&answer).as_deref(), Some("1"));
    }
}

#[tokio::test]
async fn a_server_that_stops_does_not_wait_for_clients_beyond_its_deadline() {
    let mut running = open(Options {
        limits: Limits {
            write: PATIENCE * 100,
            ..Limits::default()
        },
        ..options()
    });
    running.publish(long()).await;
    let mut stream = TcpStream::connect(running.address()).await.unwrap();
    ask_without_reading(&mut stream).await;
    let stopping = running.server.shutdown(SHORT);
    timeout(PATIENCE, stopping).await.expect("the end in time");
}
