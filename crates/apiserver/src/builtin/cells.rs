//! The cells of the tables that kubectl prints: what `columns.txt` says of them, and the few that a function makes.

pub(super) mod selector;

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use super::columns;
use super::fields::Fields as _;
use super::kind::Kind;
use crate::duration::{age, human_duration};
use crate::object::{Object, ObjectExt as _};

const NONE: &str = "<none>";
const UNKNOWN: &str = "<unknown>";
/// Hosts and addresses that are shown; the rest is counted.
const SHOWN_MAX: usize = 3;
/// The same of metrics.
const METRICS_MAX: usize = 2;

/// Where a cell comes from: the first of these that is something.
pub(super) struct Cell(Vec<Source>);

enum Source {
    Text(&'static str),
    Path(&'static str),
    /// A word of the table, with what follows it.
    Word(&'static str, Vec<&'static str>),
}

/// The row of an object.
pub(super) fn of(kind: Kind, object: &Object, now: Timestamp) -> Vec<Value> {
    let older;
    let object = if kind == Kind::NewEvent {
        older = super::event::to_core(object);
        &older
    } else {
        object
    };
    let cells = columns::plans(kind).iter();
    cells.map(|plan| plan.cell.of(object, now)).collect()
}

impl Cell {
    pub(super) fn read(text: &'static str) -> Self {
        let sources = text
            .split("??")
            .map(str::trim)
            .filter(|one| !one.is_empty());
        Self(sources.map(Source::read).collect())
    }

    fn of(&self, object: &Object, now: Timestamp) -> Value {
        let mut sources = self.0.iter().map(|source| source.of(object, now));
        let found = sources.find(|value| value != "");
        found.unwrap_or_else(|| "".into())
    }
}

impl Source {
    fn read(text: &'static str) -> Self {
        if text.starts_with('<') {
            return Self::Text(text);
        }
        let quoted = text
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        if let Some(text) = quoted {
            return Self::Text(text);
        }
        let mut words = text.split(' ');
        match (words.next().unwrap_or_default(), words.next()) {
            (path, None) => Self::Path(path),
            (word, Some(first)) => Self::Word(word, std::iter::once(first).chain(words).collect()),
        }
    }

    fn of(&self, object: &Object, now: Timestamp) -> Value {
        let (word, paths) = match self {
            Self::Text(text) => return (*text).into(),
            Self::Path(path) => return text(object.at(path)).into(),
            Self::Word(word, paths) => (*word, paths.as_slice()),
        };
        let path = paths[0];
        let other = || paths.get(1).copied().unwrap_or_default();
        match word {
            "number" => object.number(path).into(),
            "truth" => object.truth(path).into(),
            "word" => if object.truth(path) { "True" } else { "False" }.into(),
            "since" => since(object.text(path), now).into(),
            "lasted" => lasted(object.text(path), object.text(other()), now).into(),
            "count" => paths
                .iter()
                .map(|path| size(object.at(path)))
                .sum::<usize>()
                .into(),
            "ratio" => format!("{}/{}", object.number(path), whole(object, other())).into(),
            "first" => text(object.list(path).first()).into(),
            "join" => joined(object.list(path), other()).into(),
            "few" => few(&all_of(object.list(path), other()), ",", SHOWN_MAX).into(),
            "sum" => object
                .list(path)
                .iter()
                .map(|one| one.number(other()))
                .sum::<i64>()
                .to_string()
                .into(),
            "ready" => {
                let ready = object.list(path).iter().filter(|one| one.truth("ready"));
                format!("{}/{}", ready.count(), object.list(other()).len()).into()
            }
            "true" => condition(object, paths).into(),
            "labels" => labels(object, path).into(),
            "selector" => selector::shown(object.at(path)).into(),
            "pair" => pair(object, path, other()).into(),
            "modes" => modes(&object.texts(path)).into(),
            "subjects" => subjects(object, path).into(),
            _ => made(path, object, now),
        }
    }
}

/// Cells that no path leads to.
fn made(name: &str, object: &Object, now: Timestamp) -> Value {
    let owned = match name {
        "default-name" => default_name(object),
        "external-address" => external_address(object),
        "service-ports" => {
            let ports: Vec<String> = object.list("spec.ports").iter().map(port).collect();
            ports.join(",")
        }
        "endpoints" => endpoints(object),
        "hosts" => hosts(object.list("spec.rules")),
        "balancer" => {
            let address: Vec<String> = load_balancer(object).into_iter().collect();
            address.join(",")
        }
        "ingress-ports" if object.list("spec.tls").is_empty() => "80".to_owned(),
        "ingress-ports" => "80, 443".to_owned(),
        "targets" => targets(object),
        "parameters" => parameters(object),
        "last-seen" | "first-seen" => seen(object, name, now),
        "times" => return times(object).into(),
        "involved" => involved(object),
        "source" => source(object),
        "message" => object.text("message").trim().to_owned(),
        name => unreachable!("no cell is made by the name {name}"),
    };
    owned.into()
}

/// A text, or a number as text.
pub(super) fn text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

fn size(value: Option<&Value>) -> usize {
    match value {
        Some(Value::Array(values)) => values.len(),
        Some(Value::Object(fields)) => fields.len(),
        _ => 0,
    }
}

/// The second of two numbers; what has no number of its own is one.
fn whole(object: &Object, path: &str) -> i64 {
    object.at(path).map_or(1, |_| object.number(path))
}

fn joined(list: &[Value], field: &str) -> String {
    let texts: Vec<&str> = list.iter().map(|one| one.text(field)).collect();
    texts.join(",")
}

/// What a field of all in a list says, be it one text or several.
fn all_of(list: &[Value], field: &str) -> Vec<String> {
    let all = list.iter().filter_map(|one| one.at(field));
    let all = all.flat_map(|value| match value.as_array() {
        Some(values) => values.as_slice(),
        None => std::slice::from_ref(value),
    });
    all.map(|value| text(Some(value))).collect()
}

/// The first of several texts, and how many more there are.
fn few(all: &[String], separator: &str, max: usize) -> String {
    let shown = all[..all.len().min(max)].join(separator);
    match all.len().saturating_sub(max) {
        0 => shown,
        more => format!("{shown} + {more} more..."),
    }
}

/// The first of these conditions that is true.
fn condition<'a>(object: &Object, types: &[&'a str]) -> &'a str {
    let conditions = object.list("status.conditions");
    let holds = |kind: &str| {
        let mut all = conditions.iter();
        all.any(|one| one.text("type") == kind && one.text("status") == "True")
    };
    types
        .iter()
        .copied()
        .find(|kind| holds(kind))
        .unwrap_or_default()
}

