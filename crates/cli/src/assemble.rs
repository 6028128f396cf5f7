//! Puts the parts together that run: a name server, controllers, and the way between them.
//!
//! The parts know each other only by what they exchange. The name server comes first, for it answers with what it has
//! stored while everything else is still starting; it goes last.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use api::parse::provider_secret::{ProviderKind, ProviderSecret};
use controller::health::{self, Pulse};
use controller::{
    Ask, Clock, Controller, CustomDomains, DnsPolicies, DnsPolicyOptions, DnsRecordOptions,
    DnsRecords, DomainOptions, Health, Metrics, NameServer, Open, Opened, Probes, Publisher,
    PublisherOptions, Question, Running, Surroundings,
};
use egress::Egress;
use futures_util::future::join_all;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use kube::Client;
use nameserver::{Limits, OpenError, Places, Server};
use prober::{Asking, Prober};
use prometheus_client::registry::Registry;
use provider::Boxed;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use reconcile::dns_record::Pace;
use reconcile::hosted::GuardRules;
use reconcile::hosting::HostingPolicy;
use reconcile::probing::Probing;
use reconcile::{Authority, ObjectKey, Policy, publishing};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use crate::args::controller::pace::Retry;
use crate::args::controller::providers::Provider as ProviderFlag;
use crate::args::controller::sources::{Placement, Sources};
use crate::args::controller::{Controller as Flags, zones::ZoneAuthority};
use crate::background::Background;
use crate::custom_domains::{self, Looker};

/// How many publications wait for the name server: it takes all that are there at once.
const PUBLICATIONS_MAX: usize = 64;

/// The addresses of this machine alone.
const LOOPBACK: [IpNet; 2] = [
    IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(127, 0, 0, 0), 8)),
    IpNet::V6(Ipv6Net::new_assert(Ipv6Addr::LOCALHOST, 128)),
];

/// How long DNSRecords wait for the Zones of this cluster to be looked at for the first time.
const ZONES_WITHIN: Duration = Duration::from_secs(10);

/// How long the Records of managed hosts are waited for at the start.
const MANAGED_HOSTS_WITHIN: Duration = Duration::from_secs(1);

/// How much the controllers of Zones can have to say to those of DNSRecords.
const NEIGHBOURS_MAX: usize = 4096;

/// How many sightings wait for the controllers.
const SIGHTINGS_MAX: usize = 1024;

/// A name server, and the controllers' way to it.
#[derive(Debug)]
pub(crate) struct Answering {
    pub(crate) server: Server,
    pub(crate) way: NameServer,
}

impl Answering {
    /// Listens, and answers with what is stored.
    pub(crate) fn open(
        address: SocketAddr,
        store: Option<PathBuf>,
        places: Option<Arc<Places>>,
    ) -> anyhow::Result<Answering> {
        let (publications, told) = mpsc::channel(PUBLICATIONS_MAX);
        let (seen, sightings) = mpsc::channel(SIGHTINGS_MAX);
        let options = nameserver::Options {
            listeners: vec![address],
            store,
            places,
            workers: None,
            limits: Limits::default(),
        };
        let server = Server::open(options, told, seen).map_err(explain)?;
        let way = NameServer {
            publications,
            sightings,
            stored: server.stored().clone(),
        };
        Ok(Answering { server, way })
    }
}

/// What a person can do about a name server that does not open.
fn explain(error: OpenError) -> anyhow::Error {
    let listening = matches!(error, OpenError::Listen { .. });
    let error = anyhow::Error::new(error);
    if listening {
        error.context("the name server cannot listen; choose another address with --dns")
    } else {
        error.context("the name server cannot be opened")
    }
}

/// Where clients are, from the file of `--geo-database`.
pub(crate) fn places(file: Option<&Path>) -> anyhow::Result<Option<Arc<Places>>> {
    let Some(file) = file else { return Ok(None) };
    let places = Places::open(file).with_context(|| {
        let file = file.display();
        format!(
            "cannot use {file} to find out where clients are; choose another with --geo-database"
        )
    })?;
    Ok(Some(Arc::new(places)))
}

