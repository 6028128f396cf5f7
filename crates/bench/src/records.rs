//! Records of one zone by the thousand: made, changed, and known by their number.

use std::net::Ipv4Addr;

use anyhow::{Context as _, Result};
use futures_util::future::try_join_all;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::ApiResource;
use kube::{Client, Resource as _};
use serde_json::{Value, json};

/// Where everything is.
const NAMESPACE: &str = "default";

/// Makes a zone that adopts all of the Records here.
pub(crate) async fn create_zone(client: &Client) -> Result<()> {
    let zone = json!({
        "apiVersion": api::Zone::api_version(&()),
        "kind": api::Zone::kind(&()),
        "metadata": { "name": "bench" },
        "spec": {
            "domainName": "bench.test.",
            "delegations": [{ "namespaces": [NAMESPACE], "records": [{ "pattern": "*" }] }],
        },
    });
    create(&api_of::<api::Zone>(client), zone).await
}

/// Makes Records with these numbers, one after the other.
pub(crate) async fn create_records(
    client: Client,
    numbers: impl IntoIterator<Item = usize>,
) -> Result<()> {
    let records = api_of::<api::Record>(&client);
    for number in numbers {
        let record = json!({
            "apiVersion": api::Record::api_version(&()),
            "kind": api::Record::kind(&()),
            "metadata": { "name": format!("r-{number}") },
            "spec": { "domainName": name(number), "type": "A", "rdata": address(number, 0).to_string() },
        });
        create(&records, record).await?;
    }
    Ok(())
}

/// Makes Records with the numbers below `count`, with all clients at once.
pub(crate) async fn create_all(clients: &[Client], count: usize) -> Result<()> {
    let share = |(first, client): (usize, &Client)| {
        let numbers = (first..count).step_by(clients.len());
        tokio::spawn(create_records(client.clone(), numbers))
    };
    let created = try_join_all(clients.iter().enumerate().map(share)).await?;
    created.into_iter().collect()
}

/// Gives a Record its address of another edition, and returns when that is acknowledged.
pub(crate) async fn change(client: &Client, number: usize, edition: usize) -> Result<()> {
    let patch = json!({ "spec": { "rdata": address(number, edition).to_string() } });
    api_of::<api::Record>(client)
        .patch(
            &format!("r-{number}"),
            &PatchParams::default(),
            &Patch::Merge(patch),
        )
        .await
        .context("a change was refused")?;
    Ok(())
}

/// The name of a Record.
pub(crate) fn name(number: usize) -> String {
    format!("r-{number}.bench.test.")
}

/// The address of a Record: no two have the same in one edition, and none the same in two that follow each other.
pub(crate) fn address(number: usize, edition: usize) -> Ipv4Addr {
    let octet = |shift: usize| u8::try_from(number >> shift & 0xff).expect("an octet");
    let edition = u8::try_from(edition % 100).expect("below a hundred");
    Ipv4Addr::new(10 + edition, octet(16), octet(8), octet(0))
}

fn api_of<K: kube::Resource<DynamicType = ()>>(client: &Client) -> Api<DynamicObject> {
    Api::namespaced_with(client.clone(), NAMESPACE, &ApiResource::erase::<K>(&()))
}

/// Makes an object.
pub(crate) async fn create(api: &Api<DynamicObject>, object: Value) -> Result<()> {
    let object = serde_json::from_value(object)?;
    let created = api.create(&PostParams::default(), &object).await;
    created.context("an object was refused")?;
    Ok(())
}