fn pair(object: &Object, one: &str, other: &str) -> String {
    match (object.text(one), object.text(other)) {
        ("", "") => String::new(),
        (one, other) => format!("{one}/{other}"),
    }
}

/// Access modes of volumes, by their initials and each once.
fn modes(modes: &[&str]) -> String {
    let known = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let shown = known.iter().filter(|(mode, _)| modes.contains(mode));
    let shown: Vec<&str> = shown.map(|(_, short)| *short).collect();
    shown.join(",")
}

/// Whom a role is bound to, of one kind.
fn subjects(object: &Object, kind: &str) -> String {
    let all = object.list("subjects").iter();
    let shown = all.filter(|subject| subject.text("kind") == kind);
    let shown: Vec<String> = shown
        .map(|subject| match kind {
            "ServiceAccount" => format!("{}/{}", subject.text("namespace"), subject.text("name")),
            _ => subject.text("name").to_owned(),
        })
        .collect();
    shown.join(", ")
}

/// The name, and whether it is the class of those who name none.
fn default_name(object: &Object) -> String {
    let mut annotations = object.entries("metadata.annotations");
    if annotations.any(|(key, value)| key.ends_with("/is-default-class") && value == "true") {
        format!("{} (default)", object.name())
    } else {
        object.name().to_owned()
    }
}

fn parameters(object: &Object) -> String {
    let Some(parameters) = object.at("spec.parameters") else {
        return String::new();
    };
    let (kind, name) = (parameters.text("kind"), parameters.text("name"));
    match parameters.at("apiGroup").and_then(Value::as_str) {
        Some(group) => format!("{kind}.{group}/{name}"),
        None => format!("{kind}/{name}"),
    }
}

/// Every address with every port.
fn endpoints(object: &Object) -> String {
    let subset = |subset: &Value| -> Vec<String> {
        let addresses = all_of(subset.list("addresses"), "ip");
        let ports = subset.list("ports");
        if ports.is_empty() {
            return addresses;
        }
        let at = |port: &Value| {
            let port = port.number("port");
            let at = |address: &String| {
                if address.contains(':') {
                    format!("[{address}]:{port}")
                } else {
                    format!("{address}:{port}")
                }
            };
            addresses.iter().map(at).collect::<Vec<_>>()
        };
        ports.iter().flat_map(at).collect()
    };
    let all: Vec<String> = object.list("subsets").iter().flat_map(subset).collect();
    few(&all, ",", SHOWN_MAX)
}

fn port(port: &Value) -> String {
    let (number, protocol) = (port.number("port"), port.text("protocol"));
    match port.number("nodePort") {
        0 => format!("{number}/{protocol}"),
        node => format!("{number}:{node}/{protocol}"),
    }
}

fn external_address(object: &Object) -> String {
    let named = object.texts("spec.externalIPs");
    match object.text("spec.type") {
        "ClusterIP" | "NodePort" => or(&named.join(","), NONE).to_owned(),
        "LoadBalancer" => {
            let given = load_balancer(object);
            let all: Vec<&str> = given.iter().map(String::as_str).chain(named).collect();
            or(&all.join(","), "<pending>").to_owned()
        }
        "ExternalName" => object.text("spec.externalName").to_owned(),
        _ => UNKNOWN.to_owned(),
    }
}

/// Addresses, or names where there is no address, of a load balancer.
fn load_balancer(object: &Object) -> BTreeSet<String> {
    let points = object.list("status.loadBalancer.ingress").iter();
    let shown = points.map(|point| or(point.text("ip"), point.text("hostname")).to_owned());
    shown.filter(|point| !point.is_empty()).collect()
}