/// What controllers are made of.
pub(crate) struct Parts<'a> {
    pub(crate) client: Client,
    pub(crate) flags: &'a Flags,
    pub(crate) namespaces: Vec<String>,
    pub(crate) name_server: Option<NameServer>,
    pub(crate) leading: watch::Receiver<bool>,
    /// What custom domains need; nothing, where they are off.
    pub(crate) domains: Option<custom_domains::Facts>,
    /// Where metrics and health are served.
    pub(crate) http: TcpListener,
    /// Whether providers may be on this machine.
    pub(crate) loopback: bool,
}

/// Controllers that run, and what can be asked about them.
#[derive(Debug)]
pub(crate) struct Controllers {
    background: Background,
    running: Running,
    dns_records: Running,
    dns_policies: Running,
    publisher: Running,
    /// Nobody, where the operator wants no probes.
    probes: Option<Running>,
    /// Nobody, where there is no managed domain.
    domains: Option<Running>,
    http: SocketAddr,
    stop: watch::Sender<bool>,
}

impl Controllers {
    pub(crate) fn start(parts: Parts<'_>) -> anyhow::Result<Controllers> {
        let mut registry = Registry::default();
        let pulse = Pulse::new(Instant::now());
        let aside = Pulse::new(Instant::now()).of("DNSRecord");
        let above = Pulse::new(Instant::now()).of("DNSPolicy");
        let outside = Pulse::new(Instant::now()).of("ServiceRecord");
        let metrics = Metrics::new(&mut registry);
        let (client, leading) = (parts.client.clone(), parts.leading.clone());
        let around = |pulse: &Pulse| Surroundings {
            client: client.clone(),
            clock: Clock::System,
            chance: StdRng::from_os_rng(),
            leading: leading.clone(),
            metrics: metrics.clone(),
            pulse: pulse.clone(),
            identity: identity(),
        };
        let within = Pulse::new(Instant::now()).of("DNSHealthCheckProbe");
        let probes = parts.flags.health.enable_probes;
        let probes = probes.then(|| probes_of(&parts, around(&within)));
        let probes = probes.transpose()?;
        let gate = Pulse::new(Instant::now()).of("DomainVerification");
        let domains = parts.domains.clone();
        let domains = domains.map(|facts| domains_of(&parts, facts, around(&gate)));
        let (neighbours, noticed) = mpsc::channel(NEIGHBOURS_MAX);
        let controller = Controller {
            around: around(&pulse),
            options: options(parts.flags, parts.namespaces.clone()),
            name_server: parts.name_server,
            neighbours: Some(neighbours),
        };
        let background = Background::start("controllers").context("cannot start a thread")?;
        let inside = background.enter();
        let running = controller.start();
        let dns_records = DnsRecords {
            around: around(&aside),
            options: dns_record_options(parts.flags, parts.namespaces.clone()),
            open: Arc::new(Opener(providers::Registry::new(
                parts.client.clone(),
                egress(parts.flags, parts.loopback),
            ))),
            neighbours: noticed,
            after: Box::pin(running.first_settled(ZONES_WITHIN)),
        };
        let dns_records = dns_records.start();
        let publisher = Publisher {
            around: around(&outside),
            options: publisher_options(&parts.flags.sources, parts.namespaces.clone()),
            keyring: parts.domains.as_ref().map(|facts| facts.keyring.clone()),
        };
        let publisher = publisher.start();
        let dns_policies = DnsPolicies {
            around: around(&above),
            options: DnsPolicyOptions {
                namespaces: parts.namespaces,
                grace: parts.flags.sources.source_grace,
            },
        };
        let dns_policies = dns_policies.start();
        let mut health = Health::new(registry, pulse)
            .beside(aside)
            .beside(above)
            .beside(outside)
            .ready_when(running.checks())
            .ready_when(dns_records.checks())
            .ready_when(dns_policies.checks())
            .ready_when(publisher.checks());
        let mut running_probes = None;
        if let Some(probes) = probes {
            health = health.beside(within);
            let running = probes.start();
            health = health.ready_when(running.checks());
            running_probes = Some(running);
        }
        let mut running_domains = None;
        if let Some(domains) = domains {
            let running = domains.start();
            health = health.beside(gate).ready_when(running.checks());
            running_domains = Some(running);
        }
        drop(inside);
        let (http, stop) = serve(parts.http, health)?;
        Ok(Controllers {
            background,
            running,
            dns_records,
            dns_policies,
            publisher,
            probes: running_probes,
            domains: running_domains,
            http,
            stop,
        })
    }

