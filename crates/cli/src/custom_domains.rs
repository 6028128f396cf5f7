//! Custom domains: puts together the installation's key, the door, and the way to DNS.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use admission::{
    House, Installation, Keeper, Listener, Reviews, Target, configurations, keeper, listener,
};
use anyhow::Context as _;
use api::Reason;
use controller::Look;
use egress::Egress;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use kube::api::{Api, DeleteParams, PostParams};
use kube::{Client, core::ObjectMeta};
use prover::{Finding, Looking, Prover, Sources};
use provider::Boxed;
use reconcile::domains::{Keyring, ManagedDomain, Sighting};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::args::controller::domains::Domains as Flags;

/// The namespace of our own things where nobody says otherwise.
pub(crate) const NAMESPACE: &str = "zonewright-system";

/// The service account that we are.
pub(crate) const SERVICE_ACCOUNT: &str = "zonewright";

/// How long the API may take to take our configurations at the start.
const DOOR_WITHIN: Duration = Duration::from_secs(30);

/// What the loop over custom domains needs to know.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) managed: ManagedDomain,
    pub(crate) keyring: Keyring,
}

impl Facts {
    /// What the operator has chosen; nothing, where custom domains are off.
    pub(crate) async fn read(
        client: &Client,
        namespace: &str,
        flags: &Flags,
    ) -> anyhow::Result<Option<Facts>> {
        let Some(domain) = flags.managed_domain.clone() else {
            return Ok(None);
        };
        let keyring = admission::keyring(client, namespace).await?;
        let tls_secret = flags.managed_tls_secret.clone();
        let managed = ManagedDomain { domain, tls_secret };
        Ok(Some(Facts { managed, keyring }))
    }

    fn house(&self, client: Client, user: &str) -> House {
        House {
            client,
            user: user.to_owned(),
            managed: Some(self.managed.clone()),
            keyring: self.keyring.clone(),
        }
    }
}

/// Our name in an API of our own.
pub(crate) fn embedded_user() -> String {
    format!("system:serviceaccount:{NAMESPACE}:{SERVICE_ACCOUNT}")
}

/// Opens the door of an API in this process: from now on it asks before it writes. Where custom domains are off, it no longer does.
pub(crate) async fn open_inside(
    admin: &Client,
    ours: &Client,
    reviews: &Reviews,
    facts: Option<&Facts>,
) -> anyhow::Result<()> {
    let Some(facts) = facts else {
        return withdraw(admin)
            .await
            .context("cannot take back webhook configurations of an earlier run");
    };
    let user = embedded_user();
    reviews.open(facts.house(ours.clone(), &user));
    let installation = Installation {
        namespace: NAMESPACE.to_owned(),
        user,
        target: Target::InProcess,
        ingresses: true,
    };
    let leading = watch::channel(true).1;
    let mut keeper = Keeper::new(admin.clone(), keeper::Options::new(installation), leading);
    timeout(DOOR_WITHIN, keeper.pass())
        .await
        .context("the embedded API does not take the webhook configurations")?
        .context("cannot write webhook configurations")?;
    // For as long as the process lives: whatever somebody makes of the configurations is put back.
    tokio::spawn(keeper.run());
    Ok(())
}

/// Takes back what a run with custom domains has left: nobody would answer.
async fn withdraw(admin: &Client) -> Result<(), kube::Error> {
    let mutating: Api<MutatingWebhookConfiguration> = Api::all(admin.clone());
    let validating: Api<ValidatingWebhookConfiguration> = Api::all(admin.clone());
    gone(
        mutating
            .delete(configurations::MUTATING, &DeleteParams::default())
            .await,
    )?;
    gone(
        validating
            .delete(configurations::VALIDATING, &DeleteParams::default())
            .await,
    )
}

/// That something was not there is as good as that it is gone.
fn gone<T>(deleted: Result<T, kube::Error>) -> Result<(), kube::Error> {
    match deleted {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        deleted => deleted.map(|_| ()),
    }
}

