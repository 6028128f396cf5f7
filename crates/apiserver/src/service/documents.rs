//! What is answered besides objects: health, versions, discovery, API documents, a backup.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use http::header::{CACHE_CONTROL, ETAG, HeaderValue, VARY};
use http::{Response, StatusCode};
use serde_json::Value;

use super::{Headers, ResponseBody, respond};
use crate::catalog::Catalog;
use crate::discovery::{self, Root};
use crate::media_type::{self, Endpoint, View};
use crate::openapi::{self, Document};
use crate::present;
use crate::refusal::Refusal;
use crate::request::Route;
use crate::resource::Resource;
use crate::shared::Shared;
use crate::storage::Loaded;
use crate::storage::backup::{self, Snapshot};

/// Documents that are made from the catalog, kept until it changes.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    cached: Mutex<Option<Arc<Cached>>>,
}

/// Everything that one catalog leads to.
#[derive(Debug)]
struct Cached {
    generation: u64,
    resources: Vec<Resource>,
    openapi: OnceLock<BTreeMap<String, Document>>,
}

impl Documents {
    pub(super) fn answer(
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
            Route::Version => document(headers, &discovery::version()),
            Route::CoreVersions => {
                let legacy = || discovery::api_versions(&headers.host);
                discovery_root(headers, resources, Root::Core, legacy)
            }
            Route::Groups => discovery_root(headers, resources, Root::Groups, || {
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
            Route::OpenApi => {
                let documents = cached.openapi().iter();
                let hashes = documents
                    .map(|(path, document)| (path.clone(), document.hash.clone()))
                    .collect();
                document(headers, &openapi::root(&hashes))
            }
            Route::OpenApiOf { group, version } => cached.openapi_of(group, version, headers),
            Route::Backup => backup(shared),
            Route::Objects(_) => Err(Refusal::no_such_path()),
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
}

impl Cached {
    fn of(catalog: &Catalog) -> Self {
        Self {
            generation: catalog.generation(),
            resources: catalog
                .resources()
                .map(|resource| (**resource).clone())
                .collect(),
            openapi: OnceLock::new(),
        }
    }

    fn openapi(&self) -> &BTreeMap<String, Document> {
        self.openapi.get_or_init(|| {
            let paths = openapi::paths(&self.resources).into_iter();
            paths
                .filter_map(|path| Some((path.clone(), openapi::document(&self.resources, &path)?)))
                .collect()
        })
    }

    fn openapi_of(
        &self,
        group: &str,
        version: &str,
        headers: &Headers,
    ) -> Result<Response<ResponseBody>, Refusal> {
        let path = match group {
            "" => format!("api/{version}"),
            group => format!("apis/{group}/{version}"),
        };
        let found = self
            .openapi()
            .get(&path)
            .ok_or_else(Refusal::no_such_path)?;
        let etag = format!("\"{}\"", found.hash);
        if headers.if_none_match.as_deref() == Some(&etag) {
            return Ok(not_modified(&etag));
        }
        let mut response = document(headers, &found.document)?;
        tag(&mut response, &etag);
        Ok(response)
    }
}

fn discovery_root(
    headers: &Headers,
    resources: &[Resource],
    root: Root,
    legacy: impl Fn() -> Value,
) -> Result<Response<ResponseBody>, Refusal> {
    let form = media_type::negotiate(&headers.accept, Endpoint::DiscoveryRoot)?;
    if form.view != View::AggregatedDiscovery {
        return document(headers, &legacy());
    }
    let aggregated = discovery::aggregated(resources, root);
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
        present::document(form, &aggregated.document),
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
        present::document(form, value),
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
