//! `zonewright query` against a name server that says what it is told to say.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::process::{Command, Output};
use std::str::FromStr as _;
use std::thread;

use domain::base::iana::{Class, Rcode};
use domain::base::message_builder::AnswerBuilder;
use domain::base::{Message, MessageBuilder, Name, Ttl};
use domain::rdata::A;
use serde_json::{Value, json};

/// What carried the question.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Over {
    Udp,
    Tcp,
}

/// What the server sends for a question; nothing is silence.
type Script = fn(Over, &[u8]) -> Vec<Vec<u8>>;

/// A name server on one port of UDP and TCP, for as long as the test runs.
struct Scripted {
    address: SocketAddr,
}

impl Scripted {
    fn start(script: Script) -> Scripted {
        let (udp, tcp) = pair();
        let address = udp.local_addr().expect("bound");
        thread::spawn(move || serve_udp(&udp, script));
        thread::spawn(move || serve_tcp(&tcp, script));
        Scripted { address }
    }

    /// What `zonewright query WORDS @this` does.
    fn query(&self, words: &[&str]) -> Output {
        let server = format!("@{}", self.address);
        zonewright(&[words, &[&server]].concat())
    }
}

/// Both sockets on a port that is free for both.
fn pair() -> (UdpSocket, TcpListener) {
    loop {
        let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().expect("bound")) {
            return (udp, tcp);
        }
    }
}

fn serve_udp(socket: &UdpSocket, script: Script) {
    let mut buffer = vec![0; 65_535];
    while let Ok((length, client)) = socket.recv_from(&mut buffer) {
        for answer in script(Over::Udp, &buffer[..length]) {
            let _ = socket.send_to(&answer, client);
        }
    }
}

fn serve_tcp(listener: &TcpListener, script: Script) {
    use std::io::{Read as _, Write as _};
    while let Ok((mut stream, _)) = listener.accept() {
        let mut length = [0; 2];
        if stream.read_exact(&mut length).is_err() {
            continue;
        }
        let mut question = vec![0; usize::from(u16::from_be_bytes(length))];
        if stream.read_exact(&mut question).is_err() {
            continue;
        }
        for answer in script(Over::Tcp, &question) {
            let length = u16::try_from(answer.len()).expect("a message");
            let _ = stream.write_all(&[&length.to_be_bytes(), &answer[..]].concat());
        }
    }
}

fn zonewright(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("ZONEWRIGHT_") {
            command.env_remove(name);
        }
    }
    command
        .arg("query")
        .args(args)
        .output()
        .expect("the binary was built")
}

/// Standard output of a run that ended with `code`, and standard error of one that failed.
#[track_caller]
fn told(output: &Output, code: i32) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    let stream = if code == 0 {
        &output.stdout
    } else {
        &output.stderr
    };
    String::from_utf8(stream.clone()).expect("text")
}

/// An answer to `question` with so many addresses.
fn answer(question: &[u8], rcode: Rcode, addresses: u8) -> Vec<u8> {
    let question = Message::from_slice(question).expect("a message");
    let mut message: AnswerBuilder<Vec<u8>> = MessageBuilder::new_vec()
        .start_answer(question, rcode)
        .expect("it fits");
    message.header_mut().set_aa(true);
    let question = question.sole_question().expect("one question");
    let owner = question.qname();
    for last in 1..=addresses {
        let address = A::from_octets(192, 0, 2, last);
        message
            .push((owner, Class::IN, Ttl::from_secs(60), address))
            .expect("it fits");
    }
    message.finish()
}

fn truncated(question: &[u8]) -> Vec<u8> {
    let mut octets = answer(question, Rcode::NOERROR, 0);
    octets[2] |= 0x02;
    octets
}

fn with_another_id(mut octets: Vec<u8>) -> Vec<u8> {
    octets[1] ^= 1;
    octets
}

