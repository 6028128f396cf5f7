//! The translations: each provider is a way to say in its own words what [`dns::hosted`] says, and to hear it.
//!
//! All of them have one shape: `x.rs` is the [`Provider`](provider::Provider), `x/client.rs` makes the calls and reads
//! pages to the end, `x/convert.rs` translates in both directions and is pure. All of them share how fast an account may
//! be asked ([`pace`]); whom this process connects to on behalf of others is judged by [`egress`].
//!
//! What they leave to others: what to write, and when.

pub mod aws;
pub mod pace;
mod registry;
mod resolve;
pub mod rfc2136;
pub mod zone;

pub use aws::Aws;
pub use registry::Registry;
pub use rfc2136::Rfc2136;
pub use zone::Zones;
