//! One endpoint: a name, a type, and targets that are that type's data.

use std::collections::BTreeMap;

use dns::{DomainName, Name, NameError, Rdata, RdataText, RecordSet, RecordSetError, Rtype, Ttl};

use super::super::collect::Collect;
use super::{Endpoint, RECORD_TYPES, txt};
use crate::dns_record::{self as object, ProviderSpecificProperty};
use crate::problem::FieldPath;
use dns::routing::{GeoCode, Weight, WeightError};

/// The property that shares traffic by weight.
const WEIGHT: &str = "weight";

/// The property that shares traffic by where clients are.
const GEO_CODE: &str = "geo-code";

pub(super) fn parse(
    endpoint: &object::Endpoint,
    base: Option<&Name>,
    at: &FieldPath,
    problems: &mut Collect,
    unroutable: &mut Collect,
) -> Option<Endpoint> {
    let name = name(&endpoint.dns_name, base, &at.field("dnsName"), problems);
    let ttl = ttl(endpoint.record_ttl, &at.field("recordTTL"), problems);
    check_set_identifier(
        &endpoint.set_identifier,
        &at.field("setIdentifier"),
        problems,
    );
    check_labels(&endpoint.labels, &at.field("labels"), problems);
    let properties = properties(
        &endpoint.provider_specific,
        &at.field("providerSpecific"),
        problems,
        unroutable,
    );
    let rtype = problems.check(
        &at.field("recordType"),
        &endpoint.record_type,
        rtype(&endpoint.record_type),
    )?;
    let targets = targets(rtype, &endpoint.targets, &at.field("targets"), problems);
    let Properties {
        weight,
        geo,
        others,
    } = properties;
    Some(Endpoint {
        name: name?,
        rtype,
        set_identifier: endpoint.set_identifier.clone(),
        targets: targets?,
        ttl,
        weight,
        geo,
        labels: endpoint.labels.clone(),
        properties: others,
    })
}

/// A name without its final dot, as external-dns writes names.
fn name(
    text: &str,
    base: Option<&Name>,
    field: &FieldPath,
    problems: &mut Collect,
) -> Option<Name> {
    let name = problems.check(field, text, absolute(text))?;
    match base {
        // Label by label: `badexample.org` is not below `example.org` (K5).
        Some(base) if !name.is_at_or_below(base) => {
            problems.refuse(
                field,
                format!("must be at or below the rootHost, {base}"),
                text,
            );
            None
        }
        Some(_) | None => Some(name),
    }
}

fn absolute(text: &str) -> Result<Name, NameError> {
    match DomainName::parse(text)? {
        DomainName::Full(name) => Ok(name),
        DomainName::Relative(name) if name.is_apex() => Err(NameError::Empty),
        DomainName::Relative(name) => name.under(&Name::root()),
    }
}

fn rtype(text: &str) -> Result<Rtype, &'static str> {
    let rtype = text
        .parse::<Rtype>()
        .ok()
        .filter(|rtype| RECORD_TYPES.contains(rtype));
    rtype.ok_or("must be one of A, AAAA, CNAME, NS, TXT, MX, SRV, CAA and PTR")
}

/// Zero is how Go writes nothing.
fn ttl(seconds: Option<i64>, field: &FieldPath, problems: &mut Collect) -> Option<Ttl> {
    let seconds = seconds.filter(|seconds| *seconds != 0)?;
    problems.check(field, seconds, Ttl::from_secs(seconds))
}

fn check_set_identifier(text: &str, field: &FieldPath, problems: &mut Collect) {
    if !text
        .bytes()
        .all(|octet| octet == b' ' || octet.is_ascii_graphic())
    {
        problems.refuse(field, "must be printable ASCII characters", text);
    }
}

/// Labels are kept in the registry's comma-separated list: a comma in one would add another.
fn check_labels(labels: &BTreeMap<String, String>, at: &FieldPath, problems: &mut Collect) {
    let breaks_list = |c: char| matches!(c, ',' | '"' | '\\') || c.is_control();
    for (key, value) in labels {
        if key.contains(breaks_list) || key.contains('=') || value.contains(breaks_list) {
            let rule = "must not hold commas, quotes, backslashes or control characters";
            problems.refuse(&at.key(key), rule, value);
        }
    }
}

fn targets(
    rtype: Rtype,
    targets: &[String],
    field: &FieldPath,
    problems: &mut Collect,
) -> Option<Vec<Rdata>> {
    if targets.is_empty() {
        problems.refuse_bare(field, "must name at least one target");
        return None;
    }
    let mut data = Vec::with_capacity(targets.len());
    for (index, text) in targets.iter().enumerate() {
        data.extend(problems.check(&field.index(index), text, target(rtype, text)));
    }
    if data.len() < targets.len() {
        return None;
    }
    // The TTL plays no part in whether the data makes a set.
    match RecordSet::new(data.into_iter().map(|data| (Ttl::ZERO, data))) {
        Ok(set) => Some(set.data().to_vec()),
        Err(rule) => {
            problems.refuse(field, set_rule(&rule), targets.join(", "));
            None
        }
    }
}

fn set_rule(rule: &RecordSetError) -> String {
    if matches!(rule, RecordSetError::Single(Rtype::CNAME, _)) {
        let way_out = "to share traffic give every target an endpoint of its own, with a \
                       setIdentifier and a weight";
        return format!("{rule}; {way_out}");
    }
    rule.to_string()
}

/// Names in targets are absolute, whether or not they end in a dot.
fn target(rtype: Rtype, text: &str) -> Result<Rdata, String> {
    if text.trim().is_empty() {
        return Err("must not be empty".to_owned());
    }
    if rtype != Rtype::TXT && text.split_ascii_whitespace().any(|word| word == "@") {
        return Err("\"@\" means nothing here: write the whole name".to_owned());
    }
    let text = if rtype == Rtype::TXT {
        txt::presentation(text)
    } else {
        text.into()
    };
    let data = RdataText::parse(rtype, &text).map_err(|err| err.to_string())?;
    data.resolve(&Name::root()).map_err(|err| err.to_string())
}

/// What `providerSpecific` says.
#[derive(Default)]
struct Properties {
    weight: Option<Weight>,
    geo: Option<GeoCode>,
    others: BTreeMap<String, String>,
}

fn properties(
    list: &[ProviderSpecificProperty],
    at: &FieldPath,
    problems: &mut Collect,
    unroutable: &mut Collect,
) -> Properties {
    let mut all = BTreeMap::new();
    let mut found = Properties::default();
    for (index, ProviderSpecificProperty { name, value }) in list.iter().enumerate() {
        let at = at.index(index);
        if name.is_empty() {
            problems.refuse_bare(&at.field("name"), "must not be empty");
            continue;
        }
        if all.insert(name.clone(), value.clone()).is_some() {
            problems.refuse(&at.field("name"), "is there twice", name);
        }
        match name.as_str() {
            WEIGHT => found.weight = unroutable.check(&at.field("value"), value, weight(value)),
            GEO_CODE => found.geo = unroutable.check(&at.field("value"), value, value.parse()),
            _ => {}
        }
    }
    all.retain(|name, _| name != WEIGHT && name != GEO_CODE);
    found.others = all;
    found
}

/// A number below zero is refused in Route 53's words as well: people search for them.
fn weight(text: &str) -> Result<Weight, String> {
    text.parse().map_err(|rule: WeightError| {
        if text.starts_with('-') {
            format!(
                "{rule}: 'weight' failed to satisfy constraint: Member must have value greater than or equal to 0"
            )
        } else {
            rule.to_string()
        }
    })
}
