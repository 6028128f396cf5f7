//! Fresh namespaces.

use k8s_openapi::api::core::v1::Namespace;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client, ResourceExt};

/// Creates a namespace that no other test has, and returns its name: `prefix`, a dash, and a few
/// characters of the API server's choice.
pub async fn namespace(client: &Client, prefix: &str) -> kube::Result<String> {
    let fresh = Namespace {
        metadata: ObjectMeta {
            generate_name: Some(format!("{prefix}-")),
            ..ObjectMeta::default()
        },
        ..Namespace::default()
    };
    let created = Api::all(client.clone())
        .create(&PostParams::default(), &fresh)
        .await?;
    Ok(created.name_any())
}
