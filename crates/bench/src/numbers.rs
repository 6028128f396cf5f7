//! What the program says of itself at `/metrics`.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Empty};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// How long the program may take to have nothing left to do: a hundred thousand Records are many writes.
const SETTLES_WITHIN: Duration = Duration::from_mins(5);

/// How often it has to have nothing to do, asked again and again: between two writes it may look idle.
const IDLE_TIMES: usize = 5;

/// All numbers at one moment.
pub(crate) struct Numbers(String);

impl Numbers {
    pub(crate) async fn read(server: SocketAddr) -> Result<Numbers> {
        let stream = TcpStream::connect(server).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        let request = Request::get("/metrics").header("host", "localhost");
        let response = sender
            .send_request(request.body(Empty::<Bytes>::new())?)
            .await?;
        let body = response.into_body().collect().await?.to_bytes();
        Ok(Numbers(String::from_utf8(body.into())?))
    }

    /// The sum of a metric over all labels that contain `part`.
    pub(crate) fn sum(&self, metric: &str, part: &str) -> f64 {
        let lines = self.0.lines().filter_map(|line| {
            let (series, value) = line.rsplit_once(' ')?;
            let labels = series.strip_prefix(metric)?;
            let whole = labels.is_empty() || labels.starts_with('{');
            (whole && labels.contains(part)).then(|| value.parse::<f64>().ok())?
        });
        lines.fold(0.0, |sum, value| sum + value)
    }
}

/// Returns when the program leads.
pub(crate) async fn leading(server: SocketAddr) -> Result<()> {
    until(server, 1, |numbers| {
        numbers.sum("zonewright_leader", "") > 0.0
    })
    .await
}

/// Returns when there is nothing left to do.
pub(crate) async fn settled(server: SocketAddr) -> Result<()> {
    until(server, IDLE_TIMES, |numbers| {
        let gauges = ["zonewright_queue_waiting", "zonewright_queue_working"];
        gauges.iter().all(|gauge| numbers.sum(gauge, "") == 0.0)
    })
    .await
}

/// Returns when something holds so many times in a row.
async fn until(server: SocketAddr, times: usize, holds: impl Fn(&Numbers) -> bool) -> Result<()> {
    let mut held = 0;
    let asked = testkit::eventually(SETTLES_WITHIN, "the program to settle", async || {
        let numbers = Numbers::read(server).await;
        held = match &numbers {
            Ok(numbers) if holds(numbers) => held + 1,
            Ok(_) | Err(_) => 0,
        };
        if held == times {
            return Ok(());
        }
        Err(numbers.map_or_else(|error| error.to_string(), |numbers| numbers.0))
    });
    Ok(asked.await?)
}

#[cfg(test)]
mod tests {
    use super::Numbers;

    #[test]
    fn a_metric_is_summed_over_the_labels_that_are_asked_for() {
        let text = "# TYPE w counter\nw_total{kind=\"Zone\",verb=\"patch\"} 2\nw_total{kind=\"Record\"} 3\nw_total_other 7\nplain 1.5\n";
        let numbers = Numbers(text.to_owned());
        let sums = [
            ("w_total", ""),
            ("w_total", "Record"),
            ("plain", ""),
            ("none", ""),
        ];
        assert_eq!(
            sums.map(|(metric, part)| numbers.sum(metric, part).to_string()),
            ["5", "3", "1.5", "0"]
        );
    }
}
