//! Ingresses at the door (V1, V2, V10).

use api::well_known::{CHALLENGE_LABEL, field_manager};
use kube::Api;
use kube::api::PostParams;
use kube::core::DynamicObject;
use reconcile::ObjectKey;
use reconcile::domains::{
    Asked, Fill, Gated, Guid, House as GateHouse, ManagedDomain, claim, claim_name, gate, may_stand,
};
use serde_json::Value;
use tracing::{info, warn};

use super::answer::{forbidden, invalid};
use super::facts::Facts;
use super::{House, Question, Verdict};

/// Takes out what is not proven, and claims it.
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
    };
    let gated = match judge(house, managed, &facts, asked) {
        Ok(gated) => gated,
        Err(problems) => return invalid(verdict, &problems),
    };
    if !question.dry_run {
        claim_missing(house, namespace, &facts, &gated).await;
    }
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

/// Claims what nobody has claimed yet. If that fails, the Ingress waits all the same, and the controller claims it later.
async fn claim_missing(house: &House, namespace: &str, facts: &Facts, gated: &Gated) {
    let claims = Api::namespaced(house.client.clone(), namespace);
    let by_us = PostParams {
        field_manager: Some(field_manager::CONTROLLER.to_owned()),
        ..PostParams::default()
    };
    for domain in &gated.claims {
        if facts.claimed.iter().any(|it| domain.is_at_or_below(it)) {
            continue;
        }
        let key = ObjectKey::new(namespace, &claim_name(domain));
        match claims.create(&by_us, &claim(&key)).await {
            Ok(_) => info!(domain = %key, "Claimed a domain"),
            Err(kube::Error::Api(status)) if status.is_already_exists() => {}
            Err(error) => warn!(domain = %key, %error, "Could not claim a domain"),
        }
    }
}

/// What the author of an Ingress should know: what waits, and what to create.
fn warnings(house: &House, managed: &ManagedDomain, facts: &Facts, gated: Gated) -> Vec<String> {
    let host = gated.guid.host(managed);
    let waiting = gated.claims.iter().map(|domain| {
        // A claim above it is proven by its own record.
        let above = facts.claimed.iter().filter(|it| domain.is_at_or_below(it));
        let proves = above.max_by_key(|it| it.label_count()).unwrap_or(domain);
        let token = house.keyring.token(&facts.namespace_uid, proves);
        format!(
            "{} is not verified in this namespace and is served as {host} until it is: create the TXT record {CHALLENGE_LABEL}.{proves} with the value {token}",
            claim_name(domain)
        )
    });
    let waiting: Vec<String> = waiting.collect();
    gated.warnings.into_iter().chain(waiting).collect()
}

fn value(object: &DynamicObject) -> Value {
    serde_json::to_value(object).unwrap_or_default()
}
