//! Who asks, as webhooks are told, and who may be somebody else.

use serde_json::{Value, json};

use crate::hooks::allow;
use crate::stage::{SOON, map, same, send};

#[tokio::test]
async fn webhooks_are_told_whom_the_sender_speaks_for() {
    same("as", async |stage| {
        stage.on("/v", allow());
        stage
            .configure("validating", "v", vec![stage.webhook("/v", json!({}))])
            .await;
        let headers = [
            ("Impersonate-User", "jane"),
            ("Impersonate-Uid", "7"),
            ("Impersonate-Group", "system:masters"),
            ("Impersonate-Group", "devs"),
            ("Impersonate-Extra-Scopes", "view"),
            ("Impersonate-Extra-Acme.com%2Fproject", "some"),
        ];
        let created = stage
            .ask_as("POST", &stage.maps(), map("x"), &headers)
            .await;
        assert_eq!(created.code, 201, "{}", created.body);
        let asked = stage.reviews();
        assert_eq!(asked[0].1["request"]["userInfo"]["username"], "jane");
        let review =
            json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview" });
        let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
        let told = stage.quietly("POST", path, &review, &headers).await;
        stage.note(told.body["status"].clone());
        // What a node is told depends on what the real one was asked before; a unit test shows a first answer.
        let account = [("Impersonate-User", "system:serviceaccount:a:b")];
        let told = stage.quietly("POST", path, &review, &account).await;
        stage.note(json!({ "code": told.code, "who": told.body["status"] }));
    })
    .await;
}

#[tokio::test]
async fn kubectl_speaks_for_others() {
    same("kubectl", async |stage| {
        stage.on("/v", allow());
        stage
            .configure("validating", "v", vec![stage.webhook("/v", json!({}))])
            .await;
        stage.quietly("POST", &stage.maps(), &map("x"), &[]).await;
        stage.hooks.asked();
        let label = ["label", "configmap", "x", "a=b"];
        let other = [
            "--as",
            "jane",
            "--as-uid",
            "7",
            "--as-group",
            "devs",
            "--as-group",
            "system:masters",
        ];
        let printed = stage.kubectl(&[&label[..], &other[..]].concat()).await;
        assert_eq!(printed, "configmap/x labeled\n");
        let asked = stage.hooks.asked();
        let who = &asked[0].1["request"]["userInfo"];
        assert_eq!(who["username"], "jane");
        stage.note(who.clone());
    })
    .await;
}

#[tokio::test]
async fn groups_need_a_user_to_be_in_them() {
    same("group", async |stage| {
        for headers in [
            vec![("Impersonate-Group", "a")],
            vec![("Impersonate-Uid", "a")],
            vec![("Impersonate-Extra-A", "b")],
        ] {
            let refused = stage
                .ask_as("GET", &stage.maps(), Value::Null, &headers)
                .await;
            assert_eq!(refused.code, 400);
        }
    })
    .await;
}

#[tokio::test]
async fn a_service_account_is_told_whole_and_may_not_be_somebody_else() {
    same("account", async |stage| {
        stage.on("/v", allow());
        stage.configure("validating", "v", vec![stage.webhook("/v", json!({}))]).await;
        let accounts = format!("/api/v1/namespaces/{}/serviceaccounts", stage.ns);
        let account = json!({ "metadata": { "name": "robot" } });
        stage.quietly("POST", &accounts, &account, &[]).await;
        let bindings = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{}/rolebindings", stage.ns);
        let binding = json!({
            "metadata": { "name": "robot" },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin" },
            "subjects": [{ "kind": "ServiceAccount", "name": "robot", "namespace": stage.ns }],
        });
        stage.quietly("POST", &bindings, &binding, &[]).await;
        let request = json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {} });
        let token = stage.quietly("POST", &format!("{accounts}/robot/token"), &request, &[]).await;
        let robot = stage.with_token(token.body["status"]["token"].as_str().unwrap());
        testkit::eventually(SOON, "rights", async || {
            let created = send(&robot, "POST", &stage.maps(), &map("x"), &[]).await;
            match created.code {
                201 => Ok(()),
                _ => Err(created.body.to_string()),
            }
        })
        .await
        .unwrap();
        let asked = stage.hooks.asked();
        stage.note(asked.last().unwrap().1["request"]["userInfo"].clone());
        // Whom the role lets do everything in its namespace may still not be anybody; only the words are compared.
        let path = "/api/v1/nodes";
        for headers in [
            vec![("Impersonate-User", "jane")],
            vec![("Impersonate-User", "system:serviceaccount:a:b")],
            vec![("Impersonate-User", "system:node:a")],
            vec![("Impersonate-User", "system:serviceaccount:a:b"), ("Impersonate-Group", "g")],
        ] {
            let refused = send(&robot, "GET", path, &Value::Null, &headers).await;
            assert_eq!(refused.code, 403);
            stage.note(refused.body);
        }
    })
    .await;
}
