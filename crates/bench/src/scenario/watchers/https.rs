//! Connections to an API that listens, as kubectl and controllers make them.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use kube::client::ConfigExt as _;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::program::config;

/// What is spoken on a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Protocol {
    Http1,
    Http2,
}

/// Someone who knows where an API is and may go in.
pub(super) struct Visitor {
    address: SocketAddr,
    protocol: Protocol,
    tls: TlsConnector,
}

/// One connection.
pub(super) enum Connection {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

impl Protocol {
    /// How many requests may be under way on a connection: as many as the listener allows.
    pub(super) fn requests_max(self) -> usize {
        match self {
            Self::Http1 => 1,
            Self::Http2 => 250,
        }
    }

    fn alpn(self) -> Vec<u8> {
        match self {
            Self::Http1 => b"http/1.1".to_vec(),
            Self::Http2 => b"h2".to_vec(),
        }
    }
}

impl Visitor {
    pub(super) async fn new(
        address: SocketAddr,
        protocol: Protocol,
        kubeconfig: &Path,
    ) -> Result<Self> {
        let mut tls = config(kubeconfig).await?.rustls_client_config()?;
        tls.alpn_protocols = vec![protocol.alpn()];
        Ok(Self {
            address,
            protocol,
            tls: TlsConnector::from(Arc::new(tls)),
        })
    }

    pub(super) fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// The address of a path there.
    pub(super) fn uri(&self, path: &str) -> String {
        format!("https://{}{path}", self.address)
    }

    pub(super) async fn connect(&self) -> Result<Connection> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        let name = ServerName::from(self.address.ip());
        let stream = TokioIo::new(self.tls.connect(name, stream).await?);
        Ok(match self.protocol {
            Protocol::Http1 => {
                let (sender, connection) = http1::handshake(stream).await?;
                tokio::spawn(connection);
                Connection::Http1(sender)
            }
            Protocol::Http2 => {
                let executor = TokioExecutor::new();
                let (sender, connection) = http2::handshake(executor, stream).await?;
                tokio::spawn(connection);
                Connection::Http2(sender)
            }
        })
    }
}

impl Connection {
    pub(super) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>> {
        let sent = match self {
            Self::Http1(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
            Self::Http2(sender) => sender.send_request(request).await,
        };
        sent.context("the API did not answer")
    }
}
