//! What is answered besides objects: health, metrics, versions, discovery, API documents, a backup.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use http::header::{CACHE_CONTROL, ETAG, HeaderValue, VARY};
use http::{Response, StatusCode};
use serde_json::Value;
use tokio::sync::OnceCell;

use super::{Headers, ResponseBody, respond};
use crate::catalog::Catalog;
use crate::discovery::{self, Aggregated, Root};
use crate::media_type::{self, Endpoint, Format, View};
use crate::metrics;
use crate::openapi::{Document, Library};
use crate::present;
use crate::refusal::Refusal;
use crate::request::Route;
use crate::resource::Resource;
use crate::shared::Shared;
use crate::storage::Loaded;
use crate::storage::backup::{self, Snapshot};

mod openapi;

/// Documents that are made from the catalog, kept until it changes.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    cached: Mutex<Option<Arc<Cached>>>,
    /// The descriptions of the kinds of some catalog: what has not changed since need not be made again.
    described: Mutex<Option<Arc<Library>>>,
}

/// Everything that one catalog leads to.
#[derive(Debug)]
struct Cached {
    generation: u64,
    resources: Vec<Resource>,
    core: OnceLock<Aggregated>,
    groups: OnceLock<Aggregated>,
    openapi: OnceCell<Arc<Library>>,
    v2: OnceCell<Document>,
    v2_in_protobuf: OnceCell<Document>,
}

impl Documents {
    pub(super) async fn answer(
        &self,
        shared: &Shared,
        route: &Route,
        headers: &Headers,
    ) -> Result<Response<ResponseBody>, Refusal> {
        let cached = self.cached(shared);
        let resources = &cached.resources;
        match route {
            Route::Health => Ok(respond(
                200,
                "text/plain; charset=utf-8",
                Bytes::from_static(b"ok"),
            )),
            Route::Version => {
                // It is no object: who prefers protocol buffers gets it in JSON, too.
                media_type::check_essence(&headers.accept, Format::Json.content_type())?;
                let headers = Headers {
                    accept: String::new(),
                    ..headers.clone()
                };
                document(&headers, &discovery::version())
            }
            Route::CoreVersions => {
                let legacy = || discovery::api_versions(&headers.host);
                discovery_root(headers, &cached, Root::Core, legacy)
            }
            Route::Groups => discovery_root(headers, &cached, Root::Groups, || {
                discovery::group_list(resources)
            }),
            Route::Group(group) => {
                let group = discovery::group(resources, group).ok_or_else(Refusal::no_such_path)?;
                document(headers, &group)
            }
            Route::Resources { group, version } => {
                let list = discovery::resource_list(resources, group, version)
                    .ok_or_else(Refusal::no_such_path)?;
                document(headers, &list)
            }
            Route::OpenApi => openapi::root(headers, &*self.library(&cached).await?),
            Route::OpenApiV2 => self.v2(&cached, headers).await,
            Route::OpenApiOf { group, version } => {
                let library = self.library(&cached).await?;
                openapi::document(headers, &library, (group, version), shared.clock.now())
            }
            Route::Metrics => metrics(shared),
            Route::Backup => backup(shared),
            Route::Objects(_) => Err(Refusal::no_such_path()),
        }
    }

    /// Everything in one document, in the form that is asked for, made when it is first asked for.
    async fn v2(
        &self,
        cached: &Arc<Cached>,
        headers: &Headers,
    ) -> Result<Response<ResponseBody>, Refusal> {
        let library = self.library(cached).await?;
        let in_protobuf = openapi::wants_protobuf(headers);
        let (cell, make): (_, fn(&Library) -> Document) = if in_protobuf {
            (&cached.v2_in_protobuf, Library::v2_in_protobuf)
        } else {
            (&cached.v2, Library::v2)
        };
        let made = async || {
            let making = tokio::task::spawn_blocking(move || make(&library));
            making.await.map_err(Refusal::internal)
        };
        let document = cell.get_or_try_init(made).await?;
        if in_protobuf {
            Ok(openapi::in_protobuf(headers, document))
        } else {
            openapi::in_json(headers, document)
        }
    }

