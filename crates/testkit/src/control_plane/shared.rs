//! One control plane for all tests of a process.

use tokio::sync::OnceCell;

use super::ControlPlane;
use crate::StartError;

static SHARED: OnceCell<Result<ControlPlane, StartError>> = OnceCell::const_new();

/// The control plane of this process, started by the first test that asks.
///
/// It runs until the process ends. A failed start is not tried again: each test that asks panics
/// with the same reason.
pub async fn shared() -> &'static ControlPlane {
    match SHARED.get_or_init(ControlPlane::start).await {
        Ok(plane) => plane,
        Err(error) => panic!("no control plane: {error}"),
    }
}
