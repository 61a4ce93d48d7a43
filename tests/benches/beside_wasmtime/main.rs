//! What the host adds to bare wasmtime: both on the same component, in one process and in one pool.
//!
//! `cargo bench --bench beside_wasmtime` measures each side with criterion, and then both in turn,
//! round by round, for ratios that can be compared: machines are noisy, and what two
//! neighbours share is told apart from what only one of them costs. Last it measures what the
//! contract itself asks for, and how near to bare wasmtime with that we are.

#[path = "../bare/mod.rs"]
mod bare;
mod least;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use airlock_host::compile::CompileCache;
use airlock_host::policy::Rehearse;
use airlock_host::store::MemoryStore;
use airlock_host::{Engine, Limits, Plugin, Resolution, Session};
use airlock_tests::{Tester, component};
use bare::Bare;
use criterion::Criterion;
use least::Measured;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// How often both sides are measured in turn.
const ROUNDS: usize = 41;

/// The most actions that are pending at one time.
const STACK: usize = 20;

/// What is compared.
#[derive(Clone, Copy)]
enum Case {
    Execute,
    Instantiate,
    Reject,
    Load,
}

impl Case {
    const ALL: [Self; 4] = [Self::Execute, Self::Instantiate, Self::Reject, Self::Load];

    /// Its name, how often it is done in a round, and the ratio to stay within.
    fn facts(self) -> (&'static str, u64, f64) {
        match self {
            Case::Execute => ("execute, 100 bytes of JSON and one push", 500, 1.15),
            Case::Instantiate => ("instantiate and drop", 100, 1.25),
            Case::Reject => ("resolve on the memory store (reject)", 500, 1.5),
            Case::Load => ("load from the compile cache", 10, 2.0),
        }
    }
}

/// The host's side.
struct Ours {
    engine: Engine,
    session: Session,
    store: Arc<MemoryStore>,
    params: Value,
    /// The same component, and another plugin: the session's is not loaded a second time.
    another: PathBuf,
    _folders: [TempDir; 2],
}

impl Ours {
    async fn new(rehearse: Rehearse) -> Self {
        let (cache, workspace) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let compiled = CompileCache::open(cache.path().join("compiled"), cache.path().join("key"));
        let limits = Limits::default().with_pending_actions(usize::MAX);
        let engine = Engine::builder()
            .limits(limits)
            .cache(compiled.unwrap())
            // What is measured is the first load of a process.
            .kept_loads(0);
        let engine = engine.build().unwrap();
        let plugin = Plugin::load(&engine, component("bench")).await.unwrap();
        let another = cache.path().join("another.wasm");
        std::fs::write(&another, another_plugin()).unwrap();
        Plugin::load(&engine, &another).await.unwrap();
        let store = Arc::new(MemoryStore::new());
        let session = Session::builder()
            .model_decides()
            .workspace(workspace.path())
            .rehearse(rehearse)
            .store(store.clone())
            .bind(&plugin)
            .open()
            .unwrap();
        let tags = ["alpha", "beta", "gamma", "delta", "epsilon"];
        let params = json!({"title": "A title of some length, or so", "count": 3, "tags": tags});
        assert!(
            (95..=105).contains(&params.to_string().len()),
            "{}",
            params.to_string().len()
        );
        Self {
            engine,
            session,
            store,
            params,
            another,
            _folders: [cache, workspace],
        }
    }

    async fn time(&self, case: Case, count: u64) -> Duration {
        match case {
            Case::Execute => {
                let mut took = Duration::ZERO;
                for actions in stacks(count) {
                    self.push(1).await;
                    let began = Instant::now();
                    self.push(actions).await;
                    took += began.elapsed();
                    self.store.forget(self.session.id());
                }
                took
            }
            Case::Instantiate => {
                self.session.drop_idle_instances();
                let began = Instant::now();
                for _ in 0..count {
                    self.session.start_instances().await.unwrap();
                    self.session.drop_idle_instances();
                }
                began.elapsed()
            }
            Case::Reject => {
                let mut took = Duration::ZERO;
                for actions in stacks(count) {
                    self.push(actions).await;
                    let began = Instant::now();
                    for _ in 0..actions {
                        let resolution = Resolution::discard("a benchmark says so");
                        self.session.resolve(resolution, Tester).await.unwrap();
                    }
                    took += began.elapsed();
                }
                took
            }
            Case::Load => {
                let began = Instant::now();
                for _ in 0..count {
                    Plugin::load(&self.engine, &self.another).await.unwrap();
                }
                began.elapsed()
            }
        }
    }
}

