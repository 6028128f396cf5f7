//! Fields whose Go types have names of their own, although they are texts, lists of texts or maps: the published schema does not
//! know them, and refusals of wrong types tell them.
//!
//! The structs are those that built-in kinds are made of, from the sources of `k8s.io/api` 0.36.

/// The struct, the field as JSON has it, and its type.
const NAMED: &[(&str, &str, &str)] = &[
    ("AppArmorProfile", "type", "v1.AppArmorProfileType"),
    ("AttachedVolume", "name", "v1.UniqueVolumeName"),
    (
        "AzureDiskVolumeSource",
        "cachingMode",
        "v1.AzureDataDiskCachingMode",
    ),
    ("AzureDiskVolumeSource", "kind", "v1.AzureDataDiskKind"),
    ("Capabilities", "add", "[]v1.Capability"),
    ("Capabilities", "drop", "[]v1.Capability"),
    ("Condition", "status", "v1.ConditionStatus"),
    ("ConfigMapNodeConfigSource", "uid", "types.UID"),
    ("Container", "imagePullPolicy", "v1.PullPolicy"),
    ("Container", "restartPolicy", "v1.ContainerRestartPolicy"),
    (
        "Container",
        "terminationMessagePolicy",
        "v1.TerminationMessagePolicy",
    ),
    ("ContainerPort", "protocol", "v1.Protocol"),
    ("ContainerResizePolicy", "resourceName", "v1.ResourceName"),
    (
        "ContainerResizePolicy",
        "restartPolicy",
        "v1.ResourceResizeRestartPolicy",
    ),
    (
        "ContainerRestartRule",
        "action",
        "v1.ContainerRestartRuleAction",
    ),
    (
        "ContainerRestartRuleOnExitCodes",
        "operator",
        "v1.ContainerRestartRuleOnExitCodesOperator",
    ),
    ("DeploymentCondition", "status", "v1.ConditionStatus"),
    ("DeploymentCondition", "type", "v1.DeploymentConditionType"),
    ("DeploymentStrategy", "type", "v1.DeploymentStrategyType"),
    ("EmptyDirVolumeSource", "medium", "v1.StorageMedium"),
    ("EphemeralContainer", "imagePullPolicy", "v1.PullPolicy"),
    (
        "EphemeralContainer",
        "restartPolicy",
        "v1.ContainerRestartPolicy",
    ),
    (
        "EphemeralContainer",
        "terminationMessagePolicy",
        "v1.TerminationMessagePolicy",
    ),
    ("HTTPGetAction", "scheme", "v1.URIScheme"),
    ("HTTPIngressPath", "pathType", "v1.PathType"),
    ("HostPathVolumeSource", "type", "v1.HostPathType"),
    ("ImageVolumeSource", "pullPolicy", "v1.PullPolicy"),
    ("IngressPortStatus", "protocol", "v1.Protocol"),
    (
        "LabelSelectorRequirement",
        "operator",
        "v1.LabelSelectorOperator",
    ),
    ("LeaseSpec", "strategy", "v1.CoordinatedLeaseStrategy"),
    ("Lifecycle", "stopSignal", "v1.Signal"),
    ("LoadBalancerIngress", "ipMode", "v1.LoadBalancerIPMode"),
    (
        "ManagedFieldsEntry",
        "operation",
        "v1.ManagedFieldsOperationType",
    ),
    ("MutatingWebhook", "failurePolicy", "v1.FailurePolicyType"),
    ("MutatingWebhook", "matchPolicy", "v1.MatchPolicyType"),
    (
        "MutatingWebhook",
        "reinvocationPolicy",
        "v1.ReinvocationPolicyType",
    ),
    ("MutatingWebhook", "sideEffects", "v1.SideEffectClass"),
    ("NamespaceCondition", "status", "v1.ConditionStatus"),
    ("NamespaceCondition", "type", "v1.NamespaceConditionType"),
    ("NamespaceSpec", "finalizers", "[]v1.FinalizerName"),
    ("NamespaceStatus", "phase", "v1.NamespacePhase"),
    ("NetworkPolicyPort", "protocol", "v1.Protocol"),
    ("NetworkPolicySpec", "policyTypes", "[]v1.PolicyType"),
    ("NodeAddress", "type", "v1.NodeAddressType"),
    ("NodeCondition", "status", "v1.ConditionStatus"),
    ("NodeCondition", "type", "v1.NodeConditionType"),
    (
        "NodeSelectorRequirement",
        "operator",
        "v1.NodeSelectorOperator",
    ),
    ("NodeStatus", "allocatable", "v1.ResourceList"),
    ("NodeStatus", "capacity", "v1.ResourceList"),
    ("NodeStatus", "phase", "v1.NodePhase"),
    ("NodeStatus", "volumesInUse", "[]v1.UniqueVolumeName"),
    ("ObjectMeta", "uid", "types.UID"),
    ("ObjectReference", "uid", "types.UID"),
    ("OwnerReference", "uid", "types.UID"),
    (
        "PersistentVolumeClaimSpec",
        "accessModes",
        "[]v1.PersistentVolumeAccessMode",
    ),
    (
        "PersistentVolumeClaimSpec",
        "volumeMode",
        "v1.PersistentVolumeMode",
    ),
    (
        "PodDisruptionBudgetSpec",
        "unhealthyPodEvictionPolicy",
        "v1.UnhealthyPodEvictionPolicyType",
    ),
    ("PodOS", "name", "v1.OSName"),
    ("PodReadinessGate", "conditionType", "v1.PodConditionType"),
    (
        "PodSecurityContext",
        "fsGroupChangePolicy",
        "v1.PodFSGroupChangePolicy",
    ),
    (
        "PodSecurityContext",
        "seLinuxChangePolicy",
        "v1.PodSELinuxChangePolicy",
    ),
    (
        "PodSecurityContext",
        "supplementalGroupsPolicy",
        "v1.SupplementalGroupsPolicy",
    ),
    ("PodSpec", "dnsPolicy", "v1.DNSPolicy"),
    ("PodSpec", "overhead", "v1.ResourceList"),
    ("PodSpec", "preemptionPolicy", "v1.PreemptionPolicy"),
    ("PodSpec", "restartPolicy", "v1.RestartPolicy"),
    ("PortStatus", "protocol", "v1.Protocol"),
    ("ResourceRequirements", "limits", "v1.ResourceList"),
    ("ResourceRequirements", "requests", "v1.ResourceList"),
    ("RuleWithOperations", "operations", "[]v1.OperationType"),
    ("RuleWithOperations", "scope", "v1.ScopeType"),
    ("SeccompProfile", "type", "v1.SeccompProfileType"),
    ("Secret", "type", "v1.SecretType"),
    ("SecurityContext", "procMount", "v1.ProcMountType"),
    ("ServicePort", "protocol", "v1.Protocol"),
    (
        "ServiceSpec",
        "externalTrafficPolicy",
        "v1.ServiceExternalTrafficPolicy",
    ),
    (
        "ServiceSpec",
        "internalTrafficPolicy",
        "v1.ServiceInternalTrafficPolicy",
    ),
    ("ServiceSpec", "ipFamilies", "[]v1.IPFamily"),
    ("ServiceSpec", "ipFamilyPolicy", "v1.IPFamilyPolicy"),
    ("ServiceSpec", "sessionAffinity", "v1.ServiceAffinity"),
    ("ServiceSpec", "type", "v1.ServiceType"),
    ("Taint", "effect", "v1.TaintEffect"),
    ("Toleration", "effect", "v1.TaintEffect"),
    ("Toleration", "operator", "v1.TolerationOperator"),
    (
        "TopologySpreadConstraint",
        "nodeAffinityPolicy",
        "v1.NodeInclusionPolicy",
    ),
    (
        "TopologySpreadConstraint",
        "nodeTaintsPolicy",
        "v1.NodeInclusionPolicy",
    ),
    (
        "TopologySpreadConstraint",
        "whenUnsatisfiable",
        "v1.UnsatisfiableConstraintAction",
    ),
    ("ValidatingWebhook", "failurePolicy", "v1.FailurePolicyType"),
    ("ValidatingWebhook", "matchPolicy", "v1.MatchPolicyType"),
    ("ValidatingWebhook", "sideEffects", "v1.SideEffectClass"),
    ("VolumeMount", "mountPropagation", "v1.MountPropagationMode"),
    (
        "VolumeMount",
        "recursiveReadOnly",
        "v1.RecursiveReadOnlyMode",
    ),
    ("VolumeResourceRequirements", "limits", "v1.ResourceList"),
    ("VolumeResourceRequirements", "requests", "v1.ResourceList"),
];

/// The name of a field's type, if it has one.
pub(super) fn named(of: &str, field: &str) -> Option<&'static str> {
    let found = NAMED.binary_search_by(|(other, name, _)| (*other, *name).cmp(&(of, field)));
    found.ok().map(|at| NAMED[at].2)
}

#[test]
fn the_names_are_in_their_order() {
    assert!(NAMED.is_sorted_by(|one, other| (one.0, one.1) < (other.0, other.1)));
    assert_eq!(named("ServiceSpec", "type"), Some("v1.ServiceType"));
    assert_eq!(named("ServiceSpec", "ports"), None);
}
