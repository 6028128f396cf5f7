//! Every condition type and reason, spelled as in the API, with the sentence that explains it.

use std::fmt;

/// Declares a closed set of words: the enum, the list of all its members, each one's spelling and
/// explanation. One line per word, so that the documentation, the parser and the enum cannot drift
/// apart.
macro_rules! words {
    (
        $(#[$attribute:meta])*
        pub enum $name:ident {
            $(#[doc = $doc:literal] $variant:ident = $spelling:literal,)+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $(#[doc = $doc] $variant,)+
        }

        impl $name {
            /// Every member, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The spelling in the API.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $spelling,)+
                }
            }

            /// What it means, in one sentence.
            pub fn explanation(self) -> &'static str {
                match self {
                    $(Self::$variant => $doc.trim_ascii_start(),)+
                }
            }

            /// The member with this spelling.
            pub fn from_spelling(spelling: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|word| word.as_str() == spelling)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// What a condition speaks about.
    pub enum ConditionType {
        /// The object is well formed and has the authority it claims.
        Accepted = "Accepted",
        /// What the object describes is being answered, or written to where it is read from.
        Published = "Published",
        /// The object's work is done and nothing is left to do.
        Ready = "Ready",
        /// The provider holds exactly what the object wants.
        Synchronised = "Synchronised",
        /// The health checks of the object's targets pass.
        Healthy = "Healthy",
        /// The record may be merged into an authoritative one by a primary cluster.
        ReadyForDelegation = "ReadyForDelegation",
        /// The record belongs to a group that is active.
        Active = "Active",
        /// Changes wait for a person's approval.
        Held = "Held",
        /// Another object claims the same thing and came first.
        Conflicted = "Conflicted",
        /// The policy has taken effect on its target.
        Enforced = "Enforced",
        /// The health checks of everything made from the policy pass.
        SubResourcesHealthy = "SubResourcesHealthy",
        /// The namespace has proven that it controls the domain.
        Verified = "Verified",
    }
}

impl ConditionType {
    /// Whether being True is the bad news.
    pub const fn is_trouble(self) -> bool {
        match self {
            Self::Held | Self::Conflicted => true,
            Self::Accepted
            | Self::Published
            | Self::Ready
            | Self::Synchronised
            | Self::Healthy
            | Self::ReadyForDelegation
            | Self::Active
            | Self::Enforced
            | Self::SubResourcesHealthy
            | Self::Verified => false,
        }
    }
}

words! {
    /// Why a condition is as it is.
    pub enum Reason {
        // -- any kind
        /// The object is well formed and has the authority it claims.
        Accepted = "Accepted",
        /// One or more fields break a rule; the message names each field and rule.
        Invalid = "Invalid",
        /// The object does not have the shape of its kind; the message names the field.
        Undecodable = "Undecodable",
        /// The manifest asks for something this version does not do.
        NotSupported = "NotSupported",
        /// Another object claims the same thing and came first; the message names it.
        Conflicted = "Conflicted",
        /// Nothing else claims the same thing.
        NoConflict = "NoConflict",
        /// Something unexpected stands in the way; the message says what.
        Unknown = "Unknown",

        // -- Zone and Record
        /// The object named in zoneRef does not exist.
        ParentNotFound = "ParentNotFound",
        /// The Zone named in zoneRef has no name of its own yet.
        WaitingForParent = "WaitingForParent",
        /// Following zoneRef leads back to where it started.
        CyclicReference = "CyclicReference",
        /// There is no Zone at or above this name.
        NoZone = "NoZone",
        /// The zone above does not delegate this name and type to this namespace.
        NotDelegated = "NotDelegated",
        /// The name lies below a sub-zone of its zone, which answers for it instead.
        Occluded = "Occluded",
        /// Another Record of the same set already says exactly this.
        Duplicate = "Duplicate",
        /// The records of one set have different TTLs; the lowest is used.
        DifferingTtl = "DifferingTtl",
        /// The records of one member of a routed set have different weights or places; the oldest's count.
        DifferingRouting = "DifferingRouting",
        /// The target of this record is an alias, which the type does not allow.
        TargetIsAlias = "TargetIsAlias",
        /// The target of this NS record lies in the zone it delegates to, which has no address for it.
        TargetMissing = "TargetMissing",
        /// The relative name already ends in the zone's name, which is put behind it all the same; the message shows what it became.
        LooksFull = "LooksFull",
        /// The full name is not below that of the Zone in zoneRef.
        OutsideParent = "OutsideParent",
        /// The zone has no NS record at its apex and no spec.nameservers.
        NoNameServers = "NoNameServers",
        /// No name server runs in this process, so nobody can say whether it is answered.
        NoNameServer = "NoNameServer",
        /// A name server has answered with it.
        Served = "Served",
        /// It is accepted and on its way to the name server.
        Pending = "Pending",
        /// It is not accepted, so it is not published.
        NotAccepted = "NotAccepted",
        /// The zone's content could not be stored or read back completely; the last version stays.
        Incomplete = "Incomplete",

        // -- DNSRecord
        /// The provider holds what the record wants.
        ProviderSuccess = "ProviderSuccess",
        /// The provider was written to; a later read will tell whether it took effect.
        AwaitingValidation = "AwaitingValidation",
        /// The provider did not do as asked.
        ProviderError = "ProviderError",
        /// The Secret, the zone or the provider it names cannot be used.
        DnsProviderError = "DNSProviderError",
        /// One or more fields of the DNSRecord break a rule.
        ValidationError = "ValidationError",
        /// No target is healthy, so nothing is published that was not published before.
        HealthChecksFailed = "HealthChecksFailed",
        /// All health checks pass.
        AllChecksPassed = "AllChecksPassed",
        /// Some health checks pass.
        SomeChecksPassed = "SomeChecksPassed",
        /// Health checks are asked for and not made, so every target counts as healthy; the message says why.
        NotChecked = "NotChecked",
        /// The record is being removed from the provider.
        ProviderEndpointsDeletion = "ProviderEndpointsDeletion",
        /// The record has been removed from the provider.
        ProviderEndpointsRemoved = "ProviderEndpointsRemoved",
        /// The ownership registry could not be updated.
        RegistryError = "RegistryError",
        /// The finalizers are in place.
        FinalizersSet = "FinalizersSet",
        /// The record's group is active.
        MemberOfActiveGroup = "MemberOfActiveGroup",
        /// The record's group is not active.
        NotMemberOfActiveGroup = "NotMemberOfActiveGroup",
        /// The record's group is not active, so nothing is done.
        MemberOfInactiveGroup = "MemberOfInactiveGroup",
        /// Changes nobody asked for wait for approval; the message carries the hash to approve.
        Held = "Held",
        /// Nothing waits for approval.
        NotHeld = "NotHeld",
        /// Someone else owns a record of this name at the provider; the message says who.
        OwnerConflict = "OwnerConflict",
        /// Another writer keeps changing what this record wants; the message names it.
        Contested = "Contested",
        /// The record was written as often as one generation may be and still is not as wanted.
        WriteLimitReached = "WriteLimitReached",

        // -- DNSPolicy
        /// The policy has taken effect.
        Enforced = "Enforced",
        /// Everything made from the policy is healthy.
        SubResourcesHealthy = "SubResourcesHealthy",
        /// The Gateway the policy names does not exist.
        TargetNotFound = "TargetNotFound",
        /// A kind that the policy needs is not installed.
        MissingDependency = "MissingDependency",
        /// No listener of the Gateway has a host name in the provider's domain.
        DomainNotInGateway = "DomainNotInGateway",
        /// No listener has a host, a route and an address yet, so there is nothing to publish.
        NothingToPublish = "NothingToPublish",
        /// Everything the policy made is ready.
        Ready = "Ready",
        /// The policy is not enforced; condition Enforced says why.
        NotEnforced = "NotEnforced",
        /// Something the policy made is not ready; the message names it.
        NotReady = "NotReady",

        // -- ServiceRecord
        /// The source has no address yet.
        NoAddress = "NoAddress",
        /// Records for the name exist in the source's namespace.
        Published = "Published",
        /// Several namespaces ask for this name; one has it, and the others are refused.
        FqdnClaimed = "FQDNClaimed",
        /// An object of the needed name exists and was made by someone else.
        NameTaken = "NameTaken",
        /// The name is longer than DNS allows.
        FqdnTooLong = "FQDNTooLong",
        /// It stays published although its source asks for something else or cannot be read; the message says why.
        Kept = "Kept",
        /// The source has the export label, but no host that could be published.
        NoHost = "NoHost",
        /// The source matches one label where DNS matches any number of them.
        WildcardScopeMismatch = "WildcardScopeMismatch",

        // -- DomainVerification
        /// The expected token was found.
        Verified = "Verified",
        /// The first check has not been made yet.
        TokenPending = "TokenPending",
        /// There is no TXT record at either place it may stand.
        RecordNotFound = "RecordNotFound",
        /// There are TXT records, but none carries this namespace's token.
        TokenMismatch = "TokenMismatch",
        /// A wildcard answers with the token, so it stands at no name in particular.
        WildcardSynthesised = "WildcardSynthesised",
        /// The check could not be made; the message says why.
        Indeterminate = "Indeterminate",
        /// The domain is a public suffix and belongs to nobody alone.
        PublicSuffix = "PublicSuffix",
        /// The domain is reserved: the managed domain, the cluster's, or a special-use name.
        ReservedDomain = "ReservedDomain",
        /// The domain is not a host name.
        InvalidDomain = "InvalidDomain",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// `metav1.Condition` allows `^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$` for reasons; ours are
    /// plain CamelCase.
    fn is_camel_case(spelling: &str) -> bool {
        spelling.starts_with(|first: char| first.is_ascii_uppercase())
            && spelling
                .chars()
                .all(|character| character.is_ascii_alphanumeric())
    }

    #[test]
    fn words_are_camel_case_and_unique_and_explained() {
        let types = ConditionType::ALL
            .iter()
            .map(|word| (word.as_str(), word.explanation()));
        let reasons = Reason::ALL
            .iter()
            .map(|word| (word.as_str(), word.explanation()));
        for words in [types.collect::<Vec<_>>(), reasons.collect::<Vec<_>>()] {
            let unique: BTreeSet<&str> = words.iter().map(|(spelling, _)| *spelling).collect();
            assert_eq!(unique.len(), words.len());
            for (spelling, explanation) in words {
                assert!(is_camel_case(spelling), "{spelling}");
                assert!(
                    explanation.ends_with('.') && !explanation.starts_with(' '),
                    "{spelling}: {explanation}"
                );
            }
        }
    }

    #[test]
    fn peers_read_the_words_they_know() {
        let cases = [
            (Reason::DnsProviderError, "DNSProviderError"),
            (Reason::AwaitingValidation, "AwaitingValidation"),
            (Reason::MissingDependency, "MissingDependency"),
            (Reason::FqdnClaimed, "FQDNClaimed"),
        ];
        for (reason, spelling) in cases {
            assert_eq!(reason.as_str(), spelling);
            assert_eq!(Reason::from_spelling(spelling), Some(reason));
        }
        assert_eq!(Reason::from_spelling("dnsprovidererror"), None);
        assert_eq!(
            ConditionType::from_spelling("SubResourcesHealthy"),
            Some(ConditionType::SubResourcesHealthy)
        );
    }
}
