//! Who asks: the user that a request is carried out for, as Kubernetes describes one.
//!
//! Whoever lets a request in puts the user into the request's extensions; what judges the request
//! reads it there. Nothing else says who asks.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The group whose members may do everything.
pub(crate) const MASTERS: &str = "system:masters";
/// The group of everyone whose name is known.
pub(crate) const AUTHENTICATED: &str = "system:authenticated";
/// The group of everyone whose name is not known.
const UNAUTHENTICATED: &str = "system:unauthenticated";
/// The user name of everyone whose name is not known.
const ANONYMOUS: &str = "system:anonymous";
/// The user name of our own administrator.
pub(crate) const ADMIN: &str = "zonewright-admin";
/// The extra field that tells which credential a user came with.
const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

/// Someone who asks.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct User {
    pub(crate) name: String,
    /// Empty where nothing gives one.
    pub(crate) uid: String,
    pub(crate) groups: Vec<String>,
    pub(crate) extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// Someone whose name is proven.
    pub(crate) fn authenticated(
        name: impl Into<String>,
        groups: impl IntoIterator<Item = String>,
    ) -> Self {
        let mut groups: Vec<String> = groups.into_iter().collect();
        // A certificate may name either of the two by itself; then it stays as it is.
        let told = |group: &String| group == AUTHENTICATED || group == UNAUTHENTICATED;
        if !groups.iter().any(told) {
            groups.push(AUTHENTICATED.to_owned());
        }
        Self {
            name: name.into(),
            groups,
            ..Self::default()
        }
    }

    /// The administrator whom the kubeconfig speaks for, and the program itself.
    pub(crate) fn admin() -> Self {
        Self::authenticated(ADMIN, [MASTERS.to_owned()])
    }

    /// A service account.
    pub(crate) fn service_account(namespace: &str, name: &str, uid: &str) -> Self {
        let groups = [
            "system:serviceaccounts".to_owned(),
            format!("system:serviceaccounts:{namespace}"),
        ];
        Self {
            uid: uid.to_owned(),
            ..Self::authenticated(service_account_name(namespace, name), groups)
        }
    }

    /// Someone who gave no name.
    pub(crate) fn anonymous() -> Self {
        Self {
            name: ANONYMOUS.to_owned(),
            groups: vec![UNAUTHENTICATED.to_owned()],
            ..Self::default()
        }
    }

    /// Nobody in particular is in the group of those, and not in that of those who are known unless it was given.
    pub(crate) fn forget_name(&mut self) {
        if !self.groups.iter().any(|group| group == UNAUTHENTICATED) {
            self.groups.retain(|group| group != AUTHENTICATED);
            self.groups.push(UNAUTHENTICATED.to_owned());
        }
    }

    /// The same user, with the name of the credential that proved it.
    #[must_use]
    pub(crate) fn with_credential(mut self, id: String) -> Self {
        self.extra.insert(CREDENTIAL_ID.to_owned(), vec![id]);
        self
    }

    /// As objects describe a user: only what is there.
    pub(crate) fn info(&self) -> Value {
        let mut info = json!({ "username": self.name });
        if !self.uid.is_empty() {
            info["uid"] = self.uid.as_str().into();
        }
        if !self.groups.is_empty() {
            info["groups"] = json!(self.groups);
        }
        if !self.extra.is_empty() {
            info["extra"] = json!(self.extra);
        }
        info
    }

    /// Whether nobody knows who this is.
    pub(crate) fn is_anonymous(&self) -> bool {
        self.name == ANONYMOUS
    }
}

/// The user name of a service account.
pub(crate) fn service_account_name(namespace: &str, name: &str) -> String {
    format!("system:serviceaccount:{namespace}:{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_account_is_in_the_groups_of_all_and_of_its_namespace() {
        let user = User::service_account("dns", "robot", "7");
        assert_eq!(user.name, "system:serviceaccount:dns:robot");
        assert_eq!(user.uid, "7");
        assert_eq!(
            user.groups,
            [
                "system:serviceaccounts",
                "system:serviceaccounts:dns",
                "system:authenticated"
            ]
        );
    }

    #[test]
    fn whoever_is_known_is_in_the_group_of_all_who_are_known_once() {
        let groups = |given: &[&str]| {
            User::authenticated("a", given.iter().map(|&group| group.to_owned())).groups
        };
        assert_eq!(groups(&["ops"]), ["ops", "system:authenticated"]);
        assert_eq!(groups(&["system:authenticated"]), ["system:authenticated"]);
        assert_eq!(
            groups(&["system:unauthenticated"]),
            ["system:unauthenticated"]
        );
    }

    #[test]
    fn nobody_is_in_one_group_only() {
        let nobody = User::anonymous();
        assert!(nobody.is_anonymous());
        assert_eq!(nobody.groups, ["system:unauthenticated"]);
        assert!(!User::admin().is_anonymous());
    }
}
