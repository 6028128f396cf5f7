//! The double speaks as moto does: the same calls, the same statuses, the same elements.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use quick_xml::Reader;
use quick_xml::events::Event;
use testkit::route53::Route53;

use crate::stage::{create_zone, request, send, zone_id};

/// What only moto says: its own names for what Route 53 leaves out, and messages a second time.
const ONLY_MOTO: [&str; 3] = [
    "CreateHostedZoneResponse/DelegationSet/CallerReference",
    "CreateHostedZoneResponse/DelegationSet/Id",
    "ErrorResponse/Error/message",
];

const SET: &str = "<Name>www.example.org.</Name><Type>A</Type><TTL>300</TTL><ResourceRecords><ResourceRecord>\
                   <Value>192.0.2.1</Value></ResourceRecord></ResourceRecords>";

/// An answer without what differs from one to the next.
#[derive(Debug, Eq, PartialEq)]
struct Form {
    status: u16,
    elements: BTreeSet<String>,
    /// The code of an error, or where the next page begins.
    says: Vec<String>,
}

impl Form {
    fn of((status, body): (u16, String)) -> Form {
        let mut form = Form {
            status,
            elements: BTreeSet::new(),
            says: Vec::new(),
        };
        let mut reader = Reader::from_str(&body);
        let mut path: Vec<String> = Vec::new();
        loop {
            match reader.read_event().unwrap() {
                Event::Start(start) => {
                    path.push(start.name().as_ref().to_owned());
                    form.elements.insert(path.join("/"));
                }
                Event::End(_) => drop(path.pop()),
                Event::Text(text) if is_told(path.last()) => {
                    form.says.push(text.to_string());
                }
                Event::Eof => return form,
                Event::Empty(_)
                | Event::Text(_)
                | Event::CData(_)
                | Event::Comment(_)
                | Event::Decl(_)
                | Event::PI(_)
                | Event::DocType(_)
                | Event::GeneralRef(_) => {}
            }
        }
    }

    fn without_what_only_moto_says(mut self) -> Form {
        self.elements
            .retain(|path| !ONLY_MOTO.contains(&path.as_str()));
        self
    }
}

fn is_told(element: Option<&String>) -> bool {
    let told = [
        "Code",
        "IsTruncated",
        "NextRecordName",
        "NextRecordType",
        "MaxItems",
        "Name",
    ];
    element.is_some_and(|element| told.contains(&element.as_str()))
}

/// The answers to the same calls, each with what was called.
async fn conversation(address: SocketAddr) -> Vec<(&'static str, Form)> {
    let created = send(address, "POST", "/hostedzone", &create_zone("example.org.")).await;
    let sets = format!("/hostedzone/{}/rrset", zone_id(&created.1));
    let nowhere = "/hostedzone/ZNOWHERE/rrset";
    let change = |action: &str, set: &str| {
        let change = format!(
            "<Change><Action>{action}</Action><ResourceRecordSet>{set}</ResourceRecordSet></Change>"
        );
        let batch = format!("<ChangeBatch><Changes>{change}</Changes></ChangeBatch>");
        request("ChangeResourceRecordSetsRequest", &batch)
    };
    let weighted = SET.replace("www", "weighted").replace(
        "<TTL>",
        "<SetIdentifier>one</SetIdentifier><Weight>1</Weight><TTL>",
    );
    let elsewhere = SET.replace("example.org", "example.net");
    let creation = change("CREATE", SET);
    let mut answers = vec![("a zone is created", Form::of(created))];
    for (what, method, path, body) in [
        ("a set is created", "POST", &*sets, &*creation),
        ("it is created again", "POST", &sets, &creation),
        (
            "a weighted set is created",
            "POST",
            &sets,
            &change("CREATE", &weighted),
        ),
        (
            "a set of another zone",
            "POST",
            &sets,
            &change("CREATE", &elsewhere),
        ),
        ("all sets", "GET", &sets, ""),
        ("the first three", "GET", &format!("{sets}?maxitems=3"), ""),
        (
            "from a name on",
            "GET",
            &format!("{sets}?name=weighted.example.org.&type=A"),
            "",
        ),
        ("a set is removed", "POST", &sets, &change("DELETE", SET)),
        ("what is left", "GET", &sets, ""),
        ("sets of no zone", "GET", nowhere, ""),
        ("a change of no zone", "POST", nowhere, &creation),
    ] {
        answers.push((what, Form::of(send(address, method, path, body).await)));
    }
    answers
}

/// What is listed depends on who else makes zones, so only the form of one is looked at.
async fn zones(address: SocketAddr) -> Form {
    let mut form = Form::of(send(address, "GET", "/hostedzone?maxitems=1", "").await);
    form.says.clear();
    form.elements.retain(|path| !path.ends_with("/NextMarker"));
    form
}

#[tokio::test]
async fn the_double_answers_in_the_form_that_moto_answers_in() {
    let moto = testkit::moto::shared().await;
    let double = Route53::start().await.unwrap();
    let ours = conversation(double.address()).await;
    let theirs = conversation(moto.address()).await;
    for ((what, ours), (_, theirs)) in ours.into_iter().zip(theirs) {
        assert_eq!(ours, theirs.without_what_only_moto_says(), "{what}");
    }
    assert_eq!(
        zones(double.address()).await,
        zones(moto.address()).await.without_what_only_moto_says(),
        "zones are listed"
    );
}
