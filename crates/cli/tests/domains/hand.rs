//! Somebody who writes Ingresses, and looks at what becomes of them.

use api::DomainVerification;
use api::well_known::{annotation, label};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::networking::v1::Ingress;
use kube::api::{Api, ApiResource, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::core::{DynamicObject, Status};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};
use testkit::eventually;

use crate::stage::{MANAGED, SOON};

/// A client, and what it is used for.
#[derive(Clone)]
pub(crate) struct Hand {
    pub(crate) client: Client,
}

impl Hand {
    pub(crate) fn new(client: Client) -> Hand {
        Hand { client }
    }

    pub(crate) fn ingresses(&self, namespace: &str) -> Api<DynamicObject> {
        let resource = ApiResource::erase::<Ingress>(&());
        Api::namespaced_with(self.client.clone(), namespace, &resource)
    }

    pub(crate) fn verifications(&self, namespace: &str) -> Api<DynamicObject> {
        let resource = ApiResource::erase::<DomainVerification>(&());
        Api::namespaced_with(self.client.clone(), namespace, &resource)
    }

    pub(crate) fn records(&self, namespace: &str) -> Api<DynamicObject> {
        let resource = ApiResource::erase::<api::Record>(&());
        Api::namespaced_with(self.client.clone(), namespace, &resource)
    }

    pub(crate) async fn make_namespace(&self, name: &str) {
        let namespace = json!({ "metadata": { "name": name } });
        let namespace: Namespace = serde_json::from_value(namespace).unwrap();
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let by = PostParams::default();
        namespaces.create(&by, &namespace).await.unwrap();
    }

    /// Creates an Ingress, and returns what stands there then.
    pub(crate) async fn create(&self, namespace: &str, ingress: &Value) -> Value {
        self.try_create(namespace, ingress).await.unwrap()
    }

    pub(crate) async fn try_create(
        &self,
        namespace: &str,
        ingress: &Value,
    ) -> Result<Value, Status> {
        let by = PostParams::default();
        let ingresses = self.ingresses(namespace);
        let created = ingresses.create(&by, &object(ingress)).await;
        created.map(value).map_err(refusal)
    }

    /// Merges something into an Ingress, and returns what stands there then.
    pub(crate) async fn merge(&self, namespace: &str, name: &str, patch: Value) -> Value {
        let ingresses = self.ingresses(namespace);
        let by = PatchParams::default();
        let patched = ingresses.patch(name, &by, &Patch::Merge(patch)).await;
        value(patched.unwrap())
    }

    pub(crate) async fn ingress(&self, namespace: &str, name: &str) -> Value {
        value(self.ingresses(namespace).get(name).await.unwrap())
    }

    pub(crate) async fn delete(&self, namespace: &str, name: &str) {
        let how = DeleteParams::default();
        self.ingresses(namespace).delete(name, &how).await.unwrap();
    }

    /// Has the domains of an Ingress looked for now; `word` has to be a new one.
    pub(crate) async fn check(&self, namespace: &str, name: &str, word: &str) {
        let annotations = json!({ annotation::CHECK: word });
        let patch = json!({ "metadata": { "annotations": annotations } });
        self.merge(namespace, name, patch).await;
    }

    /// Waits for an Ingress of which something holds.
    pub(crate) async fn until_ingress(
        &self,
        namespace: &str,
        name: &str,
        holds: impl Fn(&Value) -> bool,
    ) -> Value {
        let what = format!("another Ingress {namespace}/{name}");
        until(&self.ingresses(namespace), name, &what, holds).await
    }

    /// Waits for a DomainVerification of which something holds.
    pub(crate) async fn until_verification(
        &self,
        namespace: &str,
        domain: &str,
        holds: impl Fn(&Value) -> bool,
    ) -> Value {
        let what = format!("another DomainVerification {namespace}/{domain}");
        until(&self.verifications(namespace), domain, &what, holds).await
    }

    /// Waits until a domain has a token, and says what to create in DNS: name and value.
    pub(crate) async fn txt_record(&self, namespace: &str, domain: &str) -> (String, String) {
        let wants = |it: &Value| it["status"]["txtRecord"].is_object();
        let seen = self.until_verification(namespace, domain, wants).await;
        let record = &seen["status"]["txtRecord"];
        let text = |field: &str| record[field].as_str().unwrap().to_owned();
        (text("name"), text("value"))
    }

    /// Waits until a domain is verified.
    pub(crate) async fn until_verified(&self, namespace: &str, domain: &str) -> Value {
        let verified = |it: &Value| condition(it)["status"] == "True";
        self.until_verification(namespace, domain, verified).await
    }

    /// Waits until something of a kind is gone.
    pub(crate) async fn until_gone(&self, api: &Api<DynamicObject>, name: &str) {
        let what = format!("no {name}");
        let gone = eventually(SOON, &what, async || match api.get_opt(name).await {
            Ok(None) => Ok(()),
            Ok(Some(found)) => Err(value(found).to_string()),
            Err(error) => Err(error.to_string()),
        });
        gone.await.unwrap();
    }