/// O3.
#[test]
fn an_answer_is_shown_as_lines_of_a_zone_file_and_comments() {
    let server = Scripted::start(|_, question| vec![answer(question, Rcode::NOERROR, 2)]);
    let text = told(&server.query(&["WWW.example.org"]), 0);
    let lines: Vec<&str> = text.lines().collect();
    let head = format!(
        ";; NOERROR, flags qr aa rd, from {} over udp in ",
        server.address
    );
    assert!(lines[0].starts_with(&head), "{text}");
    assert_eq!(
        lines[1..],
        [
            ";www.example.org. IN A",
            ";; answer",
            "www.example.org. 60 IN A 192.0.2.1",
            "www.example.org. 60 IN A 192.0.2.2",
        ]
    );
}

/// O3.
#[test]
fn an_answer_is_data_with_json_output() {
    let server = Scripted::start(|_, question| vec![answer(question, Rcode::NOERROR, 1)]);
    let text = told(&server.query(&["-o", "json", "bücher.example", "a"]), 0);
    let mut shown: Value = serde_json::from_str(&text).expect("JSON");
    assert!(shown["milliseconds"].take().as_f64().unwrap() >= 0.0);
    let name = "xn--bcher-kva.example.";
    let line = json!({ "name": name, "ttl": 60, "class": "IN", "type": "A", "rdata": "192.0.2.1" });
    assert_eq!(
        shown,
        json!({
            "question": { "name": name, "class": "IN", "type": "A" },
            "rcode": "NOERROR", "flags": ["qr", "aa", "rd"], "server": server.address.to_string(),
            "transport": "udp", "milliseconds": null,
            "answer": [line], "authority": [], "additional": [],
        })
    );
}

#[test]
fn no_such_name_is_an_answer() {
    let server = Scripted::start(|_, question| vec![answer(question, Rcode::NXDOMAIN, 0)]);
    let text = told(&server.query(&["nowhere.example.org", "TXT"]), 0);
    assert!(
        text.starts_with(";; NXDOMAIN, flags qr aa rd, from "),
        "{text}"
    );
    assert!(text.ends_with(";nowhere.example.org. IN TXT\n"), "{text}");
}

#[test]
fn an_answer_that_was_cut_is_asked_for_again_over_tcp() {
    let server = Scripted::start(|over, question| match over {
        Over::Udp => vec![truncated(question)],
        Over::Tcp => vec![answer(question, Rcode::NOERROR, 100)],
    });
    let text = told(&server.query(&["www.example.org"]), 0);
    assert!(text.contains(" over tcp in "), "{text}");
    assert_eq!(text.matches(" IN A 192.0.2.").count(), 100);
}

#[test]
fn tcp_can_be_asked_at_once() {
    let server = Scripted::start(|over, question| match over {
        Over::Udp => Vec::new(),
        Over::Tcp => vec![answer(question, Rcode::NOERROR, 1)],
    });
    assert!(told(&server.query(&["www.example.org", "--tcp"]), 0).contains(" over tcp in "));
}

#[test]
fn what_answers_another_question_is_passed_over() {
    let server = Scripted::start(|_, question| {
        let right = answer(question, Rcode::NOERROR, 1);
        vec![
            vec![0; 3],
            with_another_id(answer(question, Rcode::NXDOMAIN, 0)),
            right,
        ]
    });
    assert!(told(&server.query(&["www.example.org"]), 0).starts_with(";; NOERROR, "));
}

#[test]
fn without_the_answer_to_our_question_there_is_none() {
    let server =
        Scripted::start(|_, question| vec![with_another_id(answer(question, Rcode::NOERROR, 1))]);
    let address = server.address;
    assert_eq!(
        told(&server.query(&["www.example.org", "--timeout", "250ms"]), 1),
        format!(
            "error: no answer from {address} over UDP: only what is no answer to this question came within 250ms: \
             the id of another question; check that a name server runs there, and that nothing on the way drops its \
             port over UDP and TCP\n"
        )
    );
    let told_tcp = told(&server.query(&["www.example.org", "--tcp"]), 1);
    assert!(told_tcp.starts_with(&format!(
        "error: no answer from {address} over TCP: the id of another question; "
    )));
}

