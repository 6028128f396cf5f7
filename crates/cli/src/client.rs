//! The one way from a command to an API: which kubeconfig counts, what is asked, and what a person can do when the
//! answer does not come.
//!
//! What is asked for, and what the answer means, is each command's own.

mod failure;
mod source;

use std::future::Future;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use http::Request;
use http::header::{ACCEPT, CONTENT_TYPE};
use kube::{Client, Config};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) use failure::{is_forbidden, is_missing, is_refusal, nobody_listens, words};
pub(crate) use source::{Source, nothing_found};

/// How long the API may be silent. A list of many objects comes in pages, so no answer takes long.
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// How many objects come at once: what kubectl asks for.
const PAGE_OBJECTS: usize = 500;

/// A kubeconfig that was found and read.
pub(crate) struct Access {
    source: Source,
    config: Config,
}

impl Access {
    /// The API that `--kubeconfig` or the surroundings name; nothing if nobody names one.
    pub(crate) async fn find(given: Option<&Path>) -> anyhow::Result<Option<Access>> {
        match Source::find(given) {
            Some(source) => Access::read(source).await.map(Some),
            None => Ok(None),
        }
    }

    /// Reads one kubeconfig.
    pub(crate) async fn read(source: Source) -> anyhow::Result<Access> {
        let mut config = source.config().await?;
        config.read_timeout = Some(SILENCE_MAX);
        Ok(Access { source, config })
    }

    /// The namespace of the kubeconfig's context; `default` if it has none.
    pub(crate) fn namespace(&self) -> &str {
        &self.config.default_namespace
    }

    /// What the kubeconfig says, without a limit to silence: for whoever watches.
    pub(crate) fn into_patient_config(self) -> Config {
        let mut config = self.config;
        config.read_timeout = None;
        config
    }

    /// A client for the API. Nothing is sent yet.
    pub(crate) fn connect(self) -> anyhow::Result<Cluster> {
        let url = self.config.cluster_url.to_string();
        let client = Client::try_from(self.config)
            .with_context(|| format!("{} cannot be used", self.source))?;
        Ok(Cluster {
            client,
            source: self.source,
            url: url.trim_end_matches('/').to_owned(),
        })
    }
}

/// An API to talk to.
pub(crate) struct Cluster {
    client: Client,
    source: Source,
    url: String,
}

impl Cluster {
    /// The API that `--kubeconfig` or the surroundings name.
    pub(crate) async fn connect(given: Option<&Path>) -> anyhow::Result<Cluster> {
        let access = Access::find(given).await?;
        access.ok_or_else(nothing_found)?.connect()
    }

    /// An API that a test makes up.
    #[cfg(test)]
    pub(crate) fn made_up(client: Client) -> Cluster {
        Cluster {
            client,
            source: Source::Given("made-up".into()),
            url: "https://made-up".to_owned(),
        }
    }

    /// The client itself, for requests that are not about objects.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// The namespace of the kubeconfig's context; `default` if it has none.
    pub(crate) fn namespace(&self) -> &str {
        self.client.default_namespace()
    }

    /// What stands at a path.
    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, kube::Error> {
        self.get_as(path, "application/json").await
    }

    /// What stands at a path, in another form than its own.
    pub(crate) async fn get_as<T: DeserializeOwned>(
        &self,
        path: &str,
        media_type: &str,
    ) -> Result<T, kube::Error> {
        let request = Request::get(path).header(ACCEPT, media_type);
        self.send(request, Vec::new()).await
    }

    /// Everything in a collection, page by page, as it was at one moment.
    pub(crate) async fn list(
        &self,
        path: &str,
        media_type: &str,
    ) -> Result<Vec<Value>, kube::Error> {
        let mut pages: Vec<Value> = Vec::new();
        loop {
            let token = pages.last().and_then(next_page);
            if token.is_none() && !pages.is_empty() {
                return Ok(pages);
            }
            let mut query = form_urlencoded::Serializer::new(String::new());
            query.append_pair("limit", &PAGE_OBJECTS.to_string());
            query.extend_pairs(token.map(|token| ("continue", token)));
            let path = format!("{path}?{}", query.finish());
            pages.push(self.get_as(&path, media_type).await?);
        }
    }

    /// Puts a new object into a collection.
    pub(crate) async fn create(&self, path: &str, object: &Value) -> Result<Value, kube::Error> {
        self.write(Request::post(path), "application/json", object)
            .await
    }

    /// Merges a patch into an object.
    pub(crate) async fn merge(&self, path: &str, patch: &Value) -> Result<Value, kube::Error> {
        self.write(Request::patch(path), "application/merge-patch+json", patch)
            .await
    }

    /// What to tell a person about a request that failed.
    pub(crate) fn explain(&self, error: &kube::Error) -> anyhow::Error {
        failure::explain(error, &self.url, &self.source)
    }

    async fn write(
        &self,
        request: http::request::Builder,
        media_type: &str,
        body: &Value,
    ) -> Result<Value, kube::Error> {
        let request = request.header(CONTENT_TYPE, media_type);
        let body = serde_json::to_vec(body).map_err(kube::Error::SerdeError)?;
        self.send(request, body).await
    }

    async fn send<T: DeserializeOwned>(
        &self,
        request: http::request::Builder,
        body: Vec<u8>,
    ) -> Result<T, kube::Error> {
        let request = request.body(body).map_err(kube::Error::HttpError)?;
        self.client.request(request).await
    }
}

/// Where the page after this one begins.
fn next_page(page: &Value) -> Option<&str> {
    let token = page["metadata"]["continue"].as_str();
    token.filter(|token| !token.is_empty())
}

/// The objects on the pages of a list.
pub(crate) fn items(pages: Vec<Value>) -> impl Iterator<Item = Value> {
    let items = pages.into_iter().map(|mut page| page["items"].take());
    items.flat_map(|items| serde_json::from_value::<Vec<Value>>(items).unwrap_or_default())
}

/// Runs what a command asks for to its end.
pub(crate) fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start")?;
    let done = runtime.block_on(work);
    // A system that is still looking up a host name keeps nobody waiting.
    runtime.shutdown_background();
    done
}
