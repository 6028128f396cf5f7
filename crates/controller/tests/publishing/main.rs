//! Exported sources become names (S1–S10): the whole loop, on the embedded API and on kube-apiserver.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

/// Each behaviour on each API.
macro_rules! on_both {
    ($($(#[doc = $doc:literal])* $name:ident;)+) => {
        mod embedded {
            $($(#[doc = $doc])* #[tokio::test]
            async fn $name() { super::$name(crate::stage::Home::Embedded).await; })+
        }
        mod on_cluster {
            $($(#[doc = $doc])* #[tokio::test]
            async fn $name() { super::$name(crate::stage::Home::Real).await; })+
        }
    };
}

mod both;
mod embedded;
mod killed;
mod many;
mod stage;
