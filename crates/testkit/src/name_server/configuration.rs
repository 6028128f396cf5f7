//! How each server is told the same thing, in its own words.
//!
//! What they have in common: one address, one thread where that can be said, the zones and nothing else; minimal
//! responses, no rate limit, no cookies, no transfers but with a key, no recursion, no control channel; they keep the
//! user they were started as, and every file they write is in their directory.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::Path;

use super::{Programs, Software, TsigKey, ZoneFile};
use crate::process::Process;

/// Writes the configuration and starts the program in the foreground.
pub(super) fn spawn(
    programs: &Programs,
    software: Software,
    directory: &Path,
    address: SocketAddr,
    zones: &[ZoneFile],
    key: Option<&TsigKey>,
) -> io::Result<Process> {
    let copies = key.map(|_| copy(zones, directory)).transpose()?;
    let zones = copies.as_deref().unwrap_or(zones);
    let (text, arguments): (String, &[&str]) = match software {
        Software::Nsd => (nsd(directory, address, zones, key), &["-d", "-c"]),
        Software::Knot => (knot(directory, address, zones, key), &["-c"]),
        Software::Bind => (
            bind(directory, address, zones, key),
            &["-g", "-n", "1", "-c"],
        ),
    };
    let file = directory.join("configuration");
    fs::write(&file, text)?;
    let mut command = programs.command(software);
    command.args(arguments).arg(file);
    Process::start(software.name(), command, directory)
}

/// Zones that change are written by the server, and journals beside them.
fn copy(zones: &[ZoneFile], directory: &Path) -> io::Result<Vec<ZoneFile>> {
    let copy = |(index, zone): (usize, &ZoneFile)| {
        let path = directory.join(format!("{index}.zone"));
        fs::copy(&zone.path, &path)?;
        let origin = zone.origin.clone();
        Ok(ZoneFile { origin, path })
    };
    zones.iter().enumerate().map(copy).collect()
}

fn nsd(directory: &Path, address: SocketAddr, zones: &[ZoneFile], key: Option<&TsigKey>) -> String {
    let (ip, port, directory) = (address.ip(), address.port(), directory.display());
    let mut text = format!(
        r#"server:
  ip-address: {ip}@{port}
  server-count: 1
  username: ""
  chroot: ""
  database: ""
  zonesdir: "{directory}"
  pidfile: "{directory}/nsd.pid"
  xfrdfile: "{directory}/xfrd.state"
  xfrdir: "{directory}"
  zonelistfile: "{directory}/zone.list"
  minimal-responses: yes
  rrl-ratelimit: 0
  answer-cookie: no
  hide-version: yes
  hide-identity: yes
remote-control:
  control-enable: no
"#
    );
    let mut rights = String::new();
    if let Some(TsigKey {
        name,
        algorithm,
        secret,
    }) = key
    {
        let _infallible = write!(
            text,
            "key:\n  name: \"{name}\"\n  algorithm: {algorithm}\n  secret: \"{secret}\"\n"
        );
        rights = format!("  provide-xfr: {ip} {name}\n");
    }
    for zone in zones {
        let ZoneFile { origin, path } = zone;
        let _infallible = write!(
            text,
            "zone:\n  name: \"{origin}\"\n  zonefile: \"{}\"\n{rights}",
            path.display()
        );
    }
    text
}

fn knot(
    directory: &Path,
    address: SocketAddr,
    zones: &[ZoneFile],
    key: Option<&TsigKey>,
) -> String {
    let (ip, port, directory) = (address.ip(), address.port(), directory.display());
    let mut text = format!(
        r#"server:
  rundir: "{directory}"
  listen: {ip}@{port}
  identity: ""
  version: ""
  nsid: ""
  udp-workers: 1
  tcp-workers: 1
  background-workers: 1
log:
  - target: stderr
    any: info
database:
  storage: "{directory}"
"#
    );
    // What changes is kept in the journal, so that only differences need to be transferred.
    let mut rights = "    journal-content: none\n";
    if let Some(TsigKey {
        name,
        algorithm,
        secret,
    }) = key
    {
        let _infallible = write!(
            text,
            r#"key:
  - id: "{name}"
    algorithm: {algorithm}
    secret: "{secret}"
acl:
  - id: key
    key: "{name}"
    action: [transfer, update]
"#
        );
        rights = "    journal-content: changes\n    acl: key\n";
    }
    text.push_str("zone:\n");
    for zone in zones {
        let ZoneFile { origin, path } = zone;
        let _infallible = write!(
            text,
            "  - domain: \"{origin}\"\n    file: \"{}\"\n    zonefile-sync: -1\n{rights}",
            path.display()
        );
    }
    text
}

/// Its checks of zone files are off: what is served is the question here, not what should be. The class CH has a view
/// of its own, because the one that is there otherwise has a rate limit.
fn bind(
    directory: &Path,
    address: SocketAddr,
    zones: &[ZoneFile],
    key: Option<&TsigKey>,
) -> String {
    let (ip, port, directory) = (address.ip(), address.port(), directory.display());
    let (mut keys, mut rights) = (String::new(), String::new());
    if let Some(TsigKey {
        name,
        algorithm,
        secret,
    }) = key
    {
        keys = format!("key \"{name}\" {{ algorithm {algorithm}; secret \"{secret}\"; }};\n");
        rights = format!(
            "allow-transfer {{ key \"{name}\"; }}; update-policy {{ grant \"{name}\" zonesub ANY; }}; "
        );
    }
    let mut text = format!(
        r#"options {{
  directory "{directory}";
  listen-on port {port} {{ {ip}; }};
  listen-on-v6 {{ none; }};
  pid-file none;
  session-keyfile none;
  recursion no;
  minimal-responses yes;
  answer-cookie no;
  zero-no-soa-ttl no;
  notify no;
  allow-transfer {{ none; }};
  empty-zones-enable no;
  dnssec-validation no;
  version none;
  hostname none;
  server-id none;
  check-names primary ignore;
  check-integrity no;
  check-mx ignore;
  check-mx-cname ignore;
  check-srv-cname ignore;
  check-sibling no;
  check-spf ignore;
  check-wildcard no;
}};
controls {{ }};
{keys}view "chaos" CH {{ match-clients {{ any; }}; }};
view "internet" IN {{
"#
    );
    for zone in zones {
        let ZoneFile { origin, path } = zone;
        let _infallible = writeln!(
            text,
            "  zone \"{origin}\" {{ type primary; file \"{}\"; {rights}}};",
            path.display()
        );
    }
    text.push_str("};\n");
    text
}
