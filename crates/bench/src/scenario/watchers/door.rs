//! Ways into an API: what a writer and its watchers need of one.

use std::convert::Infallible;
use std::sync::Arc;

use anyhow::{Result, ensure};
use apiserver::Service;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt as _, Full};
use tower::ServiceExt as _;

use super::arrivals::Arrivals;
use super::https::{Connection, Visitor};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// What is new from now on, and nothing else.
const WATCH: &str = "watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan";

/// How requests get to an API.
pub(super) enum Door {
    /// Without a socket.
    Inside(Service),
    Https(Entrance),
}

/// Connections, of which one is for writing.
pub(super) struct Entrance {
    visitor: Visitor,
    writing: Connection,
    watching: Vec<Connection>,
    watches: usize,
}

impl Entrance {
    pub(super) async fn open(visitor: Visitor) -> Result<Self> {
        Ok(Self {
            writing: visitor.connect().await?,
            watching: Vec::new(),
            watches: 0,
            visitor,
        })
    }

    /// A connection on which one more watch has room.
    async fn room(&mut self) -> Result<&mut Connection> {
        let full = self.visitor.protocol().requests_max();
        if self.watches.is_multiple_of(full) {
            self.watching.push(self.visitor.connect().await?);
        }
        self.watches += 1;
        Ok(self.watching.last_mut().expect("the first watch opens one"))
    }
}

impl Door {
    /// Begins a watch whose lines are counted.
    pub(super) async fn watch(&mut self, arrivals: &Arc<Arrivals>) -> Result<()> {
        let path = format!("{MAPS}?{WATCH}");
        match self {
            Self::Inside(service) => {
                let request = request(Method::GET, &path, Bytes::new())?;
                count(answer(service, request).await, arrivals)
            }
            Self::Https(entrance) => {
                let request = request(Method::GET, &entrance.visitor.uri(&path), Bytes::new())?;
                count(entrance.room().await?.send(request).await?, arrivals)
            }
        }
    }

    /// Writes an object and returns when it is acknowledged.
    pub(super) async fn create(&mut self, object: Bytes) -> Result<()> {
        let status = match self {
            Self::Inside(service) => {
                let request = request(Method::POST, MAPS, object)?;
                answer(service, request).await.status()
            }
            Self::Https(entrance) => {
                let request = request(Method::POST, &entrance.visitor.uri(MAPS), object)?;
                let response = entrance.writing.send(request).await?;
                let status = response.status();
                // Read, so that the connection is free for the next one.
                response.into_body().collect().await?;
                status
            }
        };
        ensure!(
            status == StatusCode::CREATED,
            "the API answered {status} to a write"
        );
        Ok(())
    }
}

fn request(method: Method, uri: &str, body: Bytes) -> Result<Request<Full<Bytes>>> {
    let request = Request::builder().method(method).uri(uri);
    let request = request.header(CONTENT_TYPE, "application/json");
    Ok(request.body(Full::new(body))?)
}

async fn answer(
    service: &Service,
    request: Request<Full<Bytes>>,
) -> Response<apiserver::ResponseBody> {
    let answered: Result<_, Infallible> = service.clone().oneshot(request).await;
    match answered {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

fn count<B>(watch: Response<B>, arrivals: &Arc<Arrivals>) -> Result<()>
where
    B: Body<Data = Bytes, Error: Send> + Send + Unpin + 'static,
{
    let status = watch.status();
    ensure!(
        status == StatusCode::OK,
        "the API answered {status} to a watch"
    );
    tokio::spawn(Arc::clone(arrivals).read(watch.into_body()));
    Ok(())
}
