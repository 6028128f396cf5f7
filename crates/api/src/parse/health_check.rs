//! From `healthCheck` to a probe that can be run.

use std::time::Duration;

use super::collect::Collect;
use super::object_name;
use crate::go_duration::{self, GoDurationError};
use crate::health_check::HealthCheckSpec;
use crate::problem::FieldPath;

/// The shortest time between two probes of one target.
const INTERVAL_MIN: Duration = Duration::from_secs(1);

/// How a target is probed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HealthCheck {
    /// The path and query to ask for, with its leading slash.
    pub path: String,
    /// The port.
    pub port: u16,
    /// The protocol.
    pub protocol: Protocol,
    /// The time from one probe to the next.
    pub interval: Duration,
    /// How many probes in a row may fail before the target counts as unhealthy.
    pub failure_threshold: u32,
    /// The Secret whose entries are sent as headers.
    pub headers_secret: Option<String>,
}

/// What a probe speaks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Protocol {
    /// Plain HTTP.
    Http,
    /// HTTP over TLS.
    Https,
}

pub(super) fn parse(
    spec: &HealthCheckSpec,
    at: &FieldPath,
    problems: &mut Collect,
) -> Option<HealthCheck> {
    let path = path(spec.path.as_deref(), &at.field("path"), problems);
    let port = problems.check(&at.field("port"), spec.port, port(spec.port));
    let protocol = problems.check(
        &at.field("protocol"),
        &spec.protocol,
        protocol(&spec.protocol),
    );
    let interval = problems.check(
        &at.field("interval"),
        &spec.interval,
        interval(&spec.interval),
    );
    let failure_threshold = problems.check(
        &at.field("failureThreshold"),
        spec.failure_threshold,
        failure_threshold(spec.failure_threshold),
    );
    let headers_secret = spec
        .additional_headers_ref
        .as_ref()
        .map(|secret| secret.name.clone());
    if let Some(name) = headers_secret
        .as_deref()
        .filter(|name| !object_name::is_subdomain(name))
    {
        let field = at.field("additionalHeadersRef").field("name");
        problems.refuse(&field, "must be the metadata.name of a Secret", name);
    }
    Some(HealthCheck {
        path: path?,
        port: port?,
        protocol: protocol?,
        interval: interval?,
        failure_threshold: failure_threshold?,
        headers_secret,
    })
}

/// A leading `?` asks for the root with that query.
fn path(path: Option<&str>, field: &FieldPath, problems: &mut Collect) -> Option<String> {
    match path {
        None => Some("/".to_owned()),
        Some(path) if !is_path(path) => {
            let rule = "must start with \"/\" or \"?\", have at least three characters, only those \
                        of URLs, and end in a letter, a digit or \"/\"";
            problems.refuse(field, rule, path);
            None
        }
        Some(path) if path.starts_with('?') => Some(format!("/{path}")),
        Some(path) => Some(path.to_owned()),
    }
}

/// The schema's pattern in words; a test holds the two together.
fn is_path(path: &str) -> bool {
    let [first, middle @ .., last] = path.as_bytes() else {
        return false;
    };
    matches!(first, b'/' | b'?')
        && !middle.is_empty()
        && middle.iter().copied().all(is_path_octet)
        && (last.is_ascii_alphanumeric() || *last == b'/')
}

fn is_path_octet(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || b"_-.~:/?#[]@!$&'()*+,;=".contains(&octet)
}

fn port(port: i64) -> Result<u16, &'static str> {
    match u16::try_from(port) {
        Ok(port @ (80 | 443 | 1024..=49151)) => Ok(port),
        Ok(_) | Err(_) => Err("must be 80, 443, or one of 1024 to 49151"),
    }
}

fn protocol(protocol: &str) -> Result<Protocol, &'static str> {
    match protocol {
        "HTTP" => Ok(Protocol::Http),
        "HTTPS" => Ok(Protocol::Https),
        _ => Err("must be HTTP or HTTPS"),
    }
}

fn interval(text: &str) -> Result<Duration, String> {
    let duration = go_duration::parse(text).map_err(|err: GoDurationError| err.to_string())?;
    match Duration::try_from(duration) {
        Ok(interval) if interval >= INTERVAL_MIN => Ok(interval),
        Ok(_) | Err(_) => Err(format!("must be at least {INTERVAL_MIN:?}")),
    }
}

