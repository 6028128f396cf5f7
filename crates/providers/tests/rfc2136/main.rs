//! The translation to dynamic updates, with real name servers and with one that misbehaves.

#![allow(
    clippy::unwrap_used,
    reason = "the functions that tests call may panic like tests"
)]

mod fake;
mod faults;
mod keys;
mod reads;
mod stage;
mod writes;

mod bind {
    //! BIND shows every behaviour of the contract.
    use crate::stage::Server;
    use testkit::name_server::Software;

    async fn stage() -> Server {
        Server::start(Software::Bind).await
    }

    provider::battery!(stage);
}

mod knot {
    //! Knot shows every behaviour of the contract.
    use crate::stage::Server;
    use testkit::name_server::Software;

    async fn stage() -> Server {
        Server::start(Software::Knot).await
    }

    provider::battery!(stage);
}
