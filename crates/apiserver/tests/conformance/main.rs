//! The embedded API answers as kube-apiserver does.
//!
//! The sequences of requests in `conformance/api` go to both. Every answer is made comparable and
//! compared whole: code, content type, warnings, body, and the events of watches in their order. A
//! difference that `conformance/differences.toml` does not list is an error, and so is a line there
//! that accepts none.
//!
//! Beside them go histories by chance, from seeds: see [`histories`].
//!
//! `CONFORMANCE_ONLY=lists` runs the sequences whose place starts with that, and prints what the real
//! API answered: the way to write one.

mod compare;
mod histories;
mod normal;
mod rules;
mod sequence;
mod side;
mod transcript;
mod values;

use std::env;
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use apiserver::{AdminCredential, Apiserver, Kubeconfig, Options};
use futures_util::StreamExt as _;
use futures_util::stream;
use kube::config::{self, KubeConfigOptions};
use kube::{Client, Config};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use tempfile::TempDir;
use testkit::control_plane::{self, Identity};

use compare::Difference;
use rules::Rules;
use sequence::Sequence;
use side::Side;
use transcript::{Exchange, NEXT_EVENT};

/// So many sequences are under way at once: most of them wait for the other side.
const AT_ONCE: usize = 12;

/// The seeds of every run. Where they do not make enough operations, the next numbers follow.
const SEEDS: [u64; 2] = [1, 2];

/// Adds a seed: this number, or one that is drawn now.
const FRESH: &str = "CONFORM_FRESH";

/// Names other seeds, with commas between them.
const SEED: &str = "CONFORM_SEED";

/// So many operations every run has at least.
const OPERATIONS: usize = 10_000;

mod on_cluster {
    use std::sync::Arc;
    use std::time::Instant;

    use super::histories::Histories;
    use super::histories::hooks::{Asker, World};
    use super::{
        compare_all, conformance, embedded, only, real_side, report, rules, say, seeds, wanted,
    };

    #[tokio::test]
    async fn the_embedded_api_answers_as_the_real_one() {
        let rules = rules();
        let embedded = embedded().await;
        let (ours, theirs) = (embedded.side(), real_side().await);
        let (found, problems) = compare_all(&ours, "", &theirs, "").await;
        let found = found.iter().filter(|difference| !rules.accept(difference));
        let mut problems: Vec<_> = found.map(ToString::to_string).chain(problems).collect();
        if only().is_none() {
            problems.extend(rules.unused());
        }
        report(&problems);
    }

    /// What can be said in protocol buffers is; in JSON all of it was compared before.
    #[tokio::test]
    async fn the_embedded_api_answers_as_the_real_one_in_protocol_buffers() {
        let rules = rules();
        let embedded = embedded().await;
        let (mut ours, mut theirs) = (embedded.side(), real_side().await);
        (ours.protobuf, theirs.protobuf) = (true, true);
        let (found, problems) = compare_all(&ours, "p-", &theirs, "p-").await;
        let found = found.iter().filter(|difference| !rules.accept(difference));
        let problems: Vec<_> = found.map(ToString::to_string).chain(problems).collect();
        report(&problems);
    }

    #[tokio::test]
    async fn generated_histories_are_answered_as_by_the_real_one() {
        let rules = rules();
        let embedded = embedded().await;
        let (mut ours, mut theirs) = (embedded.side(), real_side().await);
        let world = World::start().await;
        for (side, asker) in [(&mut ours, Asker::Ours), (&mut theirs, Asker::Theirs)] {
            world.install(asker, &side.client).await;
            side.webhooks = Some((Arc::clone(&world), asker));
        }
        let began = Instant::now();
        let mut histories =
            Histories::new(&conformance().join("histories"), &ours, &theirs, &rules);
        let (mut seeds, wanted) = (seeds(), wanted());
        for seed in seeds.clone() {
            histories.run(seed, only().as_deref()).await;
        }
        while only().is_none() && histories.operations() < wanted {
            let seed = seeds.last().map_or(0, |last| last + 1);
            seeds.push(seed);
            histories.run(seed, None).await;
        }
        let (operations, seconds) = (histories.operations(), began.elapsed().as_secs_f64());
        println!("{}", histories.table());
        say(&format!(
            "{operations} operations in {seconds:.0} s with seeds {seeds:?}"
        ));
        let mut problems = histories.problems().await;
        if only().is_none() && wanted > 0 {
            problems.extend(histories.missing());
            assert!(operations >= wanted, "{operations} operations are too few");
        }
        report(&problems);
    }