fn failure_threshold(threshold: i64) -> Result<u32, &'static str> {
    match u32::try_from(threshold) {
        Ok(threshold @ 1..) => Ok(threshold),
        Ok(_) | Err(_) => Err("must be a whole number from 1 to 4294967295"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health_check::{AdditionalHeadersRef, PATH_PATTERN};

    fn check(edit: impl FnOnce(&mut HealthCheckSpec)) -> Result<HealthCheck, Vec<String>> {
        let mut spec = HealthCheckSpec::default();
        edit(&mut spec);
        let mut problems = Collect::default();
        let parsed = parse(
            &spec,
            &FieldPath::spec().field("healthCheck"),
            &mut problems,
        );
        let text = |problems: Vec<crate::Problem>| {
            problems.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        problems.finish(parsed).map_err(text)
    }

    fn refused(field: &str, edit: impl FnOnce(&mut HealthCheckSpec)) {
        let problems = check(edit).unwrap_err();
        let [problem] = problems.as_slice() else {
            panic!("{problems:?}")
        };
        assert!(
            problem.starts_with(&format!("spec.healthCheck.{field}: ")),
            "{problem}"
        );
    }

    #[test]
    fn defaults_are_the_peers() {
        let expected = HealthCheck {
            path: "/".to_owned(),
            port: 443,
            protocol: Protocol::Https,
            interval: Duration::from_mins(5),
            failure_threshold: 5,
            headers_secret: None,
        };
        assert_eq!(check(|_| {}), Ok(expected));
    }

    #[test]
    fn every_field_is_read() {
        let parsed = check(|spec| {
            spec.path = Some("/healthz".to_owned());
            spec.port = 8080;
            spec.protocol = "HTTP".to_owned();
            spec.interval = "1m30s".to_owned();
            spec.failure_threshold = 1;
            spec.additional_headers_ref = Some(AdditionalHeadersRef {
                name: "token".to_owned(),
            });
        });
        let expected = HealthCheck {
            path: "/healthz".to_owned(),
            port: 8080,
            protocol: Protocol::Http,
            interval: Duration::from_secs(90),
            failure_threshold: 1,
            headers_secret: Some("token".to_owned()),
        };
        assert_eq!(parsed, Ok(expected));
        let query = check(|spec| spec.path = Some("?check=1".to_owned())).unwrap();
        assert_eq!(query.path, "/?check=1");
    }

    #[test]
    fn each_rule_names_its_field() {
        // G36.
        for path in [
            "",
            "/",
            "/a",
            "?a",
            "healthz",
            "/a b",
            "/a%20b",
            "/healthz-",
            "/hé/",
        ] {
            refused("path", |spec| spec.path = Some(path.to_owned()));
        }
        for port in [
            i64::MIN,
            -1,
            0,
            1,
            79,
            81,
            444,
            1023,
            49152,
            65535,
            65536 + 443,
            i64::MAX,
        ] {
            refused("port", |spec| spec.port = port);
        }
        for protocol in ["", "http", "TCP", "HTTPS "] {
            refused("protocol", |spec| spec.protocol = protocol.to_owned());
        }
        for interval in [
            "",
            "0",
            "0s",
            "-5m",
            "999ms",
            "5",
            "5 minutes",
            "1d",
            "99999999999h",
        ] {
            refused("interval", |spec| spec.interval = interval.to_owned());
        }
        for threshold in [i64::MIN, -1, 0, 1 << 32, i64::MAX] {
            refused("failureThreshold", |spec| {
                spec.failure_threshold = threshold;
            });
        }
        refused("additionalHeadersRef.name", |spec| {
            spec.additional_headers_ref = Some(AdditionalHeadersRef::default());
        });
    }

    #[test]
    fn all_problems_are_named_at_once() {
        let problems = check(|spec| {
            spec.path = Some("/".to_owned());
            spec.port = 0;
            spec.protocol = "FTP".to_owned();
            spec.interval = "soon".to_owned();
            spec.failure_threshold = 0;
        });
        assert_eq!(problems.unwrap_err().len(), 5);
    }

    proptest::proptest! {
        #[test]
        fn the_rule_for_paths_is_the_schemas_pattern(path in r"[/?a]?[a-z_/ %\[\]é~-]{0,4}[/?a]?") {
            // RE2's \w is ASCII, this engine's is not unless told.
            let pattern = regex::RegexBuilder::new(PATH_PATTERN).unicode(false).build().unwrap();
            proptest::prop_assert_eq!(is_path(&path), pattern.is_match(&path));
        }
    }
}
