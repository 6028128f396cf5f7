//! The API from outside: opened, asked, listened on, stopped.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use kube::Client;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::json;
use tokio::task::JoinHandle;

use crate::admission::{Caller, Services};
use crate::body::Body;
use crate::builtin;
use crate::clock::Clock;
use crate::cores;
use crate::durability::{Committer, Durability};
use crate::engine::{Call, Engine, PERMANENT_NAMESPACES};
use crate::face::{AdminCredential, Face, KubeconfigFile, ListenError, Shown};
use crate::key::Key;
use crate::request::{Query, Route, Verb};
use crate::service::{Documents, Service};
use crate::shared::Shared;
use crate::storage;
use crate::store::{Store, Stored};
use crate::tokens::Signer;
use crate::user::User;

/// How an API is opened.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where objects are kept. Nothing: they last as long as the API.
    pub data: Option<PathBuf>,
    /// What uids and generated names are made from. Nothing: the system's own source of chance.
    pub seed: Option<u64>,
    /// Where the time comes from.
    pub clock: Clock,
    /// Webhooks in this process, which configurations name as Services.
    pub services: Services,
}

/// A Kubernetes API.
///
/// It runs on the async runtime it was opened on, and stops when it is dropped or
/// [shut down](Self::shutdown).
#[derive(Debug)]
pub struct Apiserver {
    shared: Arc<Shared>,
    documents: Arc<Documents>,
    signer: Signer,
    collector: JoinHandle<()>,
    herald: JoinHandle<()>,
    committer: Option<thread::JoinHandle<()>>,
    data: Option<PathBuf>,
    shown: Vec<Shown>,
}

/// Where the administrator's kubeconfig goes.
#[derive(Clone, Debug)]
pub struct Kubeconfig {
    /// The file, readable by its owner only.
    pub path: PathBuf,
    /// What it proves the administrator with.
    pub credential: AdminCredential,
}

/// Why an API could not be opened.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct OpenError(#[from] OpenErrorKind);

#[derive(Debug, thiserror::Error)]
enum OpenErrorKind {
    #[error(transparent)]
    Storage(#[from] storage::OpenError),
    #[error("{key} cannot be read: {source}")]
    Object {
        key: String,
        source: serde_json::Error,
    },
}

impl Apiserver {
    /// Opens an API over its data directory, or an empty one.
    ///
    /// It has the namespaces that every cluster has. Call it on the runtime that it is to run on.
    pub async fn open(options: Options) -> Result<Self, OpenError> {
        let chance = options
            .seed
            .map_or_else(StdRng::from_os_rng, StdRng::seed_from_u64);
        let webhooks = Caller::new(options.services);
        let (shared, committer) = match &options.data {
            None => {
                let engine = Engine::new(Store::default(), chance);
                let durability = Durability::Ephemeral;
                let shared = Shared::new(engine, durability, webhooks, options.clock);
                (Arc::new(shared), None)
            }
            Some(directory) => {
                // The kinds that are compiled in are made while the disk is read. Whoever needs them first waits.
                thread::spawn(builtin::resources);
                let (storage, loaded) = storage::open(directory).map_err(OpenErrorKind::from)?;
                let engine = Engine::new(load(loaded)?, chance);
                let (durability, committer) = Committer::new();
                let shared = Shared::new(engine, durability, webhooks, options.clock);
                let shared = Arc::new(shared);
                let thread = committer.start(Box::new(storage), Arc::downgrade(&shared));
                (shared, Some(thread))
            }
        };
        let documents = Arc::new(Documents::default());
        let collector = tokio::spawn(collect(Arc::clone(&shared)));
        let herald = tokio::spawn(herald(Arc::clone(&shared)));
        let apiserver = Self {
            shared,
            documents,
            signer: Signer::default(),
            collector,
            herald,
            committer,
            data: options.data,
            shown: Vec::new(),
        };
        apiserver.create_namespaces().await;
        Ok(apiserver)
    }

    /// A client that speaks as the admin, without a socket.
    ///
    /// It belongs to the runtime it was made on.
    pub fn client(&self) -> Client {
        Client::new(self.service(), "default")
    }

    /// A client that speaks as a service account, without a socket. Nobody asks whether the account exists.
    ///
    /// It belongs to the runtime it was made on.
    pub fn client_of_service_account(&self, namespace: &str, name: &str) -> Client {
        let account = User::service_account(namespace, name, "");
        Client::new(self.service_for(account), "default")
    }