    #[tokio::test]
    async fn the_real_api_agrees_with_itself() {
        let one = real_side().await;
        let other = one.clone();
        let (mut found, problems) = compare_all(&one, "a-", &other, "b-").await;
        // A hash of the group's name, which is the namespace's here.
        found.retain(|difference| !difference.place.ends_with("/storageVersionHash"));
        let found = found.iter().map(ToString::to_string);
        report(&found.chain(problems).collect::<Vec<_>>());
    }
}

/// The seeds of this run: those that are asked for, or those of every run and a fresh one if there is to be one.
fn seeds() -> Vec<u64> {
    if let Ok(asked) = env::var(SEED) {
        let numbers = asked.split(',').map(|number| number.trim().parse().ok());
        let numbers: Option<Vec<u64>> = numbers.collect();
        return numbers.unwrap_or_else(|| panic!("{SEED} is no list of numbers: {asked}"));
    }
    let fresh = match env::var(FRESH).as_deref() {
        Err(_) => return SEEDS.to_vec(),
        Ok("draw") => StdRng::from_os_rng().random_range(1_000..1_000_000),
        Ok(_) => variable(FRESH).unwrap_or_default(),
    };
    say(&format!(
        "seeds {SEEDS:?} and, fresh, {fresh}: `cargo xtask conform api --seed {fresh}` plays it again"
    ));
    SEEDS.into_iter().chain([fresh]).collect()
}

/// How many operations there must be at least. Whoever asks for a seed wants no other.
fn wanted() -> usize {
    let usual = if env::var_os(SEED).is_some() {
        0
    } else {
        OPERATIONS
    };
    variable("CONFORM_OPERATIONS").unwrap_or(usual)
}

/// Says something past the test harness, which keeps the words of a test that passes to itself.
fn say(text: &str) {
    // Words that nobody can read any more are no reason to fail.
    let _unread = std::io::stderr().write_all(format!("conform api: {text}\n").as_bytes());
}

fn variable<T: FromStr>(name: &str) -> Option<T> {
    let text = env::var(name).ok()?;
    let read = text.parse().ok();
    Some(read.unwrap_or_else(|| panic!("{name} is no number")))
}

fn rules() -> Rules {
    Rules::read(&conformance().join("differences.toml")).unwrap_or_else(|why| panic!("{why}"))
}

/// The embedded API with the kinds of the histories, and the folder that its kubeconfig is in.
struct Embedded {
    api: Apiserver,
    _folder: TempDir,
}

impl Embedded {
    fn side(&self) -> Side {
        Side {
            name: "the embedded API",
            client: self.api.client(),
            protobuf: false,
            webhooks: None,
        }
    }
}

async fn embedded() -> Embedded {
    let mut api = Apiserver::open(Options::default())
        .await
        .expect("an API without a disk opens");
    // Tokens are signed with the key of whoever listens; the sequences themselves need no socket.
    let folder = tempfile::tempdir().expect("there is room for a file");
    let kubeconfig = Kubeconfig {
        path: folder.path().join("kubeconfig"),
        credential: AdminCredential::Token,
    };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    api.listen(listener, kubeconfig)
        .expect("a port that is bound can be listened on");
    install(&api.client()).await;
    Embedded {
        api,
        _folder: folder,
    }
}

/// The kinds that histories are about, beside the built-in ones.
async fn install(client: &Client) {
    let definitions = histories::definitions(&conformance().join("histories"));
    let installed = testkit::crds::install(client, &definitions).await;
    installed.unwrap_or_else(|error| panic!("{error}"));
}

