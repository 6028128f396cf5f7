//! Who is led where: by place and by weight, from manifest to answer.

use std::collections::BTreeMap;
use std::fs;
use std::net::Ipv4Addr;

use tempfile::TempDir;

use crate::stage::{SOMEBODY, Up, ask};

/// Clients of this machine, and where the database says they are.
const IRELAND: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
const AMERICA: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);

/// How often weights are tried. With three to one, fewer than half or more than nine in ten would be six deviations off.
const TRIES: usize = 400;

/// A second Gateway with the same host, each with a policy of its own; and a DNSRecord by hand.
const MORE: &str = r#"
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: west, namespace: shop}
spec:
  gatewayClassName: example
  listeners: [{name: web, hostname: both.apps.example.org, port: 80, protocol: HTTP}]
status:
  addresses: [{type: IPAddress, value: 192.0.2.81}]
  listeners: [{name: web, attachedRoutes: 1, conditions: [], supportedKinds: []}]
---
apiVersion: kuadrant.io/v1
kind: DNSPolicy
metadata: {name: west, namespace: shop}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: west}
  providerRefs: [{name: example-org}]
  loadBalancing: {weight: 120, geo: US, defaultGeo: true}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: east, namespace: shop}
spec:
  gatewayClassName: example
  listeners: [{name: web, hostname: both.apps.example.org, port: 80, protocol: HTTP}]
status:
  addresses: [{type: IPAddress, value: 192.0.2.82}]
  listeners: [{name: web, attachedRoutes: 1, conditions: [], supportedKinds: []}]
---
apiVersion: kuadrant.io/v1
kind: DNSPolicy
metadata: {name: east, namespace: shop}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: east}
  providerRefs: [{name: example-org}]
  loadBalancing: {weight: 120, geo: GEO-EU, defaultGeo: false}
---
apiVersion: kuadrant.io/v1alpha1
kind: DNSRecord
metadata: {name: shares, namespace: shop}
spec:
  rootHost: shares.apps.example.org
  providerRef: {name: example-org}
  endpoints:
    - dnsName: shares.apps.example.org
      recordType: A
      recordTTL: 60
      setIdentifier: most
      targets: [192.0.2.91]
      providerSpecific: [{name: weight, value: "150"}]
    - dnsName: shares.apps.example.org
      recordType: A
      recordTTL: 60
      setIdentifier: some
      targets: [192.0.2.92]
      providerSpecific: [{name: weight, value: "50"}]
    - dnsName: shares.apps.example.org
      recordType: A
      recordTTL: 60
      setIdentifier: none
      targets: [192.0.2.93]
      providerSpecific: [{name: weight, value: "0"}]
"#;

#[tokio::test]
async fn clients_are_led_by_place_and_weight() {
    // D5, N6: from DNSPolicy and DNSRecord to answer.
    let directory = TempDir::new().unwrap();
    let database = directory.path().join("places.mmdb");
    let places = testkit::geo_database::places(&[
        ("127.0.0.2/32", Some("IE"), Some("EU")),
        ("127.0.0.3/32", Some("US"), Some("NA")),
    ]);
    fs::write(&database, places).unwrap();
    let more = directory.path().join("more.yaml");
    fs::write(&more, MORE).unwrap();
    let (database, more) = (database.to_str().unwrap(), more.to_str().unwrap());
    let up = Up::start(&["--geo-database", database, "-f", more]).await;

    let host = "both.apps.example.org";
    for (client, address) in [
        (IRELAND, "192.0.2.82"),
        (AMERICA, "192.0.2.81"),
        // That one is for everybody else, too.
        (SOMEBODY, "192.0.2.81"),
    ] {
        let answer = format!(" A {address}");
        up.until(client, host, |it| it.ends_with(&answer)).await;
    }

    let host = "shares.apps.example.org";
    up.until(SOMEBODY, host, |it| it.contains(" A ")).await;
    let mut shares: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..TRIES {
        let answer = ask(up.dns, SOMEBODY, host).await;
        let address = answer.rsplit(' ').next().unwrap();
        *shares.entry(address.to_owned()).or_default() += 1;
    }
    let members: Vec<&str> = shares.keys().map(String::as_str).collect();
    assert_eq!(members, ["192.0.2.91", "192.0.2.92"], "{shares:?}");
    let most = shares["192.0.2.91"];
    assert!(most > TRIES / 2 && most < TRIES * 9 / 10, "{shares:?}");
}
