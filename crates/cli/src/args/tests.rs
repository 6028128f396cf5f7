//! What the command line takes, and what it does not.

use std::time::Duration;

use clap::CommandFactory as _;

use super::controller::Controller;
use super::*;

/// The arguments after `zonewright up`.
fn up(flags: &[&str]) -> Result<Up, String> {
    let args = ["zonewright", "up"].iter().chain(flags);
    let args = Args::try_parse_from(args).map_err(|error| error.to_string())?;
    let Command::Up(up) = args.command else {
        panic!("{:?}", args.command);
    };
    Ok(*up)
}

#[track_caller]
fn controller(flags: &[&str]) -> Controller {
    up(flags).unwrap().controller
}

/// A wrong value is refused with a message that names the flag and says what to write.
#[track_caller]
fn check_refused(flags: &[&str], reason: &str) {
    let message = up(flags).unwrap_err();
    assert!(message.contains(reason), "{flags:?}: {message}");
}

#[test]
fn the_definition_is_sound() {
    Args::command().debug_assert();
}

#[test]
fn every_flag_is_an_environment_variable_of_its_name_and_explains_itself() {
    let command = Args::command();
    let mut count = 0;
    for command in command.get_subcommands().chain([&command]) {
        assert!(command.get_about().is_some(), "{}", command.get_name());
        for flag in command.get_arguments() {
            assert!(flag.get_help().is_some(), "{flag}");
            let Some(long) = flag
                .get_long()
                .filter(|long| !["help", "version"].contains(long))
            else {
                continue;
            };
            let variable = format!("ZONEWRIGHT_{}", long.replace('-', "_").to_uppercase());
            assert_eq!(flag.get_env(), Some(variable.as_ref()), "{flag}");
            count += 1;
        }
    }
    assert!(count > 30, "{count} flags were looked at");
}

#[test]
fn defaults_are_as_documented() {
    let up = up(&[]).unwrap();
    assert_eq!(up.data, PathBuf::from("./zonewright-data"));
    assert_eq!(up.api.to_string(), "127.0.0.1:7443");
    assert_eq!(up.dns.to_string(), "127.0.0.1:1053");
    assert_eq!(up.http.to_string(), "127.0.0.1:8053");
    assert!(!up.ephemeral);
    let shown = format!("{:?}", up.controller);
    for part in [
        "valid_for: 840s",
        "requeue_time: 900s",
        "min_requeue_time: 5s",
        "write_limit: 20",
        "retry: Transient",
        "debounce: 50ms",
        "zone_authority: Strict",
        "inline_entries_max: 1000",
        "guard_percent: 30",
        "guard_deletions: false",
        "providers: [Aws, Rfc2136, Zone]",
        "zone_discovery: false",
        "service_record_namespace: \"cross-cluster-connectivity\"",
        "service_record_placement: Central",
        "endpoint_service: NamespacedName { namespace: \"projectcontour\", name: \"envoy\" }",
        "node_endpoints: false",
        "source_grace: 300s",
        "managed_domain: None",
        "managed_tls_secret: None",
        "resolvers: []",
        "roots: []",
        "allowed_addresses: []",
        "allowed_endpoints: []",
        "enable_probes: true",
        "insecure_health_checks: false",
        "log_format: Text",
    ] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
}

