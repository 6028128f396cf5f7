//! All cores at once, for what a start has to do with every object there is.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread;

/// Below this a thread takes longer to start than it saves.
const SHARE_MIN: usize = 256;

/// More than this many threads wait for memory rather than work.
const SHARES_MAX: usize = 8;

/// Works through items in as many shares as there are cores. The results of the shares are in the order of the items.
///
/// A panic in a share is a panic here.
pub(crate) fn share<T, U>(items: Vec<T>, work: impl Fn(Vec<T>) -> U + Sync) -> Vec<U>
where
    T: Send,
    U: Send,
{
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    share_among(cores.min(SHARES_MAX), items, work)
}

fn share_among<T, U>(cores: usize, mut items: Vec<T>, work: impl Fn(Vec<T>) -> U + Sync) -> Vec<U>
where
    T: Send,
    U: Send,
{
    let length = items.len().div_ceil(cores.max(1)).max(SHARE_MIN);
    let (work, mut others) = (&work, Vec::new());
    // From the end, so that nothing moves more than once.
    while items.len() > length {
        let last = (items.len() - 1) / length * length;
        others.push(items.split_off(last));
    }
    thread::scope(|scope| {
        let others: Vec<_> = others
            .into_iter()
            .rev()
            .map(|share| scope.spawn(move || work(share)))
            .collect();
        let first = work(items);
        let others = others
            .into_iter()
            .map(|share| share.join().unwrap_or_else(|panic| resume_unwind(panic)));
        std::iter::once(first).chain(others).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_the_items_in_their_order() {
        for cores in [0, 1, 2, 3, 7] {
            for count in [0, 1, SHARE_MIN, SHARE_MIN + 1, 10 * SHARE_MIN + 3] {
                let items: Vec<usize> = (0..count).collect();
                let shares = share_among(cores, items.clone(), |share| share);
                assert!(shares.len() <= cores.max(1), "{count} among {cores}");
                assert_eq!(shares.concat(), items, "{count} among {cores}");
            }
        }
    }

    #[test]
    fn shares_are_worked_on_by_several_threads() {
        let items = vec![(); 4 * SHARE_MIN];
        let threads = share_among(2, items, |_| thread::current().id());
        assert_eq!(threads.len(), 2);
        assert_ne!(threads[0], threads[1]);
    }

    #[test]
    #[should_panic(expected = "the last one")]
    fn a_panic_in_any_share_is_passed_on() {
        let items: Vec<usize> = (0..4 * SHARE_MIN).collect();
        share_among(2, items, |share| {
            assert!(!share.contains(&(4 * SHARE_MIN - 1)), "the last one");
        });
    }
}
