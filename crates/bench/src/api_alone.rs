//! Our API without controllers, as a process: what an API that is looked after is compared with.

use std::convert::Infallible;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

use anyhow::Result;
use apiserver::{AdminCredential, Apiserver, Kubeconfig, Options};
use serde_json::json;

/// Serves until it is killed, on disk and over HTTPS as `zonewright up` does.
pub(crate) async fn serve(data: &Path) -> Result<Infallible> {
    let store = data.join("store");
    let is_new = !store.exists();
    let options = Options {
        data: Some(store),
        ..Options::default()
    };
    let mut api = Apiserver::open(options).await?;
    // One that is started again has them.
    if is_new {
        testkit::crds::install(&api.client(), &api::crds::all()).await?;
    }
    let path = data.join("kubeconfig");
    let kubeconfig = Kubeconfig {
        path: path.clone(),
        credential: AdminCredential::Certificate,
    };
    let address = api.listen(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?, kubeconfig)?;
    println!(
        "{}",
        json!({ "event": "ready", "api": address, "kubeconfig": path })
    );
    std::future::pending().await
}
