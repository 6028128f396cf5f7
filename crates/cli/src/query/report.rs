//! What is shown of an answer: records as lines of a zone file, everything else as comments of one.

use std::fmt;
use std::net::SocketAddr;

use dns::{Name, Rtype};
use serde::Serialize;

use super::exchange::{Answered, Transport};
use super::message::Line;
use crate::output::{BAD, FAINT, GOOD, HEADING, styled};

/// An answer, for people and programs.
#[derive(Debug, Serialize)]
pub(super) struct Report<'a> {
    question: Question,
    rcode: &'a str,
    flags: &'a [&'static str],
    server: SocketAddr,
    transport: &'static str,
    milliseconds: f64,
    answer: &'a [Line],
    authority: &'a [Line],
    additional: &'a [Line],
}

#[derive(Debug, Serialize)]
struct Question {
    name: String,
    class: &'static str,
    #[serde(rename = "type")]
    rtype: String,
}

impl<'a> Report<'a> {
    pub(super) fn new(name: &Name, rtype: Rtype, answered: &'a Answered) -> Report<'a> {
        let reply = &answered.reply;
        let question = Question {
            name: name.to_string(),
            class: "IN",
            rtype: rtype.to_string(),
        };
        Report {
            question,
            rcode: &reply.rcode,
            flags: &reply.flags,
            server: answered.server,
            transport: match answered.transport {
                Transport::Udp => "udp",
                Transport::Tcp => "tcp",
            },
            milliseconds: (answered.elapsed.as_secs_f64() * 1e6).round() / 1e3,
            answer: &reply.answer,
            authority: &reply.authority,
            additional: &reply.additional,
        }
    }

    /// What the server said, and how it came.
    fn summary(&self) -> String {
        let Report {
            flags,
            server,
            transport,
            milliseconds,
            ..
        } = self;
        let style = if self.rcode == "NOERROR" { GOOD } else { BAD };
        let rcode = styled(style, self.rcode);
        format!(
            ";; {rcode}, flags {}, from {server} over {transport} in {milliseconds:.1} ms",
            flags.join(" ")
        )
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Question { name, class, rtype } = &self.question;
        writeln!(f, "{}", self.summary())?;
        writeln!(
            f,
            "{}",
            styled(FAINT, format_args!(";{name} {class} {rtype}"))
        )?;
        let sections = [
            ("answer", self.answer),
            ("authority", self.authority),
            ("additional", self.additional),
        ];
        for (title, lines) in sections {
            if !lines.is_empty() {
                writeln!(f, "{}", styled(HEADING, format_args!(";; {title}")))?;
            }
            for line in lines {
                writeln!(f, "{line}")?;
            }
        }
        Ok(())
    }
}
