//! `serviceaccounts/NAME/token`: who may be a service account for a while.
//!
//! The engine says for whom a token is asked; signing it needs a key, which whoever serves the answer has.

use std::sync::Arc;

use super::{Answer, Call, Content, Engine, key};
use crate::refusal::Refusal;
use crate::resource::Resource;

impl Engine {
    pub(super) fn issue_token(
        &mut self,
        resource: &Arc<Resource>,
        call: &Call,
    ) -> Result<Answer, Refusal> {
        let key = key(resource, call);
        let account = Arc::clone(self.existing(resource, &key)?);
        let request = call
            .body
            .as_ref()
            .map(|body| body.value.clone())
            .unwrap_or_default();
        let id = self.new_uuid();
        Ok(Answer::plain(Content::Token {
            key,
            uid: Arc::clone(account.uid()),
            request,
            id,
        }))
    }
}
