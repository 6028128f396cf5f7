//! The second half: webhooks that have the last word. All are asked at once, and none changes anything.

use std::sync::Arc;

use super::Admitted;
use super::attributes::Attributes;
use super::hook::Hook;
use super::registry::Phase;
use super::review::Question;
use super::verdict::{Answered, Verdict, failed, verdict, without_dry_run};
use crate::refusal::Refusal;

/// The questions about one object.
#[derive(Debug)]
pub(crate) struct Validation {
    questions: Vec<Question>,
    /// What is known already, of webhooks that cannot be asked.
    refusal: Option<Refusal>,
}

impl Validation {
    /// What is to be asked; nothing if it concerns nobody.
    pub(crate) fn new(
        attributes: &Attributes,
        hooks: &[Arc<Hook>],
        mut uid: impl FnMut() -> String,
    ) -> Result<Option<Self>, Refusal> {
        let mut invocations = Vec::new();
        for hook in hooks {
            invocations.extend(attributes.concern(hook)?);
        }
        if invocations.is_empty() {
            return Ok(None);
        }
        let mut validation = Self {
            questions: Vec::new(),
            refusal: None,
        };
        for invocation in invocations {
            let hook = &invocation.hook;
            let refused = if attributes.dry_run && !hook.knows_dry_run {
                Some(without_dry_run(hook))
            } else {
                match Question::new(Phase::Validating, attributes, &invocation, uid()) {
                    Some(question) => {
                        validation.questions.push(question);
                        None
                    }
                    None => unspeakable(hook),
                }
            };
            validation.refusal = validation.refusal.or(refused);
        }
        Ok(Some(validation))
    }

    pub(crate) fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// What the answers come to, given in the order of the questions. Of several refusals the first counts.
    pub(crate) fn conclude(self, answers: Vec<Answered>) -> Result<Admitted, Refusal> {
        let mut refusal = self.refusal;
        let mut warnings = Vec::new();
        for (question, answered) in self.questions.iter().zip(answers) {
            match verdict(question, answered) {
                Verdict::Admitted(response) => warnings.extend(response.warnings),
                Verdict::Overlooked => {}
                Verdict::Refused(mut refused) => {
                    warnings.append(&mut refused.take_warnings());
                    refusal = refusal.or(Some(refused));
                }
            }
        }
        match refusal {
            Some(refusal) => Err(refusal.with_warnings(warnings)),
            None => Ok(Admitted {
                object: None,
                warnings,
            }),
        }
    }
}

fn unspeakable(hook: &Hook) -> Option<Refusal> {
    match failed(hook, UNSPEAKABLE) {
        Verdict::Refused(refusal) => Some(refusal),
        Verdict::Overlooked | Verdict::Admitted(_) => None,
    }
}

/// What is wrong with a webhook that knows no review that is spoken here.
pub(super) const UNSPEAKABLE: &str = "could not create admission objects: \
     webhook does not accept known AdmissionReview versions (v1, v1beta1)";
