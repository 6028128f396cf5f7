//! The calls to the Kubernetes API: lists to their end, and writes that expect a version.
//!
//! Every call has a deadline, and every failure is told as what can be done next.

use std::fmt::Debug;
use std::time::Duration;

use api::well_known::{field_manager, label};
use api::{Decoded, Record, Zone, ZoneKey};
use kube::Client;
use kube::api::{
    Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, Preconditions, Resource,
};
use kube::core::{Expression, Selector};
use provider::Error;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::convert::Version;

/// How long one call may take: half of what an API server allows itself for a request.
const CALL_MAX: Duration = Duration::from_secs(30);

/// How many Records come at once: client-go's own number, and about a megabyte of them.
const RECORDS_PAGE: u32 = 500;

/// How many Zones come at once. Each can carry a thousand entries in its status, so these are ten megabytes at worst.
const ZONES_PAGE: u32 = 50;

/// How long to wait when the API server does not say: what its priority and fairness always says.
const REST: Duration = Duration::from_secs(1);

/// What became of an attempt to create a Record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Made {
    /// It is there now.
    New,
    /// Another object has the name.
    Taken,
}

/// The Kubernetes API, as far as Zones and Records of one namespace go.
#[derive(Clone)]
pub(super) struct Calls {
    client: Client,
    namespace: String,
}

impl Calls {
    pub(super) fn new(client: Client, namespace: &str) -> Calls {
        Calls {
            client,
            namespace: namespace.to_owned(),
        }
    }

    pub(super) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// One Zone of any namespace.
    pub(super) async fn zone(&self, key: &ZoneKey) -> Result<Decoded<Zone>, Error> {
        let api = Api::<Decoded<Zone>>::namespaced(self.client.clone(), &key.namespace);
        told(api.get(&key.name)).await
    }

    /// The Zones of all namespaces.
    pub(super) async fn all_zones(&self) -> Result<Vec<Decoded<Zone>>, Error> {
        list(&Api::all(self.client.clone()), zones()).await
    }

    /// The Zones of the own namespace.
    pub(super) async fn own_zones(&self) -> Result<Vec<Decoded<Zone>>, Error> {
        let api = Api::namespaced(self.client.clone(), &self.namespace);
        list(&api, zones()).await
    }

    /// The Records made for any `DNSRecord`.
    pub(super) async fn records(&self) -> Result<Vec<Decoded<Record>>, Error> {
        let made = Expression::Exists(label::DNS_RECORD.to_owned());
        list(&self.api(), records(made)).await
    }

    /// The Records made for some `DNSRecord`s, by the values of their labels.
    pub(super) async fn records_of(
        &self,
        labels: impl IntoIterator<Item = String>,
    ) -> Result<Vec<Decoded<Record>>, Error> {
        let made = Expression::In(label::DNS_RECORD.to_owned(), labels.into_iter().collect());
        list(&self.api(), records(made)).await
    }

    /// One Record, if it is there.
    pub(super) async fn record(&self, name: &str) -> Result<Option<Decoded<Record>>, Error> {
        told(self.api().get_opt(name)).await
    }

    /// Makes a Record, unless something has its name.
    pub(super) async fn create(&self, record: &Record) -> Result<Made, Error> {
        let params = PostParams {
            field_manager: Some(field_manager::CONTROLLER.to_owned()),
            ..PostParams::default()
        };
        let api = Api::<Record>::namespaced(self.client.clone(), &self.namespace);
        let created = async {
            match api.create(&params, record).await {
                Ok(_) => Ok(Made::New),
                Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(Made::Taken),
                Err(error) => Err(error),
            }
        };
        told(created).await
    }

    /// Changes a Record that is still as it was read. The patch carries its version, which no other object ever had.
    pub(super) async fn patch(&self, name: &str, patch: &Value) -> Result<(), Error> {
        let params = PatchParams {
            field_manager: Some(field_manager::CONTROLLER.to_owned()),
            ..PatchParams::default()
        };
        let api = self.api();
        match told(api.patch(name, &params, &Patch::Merge(patch))).await {
            Ok(_) => Ok(()),
            // It was there when it was read.
            Err(Error::Missing) => Err(Error::Stale),
            Err(error) => Err(error),
        }
    }

