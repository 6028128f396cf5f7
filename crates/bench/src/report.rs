//! What a scenario found: a table for people and a file for machines.

use std::fmt;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use crate::summary::Summary;

/// What was found, and what it was found on.
pub(crate) struct Report {
    pub(crate) run: Run,
    pub(crate) findings: Findings,
}

/// Which program was measured, when and where.
#[derive(Debug, Serialize)]
pub(crate) struct Run {
    pub(crate) scenario: &'static str,
    pub(crate) date: Timestamp,
    pub(crate) commit: String,
    pub(crate) cores: usize,
}

/// What was measured, and what could not be.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) rows: Vec<Row>,
    pub(crate) figures: Vec<Figure>,
    pub(crate) left_out: Vec<LeftOut>,
}

/// Two measurements in the same surroundings, of which the second is judged by the first.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) case: String,
    pub(crate) base: Measurement,
    pub(crate) compared: Measurement,
    /// How many times as long the second may take, where that is promised.
    pub(crate) at_most: Option<f64>,
}

/// How long one thing took.
#[derive(Debug, Serialize)]
pub(crate) struct Measurement {
    pub(crate) what: String,
    #[serde(flatten)]
    pub(crate) took: Summary,
}

/// A number that is promised by itself.
#[derive(Debug, Serialize)]
pub(crate) struct Figure {
    pub(crate) case: String,
    pub(crate) what: &'static str,
    pub(crate) value: f64,
    pub(crate) at_most: f64,
    pub(crate) unit: &'static str,
}

/// A case that this machine does not allow.
#[derive(Debug, Serialize)]
pub(crate) struct LeftOut {
    pub(crate) case: String,
    pub(crate) why: String,
}

impl Measurement {
    /// What all of these times come to.
    pub(crate) fn of(what: &str, times: Vec<Duration>) -> Result<Measurement> {
        let took = Summary::of(times).with_context(|| format!("nothing was measured of {what}"))?;
        Ok(Measurement {
            what: what.to_owned(),
            took,
        })
    }
}

impl Row {
    /// How many times as long the second took, by the medians.
    fn ratio(&self) -> f64 {
        self.compared.took.median.as_secs_f64() / self.base.took.median.as_secs_f64()
    }

    fn json(&self) -> Value {
        let ratio = (self.ratio() * 100.0).round() / 100.0;
        json!({
            "case": self.case,
            "base": self.base,
            "compared": self.compared,
            "ratio": ratio,
            "at_most": self.at_most,
        })
    }

    fn verdict(&self) -> String {
        let ratio = format!("{:5.2} times", self.ratio());
        match self.at_most {
            Some(at_most) => format!("{ratio}, {}", verdict(self.ratio(), at_most)),
            None => ratio,
        }
    }
}

/// Whether a promise is kept, and what it is.
fn verdict(value: f64, at_most: f64) -> String {
    let kept = if value <= at_most { "within" } else { "OVER" };
    format!("{kept} {at_most}")
}

impl Report {
    /// Writes the results of the scenario, in place of earlier ones.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let path = folder.join(format!("{}.json", self.run.scenario));
        let text = serde_json::to_string_pretty(&self.json())?;
        fs::write(&path, text + "\n").with_context(|| format!("cannot write {}", path.display()))
    }

    fn json(&self) -> Value {
        let rows: Vec<Value> = self.findings.rows.iter().map(Row::json).collect();
        json!({
            "scenario": self.run.scenario,
            "date": self.run.date,
            "commit": self.run.commit,
            "cores": self.run.cores,
            "unit": "microseconds",
            "rows": rows,
            "figures": self.findings.figures,
            "left_out": self.findings.left_out,
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Findings {
            rows,
            figures,
            left_out,
        } = &self.findings;
        writeln!(f, "{}, {} cores", self.run.scenario, self.run.cores)?;
        let cells = rows.iter().map(|row| {
            let Measurement { what, took } = &row.base;
            let base = format!("{what}: {took}");
            let Measurement { what, took } = &row.compared;
            [row.case.clone(), base, format!("{what}: {took}")]
        });
        let cells: Vec<[String; 3]> = cells.collect();
        let width = |column: usize| {
            let widths = cells.iter().map(|row| row[column].chars().count());
            widths.max().unwrap_or_default()
        };
        let (one, two, three) = (width(0), width(1), width(2));
        for (row, [case, base, compared]) in rows.iter().zip(&cells) {
            let verdict = row.verdict();
            writeln!(
                f,
                "  {case:one$}  {base:two$}  {compared:three$}  {verdict}"
            )?;
        }
        for figure in figures {
            let Figure {
                case,
                what,
                value,
                at_most,
                unit,
            } = figure;
            let verdict = verdict(*value, *at_most);
            writeln!(f, "  {case:one$}  {what}: {value:.3} {unit}, {verdict}")?;
        }
        for LeftOut { case, why } in left_out {
            writeln!(f, "  {case:one$}  left out: {why}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(base: u64, compared: u64, at_most: Option<f64>) -> Row {
        let measurement =
            |milliseconds| Measurement::of("x", vec![Duration::from_millis(milliseconds)]).unwrap();
        Row {
            case: "here".to_owned(),
            base: measurement(base),
            compared: measurement(compared),
            at_most,
        }
    }

    #[test]
    fn a_ratio_is_judged_where_something_is_promised() {
        let verdicts = [Some(3.0), Some(1.5), None].map(|at_most| row(10, 20, at_most).verdict());
        assert_eq!(
            verdicts,
            [
                " 2.00 times, within 3",
                " 2.00 times, OVER 1.5",
                " 2.00 times"
            ]
        );
    }

    #[test]
    fn of_nothing_nothing_is_told() {
        let error = Measurement::of("x", Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "nothing was measured of x");
    }
}
