//! The embedded API: the one place of the command line that knows how it is opened, shown and closed.

use std::io::{BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::time::Duration;

use admission::{Reviews, configurations};
use apiserver::{AdminCredential, Apiserver, Clock, Kubeconfig, Options, Services};
use kube::Client;

use crate::custom_domains::{NAMESPACE, SERVICE_ACCOUNT};

/// An API that lives in this process.
#[derive(Debug)]
pub(crate) struct Embedded {
    api: Apiserver,
    reviews: Reviews,
}

impl Embedded {
    /// Opens the API that is kept in `data`, or one that forgets everything.
    pub(crate) async fn open(data: Option<&Path>) -> anyhow::Result<Self> {
        let reviews = Reviews::default();
        let data = data.map(Path::to_owned);
        let services = Services::default();
        let options = Options {
            data,
            services: services.with(NAMESPACE, configurations::NAME, reviews.clone()),
            ..Options::default()
        };
        let api = Apiserver::open(options).await?;
        Ok(Self { api, reviews })
    }

    /// A client that speaks as the administrator, without a socket.
    pub(crate) fn client(&self) -> Client {
        self.api.client()
    }

    /// What our own webhooks are answered by, once somebody opens it.
    pub(crate) fn reviews(&self) -> &Reviews {
        &self.reviews
    }

    /// A client that speaks as our service account, without a socket.
    pub(crate) fn own_client(&self) -> Client {
        self.api
            .client_of_service_account(NAMESPACE, SERVICE_ACCOUNT)
    }

    /// Serves at `listener` and writes the administrator's kubeconfig. Returns where it listens.
    pub(crate) fn listen(
        &mut self,
        listener: TcpListener,
        kubeconfig: &Path,
    ) -> anyhow::Result<SocketAddr> {
        let kubeconfig = Kubeconfig {
            path: kubeconfig.to_owned(),
            credential: AdminCredential::Certificate,
        };
        Ok(self.api.listen(listener, kubeconfig)?)
    }

    /// Stops listening and closes what is kept.
    pub(crate) async fn shutdown(self, within: Duration) {
        self.api.shutdown(within).await;
    }
}

/// Writes what `data` holds, while no process has it open.
pub(crate) fn backup(data: &Path, mut to: &mut dyn Write) -> anyhow::Result<()> {
    Ok(apiserver::backup(data, Clock::System.now(), &mut to)?)
}

/// Makes what `data` holds what a backup says.
pub(crate) fn restore(data: &Path, from: &mut dyn Read) -> anyhow::Result<()> {
    Ok(apiserver::restore(data, &mut BufReader::new(from))?)
}
