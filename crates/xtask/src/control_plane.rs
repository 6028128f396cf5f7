//! `control-plane`: the real Kubernetes API that tests run against, for a person to try things on.

use anyhow::{Context, Result};
use testkit::control_plane::{ControlPlane, Identity, build};

/// Builds it if need be, starts it, says how to use it, and keeps it until Ctrl-C.
pub(crate) fn control_plane() -> Result<()> {
    let programs = build::programs()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let plane = ControlPlane::start().await?;
        let kubeconfig = plane.kubeconfig(Identity::Admin);
        println!(
            "{} is ready, with logs in {}",
            plane.url(),
            plane.logs().display()
        );
        println!("\n  export KUBECONFIG={}", kubeconfig.display());
        println!("  {} get namespaces\n", programs.kubectl().display());
        println!("It runs, and keeps what it is told, until Ctrl-C.");
        tokio::signal::ctrl_c()
            .await
            .context("cannot wait for Ctrl-C")
    })
}