/// The real API, asked by a client that does not ask again when it is told to come later: that, too,
/// is an answer.
async fn real_side() -> Side {
    let kubeconfig = control_plane::shared().await.kubeconfig(Identity::Admin);
    let kubeconfig = config::Kubeconfig::read_from(kubeconfig).expect("the control plane wrote it");
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    let mut config = config.expect("the control plane's file is whole");
    config.default_retry = false;
    let client = Client::try_from(config).expect("the control plane's certificate is whole");
    install(&client).await;
    Side {
        name: "the real API",
        client,
        protobuf: false,
        webhooks: None,
    }
}

/// Sends all sequences to both sides. What differs, and what is wrong with the sequences.
async fn compare_all(
    ours: &Side,
    our_prefix: &str,
    theirs: &Side,
    their_prefix: &str,
) -> (Vec<Difference>, Vec<String>) {
    let sequences = sequences();
    let compared = stream::iter(&sequences).map(|sequence| async move {
        let our_ns = format!("{our_prefix}{}", sequence.place);
        let their_ns = format!("{their_prefix}{}", sequence.place);
        let (ours, theirs) = tokio::join!(
            transcript::record(ours, sequence, &our_ns, NEXT_EVENT),
            transcript::record(theirs, sequence, &their_ns, NEXT_EVENT),
        );
        judge(sequence, (ours, &our_ns), (theirs, &their_ns))
    });
    let results: Vec<_> = compared.buffered(AT_ONCE).collect().await;
    let (found, problems): (Vec<_>, Vec<_>) = results.into_iter().unzip();
    (found.concat(), problems.concat())
}

type Recorded<'a> = (Result<Vec<Exchange>, String>, &'a str);

fn judge(
    sequence: &Sequence,
    ours: Recorded<'_>,
    theirs: Recorded<'_>,
) -> (Vec<Difference>, Vec<String>) {
    let ((mut ours, our_ns), (mut theirs, their_ns)) = match (ours, theirs) {
        ((Ok(ours), our_ns), (Ok(theirs), their_ns)) => ((ours, our_ns), (theirs, their_ns)),
        ((Err(why), _), _) | (_, (Err(why), _)) => return (Vec::new(), vec![why]),
    };
    normal::normalise(&mut ours, our_ns);
    normal::normalise(&mut theirs, their_ns);
    if only().is_some() {
        print(sequence, &theirs);
    }
    let unexpected = theirs.iter().filter_map(|exchange| {
        let why = exchange.unexpected.as_ref()?;
        Some(format!(
            "{}, step {}: {}: {why}",
            sequence.place, exchange.number, exchange.title
        ))
    });
    let unexpected = unexpected.collect();
    (
        compare::differences(&sequence.place, &ours, &theirs),
        unexpected,
    )
}

fn report(problems: &[String]) {
    let count = problems.len();
    assert!(
        count == 0,
        "{count} problems\n\n{}\n",
        problems.join("\n\n")
    );
}

fn print(sequence: &Sequence, exchanges: &[Exchange]) {
    let mut text = format!("{}: {}\n", sequence.place, sequence.name);
    for exchange in exchanges {
        let answer = &exchange.answer;
        let code = answer.code.map(|code| code.to_string()).unwrap_or_default();
        let _infallible = writeln!(text, "{:3} {}", exchange.number, exchange.title);
        let _infallible = writeln!(text, "    {code} {:?}\n    {}", answer.headers, answer.body);
    }
    println!("{text}");
}

fn sequences() -> Vec<Sequence> {
    let mut sequences = match sequence::read_folder(&conformance().join("api")) {
        Ok(sequences) => sequences,
        Err(why) => panic!("{why}"),
    };
    sequences.retain(|sequence| only().is_none_or(|only| sequence.place.starts_with(&only)));
    sequences
}

fn only() -> Option<String> {
    env::var("CONFORMANCE_ONLY").ok()
}

fn conformance() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}
