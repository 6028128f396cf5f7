//! Whole looks in worlds of name servers in memory, by what is told in the end.

mod aliases;
mod bounds;
mod delegations;
mod resolvers;
mod servers;
mod wildcards;
mod world;

use std::net::SocketAddr;
use std::time::Duration;

use dns::Name;
use egress::Egress;
use tokio::time::Instant;

use crate::check::Check;
use crate::{DNS_PORT, Finding, Sources, look};
use world::World;

/// The root, a top level, and a domain with two servers that are still to be described.
const ABOVE: &str = "
192.0.2.1 serves .
  com. NS ns.com.
  ns.com. A 192.0.2.2
  net. NS ns.net.
  ns.net. A 192.0.2.5
192.0.2.2 serves com.
  example.com. NS ns1.example.com.
  example.com. NS ns2.example.com.
  ns1.example.com. A 192.0.2.3
  ns2.example.com. A 192.0.2.4
192.0.2.5 serves net.
  example.net. NS ns.example.net.
  ns.example.net. A 192.0.2.6
";

const TEXT: &str = "proof";
const CHALLENGE: &str = "_c.example.com.";
const DOMAIN: &str = "example.com.";

/// What a look came to, and what it took.
struct Looked {
    finding: Finding,
    questions: usize,
    took: Duration,
    world: World,
}

/// Both servers of the domain with the same records.
fn both(records: &str) -> String {
    let served = |server: &str| format!("{server} serves example.com.\n{records}\n");
    [ABOVE, &served("192.0.2.3"), &served("192.0.2.4")].concat()
}

fn sources(addresses: &[&str]) -> Vec<SocketAddr> {
    let at = |address: &&str| SocketAddr::new(address.parse().unwrap(), DNS_PORT);
    addresses.iter().map(at).collect()
}

async fn look_at(world: &str, sources: &Sources, names: &[&str]) -> Looked {
    let world = World::read(world);
    let egress = Egress {
        ranges: vec!["192.0.2.0/24".parse().unwrap()],
        hosts: Vec::new(),
    };
    let check = Check::new(&world, sources, &egress, DNS_PORT, TEXT, "stranger");
    let names: Vec<Name> = names.iter().map(|it| Name::parse(it).unwrap()).collect();
    let began = Instant::now();
    let finding = look(&check, &names).await;
    let questions = world.asked.lock().unwrap().len();
    Looked {
        finding,
        questions,
        took: began.elapsed(),
        world,
    }
}

/// Looks at the challenge and the domain, from the root.
async fn looked(world: &str) -> Looked {
    let roots = Sources::Roots(sources(&["192.0.2.1"]));
    look_at(world, &roots, &[CHALLENGE, DOMAIN]).await
}

/// What is told after a look at the challenge and the domain.
async fn told(world: &str) -> String {
    looked(world).await.finding.to_string()
}

/// What is told after a look at the challenge alone.
async fn told_of_challenge(world: &str) -> String {
    let roots = Sources::Roots(sources(&["192.0.2.1"]));
    let looked = look_at(world, &roots, &[CHALLENGE]).await;
    looked.finding.to_string()
}