    /// Removes a Record that is still as it was read.
    pub(super) async fn delete(&self, name: &str, version: &Version) -> Result<(), Error> {
        let params = DeleteParams::default().preconditions(Preconditions {
            resource_version: Some(version.resource_version.clone()),
            uid: Some(version.uid.clone()),
        });
        match told(self.api().delete(name, &params)).await {
            Ok(_) | Err(Error::Missing) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn api(&self) -> Api<Decoded<Record>> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }
}

fn zones() -> ListParams {
    ListParams::default().limit(ZONES_PAGE)
}

fn records(made: Expression) -> ListParams {
    let selector: Selector = made.into();
    ListParams::default()
        .labels_from(&selector)
        .limit(RECORDS_PAGE)
}

/// All pages, of one moment: a continuation that the API server has forgotten is an error, never a short list.
async fn list<K>(api: &Api<Decoded<K>>, mut params: ListParams) -> Result<Vec<Decoded<K>>, Error>
where
    K: Resource + Clone + Debug + DeserializeOwned,
{
    let mut all = Vec::new();
    loop {
        let page = told(api.list(&params)).await?;
        all.extend(page.items);
        let token = page.metadata.continue_.unwrap_or_default();
        if token.is_empty() {
            return Ok(all);
        }
        params = params.continue_token(&token);
    }
}

async fn told<T>(call: impl Future<Output = kube::Result<T>>) -> Result<T, Error> {
    let Ok(answer) = tokio::time::timeout(CALL_MAX, call).await else {
        let seconds = CALL_MAX.as_secs();
        let late = format!("the Kubernetes API did not answer within {seconds} s");
        return Err(Error::Unclear(late.into()));
    };
    answer.map_err(classify)
}

fn classify(error: kube::Error) -> Error {
    let kube::Error::Api(status) = error else {
        return Error::Unclear(Box::new(error));
    };
    match status.code {
        401 | 403 => Error::Denied(status.message.into()),
        404 => Error::Missing,
        409 => Error::Stale,
        400 | 413 | 422 => Error::Refused {
            reason: status.message,
        },
        429 => Error::Throttled {
            after: rest(status.details.map(|details| details.retry_after_seconds)),
        },
        _ => Error::Unclear(status.message.into()),
    }
}

fn rest(seconds: Option<u32>) -> Duration {
    let said = seconds.filter(|seconds| *seconds > 0);
    said.map_or(REST, |seconds| Duration::from_secs(seconds.into()))
}

#[cfg(test)]
mod tests {
    use kube::core::Status;
    use serde_json::json;

    use super::*;

    fn answer(code: u16, retry_after_seconds: u32) -> String {
        let status = json!({
            "code": code, "message": "because", "details": { "retryAfterSeconds": retry_after_seconds },
        });
        let status: Box<Status> = serde_json::from_value(status).unwrap();
        let error = classify(kube::Error::Api(status));
        if let Error::Throttled { after } = error {
            return format!("after {} s", after.as_secs());
        }
        error.story()
    }

    #[test]
    fn answers_are_sorted_by_what_can_be_done_next() {
        let cases = [
            (401, "access is denied: because"),
            (403, "access is denied: because"),
            (404, "there is no such zone"),
            (409, "the zone has changed since it was read"),
            (413, "the provider refused: because"),
            (422, "the provider refused: because"),
            (410, "there was no clear answer: because"),
            (500, "there was no clear answer: because"),
            (504, "there was no clear answer: because"),
        ];
        for (code, story) in cases {
            assert_eq!(answer(code, 0), story, "{code}");
        }
        assert_eq!(answer(429, 7), "after 7 s");
        assert_eq!(answer(429, 0), "after 1 s");
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_without_an_answer_ends() {
        let ended = told(std::future::pending::<kube::Result<()>>()).await;
        assert_eq!(
            ended.unwrap_err().story(),
            "there was no clear answer: the Kubernetes API did not answer within 30 s"
        );
    }
}