/// What is counted are rules, with or without a host, after the last one that is shown.
fn hosts(rules: &[Value]) -> String {
    let named = |rule: &Value| !rule.text("host").is_empty();
    let shown: Vec<&str> = rules
        .iter()
        .filter(|rule| named(rule))
        .take(SHOWN_MAX)
        .map(|rule| rule.text("host"))
        .collect();
    let last_shown = rules
        .iter()
        .enumerate()
        .filter(|(_, rule)| named(rule))
        .nth(SHOWN_MAX - 1);
    let more = last_shown.is_some_and(|(index, _)| index + 1 < rules.len());
    match shown.as_slice() {
        [] => "*".to_owned(),
        shown if more => {
            format!("{} + {} more...", shown.join(","), rules.len() - SHOWN_MAX)
        }
        shown => shown.join(","),
    }
}

/// What an autoscaler looks at: how much of it there is, and how much there shall be.
fn targets(object: &Object) -> String {
    let found = object.list("status.currentMetrics");
    let metrics = object.list("spec.metrics").iter().enumerate();
    let all: Vec<String> = metrics
        .map(|(at, metric)| target(metric, found.get(at)))
        .collect();
    or(&few(&all, ", ", METRICS_MAX), NONE).to_owned()
}

fn target(metric: &Value, found: Option<&Value>) -> String {
    let (source, average) = match metric.text("type") {
        "Resource" => ("resource", ""),
        "ContainerResource" => ("containerResource", ""),
        "Pods" => ("pods", ""),
        "Object" => ("object", " (avg)"),
        "External" => ("external", " (avg)"),
        _ => return "<unknown type>".to_owned(),
    };
    let wanted = |field: &str| text(metric.at(&format!("{source}.target.{field}")));
    let current = |field: &str| {
        let at = |found: &Value| text(found.at(&format!("{source}.current.{field}")));
        found.map(at).unwrap_or_default()
    };
    let name = match metric.text(&format!("{source}.name")) {
        "" => String::new(),
        name => format!("{name}: "),
    };
    let amount = wanted("averageValue");
    if !amount.is_empty() {
        let current = current("averageValue");
        return format!("{name}{}/{amount}{average}", or(&current, UNKNOWN));
    }
    if name.is_empty() {
        return format!("{}/{}", or(&current("value"), UNKNOWN), wanted("value"));
    }
    let percent = |number: String, none: &str| match number.as_str() {
        "" => none.to_owned(),
        number => format!("{number}%"),
    };
    let current = percent(current("averageUtilization"), UNKNOWN);
    let wanted = percent(wanted("averageUtilization"), "<auto>");
    format!("{name}{current}/{wanted}")
}

/// When an Event was first or last seen; one that was seen once has one time.
fn seen(object: &Object, name: &str, now: Timestamp) -> String {
    let ago = |path: &str| since(object.text(path), now);
    let series = object.has("series");
    match (
        name,
        object.text("firstTimestamp"),
        object.text("lastTimestamp"),
    ) {
        ("last-seen", ..) if series => ago("series.lastObservedTime"),
        ("last-seen", _, last) if !last.is_empty() => ago("lastTimestamp"),
        (_, "", _) => or(&ago("eventTime"), UNKNOWN).to_owned(),
        (_, _, _) => ago("firstTimestamp"),
    }
}

fn times(object: &Object) -> i64 {
    if object.has("series") {
        object.number("series.count")
    } else {
        object.number("count").max(1)
    }
}

fn involved(object: &Object) -> String {
    let kind = object.text("involvedObject.kind").to_lowercase();
    match object.text("involvedObject.name") {
        "" => kind,
        name => format!("{kind}/{name}"),
    }
}

fn source(object: &Object) -> String {
    let component = or(
        object.text("source.component"),
        object.text("reportingComponent"),
    );
    match or(object.text("source.host"), object.text("reportingInstance")) {
        "" => component.to_owned(),
        instance => format!("{component}, {instance}"),
    }
}

/// How long ago a time of an object was; nothing where there is none.
fn since(time: &str, now: Timestamp) -> String {
    match (time, time.parse()) {
        ("", _) => String::new(),
        (_, Ok(then)) => age(then, now),
        (_, Err(_)) => UNKNOWN.to_owned(),
    }
}

/// The time from one to the other, or until now.
fn lasted(from: &str, until: &str, now: Timestamp) -> String {
    let Ok(from) = from.parse::<Timestamp>() else {
        return String::new();
    };
    let until = until.parse().unwrap_or(now);
    human_duration(until.duration_since(from).as_secs())
}

fn labels(object: &Object, path: &str) -> String {
    let pair =
        |(key, value): (&str, &Value)| format!("{key}={}", value.as_str().unwrap_or_default());
    let pairs: Vec<String> = object.entries(path).map(pair).collect();
    pairs.join(",")
}

/// `text`, or `other` where it is empty.
fn or<'a>(text: &'a str, other: &'a str) -> &'a str {
    if text.is_empty() { other } else { text }
}
