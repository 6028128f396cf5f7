//! The embedded API: the one place of the command line that knows how it is opened, shown and closed.

use std::io::{BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::time::Duration;

use apiserver::{AdminCredential, Apiserver, Clock, Kubeconfig, Options};
use kube::Client;

/// An API that lives in this process.
#[derive(Debug)]
pub(crate) struct Embedded(Apiserver);

impl Embedded {
    /// Opens the API that is kept in `data`, or one that forgets everything.
    pub(crate) async fn open(data: Option<&Path>) -> anyhow::Result<Self> {
        let data = data.map(Path::to_owned);
        let options = Options {
            data,
            ..Options::default()
        };
        Ok(Self(Apiserver::open(options).await?))
    }

    /// A client that speaks as the administrator, without a socket.
    pub(crate) fn client(&self) -> Client {
        self.0.client()
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
        Ok(self.0.listen(listener, kubeconfig)?)
    }

    /// Stops listening and closes what is kept.
    pub(crate) async fn shutdown(self, within: Duration) {
        self.0.shutdown(within).await;
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
