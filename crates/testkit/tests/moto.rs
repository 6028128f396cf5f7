//! Moto answers, and ends with its owner.

#![expect(
    clippy::unwrap_used,
    reason = "the functions that tests call may panic like tests"
)]

use std::net::TcpStream;

use testkit::StartError;
use testkit::moto::Moto;

async fn start() -> Moto {
    let started = Moto::start().await;
    if let Err(StartError::Missing(error)) = &started {
        panic!("no moto: {error}");
    }
    started.unwrap()
}

#[tokio::test]
async fn moto_comes_up_and_gives_its_port_back() {
    let moto = start().await;
    let address = moto.address();
    assert!(TcpStream::connect(address).is_ok());
    drop(moto);
    assert!(TcpStream::connect(address).is_err());
}
