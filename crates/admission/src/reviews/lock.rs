//! Who may write DomainVerifications (V3), and what is wrong with other objects of ours.

use kube::core::DynamicObject;
use kube::core::admission::Operation;

use super::answer::forbidden;
use super::{House, Question, Verdict};
use crate::configurations::BOOKKEEPERS;

/// Only we may write a DomainVerification or its status. Kubernetes' own book-keepers may delete it with its owners, or take
/// a reference to one that is gone out of it.
pub(super) fn judge(house: &House, question: &Question) -> Verdict {
    let verdict = Verdict::from(question);
    let user = question.user_info.username.as_deref().unwrap_or_default();
    if user == house.user || (BOOKKEEPERS.contains(&user) && keeps_books(question)) {
        return verdict;
    }
    let why = format!(
        "{user:?} may view DomainVerifications; only {} writes them. A domain is claimed by using it in an Ingress, and proven by the TXT record in its status",
        house.user
    );
    forbidden(verdict, &why)
}

fn keeps_books(question: &Question) -> bool {
    let content = |object: &Option<DynamicObject>| object.as_ref().map(|it| it.data.clone());
    match question.operation {
        Operation::Delete => true,
        Operation::Update => content(&question.object) == content(&question.old_object),
        Operation::Create | Operation::Connect => false,
    }
}

/// Everything that is wrong with an object of ours. It is accepted all the same.
pub(super) fn warn(question: &Question) -> Verdict {
    let mut verdict = Verdict::from(question);
    let object = question.object.as_ref();
    let object = object.and_then(|object| serde_json::to_value(object).ok());
    let problems = object.and_then(|object| api::review::review(&object));
    let warnings: Vec<String> = problems.iter().flatten().map(ToString::to_string).collect();
    verdict.warnings = (!warnings.is_empty()).then_some(warnings);
    verdict
}
