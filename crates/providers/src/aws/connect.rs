//! Amazon's client, set up: whom it connects to, as whom, how long it waits, and how much it takes.

use std::sync::Arc;
use std::time::Duration;

use api::parse::provider_secret::Aws as Access;
use aws_config::{BehaviorVersion, SdkConfig};
use aws_sdk_route53::config::interceptors::BeforeDeserializationInterceptorContextMut;
use aws_sdk_route53::config::retry::RetryConfig;
use aws_sdk_route53::config::timeout::TimeoutConfig;
use aws_sdk_route53::config::{
    ConfigBag, Credentials, Intercept, Region, RuntimeComponents, SharedHttpClient,
};
use aws_sdk_route53::error::BoxError;
use aws_smithy_http_client::{Builder, tls};
use aws_smithy_runtime_api::client::dns::{DnsFuture, ResolveDns, ResolveDnsError};
use aws_smithy_runtime_api::client::interceptors::dyn_dispatch_hint;
use aws_smithy_types::body::SdkBody;
use egress::{Egress, EgressError};
use http_body_util::Limited;

use crate::resolve::resolve;

/// A connection that takes longer goes nowhere.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// A page or a full batch takes Route 53 a second or two; an answer that takes longer may have been lost.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// A page of sets, each as large as an answer of DNS can be, in text and with XML around it.
const ANSWER_OCTETS_MAX: usize = 64 * 1024 * 1024;

/// The port that names are looked up for; the one that is connected to is in the URL.
const HTTPS_PORT: u16 = 443;

/// Makes a client. It asks nobody yet, and never twice for the same thing.
pub(super) async fn connect(
    access: &Access,
    egress: Arc<Egress>,
) -> Result<aws_sdk_route53::Client, EgressError> {
    let elsewhere = match &access.endpoint {
        Some(url) => Some((url, elsewhere(url, egress)?)),
        None => None,
    };
    let surroundings = surroundings(access).await;
    let config = match elsewhere {
        Some((url, http)) => aws_sdk_route53::Config::builder()
            .endpoint_url(url)
            .http_client(http)
            .region(surroundings.region().cloned()),
        None => aws_sdk_route53::config::Builder::from(&surroundings),
    };
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(CONNECT_WITHIN)
        .operation_timeout(ANSWER_WITHIN)
        .build();
    let mut config = config
        .behavior_version(behavior())
        .interceptor(Bounded)
        .retry_config(RetryConfig::disabled())
        .timeout_config(timeouts);
    config.set_credentials_provider(surroundings.credentials_provider());
    Ok(aws_sdk_route53::Client::from_conf(config.build()))
}

/// How Amazon's client behaves where nothing is said: as on this day, whatever its version.
fn behavior() -> BehaviorVersion {
    BehaviorVersion::v2026_01_12()
}

/// What a Secret says, and beside it what every program of Amazon's takes from the environment of its process: who it is, if
/// the Secret has no keys, and where Amazon is (`AWS_ENDPOINT_URL`). Both are the operator's own word.
async fn surroundings(access: &Access) -> SdkConfig {
    let surroundings = aws_config::defaults(behavior())
        .region(Region::new(access.region.clone()))
        .http_client(at_amazon());
    let surroundings = match &access.keys {
        Some(keys) => {
            let keys = Credentials::new(&keys.id, keys.secret.expose(), None, None, "Secret");
            surroundings.credentials_provider(keys)
        }
        None => surroundings,
    };
    surroundings.load().await
}

/// Connects to wherever Amazon's own names lead, or the operator's environment: whoever writes a Secret does not choose them.
fn at_amazon() -> SharedHttpClient {
    let ring = tls::Provider::Rustls(tls::rustls_provider::CryptoMode::Ring);
    Builder::new().tls_provider(ring).build_https()
}

/// Connects to a host that the operator allows, and only at an address that may be connected to.
fn elsewhere(url: &str, egress: Arc<Egress>) -> Result<SharedHttpClient, EgressError> {
    let parsed: Option<http::Uri> = url.parse().ok();
    let host = parsed.as_ref().and_then(http::Uri::host).unwrap_or(url);
    egress.check_host(host)?;
    let ring = tls::Provider::Rustls(tls::rustls_provider::CryptoMode::Ring);
    Ok(Builder::new()
        .tls_provider(ring)
        .build_with_resolver(Judged(egress)))
}

/// Finds the addresses of names, and only those that may be connected to.
#[derive(Clone, Debug)]
struct Judged(Arc<Egress>);

impl ResolveDns for Judged {
    fn resolve_dns<'a>(&'a self, name: &'a str) -> DnsFuture<'a> {
        DnsFuture::new(async move {
            let found = resolve(&self.0, name, HTTPS_PORT).await;
            let found = found.map_err(ResolveDnsError::new)?;
            Ok(found.into_iter().map(|address| address.ip()).collect())
        })
    }
}

/// Takes no more of an answer than there can be.
#[derive(Debug)]
struct Bounded;

#[dyn_dispatch_hint]
impl Intercept for Bounded {
    fn name(&self) -> &'static str {
        "Bounded"
    }

    fn modify_before_deserialization(
        &self,
        context: &mut BeforeDeserializationInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let response = context.response_mut();
        let body = Limited::new(response.take_body(), ANSWER_OCTETS_MAX);
        *response.body_mut() = SdkBody::from_body_1_x(body);
        Ok(())
    }
}
