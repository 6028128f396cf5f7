//! Who may be whom: headers in, a user or a refusal out.

use http::{HeaderMap, HeaderName, HeaderValue, Method};

use super::*;

fn ask(sender: User, path: &str, headers: &[(&str, &str)]) -> Result<User, Refusal> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        map.append(name, HeaderValue::from_str(value).unwrap());
    }
    let route = Route::of(path);
    let request = Asked {
        method: &Method::GET,
        path,
        query: &Query::default(),
        route: route.as_ref(),
    };
    assume(sender, &request, &map)
}

fn tenant() -> User {
    User::authenticated("tenant", [])
}

#[test]
fn without_headers_everybody_speaks_for_themselves() {
    assert_eq!(ask(tenant(), "/api/v1/nodes", &[]).unwrap(), tenant());
}

#[test]
fn masters_may_be_anybody() {
    for (headers, name, groups) in [
        (
            vec![("Impersonate-User", "jane")],
            "jane",
            vec!["system:authenticated"],
        ),
        (
            vec![
                ("Impersonate-User", "jane"),
                ("Impersonate-Group", "a"),
                ("Impersonate-Group", "b"),
            ],
            "jane",
            vec!["a", "b", "system:authenticated"],
        ),
        (
            vec![("Impersonate-User", "system:serviceaccount:dns:robot")],
            "system:serviceaccount:dns:robot",
            vec![
                "system:serviceaccounts",
                "system:serviceaccounts:dns",
                "system:authenticated",
            ],
        ),
        (
            vec![
                ("Impersonate-User", "system:serviceaccount:dns:robot"),
                ("Impersonate-Group", "a"),
            ],
            "system:serviceaccount:dns:robot",
            vec!["a", "system:authenticated"],
        ),
        (
            vec![("Impersonate-User", "system:node:one")],
            "system:node:one",
            vec!["system:nodes", "system:authenticated"],
        ),
        (
            vec![("Impersonate-User", "system:anonymous")],
            "system:anonymous",
            vec!["system:unauthenticated"],
        ),
        (
            vec![
                ("Impersonate-User", "jane"),
                ("Impersonate-Group", "system:unauthenticated"),
            ],
            "jane",
            vec!["system:unauthenticated"],
        ),
    ] {
        let user = ask(User::admin(), "/api/v1/nodes", &headers).unwrap();
        assert_eq!(user.name, name);
        assert_eq!(user.groups, groups, "{headers:?}");
    }
}

#[test]
fn uid_and_extra_fields_come_along_and_those_of_the_sender_do_not() {
    let headers = [
        ("Impersonate-User", "jane"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Extra-Acme.com%2Fproject", "a"),
        ("Impersonate-Extra-Acme.com%2Fproject", "b"),
    ];
    let admin = User::admin().with_credential("X509SHA256=00".to_owned());
    let user = ask(admin, "/api/v1/nodes", &headers).unwrap();
    assert_eq!(user.uid, "7");
    let extra = [(
        "acme.com/project".to_owned(),
        vec!["a".to_owned(), "b".to_owned()],
    )];
    assert_eq!(user.extra, BTreeMap::from(extra));
}

#[test]
fn nobody_else_may() {
    for (path, headers, says) in [
        (
            "/api/v1/namespaces/a/configmaps/x",
            vec![("Impersonate-User", "jane")],
            r#"configmaps "x" is forbidden: User "tenant" cannot impersonate-on:user-info:get resource "configmaps" in API group "" in the namespace "a""#,
        ),
        (
            "/apis/apps/v1/deployments",
            vec![("Impersonate-User", "jane")],
            r#"deployments.apps is forbidden: User "tenant" cannot impersonate-on:user-info:list resource "deployments" in API group "apps" at the cluster scope"#,
        ),
        (
            "/version",
            vec![("Impersonate-User", "system:serviceaccount:a:b")],
            r#"forbidden: User "tenant" cannot impersonate-on:serviceaccount:get path "/version""#,
        ),
        (
            "/api/v1/nodes",
            vec![
                ("Impersonate-User", "system:serviceaccount:a:b"),
                ("Impersonate-Group", "g"),
            ],
            r#"serviceaccounts "b" is forbidden: User "tenant" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "a""#,
        ),
    ] {
        let refusal = ask(tenant(), path, &headers).unwrap_err();
        assert_eq!((refusal.code, refusal.reason), (403, "Forbidden"));
        assert_eq!(refusal.message, says);
    }
}

#[test]
fn groups_without_a_name_make_no_user() {
    let refusal = ask(
        User::admin(),
        "/api/v1/nodes",
        &[("Impersonate-Group", "g"), ("Impersonate-Extra-A", "b")],
    );
    let refusal = refusal.unwrap_err();
    assert_eq!((refusal.code, refusal.reason), (400, "BadRequest"));
    assert_eq!(
        refusal.message,
        "requested &user.DefaultInfo{Name:\"\", UID:\"\", Groups:[]string{\"g\"}, \
         Extra:map[string][]string{\"a\":[]string{\"b\"}}} without impersonating a user name"
    );
}
