//! The embedded API beside kube-apiserver and etcd: what writes, lists, watches and starts cost on each.
//!
//! Both sides acknowledge nothing before it is on disk, and both are asked over HTTPS by clients of this process. They take
//! turns. What is written are `ConfigMap` objects, which kube-apiserver handles best of all kinds.

mod config_maps;
mod side;

use std::time::{Duration, Instant};

use anyhow::Result;
use apiserver::{Apiserver, Options};

use crate::report::{Figure, Findings, Measurement, Row};
use crate::stage::Home;
use crate::summary::Summary;
use side::Side;

/// In each turn so many clients make so many objects between them: with both of them and all turns, ten thousand.
const FEW: Load = Load {
    clients: 4,
    objects: 500,
};
const MANY: Load = Load {
    clients: 64,
    objects: 1_500,
};
const WRITE_TURNS: usize = 5;

const LIST_TURNS: usize = 10;
const START_TURNS: usize = 3;

/// How many objects are made in this process, and by how many clients.
const IN_PROCESS: Load = Load {
    clients: 64,
    objects: 50_000,
};

/// What each of them may take, in microseconds: 17,000 are made in a second.
const IN_PROCESS_MAX: f64 = 1_000_000.0 / 17_000.0;

/// How many changes a watcher waits for, one after the other.
const WATCHED: usize = 500;

/// How many objects there are while writes are compared, and what the cost of one may come to: the difference is what
/// machines do by themselves.
const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
const SIZE_RATIO_MAX: f64 = 1.5;

/// Objects that are made at once.
#[derive(Clone, Copy, Debug)]
struct Load {
    clients: usize,
    objects: usize,
}

/// What a load took.
#[derive(Debug, Default)]
struct Cost {
    time: Vec<Duration>,
    cpu: Vec<Duration>,
}

/// The two sides of a comparison: the first is what the second is compared with.
type Sides = [Side; 2];

pub(super) async fn measure() -> Result<Findings> {
    let mut findings = Findings::default();
    let mut sides = [
        Side::open(Home::Cluster).await?,
        Side::open(Home::Embedded).await?,
    ];
    writes(&sides, &mut findings).await?;
    memory(&sides, &mut findings)?;
    lists(&sides, &mut findings).await?;
    watches(&sides, &mut findings).await?;
    starts(&mut sides, &mut findings).await?;
    drop(sides);
    sizes(&mut findings).await?;
    in_process(&mut findings).await?;
    Ok(findings)
}

async fn writes(sides: &Sides, findings: &mut Findings) -> Result<()> {
    let mut few = [Cost::default(), Cost::default()];
    let mut many = [Cost::default(), Cost::default()];
    for turn in 0..WRITE_TURNS {
        for (index, side) in sides.iter().enumerate() {
            few[index].add(side, FEW, &format!("few-{turn}")).await?;
            many[index].add(side, MANY, &format!("many-{turn}")).await?;
        }
    }
    for (load, [theirs, ours], time_max, cpu_max) in
        [(FEW, few, 1.0, 0.25), (MANY, many, 0.5, 0.15)]
    {
        let Load { clients, objects } = load;
        let case = |what| format!("{what} of {objects} creates, {clients} clients");
        let rows = [
            row(case("time"), theirs.time, ours.time, time_max)?,
            row(case("processor time"), theirs.cpu, ours.cpu, cpu_max)?,
        ];
        findings.rows.extend(rows);
    }
    Ok(())
}

fn memory(sides: &Sides, findings: &mut Findings) -> Result<()> {
    let [theirs, ours] = sides;
    findings.figures.push(Figure {
        case: "10,000 objects".to_owned(),
        what: "memory, by that of etcd and kube-apiserver",
        value: ours.rss()? / theirs.rss()?,
        at_most: 0.2,
        unit: "times",
    });
    Ok(())
}

async fn lists(sides: &Sides, findings: &mut Findings) -> Result<()> {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..LIST_TURNS {
        for (side, times) in sides.iter().zip(&mut times) {
            let client = side.client().await?;
            // The handshake is no part of it.
            config_maps::list(&client, Some(1)).await?;
            let began = Instant::now();
            config_maps::list(&client, None).await?;
            times.push(began.elapsed());
        }
    }
    let [theirs, ours] = times;
    let row = row("a list of 10,000".to_owned(), theirs, ours, 1.0 / 3.0)?;
    findings.rows.push(row);
    Ok(())
}

