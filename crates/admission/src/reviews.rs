//! Reviews in, verdicts out: what the API's questions are answered.
//!
//! ```text
//! POST /mutate/ingresses               gate: what may stand there, as a patch; nothing is made
//! POST /validate/ingresses             the gate again, after everybody else: nothing more may have to change
//! POST /validate/domainverifications   only we may write them
//! POST /validate/objects               what is wrong with an object of ours, as warnings
//! ```
//!
//! The rules are `reconcile::domains`' and `api::review`'s. What is verified is asked of the API itself for each question:
//! an answer from memory could let in what has been withdrawn. Whatever cannot be found out is a no.
//!
//! Objects of ours are accepted however wrong they are, and say so in their conditions (R5): so that whoever applies them hears of it at once,
//! they are told as warnings.

mod answer;
mod facts;
mod ingress;
mod lock;

use std::convert::Infallible;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use kube::Client;
use kube::core::DynamicObject;
use kube::core::admission::{AdmissionRequest, AdmissionResponse, AdmissionReview};
use reconcile::domains::{Keyring, ManagedDomain};

use crate::configurations::path;
use answer::{respond, words};

/// What answers are made from.
#[derive(Clone)]
pub struct House {
    /// The way to the API, as ourselves.
    pub client: Client,
    /// The name under which the API knows us.
    pub user: String,
    /// Where managed hosts are; nothing, where custom domains are off.
    pub managed: Option<ManagedDomain>,
    /// The installation's key.
    pub keyring: Keyring,
}

impl fmt::Debug for House {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let managed = self.managed.as_ref().map(|it| it.domain.to_string());
        let mut shown = f.debug_struct("House");
        shown.field("user", &self.user).field("managed", &managed);
        shown.finish_non_exhaustive()
    }
}

/// The service that the API asks. Until somebody moves in, every question is refused: what asks must not go on without an
/// answer.
#[derive(Clone, Debug, Default)]
pub struct Reviews(Arc<OnceLock<House>>);

impl Reviews {
    /// From now on questions are answered. The first to move in stays.
    pub fn open(&self, house: House) {
        let _ = self.0.set(house);
    }

    async fn answer(self, request: Request<Full<Bytes>>) -> Response<Full<Bytes>> {
        let Some(house) = self.0.get() else {
            let why = "zonewright is starting; try again in a moment";
            return words(StatusCode::SERVICE_UNAVAILABLE, why);
        };
        if request.method() != Method::POST {
            return words(StatusCode::METHOD_NOT_ALLOWED, "reviews are posted");
        }
        let (head, body) = request.into_parts();
        let body = match body.collect().await {
            Ok(body) => body.to_bytes(),
            Err(never) => match never {},
        };
        let review = match read(&body) {
            Ok(review) => review,
            Err(why) => return words(StatusCode::BAD_REQUEST, &why),
        };
        let verdict = match head.uri.path() {
            path::MUTATE_INGRESSES => ingress::mutate(house, &review).await,
            path::VALIDATE_INGRESSES => ingress::validate(house, &review).await,
            path::VALIDATE_DOMAIN_VERIFICATIONS => lock::judge(house, &review),
            path::VALIDATE_OBJECTS => lock::warn(&review),
            _ => return words(StatusCode::NOT_FOUND, "there is no such question"),
        };
        respond(verdict)
    }
}

impl tower::Service<Request<Full<Bytes>>> for Reviews {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        self.clone().answer(request).map(Ok).boxed()
    }
}

/// A question.
type Question = AdmissionRequest<DynamicObject>;

/// Reads a question. How deep it may be nested is bounded by the reader of JSON.
fn read(body: &[u8]) -> Result<Question, String> {
    let review: AdmissionReview<DynamicObject> =
        serde_json::from_slice(body).map_err(|error| format!("not an AdmissionReview: {error}"))?;
    let question = review.try_into();
    question.map_err(|_| "an AdmissionReview without a request".to_owned())
}

/// What a question is answered.
type Verdict = AdmissionResponse;

#[cfg(test)]
mod tests;
