//! Worlds: zones that are served together, by every server alike.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use dns::{Name, Publication, Rdata, Rtype, Sighting, Version, zonefile};
use nameserver::{Limits, Options, Server};
use testkit::StartError;
use testkit::name_server::{NameServer, Software, ZoneFile};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Our server takes a moment; the rest is for a machine that is busy building.
const PUBLISHED_WITHIN: Duration = Duration::from_secs(30);

/// Zones that are served together.
pub(crate) struct World {
    files: Vec<ZoneFile>,
    versions: Vec<Version>,
    /// The names of the zones and those that their data speaks of, each with the types it has.
    pub(crate) names: BTreeMap<Name, BTreeSet<Rtype>>,
}

/// Every server over one world.
pub(crate) struct Running {
    ours: Server,
    publications: mpsc::Sender<Publication>,
    sightings: mpsc::Receiver<Sighting>,
    real: Vec<(Software, NameServer)>,
}

impl World {
    /// Reads the zone files of a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, String> {
        let shown = |error: std::io::Error| format!("{}: {error}", folder.display());
        let mut paths: Vec<_> = fs::read_dir(folder)
            .map_err(shown)?
            .flatten()
            .map(|entry| entry.path())
            .collect();
        paths.sort();
        let (mut files, mut versions) = (Vec::new(), Vec::new());
        for path in paths {
            let version = read_zone(&path).map_err(|why| format!("{}: {why}", path.display()))?;
            let origin = version.zone.origin().to_string();
            files.push(ZoneFile { origin, path });
            versions.push(version);
        }
        let names = names(&versions);
        Ok(Self {
            files,
            versions,
            names,
        })
    }

    /// The zones' own names.
    pub(crate) fn origins(&self) -> impl Iterator<Item = &Name> {
        self.versions.iter().map(|version| version.zone.origin())
    }

    /// Every type that is in one of the zones.
    pub(crate) fn types(&self) -> BTreeSet<Rtype> {
        self.names.values().flatten().copied().collect()
    }

    /// Starts all servers, the real ones first: the kernel does not pick a port for ours that they have.
    pub(crate) async fn serve(&self) -> Result<Running, StartError> {
        let start = |software| NameServer::start(software, &self.files);
        let [nsd, knot, bind] = Software::ALL.map(start);
        let (nsd, knot, bind) = tokio::try_join!(nsd, knot, bind)?;
        let mut running = Running::open(vec![
            (Software::Nsd, nsd),
            (Software::Knot, knot),
            (Software::Bind, bind),
        ]);
        for version in &self.versions {
            running.publish(version.clone()).await;
        }
        Ok(running)
    }
}

impl Running {
    fn open(real: Vec<(Software, NameServer)>) -> Self {
        let options = Options {
            listeners: vec!["127.0.0.1:0".parse().expect("a constant")],
            store: None,
            places: None,
            workers: Some(1),
            limits: Limits::default(),
        };
        let (publications, receiver) = mpsc::channel(64);
        let (sender, sightings) = mpsc::channel(64);
        let ours = Server::open(options, receiver, sender).expect("a port is free");
        Self {
            ours,
            publications,
            sightings,
            real,
        }
    }

    async fn publish(&mut self, version: Version) {
        let sent = self.publications.send(Publication::Version(version)).await;
        sent.expect("the server runs");
        let sighting = timeout(PUBLISHED_WITHIN, self.sightings.recv()).await;
        sighting
            .expect("a zone is seen in answers")
            .expect("the server runs");
    }

    /// The servers by name, ours first.
    pub(crate) fn servers(&self) -> Vec<(&'static str, SocketAddr)> {
        let ours = [("ours", self.ours.addresses()[0])];
        let real = self.real.iter();
        let real = real.map(|(software, server)| (software.name(), server.address()));
        ours.into_iter().chain(real).collect()
    }
}

fn read_zone(path: &Path) -> Result<Version, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let reading = zonefile::parse(&text, None);
    if !reading.problems.is_empty() {
        let problems = reading.problems.iter().map(ToString::to_string);
        return Err(problems.collect::<Vec<_>>().join("\n"));
    }
    let (zone, serial) = reading.zone.ok_or("no zone")?;
    Ok(Version { zone, serial })
}

fn names(versions: &[Version]) -> BTreeMap<Name, BTreeSet<Rtype>> {
    let mut names: BTreeMap<Name, BTreeSet<Rtype>> = BTreeMap::new();
    for Version { zone, .. } in versions {
        names
            .entry(zone.origin().clone())
            .or_default()
            .insert(Rtype::SOA);
        for (key, set) in zone.sets() {
            names.entry(key.name.clone()).or_default().insert(key.rtype);
            for target in set.data().iter().filter_map(Rdata::target) {
                names.entry(target).or_default();
            }
            for above in key
                .name
                .ancestors()
                .take_while(|above| above.is_below(zone.origin()))
            {
                names.entry(above).or_default();
            }
        }
    }
    names
}
