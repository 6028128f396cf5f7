//! Selectors: which objects a list, a watch or a deletion of many is about.
//!
//! `labelSelector` and `fieldSelector` arrive as texts of the query. They are parsed once, with
//! kube-apiserver's grammar and in its words of refusal, and then only asked whether they match.

mod field;
mod label;
mod lexer;
mod syntax;

#[cfg(test)]
mod on_cluster;
#[cfg(test)]
mod tests;

pub(crate) use field::{FieldSelector, text_at};
pub(crate) use label::LabelSelector;
