//! What the system says of a process: how much it has worked, and how much memory it has.

use std::time::Duration;

use anyhow::{Context as _, Result};
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;

/// How long processors have worked for a process, in all its threads.
pub(crate) fn cpu(id: u32) -> Result<Duration> {
    let pid = Pid::from_raw(i32::try_from(id).context("a process id")?);
    let clock = clock_getcpuclockid(pid).context("the processor time of a process")?;
    let time = clock_gettime(clock).context("the processor time of a process")?;
    Ok(time.into())
}

/// How many octets of memory a process has, in a whole number of pages.
pub(crate) fn rss(id: u32) -> Result<f64> {
    let path = format!("/proc/{id}/status");
    let status = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    Ok(kibibytes.context("no memory in its status")? * 1024.0)
}
