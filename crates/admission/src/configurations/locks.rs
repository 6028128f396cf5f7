//! The second lock: a policy by which the API itself refuses what the webhook refuses, whether anybody is there to be asked or not.

use k8s_openapi::api::admissionregistration::v1::{
    MatchResources, NamedRuleWithOperations, ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding, ValidatingAdmissionPolicyBindingSpec,
    ValidatingAdmissionPolicySpec, Validation, Variable,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use super::{Installation, metadata, quoted, verification_rule};

/// The name of the policy and of its binding.
pub const POLICY: &str = "zonewright-domainverifications";

/// Kubernetes' own housekeeping, by the names that it has with service accounts of its own and without.
///
/// The collector deletes what has lost its last owner, takes owners that are gone out of what has others, and finalizers out of
/// what is deleted in order; the controller of namespaces deletes what is in one. Neither writes a spec or a status.
pub const BOOKKEEPERS: [&str; 3] = [
    "system:serviceaccount:kube-system:generic-garbage-collector",
    "system:serviceaccount:kube-system:namespace-controller",
    "system:kube-controller-manager",
];

/// Only we may write `DomainVerification`s; housekeeping may delete them, and change whose they are.
pub fn policy(installation: &Installation) -> ValidatingAdmissionPolicy {
    let rule = verification_rule();
    let rule = NamedRuleWithOperations {
        api_groups: rule.api_groups,
        api_versions: rule.api_versions,
        operations: rule.operations,
        resource_names: None,
        resources: rule.resources,
        scope: rule.scope,
    };
    let bookkeepers = BOOKKEEPERS.map(quoted).join(", ");
    let variable = |name: &str, expression: String| Variable {
        name: name.to_owned(),
        expression,
    };
    let variables = vec![
        variable(
            "ourselves",
            format!(
                "request.userInfo.username == {}",
                quoted(&installation.user)
            ),
        ),
        variable(
            "bookkeeper",
            format!("request.userInfo.username in [{bookkeepers}]"),
        ),
        // A deletion has no object.
        variable("bookkeeping", BOOKKEEPING.to_owned()),
    ];
    let validation = Validation {
        expression: "variables.ourselves || (variables.bookkeeper && variables.bookkeeping)"
            .to_owned(),
        message: Some(format!(
            "DomainVerifications are written by {} only; everybody else may view them",
            installation.user
        )),
        message_expression: None,
        reason: Some("Forbidden".to_owned()),
    };
    ValidatingAdmissionPolicy {
        metadata: metadata(POLICY),
        spec: Some(ValidatingAdmissionPolicySpec {
            audit_annotations: None,
            failure_policy: Some("Fail".to_owned()),
            match_conditions: None,
            match_constraints: Some(MatchResources {
                exclude_resource_rules: None,
                match_policy: Some("Equivalent".to_owned()),
                namespace_selector: Some(LabelSelector::default()),
                object_selector: Some(LabelSelector::default()),
                resource_rules: Some(vec![rule]),
            }),
            param_kind: None,
            validations: Some(vec![validation]),
            variables: Some(variables),
        }),
        status: None,
    }
}

/// What puts the policy into force, everywhere.
pub fn binding() -> ValidatingAdmissionPolicyBinding {
    ValidatingAdmissionPolicyBinding {
        metadata: metadata(POLICY),
        spec: ValidatingAdmissionPolicyBindingSpec {
            match_resources: None,
            param_ref: None,
            policy_name: POLICY.to_owned(),
            validation_actions: vec!["Deny".to_owned()],
        },
    }
}

/// Whether a request deletes, or changes neither spec nor status. What a request is not about is missing from it.
const BOOKKEEPING: &str = "request.operation == 'DELETE' || (request.operation == 'UPDATE' && !has(request.subResource) \
    && object.spec == oldObject.spec \
    && has(object.status) == has(oldObject.status) && (!has(object.status) || object.status == oldObject.status))";
