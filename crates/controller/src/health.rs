//! Whether this process is well, as operators and Kubernetes ask it.
//!
//! `/readyz` means progress: every kind has been told and is heard of, the queue moves. `/healthz` fails only when the
//! main loop has hung, because the cure is a restart. Both answer with a line for each check when one fails, or when
//! asked with `?verbose`. `/metrics` is what [`Metrics`](crate::metrics::Metrics) and others count.
//!
//! The border: this answers requests. Where they come from is up to whoever listens; [`serve()`] is there for it.

mod check;
mod pulse;
mod serve;

use std::convert::Infallible;
use std::fmt::{self, Write as _};
use std::future::{Ready, ready};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body_util::Full;
use prometheus_client::encoding::text;
use prometheus_client::registry::Registry;
use tokio::time::Instant;

pub use check::{Check, feeds};
pub use pulse::{LOOP_STUCK_AFTER, Pulse, QUEUE_STUCK_AFTER};
pub use serve::serve;

const PLAIN: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

type Checks = Box<dyn Fn(Instant) -> Vec<Check> + Send + Sync>;

/// What is asked about this process, and what is looked at for an answer.
pub struct Health {
    registry: Registry,
    pulses: Vec<Pulse>,
    ready: Vec<Checks>,
}

impl Health {
    /// A process that is ready when its queue moves.
    pub fn new(registry: Registry, pulse: Pulse) -> Self {
        Self {
            registry,
            pulses: vec![pulse],
            ready: Vec::new(),
        }
    }

    /// Adds another loop that has to turn.
    #[must_use]
    pub fn beside(mut self, pulse: Pulse) -> Self {
        self.pulses.push(pulse);
        self
    }

    /// Adds what else has to hold for it to be ready, such as [`feeds`].
    #[must_use]
    pub fn ready_when(
        mut self,
        checks: impl Fn(Instant) -> Vec<Check> + Send + Sync + 'static,
    ) -> Self {
        self.ready.push(Box::new(checks));
        self
    }

    /// Answers requests.
    pub fn service(self) -> Service {
        Service {
            health: Arc::new(self),
        }
    }

    fn answer(&self, method: &Method, uri: &Uri, now: Instant) -> Response<Full<Bytes>> {
        let found = match uri.path() {
            "/metrics" => self.metrics(),
            "/healthz" => verdict(uri, &self.aliveness(now)),
            "/readyz" => verdict(uri, &self.readiness(now)),
            _ => respond(StatusCode::NOT_FOUND, PLAIN, "not found\n".to_owned()),
        };
        if method == Method::GET || method == Method::HEAD {
            return found;
        }
        let mut refused = respond(
            StatusCode::METHOD_NOT_ALLOWED,
            PLAIN,
            "only GET\n".to_owned(),
        );
        refused
            .headers_mut()
            .insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        refused
    }

    fn metrics(&self) -> Response<Full<Bytes>> {
        let mut shown = String::new();
        if text::encode(&mut shown, &self.registry).is_err() {
            let message = "a metric cannot be shown\n".to_owned();
            return respond(StatusCode::INTERNAL_SERVER_ERROR, PLAIN, message);
        }
        respond(StatusCode::OK, OPEN_METRICS, shown)
    }

    fn aliveness(&self, now: Instant) -> Vec<Check> {
        let alive = self.pulses.iter().flat_map(|pulse| pulse.alive(now));
        alive.collect()
    }

    fn readiness(&self, now: Instant) -> Vec<Check> {
        let mut checks = self.aliveness(now);
        checks.extend(self.pulses.iter().map(|pulse| pulse.moves(now)));
        checks.extend(self.ready.iter().flat_map(|more| more(now)));
        checks
    }
}

impl fmt::Debug for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Health")
            .field("pulses", &self.pulses)
            .finish_non_exhaustive()
    }
}

/// Answers requests, whatever their bodies. Clones share everything.
#[derive(Clone, Debug)]
pub struct Service {
    health: Arc<Health>,
}

impl<B> tower::Service<Request<B>> for Service {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (method, uri) = (request.method(), request.uri());
        ready(Ok(self.health.answer(method, uri, Instant::now())))
    }
}

/// The answer that follows from checks, with a line for each as kube-apiserver writes them.
fn verdict(uri: &Uri, checks: &[Check]) -> Response<Full<Bytes>> {
    let passed = checks.iter().all(|check| check.failure.is_none());
    let mut body = String::new();
    if !passed || is_verbose(uri) {
        for check in checks {
            // Writing to a string does not fail.
            let _written = writeln!(body, "{check}");
        }
    }
    let name = uri.path().trim_start_matches('/');
    let (status, last) = match (passed, body.is_empty()) {
        (true, true) => (StatusCode::OK, "ok".to_owned()),
        (true, false) => (StatusCode::OK, format!("{name} check passed\n")),
        (false, _) => (
            StatusCode::SERVICE_UNAVAILABLE,
            format!("{name} check failed\n"),
        ),
    };
    respond(status, PLAIN, body + &last)
}

fn is_verbose(uri: &Uri) -> bool {
    let mut parameters = uri.query().unwrap_or_default().split('&');
    parameters.any(|parameter| parameter.split('=').next() == Some("verbose"))
}

fn respond(status: StatusCode, kind: HeaderValue, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

#[cfg(test)]
mod tests;
