//! Where an operation acts: JSON pointers (RFC 6901), with indices that may count from the end.

use serde_json::Value;

/// A parsed pointer.
#[derive(Debug)]
pub(super) struct Pointer {
    tokens: Vec<String>,
}

/// A pointer through something that is not there, or to an entry that a list does not have.
#[derive(Debug)]
pub(super) struct Dangling;

impl Pointer {
    /// Whatever stands before the first slash is ignored, as the API does.
    pub(super) fn parse(text: &str) -> Self {
        let unescape = |token: &str| token.replace("~1", "/").replace("~0", "~");
        Self {
            tokens: text.split('/').skip(1).map(unescape).collect(),
        }
    }

    /// Whether it points to the whole document.
    pub(super) fn is_root(&self) -> bool {
        self.tokens.is_empty()
    }

    /// How many levels below the document's root it points.
    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The container that it points into, and the last token.
    pub(super) fn parent_mut<'a>(
        &'a self,
        root: &'a mut Value,
    ) -> Option<(&'a mut Value, &'a str)> {
        let (last, parents) = self.tokens.split_last()?;
        let parent = parents.iter().try_fold(root, |value, token| match value {
            Value::Object(fields) => fields.get_mut(token),
            Value::Array(items) => {
                let index = index(token, items.len())?;
                items.get_mut(index)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        })?;
        Some((parent, last))
    }

    /// What it points to; nothing if that is a field that an object does not have.
    pub(super) fn find<'a>(&self, root: &'a Value) -> Result<Option<&'a Value>, Dangling> {
        let (last, parents) = self.tokens.split_last().ok_or(Dangling)?;
        let parent = parents
            .iter()
            .try_fold(root, |value, token| get(value, token)?.ok_or(Dangling))?;
        get(parent, last)
    }
}

fn get<'a>(container: &'a Value, token: &str) -> Result<Option<&'a Value>, Dangling> {
    match container {
        Value::Object(fields) => Ok(fields.get(token)),
        Value::Array(items) => {
            let index = index(token, items.len()).ok_or(Dangling)?;
            Ok(items.get(index))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Err(Dangling),
    }
}

/// The index of an entry of a list that has `len`: -1 is the last.
pub(super) fn index(token: &str, len: usize) -> Option<usize> {
    let index = counted(token, len)?;
    (index < len).then_some(index)
}

/// The index at which an entry is put into a list that has `len`: -1 and `-` are behind the last.
pub(super) fn gap(token: &str, len: usize) -> Option<usize> {
    match token {
        "-" => Some(len),
        token => index(token, len + 1),
    }
}

fn counted(token: &str, len: usize) -> Option<usize> {
    let index: i64 = token.parse().ok()?;
    match usize::try_from(index) {
        Ok(index) => Some(index),
        Err(_) => len.checked_sub(usize::try_from(index.unsigned_abs()).ok()?),
    }
}