    /// The service behind [`client`](Self::client): requests in, responses out.
    pub fn service(&self) -> Service {
        self.service_for(User::admin())
    }

    fn service_for(&self, user: User) -> Service {
        Service::new(
            Arc::clone(&self.shared),
            Arc::clone(&self.documents),
            self.signer.clone(),
            user,
        )
    }

    /// Serves at `listener` to whoever can say who they are, and writes the administrator's kubeconfig.
    ///
    /// The key and certificates of the API are kept with its data.
    pub fn listen(
        &mut self,
        listener: TcpListener,
        kubeconfig: Kubeconfig,
    ) -> Result<SocketAddr, ListenError> {
        let now = self.shared.clock.now();
        let face = Arc::new(Face::open(self.data.as_deref(), now)?);
        self.signer.set(face.tokens());
        let accounts = Arc::downgrade(&self.shared);
        let exists = move |namespace: &str, name: &str, uid: &str| {
            accounts
                .upgrade()
                .is_some_and(|shared| shared.has_service_account(namespace, name, uid))
        };
        let file = KubeconfigFile {
            path: kubeconfig.path,
            credential: kubeconfig.credential,
        };
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let shown = face.show(listener, self.service(), Arc::new(exists), Some(file))?;
        let address = shown.address();
        self.shown.push(shown);
        Ok(address)
    }

    /// Ends watches and returns when everything that was acknowledged is on disk and the data directory is free.
    ///
    /// Requests that are being answered have `within` to finish.
    pub async fn shutdown(self, within: Duration) {
        self.shared.end_watches();
        for shown in self.shown {
            shown.shutdown(within).await;
        }
        self.shared.stop();
        for task in [self.collector, self.herald] {
            task.abort();
            let _aborted = task.await;
        }
        drop(self.shared);
        if let Some(committer) = self.committer {
            // Waiting for a thread is for a thread that may wait.
            let _panicked = tokio::task::spawn_blocking(move || committer.join()).await;
        }
    }

    async fn create_namespaces(&self) {
        for name in PERMANENT_NAMESPACES {
            let Some(Route::Objects(target)) = Route::of("/api/v1/namespaces") else {
                unreachable!("a path of objects")
            };
            let value =
                json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
            let call = Call {
                user: User::admin(),
                verb: Verb::Create,
                target,
                query: Query::default(),
                body: Some(Body {
                    value,
                    duplicates: Vec::new(),
                    repeated: None,
                }),
                patch: None,
                user_agent: None,
                now: self.shared.clock.now(),
            };
            // A namespace that is there already is as good; a disk that is full is told to whoever writes next.
            let _there = self.shared.call(&call).await;
        }
    }
}

fn load(loaded: storage::Loaded) -> Result<Store, OpenErrorKind> {
    let read = |(key, revision, json): (Key, u64, Bytes)| match Stored::read(json, revision) {
        Ok(stored) => Ok((key, stored)),
        Err(source) => Err(OpenErrorKind::Object {
            key: key.to_string(),
            source,
        }),
    };
    let shares = cores::share(loaded.objects, |share| {
        share.into_iter().map(read).collect::<Result<Vec<_>, _>>()
    });
    let shares: Vec<_> = shares.into_iter().collect::<Result<_, _>>()?;
    Ok(Store::load(loaded.revision, shares.into_iter().flatten()))
}

/// Does what follows from writes, as long as the API runs.
async fn collect(shared: Arc<Shared>) {
    let mut stopping = shared.stopping();
    let mut errands = FuturesUnordered::new();
    loop {
        let wanted = shared.collect().await.into_iter();
        errands.extend(wanted.map(|errand| shared.run(errand)));
        tokio::select! {
            biased;
            _ = stopping.wait_for(|stopping| *stopping) => return,
            Some(()) = errands.next() => {}
            () = shared.work() => {}
        }
    }
}

/// Wakes those who watch, as long as the API runs.
async fn herald(shared: Arc<Shared>) {
    let mut stopping = shared.stopping();
    tokio::select! {
        biased;
        _ = stopping.wait_for(|stopping| *stopping) => {}
        () = shared.herald() => {}
    }
}
