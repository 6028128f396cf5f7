//! The API as a service: an HTTP request in, a response out.
//!
//! The same service stands behind [`Apiserver::client`](crate::Apiserver::client) and behind the listener. Who asks
//! is in the request's extensions, put there by whoever let the request in.

mod documents;

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, USER_AGENT, WARNING};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response};
use http_body::Body as HttpBody;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, Limited};

use crate::body::{self, Body, Language};
use crate::engine::{Answer, Call, Content, unrecognized};
use crate::impersonation::{self, Asked};
use crate::media_type::{self, Endpoint, Format, View};
use crate::metrics::RequestKind;
use crate::patch::Patch;
use crate::present::{self, EventEncoder, Presentation};
use crate::refusal::Refusal;
use crate::request::{Query, Route, Target, Verb};
use crate::resource::Origin;
use crate::shared::Shared;
use crate::stream::Watch;
use crate::table::IncludeObject;
use crate::tokens::Signer;
use crate::user::User;
use wire::TypeMeta;

pub(crate) use documents::Documents;

/// The body of a response: bytes, or the lines of a watch as they come.
pub type ResponseBody = UnsyncBoxBody<Bytes, Infallible>;

/// Answers requests. Cheap to clone; all clones are one API.
#[derive(Clone, Debug)]
pub struct Service {
    shared: Arc<Shared>,
    documents: Arc<Documents>,
    signer: Signer,
    /// Who asks when the request does not say: in-process clients.
    user: User,
}

impl Service {
    pub(crate) fn new(
        shared: Arc<Shared>,
        documents: Arc<Documents>,
        signer: Signer,
        user: User,
    ) -> Self {
        Self {
            shared,
            documents,
            signer,
            user,
        }
    }

