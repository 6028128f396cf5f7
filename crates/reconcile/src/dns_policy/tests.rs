//! Policies, Gateways and what is made from them, in a house where every pass is carried out at once.

mod changes;
mod heirs;
mod house;
mod records;
mod sources;
mod standing;
mod told;

use std::time::Duration;

use serde_json::json;

use house::House;

const GRACE: Duration = Duration::from_mins(5);

/// A house with Gateway `gw`, reached at 192.0.2.1, and policy `all` on it.
fn open(listeners: &[&str]) -> House {
    let mut house = House::new();
    house.secret("dns", "example.org");
    house.gateway("gw", listeners, &["192.0.2.1"]);
    house.policy("all", &json!({}));
    house.settle();
    house
}