    /// The Records of managed hosts, by name.
    pub(crate) async fn managed_records(&self) -> Vec<String> {
        let labelled = ListParams::default().labels(label::MANAGED_HOST);
        let listed = self.records("dns").list(&labelled).await.unwrap();
        listed.iter().map(ResourceExt::name_any).collect()
    }

    /// Puts a TXT record into the tenant's zone, and waits until it is published.
    pub(crate) async fn publish_txt(&self, name: &str, (host, text): (&str, &str)) {
        let record = json!({
            "apiVersion": "kubi.zone/v1alpha1",
            "kind": "Record",
            "metadata": { "name": name, "namespace": "shop" },
            "spec": { "domainName": host, "type": "TXT", "rdata": format!("\"{text}\"") },
        });
        let records = self.records("shop");
        let by = PostParams::default();
        records.create(&by, &object(&record)).await.unwrap();
        let published = |it: &Value| {
            let conditions = it["status"]["conditions"].as_array();
            let mut conditions = conditions.into_iter().flatten();
            conditions.any(|it| it["type"] == "Published" && it["status"] == "True")
        };
        until(&records, name, "a published TXT record", published).await;
    }

    /// Proves a domain as a tenant does: the record into the zone, and word that it is there.
    pub(crate) async fn prove(&self, domain: &str, ingress: &str) {
        let (name, text) = self.txt_record("shop", domain).await;
        let record = format!("proof-of-{}", domain.replace('.', "-"));
        self.publish_txt(&record, (&name, &text)).await;
        self.check("shop", ingress, "now").await;
        let verified = self.until_verified("shop", domain).await;
        let condition = condition(&verified);
        assert_eq!(condition["message"], "domain successfully verified");
        assert!(condition["nextVerification"].is_string(), "{condition}");
    }
}

async fn until(
    api: &Api<DynamicObject>,
    name: &str,
    what: &str,
    holds: impl Fn(&Value) -> bool,
) -> Value {
    let seen = eventually(SOON, what, async || {
        let found = api.get(name).await.map_err(|error| error.to_string())?;
        let found = value(found);
        if holds(&found) {
            Ok(found)
        } else {
            Err(found.to_string())
        }
    });
    seen.await.unwrap()
}

/// What a DomainVerification says about its domain.
pub(crate) fn condition(verification: &Value) -> &Value {
    &verification["status"]["conditions"][0]
}

/// An Ingress with a rule for each host, as its author writes it.
pub(crate) fn ingress(name: &str, hosts: &[&str]) -> Value {
    let rules: Vec<Value> = hosts.iter().map(|host| rule(Some(host))).collect();
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": { "name": name },
        "spec": { "rules": rules },
    })
}

/// A rule that leads everything to one Service.
pub(crate) fn rule(host: Option<&str>) -> Value {
    let backend = json!({ "service": { "name": "web", "port": { "number": 80 } } });
    let path = json!({ "path": "/", "pathType": "Prefix", "backend": backend });
    let mut rule = json!({ "http": { "paths": [path] } });
    if let Some(host) = host {
        rule["host"] = json!(host);
    }
    rule
}

/// Every host that an Ingress serves or has certificates for.
pub(crate) fn hosts(ingress: &Value) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let rules = list(&ingress["spec"]["rules"]);
    let tls = list(&ingress["spec"]["tls"]);
    let rules = rules.iter().map(|rule| text(&rule["host"]));
    let tls = tls.iter().flat_map(|entry| list(&entry["hosts"]));
    rules.chain(tls.map(|host| text(&host))).collect()
}

/// The managed host of an Ingress that serves nothing else.
pub(crate) fn only_host(ingress: &Value) -> String {
    let hosts = hosts(ingress);
    let first = hosts.first().expect("a host").clone();
    assert!(hosts.iter().all(|it| *it == first), "{ingress}");
    assert!(is_managed(&first), "{ingress}");
    assert!(ingress["spec"]["defaultBackend"].is_null(), "{ingress}");
    first
}

/// Whether a host was drawn below the managed domain.
pub(crate) fn is_managed(host: &str) -> bool {
    let guid = host.strip_suffix(&format!(".{MANAGED}"));
    guid.is_some_and(|it| it.len() == 32 && it.bytes().all(|it| it.is_ascii_hexdigit()))
}

pub(crate) fn object(value: &Value) -> DynamicObject {
    serde_json::from_value(value.clone()).unwrap()
}

pub(crate) fn value(object: DynamicObject) -> Value {
    serde_json::to_value(object).unwrap()
}

/// What the API says when it says no.
pub(crate) fn refusal(error: kube::Error) -> Status {
    let kube::Error::Api(status) = error else {
        panic!("no answer: {error}");
    };
    *status
}
