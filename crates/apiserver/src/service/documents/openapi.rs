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
    in_json(headers, library.root())
}

/// The message of `/openapi/v2`, which older clients spell with an `@`.
const V2_PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2";

/// Whether a client reads `/openapi/v2` in protocol buffers. kubectl asks for nothing else.
pub(super) fn wants_protobuf(headers: &Headers) -> bool {
    headers.accept.starts_with(V2_PROTOBUF)
}

/// A document in protocol buffers.
pub(super) fn in_protobuf(headers: &Headers, document: &Document) -> Response<ResponseBody> {
    tagged(headers, document, &format!("{V2_PROTOBUF}.v1.0+protobuf"))
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
    let mut response = in_json(headers, document)?;
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

/// A document in JSON, for those who take that.
pub(super) fn in_json(
    headers: &Headers,
    document: &Document,
) -> Result<Response<ResponseBody>, Refusal> {
    let form = media_type::negotiate(&headers.accept, Endpoint::Document)?;
    if form.format != Format::Json {
        return Err(Refusal::not_acceptable());
    }
    Ok(tagged(headers, document, JSON))
}

/// A document, or word that the client has it already. Nothing is said of its type then: a cache would take that
/// for news.
fn tagged(headers: &Headers, document: &Document, media_type: &str) -> Response<ResponseBody> {
    let etag = format!("\"{}\"", document.hash);
    let mut response = if headers.if_none_match.as_deref() == Some(&etag) {
        let mut response = Response::new(ResponseBody::default());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        respond(200, media_type, document.octets.clone())
    };
    put(&mut response, ETAG, &etag);
    response
}

fn put(response: &mut Response<ResponseBody>, name: HeaderName, text: &str) {
    if let Ok(value) = HeaderValue::from_str(text) {
        response.headers_mut().insert(name, value);
    }
}
