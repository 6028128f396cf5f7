//! Templates of pods.

use serde_json::{Map, Value, json};

use crate::builtin::fields::{Fields as _, Fill as _};

type Fields = Map<String, Value>;

/// `rw-r--r--`, the mode of files in volumes.
const FILE_MODE: i64 = 0o644;
/// How long a token in a volume is good for: an hour.
const TOKEN_SECONDS: i64 = 3600;
/// Sources of volumes whose files have a mode.
const WITH_MODE: [&str; 4] = ["secret", "configMap", "downwardAPI", "projected"];

pub(super) fn template(template: &mut Fields) {
    template.below("metadata");
    if let Some(spec) = template.below("spec") {
        pod(spec);
    }
}

fn pod(spec: &mut Fields) {
    spec.fill("containers", Value::Null);
    spec.fill_text("restartPolicy", "Always");
    spec.fill_text("dnsPolicy", "ClusterFirst");
    spec.fill_text("schedulerName", "default-scheduler");
    spec.fill("terminationGracePeriodSeconds", 30);
    spec.below("securityContext");
    // The older name of the same field is still written out.
    let account = match spec.text("serviceAccountName") {
        "" => spec.text("serviceAccount").to_owned(),
        account => account.to_owned(),
    };
    if !account.is_empty() {
        spec.insert("serviceAccount".to_owned(), account.as_str().into());
        spec.insert("serviceAccountName".to_owned(), account.into());
    }
    for list in ["containers", "initContainers"] {
        spec.each(list).for_each(container);
    }
    spec.each("volumes").for_each(volume);
}

fn container(container: &mut Fields) {
    container.below("resources");
    container.fill_text("terminationMessagePath", "/dev/termination-log");
    container.fill_text("terminationMessagePolicy", "File");
    let policy = pull_policy(container.text("image"));
    container.fill_text("imagePullPolicy", policy);
    container
        .each("ports")
        .for_each(|port| port.fill_text("protocol", "TCP"));
    for variable in container.each("env") {
        let source = variable.present("valueFrom");
        if let Some(field) = source.and_then(|source| source.present("fieldRef")) {
            field.fill_text("apiVersion", "v1");
        }
    }
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        container.present(name).map(probe);
    }
    if let Some(lifecycle) = container.present("lifecycle") {
        for name in ["postStart", "preStop"] {
            lifecycle.present(name).map(http_get);
        }
    }
}

/// An image that is named by its latest version, or by none, may change at any time.
fn pull_policy(image: &str) -> &'static str {
    let name = image.rsplit('/').next().unwrap_or_default();
    match (name.contains('@'), name.rsplit_once(':')) {
        (true, _) => "IfNotPresent",
        (false, Some((_, tag))) if tag != "latest" => "IfNotPresent",
        (false, _) => "Always",
    }
}

fn probe(probe: &mut Fields) {
    for (field, value) in [
        ("timeoutSeconds", 1),
        ("periodSeconds", 10),
        ("successThreshold", 1),
        ("failureThreshold", 3),
    ] {
        if probe.number(field) == 0 {
            probe.insert(field.to_owned(), value.into());
        }
    }
    if let Some(grpc) = probe.present("grpc") {
        grpc.fill("service", "");
    }
    http_get(probe);
}

fn http_get(action: &mut Fields) {
    if let Some(get) = action.present("httpGet") {
        get.fill_text("path", "/");
        get.fill_text("scheme", "HTTP");
    }
}

fn volume(volume: &mut Fields) {
    let sources = volume
        .iter()
        .filter(|(name, value)| *name != "name" && !value.is_null());
    if sources.count() == 0 {
        volume.insert("emptyDir".to_owned(), json!({}));
    }
    for source in WITH_MODE {
        if let Some(source) = volume.present(source) {
            source.fill("defaultMode", FILE_MODE);
        }
    }
    if let Some(path) = volume.present("hostPath") {
        path.fill("type", "");
    }
    if let Some(projected) = volume.present("projected") {
        for source in projected.each("sources") {
            if let Some(token) = source.present("serviceAccountToken") {
                token.fill("expirationSeconds", TOKEN_SECONDS);
            }
        }
    }
}
