//! The first half: webhooks that may change an object, one after the other.
//!
//! Each sees what the one before it made. If anything was changed, those that asked for it see the object once more,
//! but only if someone after them changed it; nobody is asked a third time.
//!
//! ```text
//! next ─► question ─► (asked outside) ─► answer ─► patched, defaults filled in ─► next … ─► done
//! ```

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::Admitted;
use super::attributes::{Attributes, Invocation, in_version};
use super::hook::Hook;
use super::registry::Phase;
use super::review::{Question, Response};
use super::validation::UNSPEAKABLE;
use super::verdict::{Answered, Verdict, failed, verdict, without_dry_run};
use crate::object::Object;
use crate::patch;
use crate::refusal::Refusal;
use crate::resource::Resource;

/// An object on its way past webhooks.
pub(crate) struct Mutation {
    attributes: Attributes,
    hooks: Vec<Arc<Hook>>,
    /// Reads an object as if it had been sent: what its kind does not have is dropped, what was left out is filled in.
    read: fn(&Resource, Object) -> Result<Object, String>,
    uid: Box<dyn FnMut() -> String + Send>,
    /// Which is next.
    at: usize,
    round: Round,
    /// Those that want to see the object again should it change.
    invoked: BTreeSet<String>,
    /// Those that see it again.
    again: BTreeSet<String>,
    changed: bool,
    /// The one that is being asked.
    asked: Option<(Invocation, Question)>,
    warnings: Vec<String>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Round {
    First,
    Second,
}

impl Mutation {
    pub(crate) fn new(
        attributes: Attributes,
        hooks: Vec<Arc<Hook>>,
        read: fn(&Resource, Object) -> Result<Object, String>,
        uid: Box<dyn FnMut() -> String + Send>,
    ) -> Self {
        Self {
            attributes,
            hooks,
            read,
            uid,
            at: 0,
            round: Round::First,
            invoked: BTreeSet::new(),
            again: BTreeSet::new(),
            changed: false,
            asked: None,
            warnings: Vec::new(),
        }
    }

    /// Goes on to the next one that is to be asked. False if nobody is left.
    pub(crate) fn advance(&mut self) -> Result<bool, Refusal> {
        let next = self.next();
        next.map_err(|refusal| refusal.with_warnings(std::mem::take(&mut self.warnings)))
    }

    fn next(&mut self) -> Result<bool, Refusal> {
        loop {
            let Some(hook) = self.hooks.get(self.at).cloned() else {
                if self.round == Round::Second || !self.changed {
                    return Ok(false);
                }
                self.round = Round::Second;
                self.at = 0;
                continue;
            };
            self.at += 1;
            let Some(invocation) = self.attributes.concern(&hook)? else {
                continue;
            };
            // Who was left out at first is not asked later, even if the object has become one that concerns it.
            if self.round == Round::Second && !self.again.contains(&hook.id) {
                continue;
            }
            if self.ask(invocation)? {
                return Ok(true);
            }
        }
    }

    /// The question that is to be asked now.
    pub(crate) fn question(&self) -> Option<&Question> {
        self.asked.as_ref().map(|(_, question)| question)
    }

    /// Takes the answer to it.
    pub(crate) fn answer(&mut self, answered: Answered) -> Result<(), Refusal> {
        let Some((invocation, question)) = self.asked.take() else {
            return Ok(());
        };
        let outcome = match verdict(&question, answered) {
            Verdict::Overlooked => Ok(false),
            Verdict::Refused(refusal) => Err(refusal),
            Verdict::Admitted(mut response) => {
                self.warnings.append(&mut response.warnings);
                self.apply(&invocation, &response)
            }
        };
        let changed =
            outcome.map_err(|refusal| refusal.with_warnings(std::mem::take(&mut self.warnings)))?;
        if changed {
            self.again.append(&mut self.invoked);
            self.changed = true;
        }
        if invocation.hook.reinvocable {
            self.invoked.insert(invocation.hook.id.clone());
        }
        Ok(())
    }

    /// The object as they left it.
    pub(crate) fn conclude(self) -> Admitted {
        Admitted {
            object: self.attributes.object,
            warnings: self.warnings,
        }
    }

    /// Whether anything was changed.
    #[cfg(test)]
    pub(super) fn has_changed(&self) -> bool {
        self.changed
    }

    fn ask(&mut self, invocation: Invocation) -> Result<bool, Refusal> {
        let hook = &invocation.hook;
        if self.attributes.dry_run && !hook.knows_dry_run {
            return Err(without_dry_run(hook));
        }
        let uid = (self.uid)();
        match Question::new(Phase::Mutating, &self.attributes, &invocation, uid) {
            Some(question) => {
                self.asked = Some((invocation, question));
                Ok(true)
            }
            None => match failed(hook, UNSPEAKABLE) {
                Verdict::Refused(refusal) => Err(refusal),
                Verdict::Overlooked | Verdict::Admitted(_) => Ok(false),
            },
        }
    }

    /// Applies a patch. True if it changed anything.
    fn apply(&mut self, invocation: &Invocation, response: &Response) -> Result<bool, Refusal> {
        let hook = &invocation.hook;
        let Some(patch) = response.patch.as_deref() else {
            return Ok(false);
        };
        let failed = |why: String| match failed(hook, &why) {
            Verdict::Refused(refusal) => Err(refusal),
            Verdict::Overlooked | Verdict::Admitted(_) => Ok(false),
        };
        let patch: Value = match serde_json::from_slice(patch) {
            Ok(patch) => patch,
            Err(error) => return failed(undecodable(&error.to_string())),
        };
        let operations = match &patch {
            Value::Null => return Ok(false),
            Value::Array(operations) if operations.is_empty() => return Ok(false),
            Value::Array(operations) => operations,
            other @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
                let found = patch::go_word(other);
                let why =
                    format!("json: cannot unmarshal {found} into Go value of type jsonpatch.Patch");
                return failed(undecodable(&why));
            }
        };
        let Some(object) = &self.attributes.object else {
            return Err(Refusal::internal(format!(
                "admission webhook {:?} attempted to modify the object, which is not supported for this operation",
                hook.name
            )));
        };
        if response.patch_type != "JSONPatch" {
            return failed(format!("unsupported patch type {:?}", response.patch_type));
        }
        let (asked, sent) = (&invocation.resource, &self.attributes.resource);
        let shown = in_version(object, sent, asked);
        let patched = patch::apply_operations(&shown, operations)
            .and_then(|patched| (self.read)(asked, patched))
            .map_err(Refusal::internal)?;
        let changed = patched != shown;
        self.attributes.object = Some(in_version(&patched, asked, sent));
        Ok(changed)
    }
}

fn undecodable(why: &str) -> String {
    format!("received undecodable patch in webhook response: {why}")
}

impl std::fmt::Debug for Mutation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mutation")
            .field("attributes", &self.attributes)
            .field("at", &self.at)
            .field("round", &self.round)
            .finish_non_exhaustive()
    }
}