    /// What belongs to the catalog as it is now.
    fn cached(&self, shared: &Shared) -> Arc<Cached> {
        let catalog = Arc::clone(shared.engine().catalog());
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        match &*cached {
            Some(current) if current.generation == catalog.generation() => Arc::clone(current),
            Some(_) | None => Arc::clone(cached.insert(Arc::new(Cached::of(&catalog)))),
        }
    }

    /// The descriptions of all kinds. Making them takes longer than others should have to wait, so a thread that may
    /// be busy does it.
    async fn library(&self, cached: &Arc<Cached>) -> Result<Arc<Library>, Refusal> {
        let described = || {
            self.described
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let make = async || {
            let (earlier, of) = (described().clone(), Arc::clone(cached));
            let making = move || Arc::new(Library::new(&of.resources, earlier.as_deref()));
            let made = tokio::task::spawn_blocking(making).await;
            let made = made.map_err(Refusal::internal)?;
            *described() = Some(Arc::clone(&made));
            Ok(made)
        };
        cached.openapi.get_or_try_init(make).await.cloned()
    }
}

impl Cached {
    fn of(catalog: &Catalog) -> Self {
        Self {
            generation: catalog.generation(),
            resources: catalog
                .resources()
                .map(|resource| (**resource).clone())
                .collect(),
            core: OnceLock::new(),
            groups: OnceLock::new(),
            openapi: OnceCell::new(),
            v2: OnceCell::new(),
            v2_in_protobuf: OnceCell::new(),
        }
    }

    fn aggregated(&self, root: Root) -> &Aggregated {
        let made = match root {
            Root::Core => &self.core,
            Root::Groups => &self.groups,
        };
        made.get_or_init(|| discovery::aggregated(&self.resources, root))
    }
}

fn discovery_root(
    headers: &Headers,
    cached: &Cached,
    root: Root,
    legacy: impl Fn() -> Value,
) -> Result<Response<ResponseBody>, Refusal> {
    let form = media_type::negotiate(&headers.accept, Endpoint::DiscoveryRoot)?;
    if form.view != View::AggregatedDiscovery {
        return document(headers, &legacy());
    }
    let aggregated = cached.aggregated(root);
    if headers
        .if_none_match
        .as_deref()
        .is_some_and(|known| aggregated.is_known(known))
    {
        return Ok(not_modified(&aggregated.etag));
    }
    let mut response = respond(
        200,
        &form.content_type(),
        present::document(form, &aggregated.document)?,
    );
    tag(&mut response, &aggregated.etag);
    Ok(response)
}

fn document(headers: &Headers, value: &Value) -> Result<Response<ResponseBody>, Refusal> {
    let form = media_type::negotiate(&headers.accept, Endpoint::Document)?;
    let form = media_type::Answer {
        pretty: form.pretty || headers.pretty,
        ..form
    };
    Ok(respond(
        200,
        form.format.content_type(),
        present::document(form, value)?,
    ))
}

/// The client has it already. Nothing is said of its type: a cache would take that for news.
fn not_modified(etag: &str) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::default());
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    tag(&mut response, etag);
    response
}

fn tag(response: &mut Response<ResponseBody>, etag: &str) {
    if let Ok(etag) = HeaderValue::from_str(etag) {
        response.headers_mut().insert(ETAG, etag);
    }
    let headers = response.headers_mut();
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public"));
}

/// What is counted and what there is, as Prometheus reads it.
fn metrics(shared: &Shared) -> Result<Response<ResponseBody>, Refusal> {
    let text = shared.metrics().map_err(Refusal::internal)?;
    Ok(respond(200, metrics::CONTENT_TYPE, text.into()))
}

/// Every object at one revision.
fn backup(shared: &Shared) -> Result<Response<ResponseBody>, Refusal> {
    let Loaded { revision, objects } = shared.snapshot();
    let snapshot = Snapshot {
        revision,
        created_at: shared.clock.now(),
        objects: objects
            .iter()
            .map(|(key, revision, json)| (key, *revision, json)),
    };
    let mut bytes = Vec::new();
    backup::write(snapshot, &mut bytes).map_err(Refusal::internal)?;
    Ok(respond(200, "application/jsonl", bytes.into()))
}
