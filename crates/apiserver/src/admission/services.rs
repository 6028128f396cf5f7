//! Webhooks in this process: services that are called by the name of a Kubernetes Service, without a socket.

use std::collections::BTreeMap;
use std::fmt;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use tower::ServiceExt as _;
use tower::util::BoxCloneSyncService;

/// What a service may fail with.
type ServiceError = Box<dyn std::error::Error + Send + Sync>;

/// How a service, or the body of its answer, failed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Broken(String);

/// The body of an answer.
pub(super) type AnswerBody = UnsyncBoxBody<Bytes, Broken>;

type Boxed = BoxCloneSyncService<Request<Full<Bytes>>, Response<AnswerBody>, Broken>;

/// Webhooks that are beside the API in one process.
///
/// A configuration whose `clientConfig.service` names one of them asks it; one that names any other Service fails as an
/// unreachable service does. The path and the question are in the request, as over a socket.
#[derive(Clone, Default)]
pub struct Services {
    by_name: BTreeMap<(String, String), Boxed>,
}

impl Services {
    /// Adds a webhook by the namespace and name of its Service.
    #[must_use]
    pub fn with<S, B>(mut self, namespace: &str, name: &str, service: S) -> Self
    where
        S: tower::Service<Request<Full<Bytes>>, Response = Response<B>>
            + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send + 'static,
        S::Error: Into<ServiceError> + 'static,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<ServiceError> + 'static,
    {
        let service = service
            .map_err(|error| Broken(error.into().to_string()))
            .map_response(|response: Response<B>| response.map(erased));
        let key = (namespace.to_owned(), name.to_owned());
        self.by_name.insert(key, BoxCloneSyncService::new(service));
        self
    }

    pub(super) fn find(&self, namespace: &str, name: &str) -> Option<Boxed> {
        let key = (namespace.to_owned(), name.to_owned());
        self.by_name.get(&key).cloned()
    }
}

/// A body whose type does not matter any more.
pub(super) fn erased<B>(body: B) -> AnswerBody
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<ServiceError> + 'static,
{
    body.map_err(|error| Broken(error.into().to_string()))
        .boxed_unsync()
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.by_name.keys()).finish()
    }
}
