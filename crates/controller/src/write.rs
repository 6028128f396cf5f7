//! Writes to the Kubernetes API: each guarded by the version it was decided on, each at most once.
//!
//! What comes back is what stands there now, and goes into the world at once: the next decision need not wait for the
//! watch to tell the same.

use std::fmt::{Debug, Display};

use api::well_known::{annotation, field_manager, label};
use api::zone_slice::{ZoneSlice, ZoneSliceSpec};
use api::{Decoded, ZoneKey};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{Api, DeleteParams, ObjectMeta, Patch, PatchParams, PostParams, Preconditions};
use kube::core::NamespaceResourceScope;
use kube::{Client, Resource};
use reconcile::Label;
use reconcile::slice::Slice;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tracing::{debug, warn};

use crate::queue::Outcome;

/// How many slices are created or removed at a time: a zone that crosses the limit has a few hundred of them.
const SLICES_AT_ONCE: usize = 16;

/// Why nothing was written, sorted by what to do next.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    /// The object is gone: there is nothing to write to.
    #[error("the object is gone")]
    Gone,
    /// The object has changed since: decide again.
    #[error("the object has changed meanwhile")]
    Stale,
    /// Anything else: try again later.
    #[error(transparent)]
    Failed(#[from] Box<kube::Error>),
}

impl From<kube::Error> for WriteError {
    fn from(error: kube::Error) -> WriteError {
        let code = if let kube::Error::Api(status) = &error {
            status.code
        } else {
            0
        };
        match code {
            404 => WriteError::Gone,
            409 => WriteError::Stale,
            _ => WriteError::Failed(Box::new(error)),
        }
    }
}

impl WriteError {
    /// What it means for the key that was passed over.
    pub(crate) fn outcome(&self, key: &impl Display) -> Outcome {
        match self {
            WriteError::Gone => Outcome::Done,
            WriteError::Stale => {
                debug!(%key, "Changed meanwhile");
                Outcome::Failed
            }
            WriteError::Failed(error) => {
                warn!(%key, %error, "Could not write");
                Outcome::Failed
            }
        }
    }
}

/// An object to be written to.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) client: &'a Client,
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
}

