//! What a scenario found: a table for people and a file for machines.

use std::fmt;
use std::fs;
use std::path::Path;

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
    pub(crate) left_out: Vec<LeftOut>,
}

/// Two measurements in the same surroundings, of which the second is judged by the first.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) case: String,
    pub(crate) base: Measurement,
    pub(crate) compared: Measurement,
}

/// How long one thing took.
#[derive(Debug, Serialize)]
pub(crate) struct Measurement {
    pub(crate) what: String,
    #[serde(flatten)]
    pub(crate) took: Summary,
}

/// A case that this machine does not allow.
#[derive(Debug, Serialize)]
pub(crate) struct LeftOut {
    pub(crate) case: String,
    pub(crate) why: String,
}

impl Row {
    /// How many times as long the second took, by the medians.
    fn ratio(&self) -> f64 {
        self.compared.took.median.as_secs_f64() / self.base.took.median.as_secs_f64()
    }

    fn json(&self) -> Value {
        let ratio = (self.ratio() * 100.0).round() / 100.0;
        json!({ "case": self.case, "base": self.base, "compared": self.compared, "ratio": ratio })
    }
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
            "left_out": self.findings.left_out,
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Findings { rows, left_out } = &self.findings;
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
            let ratio = row.ratio();
            writeln!(
                f,
                "  {case:one$}  {base:two$}  {compared:three$}  {ratio:5.1} times"
            )?;
        }
        for LeftOut { case, why } in left_out {
            writeln!(f, "  {case:one$}  left out: {why}")?;
        }
        Ok(())
    }
}
