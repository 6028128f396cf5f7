//! What is answered.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Response, StatusCode};
use http_body_util::Full;

use super::xml::{
    self, ChangeInfo, ChangeResourceRecordSetsResponse, CreateHostedZoneResponse, DelegationSet,
    ErrorBody, ErrorResponse, HostedZone, HostedZoneConfig, HostedZones, ListHostedZonesResponse,
    ListResourceRecordSetsResponse, NameServers, ResourceRecordSets,
};
use super::zone::{NAME_SERVERS, Page, Refusal, Zone};

/// When everything here happens.
const SUBMITTED_AT: &str = "2026-01-01T00:00:00.000Z";

/// A status and a text.
#[derive(Debug)]
pub(super) struct Answer {
    status: StatusCode,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn into_response(self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::new(Bytes::from(self.body)));
        *response.status_mut() = self.status;
        let xml = http::HeaderValue::from_static("text/xml");
        response.headers_mut().insert(CONTENT_TYPE, xml);
        response
    }
}

pub(super) fn created(hosted_zone: HostedZone) -> Answer {
    let answer = CreateHostedZoneResponse {
        hosted_zone,
        change_info: change_info(),
        delegation_set: DelegationSet {
            name_servers: NameServers {
                name_server: NAME_SERVERS.to_vec(),
            },
        },
    };
    Answer {
        status: StatusCode::CREATED,
        body: xml::write("CreateHostedZoneResponse", &answer),
    }
}

pub(super) fn changed(outcome: Result<(), Refusal>) -> Answer {
    match outcome {
        Ok(()) => {
            let answer = ChangeResourceRecordSetsResponse {
                change_info: change_info(),
            };
            ok(xml::write("ChangeResourceRecordSetsResponse", &answer))
        }
        Err(Refusal::InvalidInput(message)) => {
            error(StatusCode::BAD_REQUEST, "InvalidInput", &message)
        }
        Err(Refusal::InvalidChangeBatch(messages)) => {
            // As Route 53 does it: a list in one text.
            let message = format!("[{}]", messages.join(", "));
            error(StatusCode::BAD_REQUEST, "InvalidChangeBatch", &message)
        }
    }
}

pub(super) fn list_zones(page: Vec<HostedZone>, next: Option<String>, max: usize) -> Answer {
    let answer = ListHostedZonesResponse {
        hosted_zones: HostedZones { hosted_zone: page },
        is_truncated: next.is_some(),
        next_marker: next,
        max_items: max,
    };
    ok(xml::write("ListHostedZonesResponse", &answer))
}

pub(super) fn list_sets(page: Page, max: usize) -> Answer {
    let is_truncated = page.next.is_some();
    let (name, rtype, identifier) = match page.next {
        Some(next) => (Some(next.name), Some(next.r#type), next.set_identifier),
        None => (None, None, None),
    };
    let answer = ListResourceRecordSetsResponse {
        resource_record_sets: ResourceRecordSets {
            resource_record_set: page.sets,
        },
        is_truncated,
        next_record_name: name,
        next_record_type: rtype,
        next_record_identifier: identifier,
        max_items: max,
    };
    ok(xml::write("ListResourceRecordSetsResponse", &answer))
}

pub(super) fn told(id: &str, zone: &Zone) -> HostedZone {
    HostedZone {
        id: format!("/hostedzone/{id}"),
        name: zone.apex().to_owned(),
        caller_reference: id.to_owned(),
        config: HostedZoneConfig::default(),
        resource_record_set_count: zone.len(),
    }
}

fn change_info() -> ChangeInfo {
    ChangeInfo {
        id: "/change/C0000000000001".into(),
        status: "INSYNC",
        submitted_at: SUBMITTED_AT,
    }
}

fn ok(body: String) -> Answer {
    let status = StatusCode::OK;
    Answer { status, body }
}

pub(super) fn no_such_operation() -> Answer {
    let message = "There is no such operation here.";
    error(StatusCode::NOT_FOUND, "UnknownOperation", message)
}

pub(super) fn no_such_key() -> Answer {
    let message = "The security token included in the request is invalid.";
    error(StatusCode::FORBIDDEN, "InvalidClientTokenId", message)
}

pub(super) fn internal_failure() -> Answer {
    let message = "We encountered an internal error. Please try again.";
    error(
        StatusCode::INTERNAL_SERVER_ERROR,
        "InternalFailure",
        message,
    )
}

pub(super) fn prior_request_not_complete() -> Answer {
    let message = "The request was rejected because Route 53 was still processing a prior request.";
    error(StatusCode::BAD_REQUEST, "PriorRequestNotComplete", message)
}

pub(super) fn throttled() -> Answer {
    error(StatusCode::BAD_REQUEST, "Throttling", "Rate exceeded")
}

pub(super) fn no_such_zone(id: &str) -> Answer {
    let message = format!("No hosted zone found with ID: {id}");
    error(StatusCode::NOT_FOUND, "NoSuchHostedZone", &message)
}

pub(super) fn malformed(why: &quick_xml::DeError) -> Answer {
    let message = format!("Invalid XML ; {why}");
    error(StatusCode::BAD_REQUEST, "InvalidInput", &message)
}

fn error(status: StatusCode, code: &'static str, message: &str) -> Answer {
    let r#type = if status.is_server_error() {
        "Receiver"
    } else {
        "Sender"
    };
    let answer = ErrorResponse {
        error: ErrorBody {
            r#type,
            code,
            message: message.to_owned(),
        },
        request_id: "00000000-0000-0000-0000-000000000000".into(),
    };
    let body = xml::write("ErrorResponse", &answer);
    Answer { status, body }
}
