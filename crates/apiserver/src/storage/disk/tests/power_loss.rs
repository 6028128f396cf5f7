//! Power fails at every operation, with every kind of remains.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;

/// Commits that make the tree grow, replace, remove, span pages and, last, compact.
fn history() -> Vec<Vec<Batch>> {
    vec![
        vec![batch(1, vec![write(1, "a", 10)])],
        vec![
            batch(2, vec![write(2, "b", 700), write(2, "c", 9_000)]),
            batch(3, vec![write(3, "a", 1_500), removal(3, "b")]),
        ],
        vec![batch(
            4,
            (0..6).map(|n| write(4, &format!("m{n}"), 1_200)).collect(),
        )],
        vec![batch(
            5,
            vec![removal(5, "c"), removal(5, "m3"), write(5, "d", 20_000)],
        )],
    ]
}

/// Runs the history until the power fails. Gives back how many commits were acknowledged.
fn run(device: &Device, history: &[Vec<Batch>]) -> usize {
    let Ok((mut disk, _)) = Disk::open(device.clone(), sealer()) else {
        return 0;
    };
    let acknowledged = history
        .iter()
        .take_while(|batches| disk.commit(batches).is_ok());
    acknowledged.count()
}

/// After the power is back, all that was acknowledged is there, and of the commit under way all or
/// nothing.
#[track_caller]
fn check(device: &Device, history: &[Vec<Batch>], acknowledged: usize, case: &str) {
    let loaded = load(device).unwrap_or_else(|error| panic!("{case}: {error}"));
    let least = model(&history[..acknowledged].concat());
    let most = model(&history[..history.len().min(acknowledged + 1)].concat());
    assert!(
        loaded == least || loaded == most,
        "{case}: revision {}",
        loaded.revision
    );
}

/// What was served after one start is served after the next.
#[track_caller]
fn check_again(device: &Device, case: &str) {
    assert_eq!(load(device).unwrap(), load(device).unwrap(), "{case}");
}

/// The device as it is when the power fails at an operation, and what was acknowledged by then.
fn fail_at(operation: usize, history: &[Vec<Batch>]) -> (Device, usize) {
    let device = device();
    device.lose_power_at(operation);
    let acknowledged = run(&device, history);
    (device, acknowledged)
}

fn operations(history: &[Vec<Batch>]) -> usize {
    let device = device();
    assert_eq!(run(&device, history), history.len());
    device.operations()
}

#[test]
fn power_lost_at_any_operation_loses_nothing_that_was_acknowledged() {
    let history = history();
    for operation in 0..operations(&history) {
        let (device, acknowledged) = fail_at(operation, &history);
        let changes = device.unsynced().len();
        let patterns: [(&str, &dyn Fn(usize) -> bool); 6] = [
            ("nothing", &|_| false),
            ("everything", &|_| true),
            ("even sectors", &|index| index % 2 == 0),
            ("odd sectors", &|index| index % 2 == 1),
            ("first half", &|index| index < changes / 2),
            ("second half", &|index| index >= changes / 2),
        ];
        for (name, survives) in patterns {
            let device = device.after_power_loss(survives, operation % 2);
            check(
                &device,
                &history,
                acknowledged,
                &format!("operation {operation}, {name}"),
            );
        }
    }
}

#[test]
fn any_one_sector_may_be_the_only_one_lost_or_the_only_one_kept() {
    let history = &history()[..1];
    for operation in 0..operations(history) {
        let (device, acknowledged) = fail_at(operation, history);
        for one in 0..device.unsynced().len() {
            // Lost at one operation, kept at the next: both would take twice as long.
            let lost = operation % 2 == 0;
            let device = device.after_power_loss(|index| (index == one) != lost, 0);
            let case = format!("operation {operation}, sector {one} lost: {lost}");
            check(&device, history, acknowledged, &case);
        }
    }
}