#[test]
fn flags_become_types() {
    let flags = controller(&[
        "--valid-for",
        "1h30m",
        "--max-requeue-time=2h",
        "--provider",
        "inmemory,aws",
        "--provider=zone",
        "--resolver",
        "192.0.2.53",
        "--resolver",
        "[2001:db8::1]:5353",
        "--allow-address",
        "10.0.0.0/8,192.0.2.1",
        "--allow-endpoint",
        "Dns.Example.Org",
        "--allow-endpoint",
        "192.0.2.1",
        "--endpoint-service",
        "ingress/gateway.v2",
        "--guard-deletions",
        "--enable-probes=false",
        "--zone-discovery=true",
        "--managed-domain",
        "apps.example.org",
    ]);
    assert_eq!(flags.pace.valid_for, Duration::from_mins(90));
    assert_eq!(flags.pace.requeue_time, Duration::from_hours(2));
    assert_eq!(
        format!("{:?}", flags.providers.providers),
        "[Inmemory, Aws, Zone]"
    );
    let shown = |list: &[SocketAddr]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        shown(&flags.domains.resolvers),
        ["192.0.2.53:53", "[2001:db8::1]:5353"]
    );
    let ranges: Vec<String> = flags
        .health
        .allowed_addresses
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(ranges, ["10.0.0.0/8", "192.0.2.1/32"]);
    assert_eq!(flags.health.allowed_endpoints.len(), 2);
    assert_eq!(
        flags.sources.endpoint_service.to_string(),
        "ingress/gateway.v2"
    );
    assert!(
        flags.zones.guard_deletions
            && flags.providers.zone_discovery
            && !flags.health.enable_probes
    );
    assert_eq!(
        flags.domains.managed_domain.unwrap().to_string(),
        "apps.example.org."
    );
}

#[test]
fn wrong_values_are_refused_with_what_to_write_instead() {
    check_refused(
        &["--valid-for", "14"],
        "every number of a duration needs a unit",
    );
    check_refused(&["--debounce", "0s"], "a duration must be longer than 0s");
    check_refused(&["--source-grace=-5m"], "a duration must be longer than 0s");
    check_refused(&["--write-limit", "0"], "--write-limit");
    check_refused(&["--guard-percent", "101"], "101 is not in 0..=100");
    check_refused(
        &["--allow-address", "10.0.0.1/8"],
        "the range is 10.0.0.0/8",
    );
    check_refused(
        &["--allow-address", "ten"],
        "write a range such as 10.0.0.0/8",
    );
    check_refused(&["--allow-endpoint", "a_b"], "--allow-endpoint");
    check_refused(
        &["--resolver", "dns.example"],
        "write an address such as 192.0.2.53",
    );
    check_refused(
        &["--endpoint-service", "gateway"],
        "write a namespace and a name",
    );
    check_refused(
        &["--endpoint-service", "Ingress/gateway"],
        "write the name of a namespace",
    );
    check_refused(
        &["--endpoint-service", "ingress/-"],
        "write the name of an object",
    );
    check_refused(
        &["--service-record-namespace", "a.b"],
        "write the name of a namespace",
    );
    check_refused(
        &["--provider", "azure"],
        "possible values: aws, rfc2136, zone, inmemory",
    );
    check_refused(&["--retry", "always"], "possible values: transient, never");
    check_refused(
        &["--zone-authority", "lax"],
        "possible values: strict, open",
    );
    check_refused(&["--log-level", "a=loud"], "--log-level");
    check_refused(&["--api", "7443"], "--api");
    check_refused(&["--enable-probes=maybe"], "possible values: true, false");
}

#[test]
fn the_help_of_retry_says_what_is_read_and_what_wakes_a_record() {
    // C8.
    let mut command = Args::command();
    let up = command.find_subcommand_mut("up").unwrap();
    let help = up.render_long_help().to_string();
    let help: Vec<&str> = help.split_whitespace().collect();
    let help = help.join(" ");
    for told in [
        "waits until it, its Secret or the health of its targets changes",
        "Zones at providers are read all the same, once in every requeue time",
    ] {
        assert!(help.contains(told), "{help}");
    }
}

#[test]
fn flags_that_are_hardly_meant_together_are_allowed_and_told() {
    // C1.
    let flags = ["--valid-for", "1m", "--requeue-time", "1m"];
    let warning = controller(&flags).pace.warning().unwrap();
    assert!(
        warning.starts_with("--valid-for is not shorter"),
        "{warning}"
    );
    assert_eq!(controller(&["--valid-for", "14m59s"]).pace.warning(), None);
}