impl Target<'_> {
    fn api<K>(&self) -> Api<Decoded<K>>
    where
        K: Resource<Scope = NamespaceResourceScope>,
        K::DynamicType: Default,
    {
        Api::namespaced(self.client.clone(), self.namespace)
    }

    /// Writes the label that names the parent, and the annotation beside it (Z3, R3).
    pub(crate) async fn label<K>(
        &self,
        version: Option<&str>,
        parent: Option<&ZoneKey>,
    ) -> Result<Decoded<K>, WriteError>
    where
        K: Resource<Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
        K::DynamicType: Default,
    {
        let patch = json!({ "metadata": {
            "resourceVersion": version,
            "labels": { label::PARENT_ZONE: parent.map(ZoneKey::label) },
            "annotations": { annotation::PARENT_ZONE_REF: parent.and_then(ZoneKey::annotation) },
        }});
        let patch = Patch::Merge(patch);
        Ok(self.api::<K>().patch(self.name, &by_us(), &patch).await?)
    }

    /// Writes the whole status. `before` is what it replaces: fields that are no longer there go.
    pub(crate) async fn status<K, S>(
        &self,
        version: Option<&str>,
        before: &S,
        status: &S,
    ) -> Result<Decoded<K>, WriteError>
    where
        K: Resource<Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
        K::DynamicType: Default,
        S: Serialize,
    {
        let patch = json!({
            "metadata": { "resourceVersion": version },
            "status": replacement(before, status),
        });
        let api = self.api::<K>();
        let patch = Patch::Merge(patch);
        Ok(api.patch_status(self.name, &by_us(), &patch).await?)
    }

    /// Creates the object.
    pub(crate) async fn create<K>(&self, object: &K) -> Result<Decoded<K>, WriteError>
    where
        K: Resource<Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned + Serialize,
        K::DynamicType: Default,
    {
        let api = Api::<K>::namespaced(self.client.clone(), self.namespace);
        let by_us = PostParams {
            field_manager: by_us().field_manager,
            ..PostParams::default()
        };
        Ok(Decoded::Object(api.create(&by_us, object).await?))
    }

    /// Changes some fields of the object.
    pub(crate) async fn merge<K>(
        &self,
        version: Option<&str>,
        mut patch: Value,
    ) -> Result<Decoded<K>, WriteError>
    where
        K: Resource<Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
        K::DynamicType: Default,
    {
        patch["metadata"]["resourceVersion"] = json!(version);
        let patch = Patch::Merge(patch);
        Ok(self.api::<K>().patch(self.name, &by_us(), &patch).await?)
    }

    /// Removes the object, if it is still the one that was meant.
    pub(crate) async fn remove<K>(&self, uid: &str, version: Option<&str>) -> Result<(), WriteError>
    where
        K: Resource<Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
        K::DynamicType: Default,
    {
        let guarded = DeleteParams {
            preconditions: Some(Preconditions {
                uid: Some(uid.to_owned()),
                resource_version: version.map(str::to_owned),
            }),
            ..DeleteParams::default()
        };
        match self.api::<K>().delete(self.name, &guarded).await {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes what everybody says about an object of somebody else's. The version guards what others have said.
    pub(crate) async fn conditions<K>(
        &self,
        version: Option<&str>,
        conditions: &[Value],
    ) -> Result<Decoded<K>, WriteError>
    where
        K: Resource<Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
        K::DynamicType: Default,
    {
        let patch = json!({
            "metadata": { "resourceVersion": version },
            "status": { "conditions": conditions },
        });
        let (api, patch) = (self.api::<K>(), Patch::Merge(patch));
        Ok(api.patch_status(self.name, &by_us(), &patch).await?)
    }

    /// Creates the slices of a Zone. One that is there already is the same: its name stands for its content.
    pub(crate) async fn create_slices(
        &self,
        uid: &str,
        slices: Vec<Slice>,
    ) -> Result<Vec<ObjectMeta>, WriteError> {
        let api = Api::<ZoneSlice>::namespaced(self.client.clone(), self.namespace);
        let api = &api;
        let create = |slice: Slice| async move {
            let object = slice_object(slice, self.name, uid);
            match api.create(&PostParams::default(), &object).await {
                Ok(created) => Ok(created.metadata),
                Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(object.metadata),
                Err(error) => Err(WriteError::from(error)),
            }
        };
        let slices = stream::iter(slices.into_iter().map(create));
        slices.buffered(SLICES_AT_ONCE).try_collect().await
    }

    /// Removes slices that no status names.
    pub(crate) async fn remove_slices(&self, names: &[String]) -> Result<(), WriteError> {
        let api = Api::<ZoneSlice>::namespaced(self.client.clone(), self.namespace);
        let remove = async |name: &String| match api.delete(name, &DeleteParams::default()).await {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            Err(error) => Err(WriteError::from(error)),
        };
        let names = stream::iter(names.iter().map(remove));
        names.buffered(SLICES_AT_ONCE).try_collect().await
    }
}

/// An object that is being written to. Each write is guarded by the version that the one before it left.
pub(crate) struct Writing<'a, K> {
    pub(crate) target: Target<'a>,
    resource_version: Option<String>,
    /// What stands in the API now, if anything was written.
    written: Option<Decoded<K>>,
    writes: u32,
}