/// The door of a cluster's API: a listener, and whoever keeps its certificates.
#[derive(Debug)]
pub(crate) struct Door {
    listener: Listener,
    keeping: JoinHandle<()>,
}

impl Door {
    /// Serves webhooks at an address, and has the API ask there.
    pub(crate) async fn open(
        client: &Client,
        namespace: &str,
        address: SocketAddr,
        facts: &Facts,
        leading: watch::Receiver<bool>,
    ) -> anyhow::Result<Door> {
        let listening = || format!("cannot listen on {address}; choose another with --webhook");
        let socket = tokio::net::TcpListener::bind(address).await;
        let socket = socket.with_context(listening)?;
        let bound = socket.local_addr().with_context(listening)?;
        let user = own_name(client).await?;
        let installation = Installation {
            namespace: namespace.to_owned(),
            user: user.clone(),
            target: target(address, bound),
            ingresses: true,
        };
        let reviews = Reviews::default();
        reviews.open(facts.house(client.clone(), &user));
        let keeper = Keeper::new(client.clone(), keeper::Options::new(installation), leading);
        let serving = Arc::clone(keeper.serving());
        let listener = Listener::start(socket, serving, reviews, listener::Caps::default())
            .with_context(listening)?;
        Ok(Door {
            listener,
            keeping: tokio::spawn(keeper.run()),
        })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Lets what is being answered finish.
    pub(crate) async fn close(self, within: Duration) {
        self.keeping.abort();
        self.listener.shutdown(within).await;
    }
}

/// Where the API finds us: at an address that was given, or by the Service in front of us.
fn target(asked: SocketAddr, bound: SocketAddr) -> Target {
    if asked.ip().is_unspecified() {
        Target::Service
    } else {
        Target::Url(format!("https://{bound}"))
    }
}

/// The name under which the API knows us.
async fn own_name(client: &Client) -> anyhow::Result<String> {
    let reviews: Api<SelfSubjectReview> = Api::all(client.clone());
    let review = SelfSubjectReview {
        metadata: ObjectMeta::default(),
        status: None,
    };
    let review = reviews.create(&PostParams::default(), &review).await;
    let review = review.context("cannot ask the API who we are")?;
    let user = review.status.and_then(|it| it.user_info);
    let name = user.and_then(|it| it.username);
    name.context("the API does not say who we are")
}

/// From claims to DNS.
#[derive(Debug)]
pub(crate) struct Looker(Prover);

impl Looker {
    pub(crate) fn new(flags: &Flags, egress: Egress) -> Looker {
        let sources = if !flags.resolvers.is_empty() {
            Sources::Resolvers(flags.resolvers.clone())
        } else if !flags.roots.is_empty() {
            Sources::Roots(flags.roots.clone())
        } else {
            Sources::default()
        };
        Looker(Prover::new(sources, egress))
    }
}

impl Look for Looker {
    fn look<'a>(&'a self, look: &'a reconcile::domains::Look) -> Boxed<'a, Sighting> {
        let looking = Looking {
            names: look.names.clone(),
            text: look.token.clone(),
        };
        Box::pin(async move { sighting(&self.0.look(&looking).await) })
    }
}

/// What a look comes to, in the words of a condition.
fn sighting(finding: &Finding) -> Sighting {
    let reason = match finding {
        Finding::Found { .. } => Reason::Verified,
        Finding::Absent { looked_at } if looked_at.iter().any(|it| it.others > 0) => {
            Reason::TokenMismatch
        }
        Finding::Absent { .. } => Reason::RecordNotFound,
        Finding::Synthesised { .. } => Reason::WildcardSynthesised,
        Finding::Disagree { .. } | Finding::Refused { .. } | Finding::Unclear { .. } => {
            Reason::Indeterminate
        }
    };
    Sighting {
        found: matches!(finding, Finding::Found { .. }),
        reason,
        message: finding.to_string(),
    }
}