    async fn answer<B>(self, request: Request<B>) -> Response<ResponseBody>
    where
        B: HttpBody<Data: Send> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (parts, body) = request.into_parts();
        let query = Query::parse(parts.uri.query().unwrap_or_default());
        let headers = Headers::of(&parts.headers, &query);
        let route = Route::of(parts.uri.path());
        let sender = parts.extensions.get::<User>().unwrap_or(&self.user).clone();
        let asked = Asked {
            method: &parts.method,
            path: parts.uri.path(),
            query: &query,
            route: route.as_ref(),
        };
        let user = impersonation::assume(sender, &asked, &parts.headers);
        let answered = match (route, user) {
            (_, Err(refusal)) => Err(refusal),
            (Some(Route::Objects(target)), Ok(user)) => {
                self.objects(&parts.method, target, query, &headers, user, body)
                    .await
            }
            (Some(route), Ok(_)) if route.is_readable(&parts.method) => {
                let documents = self.documents.answer(&self.shared, &route, &headers);
                documents.await
            }
            (Some(_), Ok(_)) => Err(Refusal::method_not_allowed()),
            (None, Ok(_)) => Err(Refusal::no_such_path()),
        };
        let mut response = match answered {
            Ok(response) => response,
            Err(refusal)
                if refusal == Refusal::no_such_path() && !self.is_ours(parts.uri.path()) =>
            {
                respond(
                    404,
                    "text/plain; charset=utf-8",
                    Bytes::from_static(b"404 page not found\n"),
                )
            }
            Err(refusal) => refuse(&refusal, &headers),
        };
        if parts.method == Method::HEAD {
            *response.body_mut() = Full::default().boxed_unsync();
        }
        response
    }

    /// Whether a path is below a group that is always there. What is missing there is told in an
    /// object; elsewhere kube-apiserver has only a line of text for it.
    fn is_ours(&self, path: &str) -> bool {
        let mut parts = path.split('/').filter(|part| !part.is_empty());
        match (parts.next(), parts.next()) {
            (Some("api"), _) => true,
            (Some("apis"), Some(group)) => {
                let engine = self.shared.engine();
                let mut known = engine.catalog().resources();
                known.any(|resource| {
                    resource.origin == Origin::Builtin && resource.names.group == group
                })
            }
            (_, _) => false,
        }
    }

    async fn objects<B>(
        &self,
        method: &Method,
        target: Target,
        query: Query,
        headers: &Headers,
        user: User,
        body: B,
    ) -> Result<Response<ResponseBody>, Refusal>
    where
        B: HttpBody<Data: Send> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let kind = self.kind(&target)?;
        let verb = Verb::of(method, &target, &query)?;
        let applies = Patch::is_apply(&headers.content_type);
        let counted = RequestKind::of(&target, verb, applies);
        let answered = self.carry_out((verb, &kind), target, query, headers, user, body);
        let answered = answered.await;
        let code = match &answered {
            Ok(response) => response.status().as_u16(),
            Err(refusal) => refusal.code,
        };
        self.shared.count(counted, code);
        answered
    }

    async fn carry_out<B>(
        &self,
        (verb, kind): (Verb, &Named),
        target: Target,
        query: Query,
        headers: &Headers,
        user: User,
        body: B,
    ) -> Result<Response<ResponseBody>, Refusal>
    where
        B: HttpBody<Data: Send> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        if kind.origin == Origin::Builtin {
            media_type::check_essence(&headers.accept, media_type::ACCEPTED)?;
        }
        let form = match verb {
            Verb::Watch => media_type::negotiate_stream(&headers.accept, kind.origin)?,
            Verb::Get
            | Verb::List
            | Verb::Create
            | Verb::Update
            | Verb::Patch
            | Verb::Delete
            | Verb::DeleteCollection => {
                media_type::negotiate(&headers.accept, Endpoint::Objects(kind.origin))?
            }
        };
        let form = media_type::Answer {
            pretty: form.pretty || headers.pretty,
            ..form
        };
        let include = IncludeObject::parse(query.text("includeObject").unwrap_or_default())?;
        let (body, patch) = read_body(verb, headers, body, kind).await?;
        let user_agent = headers.user_agent.clone();
        let now = self.shared.clock.now();
        let call = Call {
            user,
            verb,
            target,
            query,
            body,
            patch,
            user_agent,
            now,
        };
        let presentation = Presentation { form, now, include };
        let Answer { content, warnings } = self.shared.call(&call).await?;
        let mut response = match content {
            Content::Object {
                code,
                resource,
                object,
            } => respond(
                code,
                &form.content_type(),
                presentation.object(&resource, &object)?,
            ),
            Content::List { resource, page } => {
                let list = presentation.list(&resource, page)?;
                let content_type = form.content_type();
                respond_with(200, &content_type, list.len(), list.boxed_unsync())
            }
            Content::Document { code, value } => respond(
                code,
                form.format.content_type(),
                present::document(form, &value)?,
            ),
            Content::Token {
                key,
                uid,
                request,
                id,
            } => {
                let value = self.signer.answer(&key, &uid, &request, id, now)?;
                respond(
                    201,
                    form.format.content_type(),
                    present::document(form, &value)?,
                )
            }
            Content::Watch(subscription) => {
                let resource = Arc::clone(&subscription.resource);
                let encoder = EventEncoder::new(form, resource, include);
                let watch = Watch::new(Arc::clone(&self.shared), subscription, encoder);
                streamed(&form.format.stream_type(), watch)
            }
        };
        warn(&mut response, &warnings);
        Ok(response)
    }

    /// What objects at a target are called.
    fn kind(&self, target: &Target) -> Result<Named, Refusal> {
        let engine = self.shared.engine();
        let resource = engine
            .catalog()
            .find(&target.group, &target.version, &target.plural);
        let resource = resource.ok_or_else(Refusal::no_such_path)?;
        Ok(Named {
            api_version: resource.api_version(),
            kind: resource.names.kind.clone(),
            origin: resource.origin,
            is_scale: target.subresource.as_deref() == Some("scale"),
        })
    }
}

impl<B> tower::Service<Request<B>> for Service
where
    B: HttpBody<Data: Send> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.answer(request).await) })
    }
}

/// What the headers of a request say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Headers {
    pub(crate) accept: String,
    pub(crate) content_type: String,
    pub(crate) user_agent: Option<String>,
    pub(crate) if_none_match: Option<String>,
    /// Where the client reached us.
    pub(crate) host: String,
    /// Whether JSON is wanted indented.
    pub(crate) pretty: bool,
    /// Which content of a document is asked for.
    pub(crate) hash: Option<String>,
}

