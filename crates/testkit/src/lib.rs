//! Real parts for tests.
//!
//! A test that matters runs against the thing itself. This crate brings such things to any
//! machine that has Rust, Go, Python and apt, without a container runtime and without a cluster:
//!
//! - [`control_plane`]: etcd, kube-apiserver, kube-controller-manager and kubectl of one Kubernetes
//!   release, built once into a cache and started on loopback in about three seconds.
//! - [`name_server`]: NSD, Knot and BIND as Debian has them, each on a port of its own over the zone files that a test
//!   gives it.
//! - [`moto`]: somebody else's stand-in for Amazon, to hold ours against.
//! - [`route53`]: a double of Amazon Route 53 that keeps its rules, and fails on demand.
//! - [`geo_database`]: databases that say where networks are, as small as a test needs them.
//! - [`accepted`]: rules for what may be different when our programs are compared with others, each with its reason.
//! - [`eventually`]: the one place where a test waits. It has a deadline and tells what it saw
//!   last.
//! - [`manifest`]: YAML in, created or applied objects or the API's own words of refusal out.
//! - [`crds`]: installs kinds and returns when they can be used.
//! - [`valve`]: a way to an API that closes after so many writes, as if whoever writes had died.
//! - [`webhooks`]: a server of admission webhooks on loopback.
//! - [`mortal`]: a command whose process does not outlive the one that starts it.
//! - [`Up`]: a running `zonewright up`.
//! - [`namespace()`]: a fresh namespace, which is how tests that share a control plane keep apart.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use testkit::control_plane::{self, Identity};
//!
//! let plane = control_plane::shared().await;
//! let admin = plane.client(Identity::Admin);
//! let namespace = testkit::namespace(&admin, "zones").await?;
//! plane.bind_tenant(&namespace).await?;
//!
//! let yaml = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}";
//! let objects = testkit::manifest::read(yaml)?;
//! let tenant = plane.client(Identity::Tenant);
//! testkit::manifest::create(&tenant, &namespace, &objects[0]).await?;
//! # Ok(())
//! # }
//! ```
//!
//! The border: nothing here knows our own kinds beyond the names of their API groups, or more of DNS than it takes to see
//! that a server is up. What is asked of the real parts, and what the answers mean, stays in the tests.

pub mod accepted;
pub mod cache;
pub mod control_plane;
pub mod crds;
pub mod geo_database;
pub mod manifest;
pub mod moto;
pub mod name_server;
pub mod route53;
pub mod valve;
pub mod wait;
pub mod webhooks;

mod namespace;
mod process;
mod progress;
mod start;
mod tail;
mod up;

pub use namespace::namespace;
pub use process::mortal;
pub use start::StartError;
pub use up::Up;
pub use wait::eventually;