impl Ours {
    async fn push(&self, actions: u64) {
        for _ in 0..actions {
            self.session.call("bench", &self.params).await.unwrap();
        }
    }
}

/// The component once more, as another plugin.
fn another_plugin() -> Vec<u8> {
    let mut bytes = std::fs::read(component("bench")).unwrap();
    // A custom section.
    bytes.extend_from_slice(b"\0\x02\x01a");
    bytes
}

/// How many actions to have on the stack at one time, until all were: a conversation has a few, not
/// thousands.
fn stacks(count: u64) -> impl Iterator<Item = u64> {
    (0..count)
        .step_by(STACK)
        .map(move |done| (count - done).min(STACK as u64))
}

fn main() {
    let runtime = Runtime::new().unwrap();
    let ours = runtime.block_on(Ours::new(Rehearse::Never));
    let bare = runtime.block_on(Bare::new(ours.engine.wasmtime(), &ours.params));

    let mut criterion = Criterion::default()
        .configure_from_args()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .sample_size(30);
    for case in Case::ALL {
        let mut group = criterion.benchmark_group(case.facts().0);
        group.bench_function("ours", |bencher| {
            bencher
                .to_async(&runtime)
                .iter_custom(async |count| ours.time(case, count).await);
        });
        group.bench_function("bare", |bencher| {
            bencher
                .to_async(&runtime)
                .iter_custom(async |count| bare.time(case, count).await);
        });
    }
    criterion.final_summary();
    let (table, medians) = runtime.block_on(ratios(&Case::ALL, &ours, &bare));
    print!("{table}");
    let measured = |case: Case| {
        let (ours, bare) = medians[case as usize];
        Measured { bare, ours }
    };
    let tools = ours.session.tools_named(&["bench"]);
    let schema = tools[0].parameters.value();
    let call = (&schema, &ours.params);
    print!(
        "{}",
        least::tables(ours.engine.wasmtime(), &bare, call, measured)
    );
    println!("\nThe same where each action is rehearsed before its call returns:");
    let rehearsed = runtime.block_on(Ours::new(Rehearse::Auto));
    let cases = [Case::Execute, Case::Reject];
    print!("{}", runtime.block_on(ratios(&cases, &rehearsed, &bare)).0);
}

/// A table of medians over rounds in which both sides take turns, and those of ours and of bare
/// wasmtime, in seconds.
async fn ratios(cases: &[Case], ours: &Ours, bare: &Bare) -> (String, Vec<(f64, f64)>) {
    let mut medians = Vec::new();
    let mut table = String::from(
        "\n| what | bare | ours | ratio (quartiles) | promised |\n| --- | --- | --- | --- | --- |\n",
    );
    for &case in cases {
        let (name, count, promised) = case.facts();
        let mut rounds = Vec::with_capacity(ROUNDS);
        for round in 0..ROUNDS {
            // Neither side is always the one that finds the caches cold.
            let (a, b) = if round % 2 == 0 {
                let a = ours.time(case, count).await;
                (a, bare.time(case, count).await)
            } else {
                let b = bare.time(case, count).await;
                (ours.time(case, count).await, b)
            };
            rounds.push((
                a.as_secs_f64() / count as f64,
                b.as_secs_f64() / count as f64,
            ));
        }
        let ratio = quartiles(rounds.iter().map(|(a, b)| a / b));
        let micros = |side: [f64; 3]| format!("{:.2} us", side[1] * 1e6);
        let (a, b) = (
            quartiles(rounds.iter().map(|it| it.0)),
            quartiles(rounds.iter().map(|it| it.1)),
        );
        medians.push((a[1], b[1]));
        let verdict = if ratio[1] <= promised {
            "within"
        } else {
            "missed"
        };
        let _ = writeln!(
            table,
            "| {name} | {} | {} | {:.2}x ({:.2} to {:.2}) | {promised}x: {verdict} |",
            micros(b),
            micros(a),
            ratio[1],
            ratio[0],
            ratio[2],
        );
    }
    (table, medians)
}

fn quartiles(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[values.len() * quarter / 4])
}