    /// Where metrics and health are served.
    pub(crate) fn http(&self) -> SocketAddr {
        self.http
    }

    /// Waits until nothing is left to do for those who make Records: for policies, for exported sources, for DNSRecords.
    /// Whether it came to that.
    pub(crate) async fn records_are_made(&mut self, within: Duration) -> bool {
        if let Some(domains) = &mut self.domains {
            // Managed hosts are made at once; name servers that are asked for a proof may take longer than anybody waits.
            domains.settled(MANAGED_HOSTS_WITHIN).await;
        }
        self.dns_policies.settled(within).await
            && self.publisher.settled(within).await
            && self.dns_records.settled(within).await
    }

    /// Waits until nothing is left to do for Zones and Records. Whether it came to that.
    pub(crate) async fn zones_are_answered(&mut self, within: Duration) -> bool {
        self.running.settled(within).await
    }

    /// Lets what has begun finish.
    pub(crate) async fn shutdown(self, within: Duration) {
        let everybody = [
            Some(self.running),
            Some(self.dns_records),
            Some(self.dns_policies),
            Some(self.publisher),
            self.probes,
            self.domains,
        ];
        let everybody = everybody.into_iter().flatten();
        let finished = join_all(everybody.map(|running| running.shutdown(within))).await;
        if !finished.into_iter().all(|finished| finished) {
            tracing::warn!("Controllers did not finish in time");
        }
        self.stop.send_replace(true);
        self.background.stop();
    }
}

/// Who this process is: its host and its number.
pub(crate) fn identity() -> String {
    let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "zonewright".to_owned());
    format!("{host}_{}", std::process::id())
}

/// From Secrets to providers.
struct Opener(providers::Registry);

impl Open for Opener {
    fn open<'a>(
        &'a self,
        namespace: &'a str,
        access: &'a ProviderSecret,
    ) -> Boxed<'a, Result<Opened, provider::Error>> {
        Box::pin(async {
            let (provider, zone) = self.0.open(namespace, access).await?;
            Ok(Opened { provider, zone })
        })
    }
}

/// What is published for exported sources, and how.
fn publisher_options(flags: &Sources, namespaces: Vec<String>) -> PublisherOptions {
    let service = &flags.endpoint_service;
    PublisherOptions {
        namespaces,
        policy: publishing::Policy {
            namespace: flags.service_record_namespace.clone(),
            placement: match flags.service_record_placement {
                Placement::Central => publishing::Placement::Central,
                Placement::Source => publishing::Placement::Source,
            },
            endpoint_service: Some(ObjectKey::new(&service.namespace, &service.name)),
            node_endpoints: flags.node_endpoints,
        },
        grace: flags.source_grace,
    }
}

fn probes_of(parts: &Parts<'_>, around: Surroundings) -> anyhow::Result<Probes> {
    Ok(Probes {
        around,
        namespaces: parts.namespaces.clone(),
        insecure: parts.flags.health.insecure_health_checks,
        ask: Arc::new(Asker::new(egress(parts.flags, parts.loopback))?),
    })
}

fn domains_of(
    parts: &Parts<'_>,
    facts: custom_domains::Facts,
    around: Surroundings,
) -> CustomDomains {
    let egress = egress(parts.flags, parts.loopback);
    CustomDomains {
        around,
        options: DomainOptions {
            namespaces: parts.namespaces.clone(),
            managed: facts.managed,
            keyring: facts.keyring,
            grace: parts.flags.sources.source_grace,
        },
        look: Arc::new(Looker::new(&parts.flags.domains, egress)),
    }
}

