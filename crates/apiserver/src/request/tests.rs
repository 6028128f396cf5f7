use super::*;

fn target(path: &str) -> Option<String> {
    let route = Route::of(path)?;
    let Route::Objects(target) = route else {
        return Some(format!("{route:?}"));
    };
    Some(format!(
        "{}/{} {} in {} name {} sub {}",
        target.group,
        target.version,
        target.plural,
        target.place.namespace().unwrap_or("*"),
        target.name.as_deref().unwrap_or("*"),
        target.subresource.as_deref().unwrap_or("-"),
    ))
}

#[test]
fn paths_lead_to_what_they_name() {
    for (path, expected) in [
        ("/api/v1/secrets", "/v1 secrets in * name * sub -"),
        ("/api/v1/namespaces", "/v1 namespaces in * name * sub -"),
        ("/api/v1/namespaces/a", "/v1 namespaces in * name a sub -"),
        (
            "/api/v1/namespaces/a/status",
            "/v1 namespaces in * name a sub status",
        ),
        (
            "/api/v1/namespaces/a/finalize",
            "/v1 namespaces in * name a sub finalize",
        ),
        (
            "/api/v1/namespaces/a/secrets",
            "/v1 secrets in a name * sub -",
        ),
        (
            "/api/v1/namespaces/a/secrets/b",
            "/v1 secrets in a name b sub -",
        ),
        (
            "/apis/dns.kubi.zone/v1alpha1/namespaces/a/zones/b/status",
            "dns.kubi.zone/v1alpha1 zones in a name b sub status",
        ),
        (
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Aadmin",
            "rbac.authorization.k8s.io/v1 clusterroles in * name system:admin sub -",
        ),
        ("/healthz/ping", "Health"),
        ("/metrics", "Metrics"),
        ("/apis", "Groups"),
        ("/apis/apps", "Group(\"apps\")"),
        (
            "/apis/apps/v1",
            "Resources { group: \"apps\", version: \"v1\" }",
        ),
        ("/openapi/v2", "OpenApiV2"),
        (
            "/openapi/v3/apis/apps/v1",
            "OpenApiOf { group: \"apps\", version: \"v1\" }",
        ),
    ] {
        assert_eq!(target(path).as_deref(), Some(expected), "{path}");
    }
}

#[test]
fn paths_that_lead_nowhere() {
    for path in [
        "/",
        "/foo",
        "/api/v1/namespaces/a/secrets/b/c/d",
        "/openapi/v1",
        "/api/v1/secrets/%ff",
    ] {
        assert_eq!(target(path), None, "{path}");
    }
}

fn verb(method: &str, path: &str, query: &str) -> Result<Verb, u16> {
    let Some(Route::Objects(target)) = Route::of(path) else {
        panic!("{path} names no objects")
    };
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    Verb::of(&method, &target, &Query::parse(query)).map_err(|refusal| refusal.code)
}

#[test]
fn methods_mean_verbs() {
    let (all, one) = (
        "/api/v1/namespaces/a/secrets",
        "/api/v1/namespaces/a/secrets/b",
    );
    for (method, path, query, expected) in [
        ("GET", all, "", Ok(Verb::List)),
        ("GET", all, "watch=true", Ok(Verb::Watch)),
        ("GET", all, "watch", Ok(Verb::Watch)),
        ("GET", all, "watch=0", Ok(Verb::List)),
        ("GET", one, "watch=1", Ok(Verb::Get)),
        ("GET", one, "", Ok(Verb::Get)),
        ("POST", all, "", Ok(Verb::Create)),
        ("POST", one, "", Err(405)),
        ("PUT", one, "", Ok(Verb::Update)),
        ("PUT", all, "", Err(405)),
        ("PATCH", one, "", Ok(Verb::Patch)),
        ("DELETE", one, "", Ok(Verb::Delete)),
        ("DELETE", all, "", Ok(Verb::DeleteCollection)),
        ("OPTIONS", all, "", Err(405)),
    ] {
        assert_eq!(
            verb(method, path, query),
            expected,
            "{method} {path}?{query}"
        );
    }
}

#[test]
fn wrong_options_of_a_list_are_named() {
    for (query, code, expected) in [
        (
            "limit=abc",
            400,
            "strconv.ParseInt: parsing \"abc\": invalid syntax",
        ),
        (
            "resourceVersion=abc",
            400,
            "invalid resource version: resourceVersion: Invalid value: \"abc\"",
        ),
        (
            "resourceVersionMatch=Exact",
            422,
            "forbidden unless resourceVersion is provided",
        ),
        (
            "resourceVersion=1&resourceVersionMatch=Foo",
            422,
            "Unsupported value: \"Foo\": supported values: \"Exact\", \"NotOlderThan\", \"\"",
        ),
        (
            "resourceVersion=0&resourceVersionMatch=Exact",
            422,
            "\"exact\" is forbidden for resourceVersion \"0\"",
        ),
        (
            "sendInitialEvents=true",
            422,
            "sendInitialEvents is forbidden for list",
        ),
    ] {
        let refusal = ListOptions::for_list(&Query::parse(query)).unwrap_err();
        assert!(
            refusal.code == code && refusal.message.contains(expected),
            "{query}: {refusal:?}"
        );
    }
}

#[test]
fn wrong_options_of_a_watch_are_named() {
    for (query, code, expected) in [
        (
            "sendInitialEvents=true",
            422,
            "requires setting resourceVersionMatch to NotOlderThan",
        ),
        (
            "resourceVersionMatch=NotOlderThan",
            422,
            "forbidden for watch unless sendInitialEvents is provided",
        ),
        ("resourceVersion=abc", 500, "strconv.ParseUint"),
        ("continue=x", 422, "forbidden when continue is provided"),
    ] {
        let refusal = ListOptions::for_watch(&Query::parse(query)).unwrap_err();
        assert!(
            refusal.code == code && refusal.message.contains(expected),
            "{query}: {refusal:?}"
        );
    }
}

#[test]
fn deletion_is_told_by_body_or_query() {
    let body = serde_json::json!({ "propagationPolicy": "Foreground", "preconditions": { "uid": "u", "resourceVersion": "3" } });
    let options = DeleteOptions::read(&Query::default(), body.as_object()).unwrap();
    assert_eq!(options.propagation, Some(Propagation::Foreground));
    assert_eq!(
        (options.uid.as_deref(), options.revision.as_deref()),
        (Some("u"), Some("3"))
    );
    let options =
        DeleteOptions::read(&Query::parse("propagationPolicy=Orphan&dryRun=All"), None).unwrap();
    assert_eq!(
        (options.propagation, options.dry_run),
        (Some(Propagation::Orphan), true)
    );
    assert_eq!(
        DeleteOptions::read(&Query::parse("propagationPolicy=x"), None)
            .unwrap_err()
            .code,
        422
    );
}