impl Headers {
    fn of(headers: &HeaderMap, query: &Query) -> Self {
        let text = |name: HeaderName| {
            headers
                .get(name)
                .and_then(|value| value.to_str().ok())
                .map(str::to_owned)
        };
        let user_agent = text(USER_AGENT);
        Self {
            accept: text(ACCEPT).unwrap_or_default(),
            content_type: text(CONTENT_TYPE).unwrap_or_default(),
            if_none_match: text(http::header::IF_NONE_MATCH),
            host: text(http::header::HOST).unwrap_or_default(),
            hash: query.text("hash").map(str::to_owned),
            pretty: media_type::is_pretty(
                query.text("pretty"),
                user_agent.as_deref().unwrap_or_default(),
            ),
            user_agent,
        }
    }
}

/// What objects at a target are called: what a body is when it does not say so, and what refusals of one say.
struct Named {
    api_version: String,
    kind: String,
    origin: Origin,
    /// Whether it is the scale of an object, which is of one kind whatever the object is.
    is_scale: bool,
}

/// Reads the body of a request, if its verb has one, as what the headers say it is.
async fn read_body<B>(
    verb: Verb,
    headers: &Headers,
    body: B,
    named: &Named,
) -> Result<(Option<Body>, Option<Patch>), Refusal>
where
    B: HttpBody<Data: Send> + Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (format, patch) = match verb {
        Verb::Get | Verb::List | Verb::Watch => return Ok((None, None)),
        Verb::Patch => {
            let patch = Patch::negotiate(&headers.content_type, named.origin)?;
            let format = match patch {
                Patch::Change(_) => Format::Json,
                Patch::Apply => Format::Yaml,
            };
            (format, Some(patch))
        }
        Verb::Create | Verb::Update | Verb::Delete | Verb::DeleteCollection => {
            let format = media_type::body_format(&headers.content_type)?;
            let is_object = matches!(verb, Verb::Create | Verb::Update);
            let is_custom = named.origin == Origin::Custom && !named.is_scale;
            if format == Format::Protobuf && is_object && is_custom {
                return Err(Refusal::unsupported_media_type(media_type::TEXT));
            }
            (format, None)
        }
    };
    let bytes = Limited::new(body, body::BYTES_MAX)
        .collect()
        .await
        .map_err(|_| {
            Refusal::too_large(format!(
                "Request entity too large: limit is {}",
                body::BYTES_MAX
            ))
        })?;
    let bytes = bytes.to_bytes();
    if bytes.is_empty() && matches!(verb, Verb::Delete | Verb::DeleteCollection) {
        return Ok((None, None));
    }
    let language = match format {
        Format::Json => Language::Json,
        Format::Yaml => Language::Yaml,
        Format::Protobuf => return Ok((Some(decode(verb, named, &bytes)?), None)),
    };
    let body = Body::parse(&bytes, language).map_err(|why| match patch {
        Some(Patch::Apply) => Refusal::bad_request(format!(
            "error decoding YAML: error converting YAML to JSON: yaml: {why}"
        )),
        Some(Patch::Change(_)) | None => unreadable(verb, &named.kind, &why, &bytes),
    })?;
    Ok((Some(body), patch))
}

/// Reads a body in protocol buffers.
fn decode(verb: Verb, named: &Named, octets: &[u8]) -> Result<Body, Refusal> {
    let Named {
        api_version, kind, ..
    } = named;
    let usually = match verb {
        Verb::Delete | Verb::DeleteCollection => TypeMeta {
            api_version: "meta.k8s.io/v1",
            kind: "DeleteOptions",
        },
        Verb::Get | Verb::List | Verb::Watch | Verb::Create | Verb::Update | Verb::Patch => {
            TypeMeta { api_version, kind }
        }
    };
    match wire::decode(octets, usually) {
        Ok(value) => Ok(Body {
            value,
            ..Body::default()
        }),
        Err(why) => Err(undecodable(verb, kind, &why, octets)),
    }
}

fn undecodable(verb: Verb, kind: &str, why: &wire::Error, octets: &[u8]) -> Refusal {
    let message = match (verb, &why.says) {
        (Verb::Delete | Verb::DeleteCollection, _) => why.to_string(),
        (_, Some((api_version, said))) => {
            let version = api_version.rsplit('/').next().unwrap_or_default();
            format!("{said} in version {version:?} cannot be handled as a {kind}: {why}")
        }
        (_, None) => format!(
            "the object provided is unrecognized (must be of type {kind}): {why} ({})",
            summary(octets)
        ),
    };
    Refusal::bad_request(message)
}

