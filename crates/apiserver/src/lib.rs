//! A Kubernetes API in a struct.
//!
//! Zonewright runs on one machine without a cluster because this crate is inside it. It answers as
//! kube-apiserver does: the same paths, objects, refusals, watches and tables, so that kubectl,
//! kube and client-go do not notice. It knows nothing of DNS; its kinds are the built-in ones that
//! Zonewright's users touch, and whatever a CustomResourceDefinition declares.
//!
//! ```text
//! kubectl ─ TLS ─ face ─┐                                   ┌─ schema   prune, default, validate, CEL
//!                       ├─► service ─► request ─► engine ───┼─ patch    json, merge, strategic, apply
//! Apiserver::client() ──┘   (async)    (pure)     (pure)    ├─ managed_fields
//!                              │                    │       ├─ table, discovery, openapi
//!                              │                    │       └─ admission   whom a write is shown to first
//!                              │                    ▼
//!                              │                  store      objects, revisions, the log of changes
//!                              ▼
//!                           storage                          durable before it is acknowledged
//! ```
//!
//! Inside, everything that judges is a function of the request, the store, the time and a source of
//! chance that are handed in. What awaits, sleeps, locks and writes to disk is around it.

mod admission;
mod apiserver;
mod archive;
mod body;
mod builtin;
mod catalog;
mod clock;
mod cores;
mod crd;
mod discovery;
mod durability;
mod duration;
mod engine;
mod face;
mod feed;
mod impersonation;
mod key;
mod managed_fields;
mod media_type;
mod metadata;
mod metrics;
mod object;
mod openapi;
mod patch;
mod present;
mod refusal;
mod request;
mod resource;
mod schema;
mod selection;
mod selector;
mod service;
mod shared;
mod storage;
mod store;
mod stream;
mod table;
mod tokens;
mod user;

pub use admission::Services;
pub use apiserver::{Apiserver, Kubeconfig, OpenError, Options};
pub use archive::{ArchiveError, backup, restore};
pub use clock::Clock;
pub use face::{AdminCredential, ListenError};
pub use service::{ResponseBody, Service};
