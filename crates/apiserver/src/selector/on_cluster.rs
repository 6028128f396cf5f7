//! The same selectors, asked of the real API.

use serde_json::json;
use testkit::control_plane::{self, Identity};

use super::tests::{BAD_FIELDS, BAD_LABELS, GOOD_FIELDS, LABELS, label_refusal};
use super::{FieldSelector, LabelSelector};
use crate::resource::Scope;
use crate::table::fixtures::{self, Question, encoded};

const GROUP: &str = "selectors.example.org";
const GADGETS: &str = "/apis/selectors.example.org/v1/gadgets";

#[tokio::test]
async fn label_selectors_are_refused_in_the_real_words() {
    let client = control_plane::shared().await.client(Identity::Admin);
    for selector in BAD_LABELS {
        let path = format!("/api/v1/configmaps?labelSelector={}", encoded(selector));
        let (code, real) = Question::get(&path, "").ask_json(&client).await;
        assert_eq!(code, 400, "{selector}");
        assert_eq!(
            json!(label_refusal(selector)),
            real["message"],
            "{selector}"
        );
    }
    for (selector, ..) in LABELS {
        let path = format!("/api/v1/configmaps?labelSelector={}", encoded(selector));
        let (code, _) = Question::get(&path, "").ask_json(&client).await;
        assert_eq!(code, 200, "{selector}");
        assert!(LabelSelector::parse(selector).is_ok());
    }
}

#[tokio::test]
async fn field_selectors_are_refused_in_the_real_words() {
    let plane = control_plane::shared().await;
    let client = plane.client(Identity::Admin);
    let definition = fixtures::gadget_definition(GROUP, &[]);
    plane
        .install(std::slice::from_ref(&definition))
        .await
        .unwrap();
    let gadgets = fixtures::of_definition(&definition).remove(0);
    let configmaps = fixtures::builtin("", "ConfigMap", "configmaps", Scope::Namespaced);
    let roles = fixtures::builtin(
        "rbac.authorization.k8s.io",
        "ClusterRole",
        "clusterroles",
        Scope::Cluster,
    );
    for (path, resource) in [
        (GADGETS, &gadgets),
        ("/api/v1/configmaps", &configmaps),
        ("/apis/rbac.authorization.k8s.io/v1/clusterroles", &roles),
    ] {
        for selector in BAD_FIELDS.into_iter().chain(["metadata.namespace=x"]) {
            let path = format!("{path}?fieldSelector={}", encoded(selector));
            let (code, real) = Question::get(&path, "").ask_json(&client).await;
            let ours = FieldSelector::parse(selector, resource).err();
            assert_eq!(ours.is_none(), code == 200, "{selector} {path}");
            if let Some(ours) = ours {
                assert_eq!(json!(ours.message), real["message"], "{selector} {path}");
            }
        }
    }
    for selector in GOOD_FIELDS {
        let path = format!("{GADGETS}?fieldSelector={}", encoded(selector));
        assert_eq!(
            Question::get(&path, "").ask(&client).await.0,
            200,
            "{selector}"
        );
    }
}