/// The first octets of a body, in the form that kube-apiserver shows them in.
fn summary(octets: &[u8]) -> String {
    if octets.is_empty() {
        return "<empty>".to_owned();
    }
    let shown = &octets[..octets.len().min(SUMMARY_MAX)];
    let mut text = if octets.starts_with(b"{") {
        String::from_utf8_lossy(shown).into_owned()
    } else {
        let mut text = String::new();
        for octet in shown {
            let _infallible = write!(text, "{octet:02x}");
        }
        text
    };
    if octets.len() > SUMMARY_MAX {
        text.push_str(" ...");
    }
    text
}

/// How much of a body in protocol buffers is shown in the refusal.
const SUMMARY_MAX: usize = 30;

fn unreadable(verb: Verb, kind: &str, why: &str, bytes: &[u8]) -> Refusal {
    match verb {
        Verb::Patch => Refusal::bad_request(format!("error decoding patch: {why}")),
        Verb::Delete | Verb::DeleteCollection => Refusal::bad_request(format!(
            "couldn't get version/kind; json parse error: {why}"
        )),
        Verb::Get | Verb::List | Verb::Watch | Verb::Create | Verb::Update => {
            let shown = match bytes {
                [] => "<empty>".to_owned(),
                some => String::from_utf8_lossy(&some[..some.len().min(SHOWN_MAX)]).into_owned(),
            };
            unrecognized(kind, &format!("{why} ({shown})"))
        }
    }
}

/// How much of a body that cannot be read is shown in the refusal.
const SHOWN_MAX: usize = 128;

pub(crate) fn respond(code: u16, content_type: &str, bytes: Bytes) -> Response<ResponseBody> {
    let length = bytes.len();
    respond_with(code, content_type, length, Full::new(bytes).boxed_unsync())
}

/// A response with a body of known length.
fn respond_with(
    code: u16,
    content_type: &str,
    length: usize,
    body: ResponseBody,
) -> Response<ResponseBody> {
    let mut response = Response::new(body);
    *response.status_mut() =
        http::StatusCode::from_u16(code).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if let Ok(content_type) = HeaderValue::from_str(content_type) {
        headers.insert(CONTENT_TYPE, content_type);
    }
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    headers.insert(
        http::header::CACHE_CONTROL,
        HeaderValue::from_static("no-cache, private"),
    );
    response
}

/// Tells the sender what is not wrong enough to refuse, each thing once.
fn warn(response: &mut Response<ResponseBody>, warnings: &[String]) {
    let mut told = BTreeSet::new();
    for warning in warnings.iter().filter(|warning| told.insert(*warning)) {
        let text = format!("299 - {warning:?}");
        if let Ok(value) = HeaderValue::from_str(&text) {
            response.headers_mut().append(WARNING, value);
        }
    }
}

fn streamed(
    content_type: &str,
    body: impl HttpBody<Data = Bytes, Error = Infallible> + Send + 'static,
) -> Response<ResponseBody> {
    let mut response = respond(200, content_type, Bytes::new());
    response.headers_mut().remove(CONTENT_LENGTH);
    *response.body_mut() = body.boxed_unsync();
    response
}

/// A refusal in the form the client reads, or else in JSON.
pub(crate) fn refuse(refusal: &Refusal, headers: &Headers) -> Response<ResponseBody> {
    let json = media_type::Answer {
        format: Format::Json,
        view: View::Plain,
        pretty: headers.pretty,
    };
    let form = media_type::negotiate(&headers.accept, Endpoint::Document).unwrap_or(json);
    let form = media_type::Answer {
        pretty: form.pretty || headers.pretty,
        ..form
    };
    let status = refusal.status();
    let told = present::document(form, &status).map(|bytes| (form.format, bytes));
    // What a webhook calls a status need not be one.
    let (format, bytes) = told.unwrap_or_else(|_| (json.format, status.to_string().into()));
    let mut response = respond(refusal.code, format.content_type(), bytes);
    warn(&mut response, refusal.warnings());
    if refusal.code == 504 {
        response
            .headers_mut()
            .insert(http::header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}
