//! Manifests of every kind, on the embedded API and on kube-apiserver alike: what the peers' users write is accepted,
//! what the peers refuse is refused with the peers' words (K1, K2).

use std::fmt::Debug;

use apiserver::Apiserver;
use kube::api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::NamespaceResourceScope;
use kube::{Api, Client, Resource, ResourceExt as _};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use testkit::control_plane::{self, Identity, gateway_api};
use testkit::manifest;
use zonewright_api::{Decoded, Zone, crds, foreign};

const ACCEPTED: &str = include_str!("manifests/accepted.yaml");
const REFUSED: &str = include_str!("manifests/refused.yaml");
const CHANGES: &str = include_str!("manifests/changes.yaml");
const FOREIGN: &str = include_str!("manifests/foreign.yaml");

/// A spec, perhaps a change of it, and what is said to it.
#[derive(Debug, Deserialize)]
struct Case {
    kind: String,
    spec: Value,
    change: Option<Value>,
    says: Option<String>,
}

/// Each behaviour on each API.
macro_rules! on_both {
    ($($(#[doc = $doc:literal])* $name:ident;)+) => {
        mod embedded {
            $($(#[doc = $doc])* #[tokio::test]
            async fn $name() { super::$name(super::Tenant::new(super::Home::Embedded).await).await; })+
        }
        mod on_cluster {
            $($(#[doc = $doc])* #[tokio::test]
            async fn $name() { super::$name(super::Tenant::new(super::Home::Real).await).await; })+
        }
    };
}

on_both! {
    /// Kinds that we only read lose nothing when they are written back.
    kinds_of_others_are_read_and_written_back_whole;
    /// K1: what users of each peer have in their repositories.
    manifests_of_the_peers_are_accepted;
    /// K2, G36: the schema's own refusals, in the peers' words where the peers have them.
    manifests_that_the_peers_refuse_are_refused_with_their_words;
    /// G39: what may not change after creation.
    fields_that_are_immutable_stay_as_they_are;
    /// The server fills in what the peers' servers fill in.
    defaults_are_those_of_the_peers;
    /// K4: what a server stores is read back object by object.
    stored_objects_are_read_back_one_by_one;
}

/// Which API.
#[derive(Clone, Copy)]
enum Home {
    Embedded,
    Real,
}

/// A tenant with a namespace of their own on an API server that has all kinds.
struct Tenant {
    client: Client,
    namespace: String,
    /// May install kinds.
    admin: Client,
    _apiserver: Option<Apiserver>,
}

impl Tenant {
    async fn new(home: Home) -> Tenant {
        let (admin, apiserver) = match home {
            Home::Embedded => {
                let opened = Apiserver::open(apiserver::Options::default()).await;
                let apiserver = opened.expect("an API in memory");
                (apiserver.client(), Some(apiserver))
            }
            Home::Real => {
                let plane = control_plane::shared().await;
                (plane.client(Identity::Admin), None)
            }
        };
        let installed = testkit::crds::install(&admin, &crds::all()).await;
        installed.expect("our definitions install");
        let namespace = testkit::namespace(&admin, "peers").await;
        let namespace = namespace.expect("a namespace");
        let client = match home {
            // It has no roles.
            Home::Embedded => admin.clone(),
            Home::Real => {
                let plane = control_plane::shared().await;
                let bound = plane.bind_tenant(&namespace).await;
                bound.expect("the tenant is let in");
                plane.client(Identity::Tenant)
            }
        };
        Tenant {
            client,
            namespace,
            admin,
            _apiserver: apiserver,
        }
    }

    /// The Gateway API's own kinds and Contour's in our words, beside ours.
    async fn install_everything(&self) {
        let gateway = tokio::task::spawn_blocking(gateway_api::crds).await;
        let gateway = gateway.expect("no panic").expect("the module is there");
        let contour = vec![foreign::http_proxy::crd()];
        for definitions in [gateway, contour] {
            let installed = testkit::crds::install(&self.admin, &definitions).await;
            installed.expect("kinds of others install");
        }
    }

    fn api(&self, kind: &str) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), &self.namespace, &resource(kind))
    }

    async fn create(&self, kind: &str, spec: &Value) -> Result<DynamicObject, String> {
        let object = json!({
            "apiVersion": resource(kind).api_version,
            "kind": kind,
            "metadata": { "generateName": "case-" },
            "spec": spec,
        });
        let object = serde_json::from_value(object).expect("an object");
        let api = self.api(kind);
        let created = api.create(&PostParams::default(), &object).await;
        created.map_err(|error| error.to_string())
    }

    async fn change(&self, object: &DynamicObject, kind: &str, spec: &Value) -> Result<(), String> {
        let patch = Patch::Merge(json!({ "spec": spec }));
        let params = PatchParams::default();
        let (api, name) = (self.api(kind), object.name_any());
        let patched = api.patch(&name, &params, &patch).await;
        patched.map(drop).map_err(|error| error.to_string())
    }
}

/// One of our kinds, as its definition describes it.
fn resource(kind: &str) -> ApiResource {
    let definitions = crds::all();
    let definition = definitions.iter().find(|crd| crd.spec.names.kind == kind);
    let spec = &definition.expect("one of our kinds").spec;
    let version = &spec.versions[0].name;
    ApiResource {
        group: spec.group.clone(),
        version: version.clone(),
        api_version: format!("{}/{version}", spec.group),
        kind: kind.to_owned(),
        plural: spec.names.plural.clone(),
    }
}

#[track_caller]
fn check<T>(case: &Case, outcome: Result<T, String>) {
    match (outcome, &case.says) {
        (Ok(_), None) => {}
        (Err(error), Some(says)) if error.contains(says) => {}
        (Ok(_), Some(says)) => panic!("accepted, where {says:?} was expected: {case:?}"),
        (Err(error), _) => panic!("{error}\n{case:?}"),
    }
}

fn cases(yaml: &str) -> Vec<Case> {
    serde_saphyr::from_str(yaml).expect("a list of cases")
}

/// Reads an object through our type and writes it back as it is: the server must see no change.
async fn write_back<K>(tenant: &Tenant, name: &str) -> K
where
    K: Resource<Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned + Serialize,
    K::DynamicType: Default,
{
    let (client, namespace) = (&tenant.client, &tenant.namespace);
    let resource = ApiResource::erase::<K>(&K::DynamicType::default());
    let whole: Api<DynamicObject> = Api::namespaced_with(client.clone(), namespace, &resource);
    let lens: Api<K> = Api::namespaced(client.clone(), namespace);

    let before = whole.get(name).await.expect(name);
    let read = lens.get(name).await.expect(name);
    let written = lens.replace(name, &PostParams::default(), &read).await;
    written.expect(name);
    let after = whole.get(name).await.expect(name);
    assert_eq!(before.data, after.data);
    assert_eq!(before.metadata.generation, after.metadata.generation);
    read
}

async fn kinds_of_others_are_read_and_written_back_whole(tenant: Tenant) {
    tenant.install_everything().await;
    for object in manifest::read(FOREIGN).expect("manifests") {
        let created = manifest::create(&tenant.client, &tenant.namespace, &object).await;
        created.unwrap_or_else(|error| panic!("{}: {error}", object.name_any()));
    }
    let proxy: foreign::HttpProxy = write_back(&tenant, "harbor").await;
    assert_eq!(proxy.fqdn(), Some("harbor.example.com"));
    let gateway: foreign::Gateway = write_back(&tenant, "web").await;
    assert_eq!(gateway.listeners().len(), 1);
    let route: foreign::HttpRoute = write_back(&tenant, "web").await;
    assert_eq!(route.spec.hostnames, Some(vec!["api.example.com".into()]));
}

async fn manifests_of_the_peers_are_accepted(tenant: Tenant) {
    let objects = manifest::read(ACCEPTED).expect("manifests");
    assert!(objects.len() > 20, "all documents were read");
    for object in objects {
        let created = manifest::create(&tenant.client, &tenant.namespace, &object).await;
        created.unwrap_or_else(|error| panic!("{}: {error}", object.name_any()));
    }
}

async fn manifests_that_the_peers_refuse_are_refused_with_their_words(tenant: Tenant) {
    for case in cases(REFUSED) {
        check(&case, tenant.create(&case.kind, &case.spec).await);
    }
}

async fn fields_that_are_immutable_stay_as_they_are(tenant: Tenant) {
    for case in cases(CHANGES) {
        let object = tenant.create(&case.kind, &case.spec).await;
        let object = object.unwrap_or_else(|error| panic!("{error}\n{case:?}"));
        let change = case.change.as_ref().expect("a change");
        check(&case, tenant.change(&object, &case.kind, change).await);
    }
}

async fn defaults_are_those_of_the_peers(tenant: Tenant) {
    let check = json!({ "path": "/healthz" });
    let target = json!({ "group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "a" });
    let balance = json!({ "geo": "EU", "defaultGeo": false });
    let rows = [
        (
            "Zone",
            json!({ "domainName": "a.", "delegations": [{}] }),
            json!({
                "domainName": "a.",
                "delegations": [{ "namespaces": [], "records": [], "zones": [] }],
                "ttl": 360, "refresh": 86_400, "retry": 7_200, "expire": 3_600_000, "negativeResponseCache": 360,
            }),
        ),
        (
            "Record",
            json!({ "domainName": "a.", "type": "A", "rdata": "192.0.2.1" }),
            json!({ "domainName": "a.", "type": "A", "rdata": "192.0.2.1", "class": "IN" }),
        ),
        (
            "DNSRecord",
            json!({ "rootHost": "a.example.com", "healthCheck": check }),
            json!({
                "rootHost": "a.example.com",
                "healthCheck": { "path": "/healthz", "port": 443, "protocol": "HTTPS", "interval": "5m", "failureThreshold": 5 },
            }),
        ),
        (
            "DNSPolicy",
            json!({ "targetRef": target, "providerRefs": [{ "name": "a" }], "loadBalancing": balance }),
            json!({
                "targetRef": target, "providerRefs": [{ "name": "a" }],
                "loadBalancing": { "geo": "EU", "defaultGeo": false, "weight": 120 },
            }),
        ),
    ];
    for (kind, spec, expected) in rows {
        let stored = tenant.create(kind, &spec).await.expect(kind);
        assert_eq!(stored.data["spec"], expected, "{kind}");
    }
}

async fn stored_objects_are_read_back_one_by_one(tenant: Tenant) {
    for name in ["a.", "b."] {
        let spec = json!({ "domainName": name, "delegations": [] });
        tenant.create("Zone", &spec).await.expect("accepted");
    }
    let zones: Api<Decoded<Zone>> = Api::namespaced(tenant.client.clone(), &tenant.namespace);
    let listed = zones.list(&ListParams::default()).await.expect("a list");
    let zones = listed.items.into_iter().map(Decoded::into_result);
    let mut names: Vec<String> = zones
        .map(|zone| zone.expect("of the right shape").spec.domain_name)
        .collect();
    names.sort();
    assert_eq!(names, ["a.", "b."]);
}