impl<'a, K> Writing<'a, K>
where
    K: Resource<Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
    K::DynamicType: Default,
{
    pub(crate) fn new(target: Target<'a>, resource_version: Option<String>) -> Self {
        Self {
            target,
            resource_version,
            written: None,
            writes: 0,
        }
    }

    pub(crate) async fn label(&mut self, label: Option<&Label>) -> Result<(), WriteError> {
        if let Some(Label(parent)) = label {
            let version = self.resource_version.as_deref();
            let written = self.target.label(version, parent.as_ref()).await?;
            self.wrote(written);
        }
        Ok(())
    }

    pub(crate) async fn status<S: Serialize>(
        &mut self,
        before: &S,
        status: &S,
    ) -> Result<(), WriteError> {
        let version = self.resource_version.as_deref();
        let written = self.target.status(version, before, status).await?;
        self.wrote(written);
        Ok(())
    }

    /// Changes some fields of the object.
    pub(crate) async fn merge(&mut self, patch: Value) -> Result<(), WriteError> {
        let version = self.resource_version.as_deref();
        let written = self.target.merge(version, patch).await?;
        self.wrote(written);
        Ok(())
    }

    /// How often it was written.
    pub(crate) fn writes(&self) -> u32 {
        self.writes
    }

    /// What stands in the API now, if anything was written.
    pub(crate) fn into_written(self) -> Option<Decoded<K>> {
        self.written
    }

    fn wrote(&mut self, object: Decoded<K>) {
        self.resource_version
            .clone_from(&object.meta().resource_version);
        self.written = Some(object);
        self.writes += 1;
    }
}

fn by_us() -> PatchParams {
    PatchParams {
        field_manager: Some(field_manager::CONTROLLER.to_owned()),
        ..PatchParams::default()
    }
}

/// A merge patch that makes `after` of `before`: what is missing afterwards is named as nothing, in maps within as well, for
/// a merge patch keeps every key that it does not name (RFC 7386 §2).
pub(crate) fn replacement(before: &impl Serialize, after: &impl Serialize) -> Value {
    let infallible = "a status has no way to fail";
    let before = serde_json::to_value(before).expect(infallible);
    let mut after = serde_json::to_value(after).expect(infallible);
    name_what_goes(before, &mut after);
    after
}

fn name_what_goes(before: Value, after: &mut Value) {
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        return;
    };
    for (field, before) in before {
        match after.get_mut(&field) {
            Some(after) => name_what_goes(before, after),
            None => drop(after.insert(field, Value::Null)),
        }
    }
}

fn slice_object(slice: Slice, zone: &str, uid: &str) -> ZoneSlice {
    let owner = OwnerReference {
        api_version: api::Zone::api_version(&()).into_owned(),
        kind: api::Zone::kind(&()).into_owned(),
        name: zone.to_owned(),
        uid: uid.to_owned(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    };
    let spec = ZoneSliceSpec {
        content: slice.content,
    };
    let mut object = ZoneSlice::new(&slice.name, spec);
    object.metadata.owner_references = Some(vec![owner]);
    let managed = (
        label::MANAGED_BY.to_owned(),
        field_manager::CONTROLLER.to_owned(),
    );
    object.metadata.labels = Some([managed].into());
    object
}

#[cfg(test)]
mod tests {
    use proptest::collection::btree_map;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_field_that_is_no_longer_there_is_taken_out() {
        let before = json!({ "fqdn": "a.", "hash": "x", "entries": [1, 2] });
        let after = json!({ "fqdn": "b.", "entries": [] });
        let patch = json!({ "fqdn": "b.", "hash": null, "entries": [] });
        assert_eq!(replacement(&before, &after), patch);
    }

    #[test]
    fn a_key_that_is_no_longer_in_a_map_is_taken_out() {
        let before =
            json!({ "records": { "a.test": [1], "b.test": [2] }, "deep": { "x": { "y": 1 } } });
        let after = json!({ "records": { "b.test": [3] }, "deep": { "x": {} } });
        let patch = json!({
            "records": { "a.test": null, "b.test": [3] },
            "deep": { "x": { "y": null } },
        });
        assert_eq!(replacement(&before, &after), patch);
    }

    proptest! {
        #[test]
        fn a_merge_patch_makes_the_one_of_the_other(before in status(), after in status()) {
            let mut made = before.clone();
            json_patch::merge(&mut made, &replacement(&before, &after));
            prop_assert_eq!(made, after);
        }
    }

    /// Objects in objects with few keys, so that two of them have some in common.
    fn status() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![Just(json!(1)), Just(json!("x")), Just(json!([{ "a": 1 }]))];
        let tree = leaf.prop_recursive(4, 24, 4, |inner| {
            btree_map("[a-d]", inner, 0..4).prop_map(|fields| json!(fields))
        });
        btree_map("[a-d]", tree, 0..4).prop_map(|fields| json!(fields))
    }
}
