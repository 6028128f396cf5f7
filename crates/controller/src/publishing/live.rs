//! What the API itself says about sources, before anything of theirs goes (S4, S10).
//!
//! Watches may be behind. So whoever seems to have left is got from the API; and where it is not known who asked for a host,
//! everybody is listed who could have. A kind that is not installed, or about to go with everything of its kind, proves
//! nothing: its objects vanish without anybody having meant it.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kube::api::{Api, DynamicObject, ListParams};
use reconcile::publishing::{Proof, Seen, SourceKey, SourceKind};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};

use super::inbox::{resource, selector};

/// How long after a host another may be withdrawn: ten thousand go within a minute, and an operator who sees them go can
/// still stop it.
const WITHDRAW_EVERY: Duration = Duration::from_millis(5);

/// For how long a list of everybody is good: those who need one meanwhile share it.
const LISTED_FOR: Duration = Duration::from_secs(1);

/// How many objects are asked for at a time.
const PAGE: u32 = 500;

/// Why a source could not be looked at.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unclear {
    /// Nobody knows how to look at it.
    #[error("{0} is of no kind that can be published")]
    Unknown(String),
    /// The kind is not there, or not for long.
    #[error("the kind {0} is not installed, or about to go")]
    Uninstalled(&'static str),
    /// The API did not answer.
    #[error(transparent)]
    Failed(#[from] kube::Error),
}

/// The way to sources.
pub(super) struct Live {
    client: Client,
    namespaces: Vec<String>,
    /// When the next host may be withdrawn.
    pace: Mutex<Instant>,
    listed: Mutex<Option<Listed>>,
}

/// Everybody of some kinds.
struct Listed {
    kinds: Vec<SourceKind>,
    began: Instant,
    seen: Arc<Seen>,
}

impl Live {
    pub(super) fn new(client: Client, namespaces: Vec<String>) -> Live {
        Live {
            client,
            namespaces,
            pace: Mutex::new(Instant::now()),
            listed: Mutex::new(None),
        }
    }

    /// Whether what the API says now proves that a host may go.
    pub(super) async fn proves(&self, proof: &Proof) -> Result<bool, Unclear> {
        self.turn().await;
        if !proof.kinds.is_empty() {
            let seen = self.list(&proof.kinds).await?;
            return Ok(proof.is_given(&seen));
        }
        let mut seen = Seen::default();
        for source in &proof.sources {
            let key = SourceKey::of(source).ok_or_else(|| Unclear::Unknown(source.kind.clone()))?;
            self.get(&key, &mut seen).await?;
        }
        for gateway in &proof.gateways {
            let key = SourceKey {
                kind: SourceKind::Gateway,
                key: gateway.clone(),
            };
            self.get(&key, &mut seen).await?;
        }
        Ok(proof.is_given(&seen))
    }

    /// Waits for the time at which the next host may be withdrawn, and sets the one after it.
    async fn turn(&self) {
        let mut next = self.pace.lock().await;
        sleep_until(*next).await;
        *next = Instant::now() + WITHDRAW_EVERY;
    }

    async fn get(&self, source: &SourceKey, seen: &mut Seen) -> Result<(), Unclear> {
        let client = self.client.clone();
        let resource = resource(source.kind);
        let api: Api<DynamicObject> =
            Api::namespaced_with(client, &source.key.namespace, &resource);
        match api.get_opt(&source.key.name).await? {
            Some(object) => seen.show(source.kind, object),
            // Where there is nothing, there may be nothing of the kind: that is looked at afterwards.
            None => self.installed(source.kind).await?,
        }
        Ok(())
    }

    /// Whether a kind is there, and stays. Built-in ones do.
    async fn installed(&self, kind: SourceKind) -> Result<(), Unclear> {
        if !kind.is_custom() {
            return Ok(());
        }
        let definitions: Api<CustomResourceDefinition> = Api::all(self.client.clone());
        let name = format!("{}.{}", kind.plural(), kind.group());
        let definition = definitions.get_opt(&name).await?;
        let stays = definition.is_some_and(|it| it.metadata.deletion_timestamp.is_none());
        if stays {
            Ok(())
        } else {
            Err(Unclear::Uninstalled(kind.kind()))
        }
    }

    /// Everybody of some kinds, as of a moment ago at most.
    async fn list(&self, kinds: &[SourceKind]) -> Result<Arc<Seen>, Unclear> {
        let mut listed = self.listed.lock().await;
        if let Some(it) = listed.as_ref()
            && it.kinds == kinds
            && it.began.elapsed() < LISTED_FOR
        {
            return Ok(Arc::clone(&it.seen));
        }
        let began = Instant::now();
        let mut seen = Seen::default();
        for kind in kinds {
            self.list_kind(*kind, &mut seen).await?;
            self.installed(*kind).await?;
        }
        let seen = Arc::new(seen);
        *listed = Some(Listed {
            kinds: kinds.to_vec(),
            began,
            seen: Arc::clone(&seen),
        });
        Ok(seen)
    }

    async fn list_kind(&self, kind: SourceKind, seen: &mut Seen) -> Result<(), Unclear> {
        let resource = resource(kind);
        let client = || self.client.clone();
        let mut apis: Vec<Api<DynamicObject>> = Vec::new();
        for namespace in &self.namespaces {
            apis.push(Api::namespaced_with(client(), namespace, &resource));
        }
        if apis.is_empty() {
            apis.push(Api::all_with(client(), &resource));
        }
        for api in apis {
            let mut page = ListParams {
                label_selector: selector(kind),
                limit: Some(PAGE),
                ..ListParams::default()
            };
            loop {
                let list = api.list(&page).await?;
                list.items.into_iter().for_each(|it| seen.show(kind, it));
                page.continue_token = list.metadata.continue_.filter(|it| !it.is_empty());
                if page.continue_token.is_none() {
                    break;
                }
            }
        }
        Ok(())
    }
}
