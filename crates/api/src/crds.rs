//! The definitions (CRDs) of all our kinds, ready for `kubectl apply`.
//!
//! kube's derive makes them from the Rust types. What it cannot be told is put right here: integer
//! formats, line breaks in descriptions, and null where a peer has none.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use kube::CustomResourceExt as _;

use crate::dns_health_check_probe::DnsHealthCheckProbe;
use crate::dns_policy::DnsPolicy;
use crate::dns_record::DnsRecord;
use crate::domain_verification::DomainVerification;
use crate::record::Record;
use crate::service_record::ServiceRecord;
use crate::well_known::label;
use crate::zone::Zone;
use crate::zone_slice::ZoneSlice;

/// Every definition, always in this order.
pub fn all() -> Vec<CustomResourceDefinition> {
    let mut definitions = vec![
        Zone::crd(),
        Record::crd(),
        ZoneSlice::crd(),
        without_null(DnsRecord::crd()),
        without_null(DnsHealthCheckProbe::crd()),
        direct_policy(without_null(DnsPolicy::crd())),
        without_null(ServiceRecord::crd()),
        without_null(DomainVerification::crd()),
    ];
    for definition in &mut definitions {
        schemas(definition).for_each(polish);
    }
    definitions
}

/// The definitions as one YAML stream. The same program prints the same bytes every time.
pub fn yaml(definitions: &[CustomResourceDefinition]) -> String {
    let document = |definition: &CustomResourceDefinition| {
        let text = serde_saphyr::to_string(definition).expect("a definition is plain data");
        // Empty lines of a description are printed with their indentation.
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        format!("---\n{}\n", lines.join("\n"))
    };
    definitions.iter().map(document).collect()
}

/// Makes no field of a definition nullable, as peers written in Go have it. An API server keeps the
/// null of a nullable field; of any other it drops it, and puts the default in its place.
fn without_null(mut definition: CustomResourceDefinition) -> CustomResourceDefinition {
    let refuse_null = &mut |schema: &mut JSONSchemaProps| schema.nullable = None;
    schemas(&mut definition).for_each(|schema| walk(schema, refuse_null));
    definition
}

/// Marks a definition as that of a policy for one object, which tools of the Gateway API look for.
fn direct_policy(mut definition: CustomResourceDefinition) -> CustomResourceDefinition {
    let labels = definition.metadata.labels.get_or_insert_default();
    labels.insert(label::GATEWAY_POLICY.to_owned(), "direct".to_owned());
    definition
}

/// The schemas of a definition's versions.
fn schemas(
    definition: &mut CustomResourceDefinition,
) -> impl Iterator<Item = &mut JSONSchemaProps> {
    let versions = definition.spec.versions.iter_mut();
    let schemas = versions.filter_map(|version| version.schema.as_mut());
    schemas.filter_map(|schema| schema.open_api_v3_schema.as_mut())
}

/// Puts a schema and all schemas in it right.
fn polish(schema: &mut JSONSchemaProps) {
    walk(schema, &mut |schema| {
        widen_unsigned(schema);
        schema.description = schema.description.take().map(|text| join_lines(&text));
    });
}

/// Visits a schema and all schemas in it.
fn walk(schema: &mut JSONSchemaProps, visit: &mut impl FnMut(&mut JSONSchemaProps)) {
    visit(schema);
    for inner in schema
        .properties
        .iter_mut()
        .flat_map(|properties| properties.values_mut())
    {
        walk(inner, visit);
    }
    match &mut schema.items {
        Some(JSONSchemaPropsOrArray::Schema(inner)) => walk(inner, visit),
        Some(JSONSchemaPropsOrArray::Schemas(all)) => {
            for inner in all {
                walk(inner, visit);
            }
        }
        None => {}
    }
    match &mut schema.additional_properties {
        Some(JSONSchemaPropsOrBool::Schema(inner)) => walk(inner, visit),
        Some(JSONSchemaPropsOrBool::Bool(_)) | None => {}
    }
}

/// Writes an unsigned integer as what Kubernetes knows. It has no unsigned formats: API servers
/// warn about them on every apply and leave the upper bound unchecked.
fn widen_unsigned(schema: &mut JSONSchemaProps) {
    let highest = match schema.format.as_deref() {
        Some("uint8") => f64::from(u8::MAX),
        Some("uint16") => f64::from(u16::MAX),
        Some("uint32") => f64::from(u32::MAX),
        Some(_) | None => return,
    };
    schema.format = Some("int64".to_owned());
    schema.minimum.get_or_insert(0.0);
    schema.maximum.get_or_insert(highest);
}

/// Joins the lines of each paragraph. Doc comments are wrapped for editors; `kubectl explain` wraps
/// for the terminal, and both at once look torn.
fn join_lines(text: &str) -> String {
    let paragraphs = text
        .split("\n\n")
        .map(|paragraph| paragraph.replace('\n', " "));
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests;
