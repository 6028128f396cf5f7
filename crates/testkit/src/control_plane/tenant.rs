//! What the tenant may do in a namespace that was opened to them.

use std::time::Duration;

use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use kube::api::PostParams;
use kube::{Api, Client};

use super::Identity;
use crate::manifest::{self, ManifestError};
use crate::wait::{Overdue, eventually};

/// The authorizer learns of a new binding by a watch: at once, unless the machine is busy.
const IN_FORCE_WITHIN: Duration = Duration::from_secs(30);

/// Everything on our kinds and on those of others that we read; `edit` has the built-in kinds.
const RIGHTS: &str = r#"
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: tenant }
rules:
  - apiGroups:
      - kubi.zone
      - kuadrant.io
      - kuadrant.dev
      - connectivity.tanzu.vmware.com
      - gateway.networking.k8s.io
      - projectcontour.io
    resources: ["*"]
    verbs: [get, list, watch, create, update, patch, delete, deletecollection]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: tenant }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: tenant }
subjects: [{ apiGroup: rbac.authorization.k8s.io, kind: User, name: tenant }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: tenant-edit }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit }
subjects: [{ apiGroup: rbac.authorization.k8s.io, kind: User, name: tenant }]
"#;

/// One right of each binding, by which it is seen to be in force.
const SAMPLES: [(&str, &str); 2] = [("kubi.zone", "zones"), ("", "configmaps")];

/// Why the tenant has no rights in a namespace.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The roles could not be written.
    #[error(transparent)]
    Roles(#[from] ManifestError),
    /// The roles were written, but the API server does not act on them.
    #[error(transparent)]
    NotInForce(#[from] Overdue),
}

/// Writes the roles and returns when the API server acts on them.
pub(super) async fn bind(
    admin: &Client,
    tenant: &Client,
    namespace: &str,
) -> Result<(), BindError> {
    for object in manifest::read(RIGHTS)? {
        manifest::apply(admin, namespace, &object).await?;
    }
    for (group, resource) in SAMPLES {
        in_force(tenant, namespace, group, resource).await?;
    }
    Ok(())
}

async fn in_force(
    tenant: &Client,
    namespace: &str,
    group: &str,
    resource: &str,
) -> Result<(), Overdue> {
    let what = format!(
        "{} to create {resource} in {namespace}",
        Identity::Tenant.user()
    );
    eventually(IN_FORCE_WITHIN, &what, async || -> Result<(), String> {
        let review = Api::all(tenant.clone())
            .create(
                &PostParams::default(),
                &may_create(namespace, group, resource),
            )
            .await
            .map_err(|error| error.to_string())?;
        let status = review.status.unwrap_or_default();
        if status.allowed {
            Ok(())
        } else {
            Err(format!("{status:?}"))
        }
    })
    .await
}

fn may_create(namespace: &str, group: &str, resource: &str) -> SelfSubjectAccessReview {
    let attributes = ResourceAttributes {
        namespace: Some(namespace.to_owned()),
        group: Some(group.to_owned()),
        resource: Some(resource.to_owned()),
        verb: Some("create".to_owned()),
        ..ResourceAttributes::default()
    };
    let spec = SelfSubjectAccessReviewSpec {
        resource_attributes: Some(attributes),
        ..SelfSubjectAccessReviewSpec::default()
    };
    SelfSubjectAccessReview {
        spec,
        ..SelfSubjectAccessReview::default()
    }
}