async fn watches(sides: &Sides, findings: &mut Findings) -> Result<()> {
    let mut times = [Vec::new(), Vec::new()];
    for (side, times) in sides.iter().zip(&mut times) {
        *times =
            config_maps::watched(&side.client().await?, &side.client().await?, WATCHED).await?;
    }
    let [theirs, ours] = &times;
    let p99 = |times: &[Duration]| Summary::of(times.to_vec()).map(|it| it.p99.as_secs_f64());
    let ratio = p99(ours).zip(p99(theirs));
    findings.figures.push(Figure {
        case: "10,000 objects".to_owned(),
        what: "sent until watched, p99, by that of kube-apiserver",
        value: ratio.map_or(f64::NAN, |(ours, theirs)| ours / theirs),
        at_most: 0.5,
        unit: "times",
    });
    let [theirs, ours] = times;
    let measured = row("sent until watched".to_owned(), theirs, ours, 1.0)?;
    findings.rows.push(Row {
        at_most: None,
        ..measured
    });
    Ok(())
}

async fn starts(sides: &mut Sides, findings: &mut Findings) -> Result<()> {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..START_TURNS {
        for (side, times) in sides.iter_mut().zip(&mut times) {
            times.push(side.restart().await?);
        }
    }
    let [theirs, ours] = times;
    let row = row("a start with 10,000".to_owned(), theirs, ours, 0.05)?;
    findings.rows.push(row);
    Ok(())
}

/// What a write costs does not depend on how many objects there are.
async fn sizes(findings: &mut Findings) -> Result<()> {
    let mut sides = Vec::new();
    for size in SIZES {
        let side = Side::open(Home::Embedded).await?;
        let all = Load {
            clients: MANY.clients,
            objects: size,
        };
        config_maps::create(&side.clients(all.clients).await?, all.objects, "all").await?;
        sides.push((size, side, Cost::default()));
    }
    for turn in 0..WRITE_TURNS {
        for (_, side, cost) in &mut sides {
            cost.add(side, FEW, &format!("more-{turn}")).await?;
        }
    }
    let mut sides = sides.into_iter();
    let Some((least, _, base)) = sides.next() else {
        return Ok(());
    };
    for (size, _, cost) in sides {
        findings.rows.push(Row {
            case: format!("processor time of {} creates", FEW.objects),
            base: Measurement::of(&format!("among {least}"), base.cpu.clone())?,
            compared: Measurement::of(&format!("among {size}"), cost.cpu)?,
            at_most: Some(SIZE_RATIO_MAX),
        });
    }
    Ok(())
}

/// What the API takes by itself: in memory, in this process, without a socket.
async fn in_process(findings: &mut Findings) -> Result<()> {
    let api = Apiserver::open(Options::default()).await?;
    let clients = vec![api.client(); IN_PROCESS.clients];
    let began = Instant::now();
    config_maps::create(&clients, IN_PROCESS.objects, "in-process").await?;
    let each = began.elapsed() / u32::try_from(IN_PROCESS.objects)?;
    findings.figures.push(Figure {
        case: format!("{} creates in this process", IN_PROCESS.objects),
        what: "time of each",
        value: each.as_secs_f64() * 1e6,
        at_most: IN_PROCESS_MAX,
        unit: "µs",
    });
    Ok(())
}

fn row(case: String, theirs: Vec<Duration>, ours: Vec<Duration>, at_most: f64) -> Result<Row> {
    Ok(Row {
        case,
        base: Measurement::of("kube-apiserver", theirs)?,
        compared: Measurement::of("embedded", ours)?,
        at_most: Some(at_most),
    })
}

impl Cost {
    /// Makes objects, and adds what that took.
    async fn add(&mut self, side: &Side, load: Load, prefix: &str) -> Result<()> {
        let clients = side.clients(load.clients).await?;
        let (began, cpu) = (Instant::now(), side.cpu()?);
        config_maps::create(&clients, load.objects, prefix).await?;
        self.time.push(began.elapsed());
        self.cpu.push(side.cpu()?.saturating_sub(cpu));
        Ok(())
    }
}
