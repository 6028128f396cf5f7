//! `OpenAPI` documents over HTTP: addresses with a hash, etags, and what caches are told.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, ETAG, EXPIRES, HeaderName, HeaderValue, LOCATION, VARY};
use http::{Response, StatusCode};
use jiff::{SignedDuration, Timestamp};

use super::{Headers, ResponseBody, respond};
use crate::media_type::{self, Endpoint, Format};
use crate::openapi::{Document, Library};
use crate::refusal::Refusal;

/// `/openapi/v3`
pub(super) fn root(
    headers: &Headers,
    library: &Library,
) -> Result<Response<ResponseBody>, Refusal> {
    tagged(headers, library.root())
}

/// The document of a group and version. An address with a hash never has another content: whoever asks with one
/// that is outdated is sent to where the document is now.
pub(super) fn document(
    headers: &Headers,
    library: &Library,
    (group, version): (&str, &str),
    now: Timestamp,
) -> Result<Response<ResponseBody>, Refusal> {
    let document = library.find(group, version);
    let document = document.ok_or_else(Refusal::no_such_path)?;
    let mut response = tagged(headers, document)?;
    put(&mut response, VARY, "Accept");
    match headers.hash.as_deref().unwrap_or_default() {
        "" => {}
        hash if hash == document.hash => {
            let expires = now + SignedDuration::from_hours(24 * 365);
            let expires = expires.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
            put(&mut response, CACHE_CONTROL, "public, immutable");
            put(&mut response, EXPIRES, &expires);
        }
        _ => {
            response = respond(301, JSON, Bytes::new());
            let address = document.address(group, version);
            put(&mut response, LOCATION, &address);
        }
    }
    Ok(response)
}

const JSON: &str = "application/json";

/// A document, or word that the client has it already. Nothing is said of its type then: a cache would take that
/// for news.
fn tagged(headers: &Headers, document: &Document) -> Result<Response<ResponseBody>, Refusal> {
    let form = media_type::negotiate(&headers.accept, Endpoint::Document)?;
    if form.format != Format::Json {
        return Err(Refusal::not_acceptable());
    }
    let etag = format!("\"{}\"", document.hash);
    let mut response = if headers.if_none_match.as_deref() == Some(&etag) {
        let mut response = Response::new(ResponseBody::default());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        respond(200, JSON, document.json.clone())
    };
    put(&mut response, ETAG, &etag);
    Ok(response)
}

fn put(response: &mut Response<ResponseBody>, name: HeaderName, text: &str) {
    if let Ok(value) = HeaderValue::from_str(text) {
        response.headers_mut().insert(name, value);
    }
}
