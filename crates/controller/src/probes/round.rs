//! One round of a probe: ask, conclude, and write what has changed.

use api::Decoded;
use api::parse::dns_health_check_probe::DnsHealthCheckProbe;
use http::HeaderMap;
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client};
use reconcile::ProbeKey;
use reconcile::probe::{self, Outcome};
use serde_json::json;
use tokio::time::Instant;

use super::node::Node;
use super::{Ask, Question, headers};
use crate::write::{Target, WriteError, Writing};

/// Everything a round is made from.
pub(super) struct Round {
    pub(super) key: ProbeKey,
    pub(super) node: Node,
    /// Whether the operator lets any certificate pass.
    pub(super) insecure: bool,
    pub(super) began: Instant,
}

/// What a round brought about.
pub(super) struct Finished {
    pub(super) key: ProbeKey,
    /// What was known of the target before.
    pub(super) before: Option<bool>,
    /// What stands in the API now, if anything was written.
    pub(super) written: Option<Decoded<api::DnsHealthCheckProbe>>,
    pub(super) result: Result<(), WriteError>,
    /// When it began.
    pub(super) began: Instant,
}

impl Round {
    pub(super) async fn run(self, client: &Client, ask: &dyn Ask) -> Finished {
        let key = self.key.clone();
        let target = Target {
            client,
            namespace: &key.namespace,
            name: &key.name,
        };
        let mut writing = Writing::new(target, self.node.resource_version.clone());
        let result = self.perform(client, ask, &mut writing).await;
        let written = writing.into_written();
        Finished {
            key,
            before: self.node.status.healthy,
            written,
            result,
            began: self.began,
        }
    }

    async fn perform(
        &self,
        client: &Client,
        ask: &dyn Ask,
        writing: &mut Writing<'_, api::DnsHealthCheckProbe>,
    ) -> Result<(), WriteError> {
        let Node {
            generation, status, ..
        } = &self.node;
        if self.node.deleting {
            return match self.node.others_finalizers() {
                Some(others) => {
                    let patch = json!({ "metadata": { "finalizers": others } });
                    writing.merge(patch).await
                }
                None => Ok(()),
            };
        }
        let after = match &self.node.probe {
            Err(problems) => probe::unfit(status, *generation, problems),
            Ok(probe) => {
                let outcome = self.outcome(probe, client, ask).await?;
                let threshold = probe.check.failure_threshold;
                probe::after(status, *generation, threshold, &outcome)
            }
        };
        if after == *status {
            return Ok(());
        }
        writing.status(status, &after).await
    }

    /// What comes of asking. That the API has not answered says nothing about the target.
    async fn outcome(
        &self,
        probe: &DnsHealthCheckProbe,
        client: &Client,
        ask: &dyn Ask,
    ) -> Result<Outcome, WriteError> {
        let secret = probe.check.headers_secret.as_deref();
        let headers = match secret {
            None => Ok(HeaderMap::new()),
            Some(secret) => self.headers(secret, client).await?,
        };
        let headers = match headers {
            Ok(headers) => headers,
            Err(why) => return Ok(Err(why)),
        };
        let question = Question {
            probe: probe.clone(),
            headers,
            insecure: self.insecure && probe.allow_insecure_certificate,
        };
        Ok(ask.ask(&question).await)
    }

    /// The headers of a Secret, or why they cannot be sent.
    async fn headers(
        &self,
        secret: &str,
        client: &Client,
    ) -> Result<Result<HeaderMap, String>, WriteError> {
        let secrets: Api<Secret> = Api::namespaced(client.clone(), &self.key.namespace);
        match secrets.get_opt(secret).await {
            Ok(Some(object)) => Ok(headers::parse(secret, &object)),
            Ok(None) => Ok(Err(format!("Secret {secret}: there is none of this name"))),
            Err(kube::Error::Api(status)) if status.code == 403 => Ok(Err(format!(
                "Secret {secret}: zonewright may not read it; the operator can allow that"
            ))),
            Err(error) => Err(WriteError::Failed(Box::new(error))),
        }
    }
}
