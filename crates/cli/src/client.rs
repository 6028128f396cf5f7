//! Which API the commands talk to.

use std::error::Error as _;
use std::io;
use std::path::Path;

use anyhow::Context as _;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

/// A client for the API that a kubeconfig names.
pub(crate) async fn connect(kubeconfig: &Path) -> anyhow::Result<Client> {
    let shown = kubeconfig.display();
    let file = Kubeconfig::read_from(kubeconfig)
        .with_context(|| format!("cannot read the kubeconfig {shown}"))?;
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default())
        .await
        .with_context(|| format!("the kubeconfig {shown} cannot be used"))?;
    Client::try_from(config).with_context(|| format!("the kubeconfig {shown} cannot be used"))
}

/// Whether a request failed because nobody listens where it was sent.
pub(crate) fn nobody_listens(error: &kube::Error) -> bool {
    let mut cause = error.source();
    while let Some(error) = cause {
        let refused = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
        if error.downcast_ref::<io::Error>().is_some_and(refused) {
            return true;
        }
        cause = error.source();
    }
    false
}