/// Serves metrics and health. Where, and what ends it.
fn serve(http: TcpListener, health: Health) -> anyhow::Result<(SocketAddr, watch::Sender<bool>)> {
    let address = http.local_addr().context("a socket without an address")?;
    http.set_nonblocking(true).context("cannot serve HTTP")?;
    let listener = tokio::net::TcpListener::from_std(http).context("cannot serve HTTP")?;
    let (stop, mut stopped) = watch::channel(false);
    let until = async move {
        // A sender that is gone means the same.
        let _ = stopped.wait_for(|stop| *stop).await;
    };
    tokio::spawn(health::serve(listener, health.service(), until));
    Ok((address, stop))
}

/// From probes to targets.
struct Asker(Prober);

impl Asker {
    fn new(egress: Egress) -> anyhow::Result<Asker> {
        let prober = Prober::new(egress, prober::system_roots());
        Ok(Asker(
            prober.context("cannot set up TLS for health checks")?,
        ))
    }
}

impl Ask for Asker {
    fn ask<'a>(&'a self, question: &'a Question) -> Boxed<'a, Result<u16, String>> {
        let Question {
            probe,
            headers,
            insecure,
        } = question;
        let asking = Asking {
            host: probe.host.clone(),
            target: probe.target.clone(),
            port: probe.check.port,
            protocol: probe.check.protocol,
            path: probe.check.path.clone(),
            headers: headers.clone(),
            insecure: *insecure,
            within: probe.check.interval,
        };
        Box::pin(async move {
            let asked = self.0.ask(&asking).await;
            asked.map_err(|fault| fault.to_string())
        })
    }
}

/// Whom providers and targets may be, beside those that anybody can reach.
fn egress(flags: &Flags, loopback: bool) -> Egress {
    let loopback = loopback.then_some(LOOPBACK).into_iter().flatten();
    let ranges = flags.health.allowed_addresses.iter().copied();
    let hosts = flags.health.allowed_endpoints.iter();
    Egress {
        ranges: ranges.chain(loopback).collect(),
        hosts: hosts.map(ToString::to_string).collect(),
    }
}

fn dns_record_options(flags: &Flags, namespaces: Vec<String>) -> DnsRecordOptions {
    let pace = &flags.pace;
    let enabled = flags
        .providers
        .providers
        .iter()
        .map(|provider| match provider {
            ProviderFlag::Aws => ProviderKind::Aws,
            ProviderFlag::Rfc2136 => ProviderKind::Rfc2136,
            ProviderFlag::Zone => ProviderKind::Zone,
            ProviderFlag::Inmemory => ProviderKind::InMemory,
        });
    DnsRecordOptions {
        namespaces,
        pace: Pace {
            valid_for: pace.valid_for,
            requeue: pace.requeue_time,
            write_limit: pace.write_limit.get(),
            retry: pace.retry == Retry::Transient,
        },
        validation: pace.min_requeue_time,
        debounce: pace.debounce,
        policy: HostingPolicy {
            enabled: enabled.collect(),
            discovery: flags.providers.zone_discovery,
            probing: Probing {
                enabled: flags.health.enable_probes,
                insecure: flags.health.insecure_health_checks,
            },
        },
        guard: GuardRules {
            percent_max: u32::from(flags.zones.guard_percent),
            deletions: flags.zones.guard_deletions,
        },
    }
}

fn options(flags: &Flags, namespaces: Vec<String>) -> controller::Options {
    let authority = match flags.zones.zone_authority {
        ZoneAuthority::Strict => Authority::Strict,
        ZoneAuthority::Open => Authority::Open,
    };
    let inline_max = flags.zones.inline_entries_max;
    controller::Options {
        policy: Policy {
            authority,
            inline_max: usize::try_from(inline_max).unwrap_or(usize::MAX),
            ..Policy::default()
        },
        namespaces,
        debounce: flags.pace.debounce,
    }
}
