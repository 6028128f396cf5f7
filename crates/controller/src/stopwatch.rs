//! How long changes wait until a name server answers with them.
//!
//! ```text
//! touched ── begun ── published ── seen
//! ```
//!
//! The time of a zone begins with the first change that no pass has looked at yet. A pass takes it along; it ends there if
//! nothing had to be published, and with the sighting of the version otherwise.

use std::collections::BTreeMap;
use std::time::Duration;

use api::ZoneKey;
use dns::{Name, Publication, Serial, Sighting};
use tokio::time::Instant;

#[derive(Debug, Default)]
pub(crate) struct Stopwatch {
    touched: BTreeMap<ZoneKey, Instant>,
    begun: BTreeMap<ZoneKey, Instant>,
    published: BTreeMap<Name, (Serial, Instant)>,
}

impl Stopwatch {
    /// Something that may concern the zone has changed.
    pub(crate) fn touch(&mut self, zone: &ZoneKey, now: Instant) {
        if !self.touched.contains_key(zone) {
            self.touched.insert(zone.clone(), now);
        }
    }

    /// A pass has looked at the zone.
    pub(crate) fn begin(&mut self, zone: &ZoneKey) {
        if let Some(since) = self.touched.remove(zone) {
            self.begun.insert(zone.clone(), since);
        }
    }

    /// The pass has failed: another one will look at the same.
    pub(crate) fn fail(&mut self, zone: &ZoneKey) {
        if let Some(since) = self.begun.remove(zone) {
            self.touched.insert(zone.clone(), since);
        }
    }

    /// The pass has ended, and name servers are told this.
    pub(crate) fn end<'a>(
        &mut self,
        zone: &ZoneKey,
        publications: impl IntoIterator<Item = &'a Publication>,
    ) {
        let Some(since) = self.begun.remove(zone) else {
            return;
        };
        for publication in publications {
            if let Publication::Version(version) = publication {
                let origin = version.zone.origin();
                let waiting = self.published.get(origin);
                // Whoever answers with this answers with what was published before it.
                let since = waiting.map_or(since, |(_, earlier)| since.min(*earlier));
                self.published
                    .insert(origin.clone(), (version.serial, since));
            }
        }
    }

    /// A name server answers. For how long its oldest change has waited for this, if it did.
    pub(crate) fn see(&mut self, sighting: &Sighting, now: Instant) -> Option<Duration> {
        let Some(serial) = sighting.serial else {
            self.published.remove(&sighting.origin);
            return None;
        };
        let (published, since) = self.published.get(&sighting.origin)?;
        if serial < *published {
            return None;
        }
        let waited = now - *since;
        self.published.remove(&sighting.origin);
        Some(waited)
    }
}

#[cfg(test)]
mod tests {
    use dns::{Version, zonefile};

    use super::*;

    const MILLIS: Duration = Duration::from_millis(1);

    fn version(serial: u32) -> Publication {
        let origin = Name::parse("example.org.").unwrap();
        let text = format!(
            "@ 60 IN SOA ns.example.net. a.example.org. {serial} 1 1 1 1\n@ 60 IN NS ns.example.net.\n"
        );
        let (zone, serial) = zonefile::parse(&text, Some(&origin)).zone.unwrap();
        Publication::Version(Version { zone, serial })
    }

    /// Steps at milliseconds; what sightings told.
    fn check(steps: &[(u32, &str)], expected: &[Option<u64>]) {
        let (mut watch, origin) = (Stopwatch::default(), Instant::now());
        let zone = ZoneKey::new("dns", "example");
        let mut told = Vec::new();
        for (at, step) in steps {
            let now = origin + MILLIS * *at;
            let (word, serial) = step.split_once(' ').unwrap_or((step, "0"));
            let serial: u32 = serial.parse().unwrap();
            match word {
                "touch" => watch.touch(&zone, now),
                "begin" => watch.begin(&zone),
                "fail" => watch.fail(&zone),
                "end" if serial == 0 => watch.end(&zone, []),
                "end" => watch.end(&zone, [&version(serial)]),
                "see" => told.push(watch.see(
                    &Sighting {
                        origin: Name::parse("example.org.").unwrap(),
                        serial: (serial > 0).then_some(Serial(serial)),
                    },
                    now,
                )),
                other => panic!("{other} is no step"),
            }
        }
        let expected = expected.iter().map(|it| it.map(Duration::from_millis));
        assert_eq!(told, expected.collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn the_time_runs_from_the_first_touch_to_the_sighting() {
        check(
            &[
                (0, "touch"),
                (5, "touch"),
                (10, "begin"),
                (20, "end 1"),
                (30, "see 1"),
                (40, "see 1"),
            ],
            &[Some(30), None],
        );
    }

    #[tokio::test]
    async fn what_is_touched_after_the_pass_began_belongs_to_the_next() {
        check(
            &[
                (0, "touch"),
                (10, "begin"),
                (15, "touch"),
                (20, "end 1"),
                (30, "see 1"),
                (40, "begin"),
                (50, "end 2"),
                (60, "see 2"),
            ],
            &[Some(30), Some(45)],
        );
    }

    #[tokio::test]
    async fn a_pass_that_publishes_nothing_is_not_counted() {
        check(
            &[(0, "touch"), (10, "begin"), (20, "end"), (30, "see 1")],
            &[None],
        );
    }

    #[tokio::test]
    async fn a_pass_that_failed_does_not_stop_the_time() {
        check(
            &[
                (0, "touch"),
                (1, "begin"),
                (2, "touch"),
                (3, "fail"),
                (4, "begin"),
                (5, "end 1"),
                (6, "see 1"),
            ],
            &[Some(6)],
        );
    }

    #[tokio::test]
    async fn a_version_that_was_skipped_counts_from_its_own_beginning() {
        check(
            &[
                (0, "touch"),
                (1, "begin"),
                (2, "end 1"),
                (3, "touch"),
                (4, "begin"),
                (5, "end 2"),
                (6, "see 1"),
                (10, "see 2"),
            ],
            &[None, Some(10)],
        );
    }

    #[tokio::test]
    async fn a_zone_that_is_not_answered_any_more_waits_for_nothing() {
        check(
            &[
                (0, "touch"),
                (1, "begin"),
                (2, "end 1"),
                (3, "see"),
                (4, "see 1"),
            ],
            &[None, None],
        );
    }
}