#[test]
fn a_silent_server_is_named_when_time_is_up() {
    let server = Scripted::start(|_, _| Vec::new());
    let address = server.address;
    let stderr = told(&server.query(&["www.example.org", "--timeout=250ms"]), 1);
    assert!(
        stderr.starts_with(&format!(
            "error: no answer from {address} over UDP: silence for 250ms; check that "
        )),
        "{stderr}"
    );
    let stderr = told(
        &server.query(&["www.example.org", "--tcp", "--timeout=250ms"]),
        1,
    );
    assert!(
        stderr.starts_with(&format!(
            "error: no answer from {address} over TCP: it closed the connection without a word; "
        )),
        "{stderr}"
    );
}

#[test]
fn where_nobody_listens_is_told_at_once() {
    // The port is kept, so that nobody else takes it, by the transport that is not asked.
    let (udp, tcp) = pair();
    let address = udp.local_addr().unwrap();
    drop(udp);
    check_nobody_listens(address, &[], "UDP");
    drop(tcp);
    let _udp = UdpSocket::bind(address).unwrap();
    check_nobody_listens(address, &["--tcp"], "TCP");
}

#[track_caller]
fn check_nobody_listens(address: SocketAddr, flags: &[&str], over: &str) {
    let server = format!("@{address}");
    let words = ["www.example.org", &server, "--timeout", "1h"];
    let stderr = told(&zonewright(&[&words, flags].concat()), 1);
    let start =
        format!("error: no answer from {address} over {over}: nobody listens there; check that ");
    assert!(stderr.starts_with(&start), "{stderr}");
}

#[test]
fn a_server_that_takes_the_connection_and_says_nothing_is_named_when_time_is_up() {
    // Connections wait in the system's queue, and nobody takes them out.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let server = format!("@{}", listener.local_addr().unwrap());
    let words = ["www.example.org", &server, "--tcp", "--timeout", "250ms"];
    let stderr = told(&zonewright(&words), 1);
    assert!(
        stderr.contains(" over TCP: silence for 250ms; "),
        "{stderr}"
    );
}

#[test]
fn every_address_of_a_server_is_tried() {
    let server = Scripted::start(|_, question| vec![answer(question, Rcode::NOERROR, 1)]);
    // Where this is two addresses, the server listens on one of them.
    let host = format!("@localhost:{}", server.address.port());
    assert!(told(&zonewright(&["www.example.org", &host]), 0).starts_with(";; NOERROR, "));
}

#[test]
fn wrong_words_are_wrong_usage() {
    for words in [
        &["www.example.org", "@"][..],
        &["www.example.org", "NOTYPE"],
        &["a..b"],
        &["@127.0.0.1"],
        &["a", "A", "b"],
        &["a", "--timeout", "5"],
        &[],
    ] {
        let stderr = told(&zonewright(words), 2);
        assert!(stderr.starts_with("error: "), "{words:?}: {stderr}");
    }
}

/// The name is taken from the wire, where any octet may stand, and printed so that no terminal obeys it.
#[test]
fn a_name_from_the_wire_cannot_command_the_terminal() {
    let server = Scripted::start(|_, question| {
        let question = Message::from_slice(question).unwrap();
        let mut message = MessageBuilder::new_vec()
            .start_answer(question, Rcode::NOERROR)
            .unwrap();
        let owner = Name::<Vec<u8>>::from_str(r"\027[31m.example.org").unwrap();
        message
            .push((
                owner,
                Class::IN,
                Ttl::from_secs(60),
                A::from_octets(192, 0, 2, 1),
            ))
            .unwrap();
        vec![message.finish()]
    });
    let text = told(&server.query(&["www.example.org"]), 0);
    assert!(text.contains("\\027\\[31m.example.org. 60 IN A"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
}
