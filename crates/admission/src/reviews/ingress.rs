//! Ingresses at the door (V1, V2, V10).

use api::well_known::{CHALLENGE_LABEL, field_manager};
use kube::core::DynamicObject;
use reconcile::domains::{
    Asked, Fill, Gated, Guid, House as GateHouse, ManagedDomain, claim_name, gate, may_stand,
};
use serde_json::Value;

use super::answer::{forbidden, invalid};
use super::facts::Facts;
use super::{House, Question, Verdict};

/// Takes out what is not proven. Nothing is made here: the controller claims domains, once the Ingress is stored.
pub(super) async fn mutate(house: &House, question: &Question) -> Verdict {
    let verdict = Verdict::from(question);
    let (Some(managed), Some(object)) = (&house.managed, &question.object) else {
        return verdict;
    };
    let namespace = question.namespace.as_deref().unwrap_or_default();
    let facts = match Facts::of(house, namespace).await {
        Ok(facts) => facts,
        Err(why) => return forbidden(verdict, &why),
    };
    let (object, old) = (value(object), question.old_object.as_ref().map(value));
    let asked = Asked {
        object: &object,
        old: old.as_ref(),
        whole: is_whole(question),
    };
    let gated = match judge(house, managed, &facts, asked) {
        Ok(gated) => gated,
        Err(problems) => return invalid(verdict, &problems),
    };
    let patch = json_patch::diff(&object, &gated.object);
    let mut verdict = match verdict.clone().with_patch(patch) {
        Ok(verdict) => verdict,
        Err(error) => return forbidden(verdict, &format!("cannot say what would change: {error}")),
    };
    let warnings = warnings(house, managed, &facts, gated);
    verdict.warnings = (!warnings.is_empty()).then_some(warnings);
    verdict
}

/// Looks once more, after everybody else: another webhook may have put back what was taken out.
pub(super) async fn validate(house: &House, question: &Question) -> Verdict {
    let verdict = Verdict::from(question);
    let (Some(managed), Some(object)) = (&house.managed, &question.object) else {
        return verdict;
    };
    let namespace = question.namespace.as_deref().unwrap_or_default();
    let facts = match Facts::of(house, namespace).await {
        Ok(facts) => facts,
        Err(why) => return forbidden(verdict, &why),
    };
    let drawn = Guid::new(rand::random());
    if may_stand(&value(object), gate_house(house, managed, &facts, &drawn)) {
        return verdict;
    }
    forbidden(
        verdict,
        "another webhook has put back a host that is not verified in this namespace",
    )
}

/// Whether an Ingress is written by the controller. Nothing depends on who says so: an Ingress that says everything is judged
/// like any other.
fn is_whole(question: &Question) -> bool {
    let manager = question.options.as_ref().map(|it| &it.0["fieldManager"]);
    manager.is_some_and(|it| it == field_manager::CONTROLLER)
}

fn judge(
    house: &House,
    managed: &ManagedDomain,
    facts: &Facts,
    asked: Asked<'_>,
) -> Result<Gated, Vec<api::Problem>> {
    let drawn = Guid::new(rand::random());
    gate(
        asked,
        gate_house(house, managed, facts, &drawn),
        Fill::AsAsked,
    )
}

fn gate_house<'a>(
    house: &'a House,
    managed: &'a ManagedDomain,
    facts: &'a Facts,
    drawn: &'a Guid,
) -> GateHouse<'a> {
    GateHouse {
        managed,
        key: &house.keyring,
        namespace_uid: &facts.namespace_uid,
        verified: &facts.verified,
        drawn,
    }
}

/// What the author of an Ingress should know: what waits, and what to create.
fn warnings(house: &House, managed: &ManagedDomain, facts: &Facts, gated: Gated) -> Vec<String> {
    let host = gated.guid.host(managed);
    let waiting = gated.claims.iter().map(|domain| {
        let token = house.keyring.token(&facts.namespace_uid, domain);
        format!(
            "{} is not verified in this namespace and is served as {host} until it is: create the TXT record {CHALLENGE_LABEL}.{domain} with the value {token}",
            claim_name(domain)
        )
    });
    let waiting: Vec<String> = waiting.collect();
    gated.warnings.into_iter().chain(waiting).collect()
}

fn value(object: &DynamicObject) -> Value {
    serde_json::to_value(object).unwrap_or_default()
}