#[test]
fn random_remains_of_random_histories_hold_what_was_acknowledged() {
    for seed in 0..60 {
        let mut random = StdRng::seed_from_u64(seed);
        let history = random_history(&mut random);
        let operation = random.random_range(0..operations(&history));
        let (device, acknowledged) = fail_at(operation, &history);
        let survivors: Vec<bool> = device.unsynced().iter().map(|_| random.random()).collect();
        let device = device.after_power_loss(|index| survivors[index], random.random_range(0..4));
        check(&device, &history, acknowledged, &format!("seed {seed}"));
        check_again(&device, &format!("seed {seed}"));
    }
}

fn random_history(random: &mut StdRng) -> Vec<Vec<Batch>> {
    let mut revision = 0;
    let mut next_batch = |random: &mut StdRng| {
        revision += random.random_range(1..3);
        let writes = (0..random.random_range(0..5)).map(|_| {
            let name = format!("n{}", random.random_range(0..8));
            match random.random_range(0..3) {
                0 => removal(revision, &name),
                _ => write(revision, &name, random.random_range(0..6_000)),
            }
        });
        batch(revision, writes.collect())
    };
    let mut next_commit = || {
        let batches = 0..random.random_range(1..4);
        batches.map(|_| next_batch(random)).collect()
    };
    (0..4).map(|_| next_commit()).collect()
}

/// A start after a kill makes the free list anew, and writes that down. Power may fail there, too.
#[test]
fn power_lost_while_a_killed_store_is_opened_loses_nothing() {
    let history = history();
    let killed = device();
    let (mut disk, _) = Disk::open(killed.clone(), sealer()).unwrap();
    for batches in &history {
        disk.commit(batches).unwrap();
    }
    let start = killed.content();
    let whole = Device::holding(start.clone());
    let (_disk, _) = Disk::open(whole.clone(), sealer()).unwrap();
    assert!(whole.operations() > 3, "{}", whole.operations());
    for operation in 0..whole.operations() {
        let device = Device::holding(start.clone());
        device.lose_power_at(operation);
        let _ = Disk::open(device.clone(), sealer());
        for one in 0..device.unsynced().len() {
            for lost in [true, false] {
                let device = device.after_power_loss(|index| (index == one) != lost, 0);
                let case = format!("operation {operation}, sector {one} lost: {lost}");
                check(&device, &history, history.len(), &case);
                check_again(&device, &case);
            }
        }
    }
}

/// A store whose file is long and whose content is small, which the next start compacts.
fn bloated(batches: &[Batch]) -> Vec<u8> {
    let device = device();
    let (disk, _) = Disk::open(device.clone(), sealer()).unwrap();
    let Opened::Yes(database) = &disk.database else {
        panic!("just opened");
    };
    let mut tally = disk.tally;
    for batch in batches {
        let transaction = database.begin_write().unwrap();
        tally =
            contents::apply(&transaction, std::slice::from_ref(batch), &sealer(), tally).unwrap();
        transaction.commit().unwrap();
    }
    device.content()
}

#[test]
fn power_lost_during_compaction_loses_nothing() {
    let names = || (0..14).map(|n| format!("big{n}"));
    let mut last: Vec<Write> = names().map(|name| removal(2, &name)).collect();
    last.extend((0..20).map(|n| write(2, &format!("small{n}"), 1_000)));
    let batches = [
        batch(1, names().map(|name| write(1, &name, 400_000)).collect()),
        batch(2, last),
    ];
    let start = bloated(&batches);
    let whole = Device::holding(start.clone());
    let (_disk, _) = Disk::open(whole.clone(), sealer()).unwrap();
    let (before, after) = (start.len(), whole.content().len());
    assert!(
        after < before / 4,
        "{before} bytes before and {after} after"
    );

    for operation in 0..whole.operations() {
        let device = Device::holding(start.clone());
        device.lose_power_at(operation);
        let _ = Disk::open(device.clone(), sealer());
        for parity in [0, 1] {
            let device = device.after_power_loss(|index| index % 2 == parity, 0);
            let case = format!("operation {operation}, parity {parity}");
            check(&device, &[batches.to_vec()], 1, &case);
        }
    }
}
