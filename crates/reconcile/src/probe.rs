//! One probe: what an answer of its target, or the lack of one, makes of its status (D6).
//!
//! A target is healthy as soon as it answers as it should, and unhealthy when it has failed more often in a row than it
//! may. In between it stays what it was, and what nobody knows yet stays unknown.

use api::Problem;
use api::dns_health_check_probe::DnsHealthCheckProbeStatus;
use api::health_check::is_healthy;
use api::problem::summary;

/// How long a reason can be: words of ours, and some of those who made the certificate or the protocol.
const REASON_CHARS_MAX: usize = 512;

/// What came of asking a target: the HTTP status of its answer, or why there was none.
pub type Outcome = Result<u16, String>;

/// What a probe says after its target was asked. Failures are counted up to where they make a difference, so that a target
/// that stays dead costs nothing.
pub fn after(
    before: &DnsHealthCheckProbeStatus,
    generation: Option<i64>,
    failure_threshold: u32,
    outcome: &Outcome,
) -> DnsHealthCheckProbeStatus {
    let failure = match outcome {
        Ok(status) if is_healthy(*status) => None,
        Ok(status) => Some(format!("answered {status}, expected 200 or 201")),
        Err(why) => Some(why.clone()),
    };
    let unhealthy_at = i64::from(failure_threshold) + 1;
    // What an earlier spec asked for failed says nothing about this one.
    let same = before.observed_generation == generation;
    let failures = before.consecutive_failures.filter(|_| same);
    let failures = match failure {
        None => 0,
        Some(_) => (failures.unwrap_or_default().max(0) + 1).min(unhealthy_at),
    };
    let healthy = match failure {
        None => Some(true),
        Some(_) if failures >= unhealthy_at => Some(false),
        Some(_) => before.healthy,
    };
    DnsHealthCheckProbeStatus {
        observed_generation: generation,
        consecutive_failures: Some(failures),
        reason: failure.map(bounded),
        status: outcome.as_ref().ok().map(|status| i64::from(*status)),
        healthy,
        ..before.clone()
    }
}

/// What a probe says that cannot be run. Nobody has asked its target, so what is known of it stays.
pub fn unfit(
    before: &DnsHealthCheckProbeStatus,
    generation: Option<i64>,
    problems: &[Problem],
) -> DnsHealthCheckProbeStatus {
    DnsHealthCheckProbeStatus {
        observed_generation: generation,
        reason: Some(bounded(summary(problems))),
        ..before.clone()
    }
}

fn bounded(reason: String) -> String {
    match reason.char_indices().nth(REASON_CHARS_MAX) {
        None => reason,
        Some((end, _)) => reason[..end].to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asks again and again, and shows each status as `healthy failures code`.
    fn story(threshold: u32, outcomes: &[Outcome]) -> Vec<String> {
        let mut status = DnsHealthCheckProbeStatus::default();
        let mut shown = Vec::new();
        for outcome in outcomes {
            status = after(&status, Some(1), threshold, outcome);
            let healthy = match status.healthy {
                None => "unknown",
                Some(true) => "healthy",
                Some(false) => "unhealthy",
            };
            let code = status.status.map_or("none".to_owned(), |it| it.to_string());
            let failures = status.consecutive_failures.unwrap();
            shown.push(format!("{healthy} {failures} {code}"));
        }
        shown
    }

    fn refused() -> Outcome {
        Err("connection refused".to_owned())
    }

    #[test]
    fn a_target_is_unhealthy_when_it_failed_more_often_than_it_may() {
        // D6: the peer's letter, threshold + 1.
        let outcomes = [Ok(200), refused(), Ok(503), refused(), refused(), Ok(201)];
        let told = [
            "healthy 0 200",
            "healthy 1 none",
            "healthy 2 503",
            "unhealthy 3 none",
            "unhealthy 3 none",
            "healthy 0 201",
        ];
        assert_eq!(story(2, &outcomes), told);
    }

    #[test]
    fn what_never_answered_is_unknown_until_it_is_unhealthy() {
        let told = ["unknown 1 none", "unhealthy 2 none"];
        assert_eq!(story(1, &[refused(), refused()]), told);
    }

    #[test]
    fn only_200_and_201_are_healthy_and_the_reason_says_so() {
        for status in [100, 202, 204, 301, 302, 400, 404, 500, 503] {
            let status_after = after(&DnsHealthCheckProbeStatus::default(), None, 5, &Ok(status));
            let reason = format!("answered {status}, expected 200 or 201");
            assert_eq!(status_after.reason, Some(reason));
            assert_eq!(status_after.healthy, None);
        }
        for status in [200, 201] {
            let status_after = after(&DnsHealthCheckProbeStatus::default(), None, 5, &Ok(status));
            assert_eq!(
                (status_after.reason, status_after.healthy),
                (None, Some(true))
            );
        }
    }

    #[test]
    fn the_same_again_changes_nothing() {
        // Nothing changed, nothing written.
        for outcome in [Ok(200), refused()] {
            let mut status = DnsHealthCheckProbeStatus::default();
            for _ in 0..10 {
                status = after(&status, Some(1), 3, &outcome);
            }
            assert_eq!(after(&status, Some(1), 3, &outcome), status);
        }
    }

    #[test]
    fn another_spec_counts_from_the_beginning_and_keeps_what_is_known() {
        let known = DnsHealthCheckProbeStatus {
            observed_generation: Some(1),
            consecutive_failures: Some(2),
            healthy: Some(true),
            ..DnsHealthCheckProbeStatus::default()
        };
        let now = after(&known, Some(2), 2, &refused());
        assert_eq!(
            (now.consecutive_failures, now.healthy),
            (Some(1), Some(true))
        );
        let same = after(&known, Some(1), 2, &refused());
        assert_eq!(
            (same.consecutive_failures, same.healthy),
            (Some(3), Some(false))
        );
    }

    #[test]
    fn a_reason_has_an_end() {
        let long: Outcome = Err("é".repeat(10_000));
        let status = after(&DnsHealthCheckProbeStatus::default(), None, 1, &long);
        assert_eq!(status.reason.unwrap().chars().count(), REASON_CHARS_MAX);
    }
}
