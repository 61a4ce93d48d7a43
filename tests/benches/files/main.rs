//! What a guest's calls of `wasi:filesystem` cost under the host, beside plain wasmtime-wasi: the
//! same component on both sides, in one process, with wasmtime's own calls inline.
//!
//! `cargo bench --bench files` prints a table of medians over rounds in which both sides take
//! turns; `-- --quick` fewer of them, and `-- open` only the calls whose name contains it. The
//! guest measures its calls itself: neither instances nor the commit count.
//!
//! With `-- --granted`, both sides are the host: one with the default grants, and one with grants
//! for paths.

mod calls;
mod memory;

use std::fs;
use std::path::Path;

use airlock_host::content::CallOutcome;
use airlock_host::policy::{Pattern, Rehearse};
use airlock_host::{Plugin, Policy, Resolution, Session};
use airlock_tests::bare::{self, CustomToolPre, Live, State};
use airlock_tests::{Tester, component, engine, plugin};
use calls::{CALLS, Case, Phase};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use wasmtime::component::Component;

/// How often both sides are measured in turn.
const ROUNDS: usize = 41;
const QUICK_ROUNDS: usize = 9;

fn main() {
    let (mut rounds, mut wanted, mut granted) = (ROUNDS, String::new(), false);
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--quick" => rounds = QUICK_ROUNDS,
            "--granted" => granted = true,
            // cargo's own.
            "--bench" => {}
            _ => wanted = argument,
        }
    }
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        let sides = Sides::new(granted).await;
        println!("| call | phase | bare | ours | ratio (quartiles) | promised |");
        println!("| --- | --- | --- | --- | --- | --- |");
        for case in CALLS.iter().filter(|case| case.name.contains(&wanted)) {
            for phase in case.phases {
                println!("{}", sides.row(case, *phase, rounds).await);
            }
        }
        if "memory".contains(&wanted) {
            println!("{}", memory::table(&sides).await);
        }
    });
}

/// Both, on folders of their own.
struct Sides {
    bare: CustomToolPre<State>,
    plugin: Plugin,
    /// True to compare the host under grants for paths with the host under the default ones.
    granted: bool,
}

impl Sides {
    async fn new(granted: bool) -> Self {
        let engine = engine().wasmtime();
        let component = Component::from_file(engine, component("files")).unwrap();
        Self {
            bare: bare::link(&bare::linker(engine), &component),
            plugin: plugin("files").await,
            granted,
        }
    }

    async fn row(&self, case: &Case, phase: Phase, rounds: usize) -> String {
        let mut taken = Vec::with_capacity(rounds);
        for round in 0..rounds {
            // Neither side is always the one that finds the caches cold.
            taken.push(match round % 2 {
                0 => {
                    let bare = self.base(case, phase).await;
                    (bare, self.ours(case, phase).await)
                }
                _ => {
                    let ours = self.ours(case, phase).await;
                    (self.base(case, phase).await, ours)
                }
            });
        }
        let bare = quartiles(taken.iter().map(|(bare, _)| *bare));
        let ours = quartiles(taken.iter().map(|(_, ours)| *ours));
        let ratio = quartiles(taken.iter().map(|(bare, ours)| ours / bare));
        let verdict = if ratio[1] <= case.promised {
            "within"
        } else {
            "missed"
        };
        format!(
            "| {} | {} | {:.2} us | {:.2} us | {:.2}x ({:.2} to {:.2}) | {}x: {verdict} |",
            case.name,
            phase.name(),
            bare[1] / 1e3,
            ours[1] / 1e3,
            ratio[1],
            ratio[0],
            ratio[2],
            case.promised,
        )
    }

    /// Nanoseconds for each call on the side that ours is compared with.
    async fn base(&self, case: &Case, phase: Phase) -> f64 {
        if self.granted {
            self.under(Policy::default(), case, phase).await
        } else {
            self.bare(case).await
        }
    }

    async fn ours(&self, case: &Case, phase: Phase) -> f64 {
        let policy = if self.granted {
            path_grants()
        } else {
            Policy::default()
        };
        self.under(policy, case, phase).await
    }

    async fn bare(&self, case: &Case) -> f64 {
        let folder = filled(case.listed);
        let mut live = Live::on(engine().wasmtime(), &self.bare, folder.path()).await;
        let result = live.execute("files", &case.params(false).to_string()).await;
        match &result.content[..] {
            [bare::Content::Text(text)] => text.parse().unwrap(),
            _ => panic!("one text"),
        }
    }

    async fn under(&self, policy: Policy, case: &Case, phase: Phase) -> f64 {
        let folder = filled(case.listed);
        let session = self.session(folder.path(), policy);
        match phase {
            Phase::Preview => {
                let outcome = call(&session, case.params(false)).await;
                outcome.text().parse().unwrap()
            }
            Phase::Apply => {
                call(&session, case.params(true)).await;
                let resolution = Resolution::apply("a benchmark says so");
                let applied = session.resolve(resolution, Tester).await.unwrap();
                applied.content[0].as_text().unwrap().parse().unwrap()
            }
        }
    }

    /// In which an apply runs once.
    fn session(&self, folder: &Path, policy: Policy) -> Session {
        let session = Session::builder().model_decides().workspace(folder);
        // Otherwise the guest's clock would stand still.
        let plugin = self.plugin.under(policy.with_real_time());
        let session = session.rehearse(Rehearse::Never).bind(plugin);
        session.open().unwrap()
    }
}

/// Grants for all that the calls are about, by patterns that have to be compared.
fn path_grants() -> Policy {
    let pattern = |text| Pattern::new(text).unwrap();
    let read = ["docs/**/*.md", "listed/"].map(pattern);
    let change = ["src/", "file*", "one/", "new*", "*"].map(pattern);
    Policy::default().with_paths(&read, &change)
}

/// To measure a call, at once or when an action is applied.
fn params(call: Value, times: u32, push: bool) -> Value {
    let mut params = json!({"measure": {"call": call, "times": times}});
    if push {
        params["push"] = "Some calls".into();
    }
    params
}

async fn call(session: &Session, params: Value) -> CallOutcome {
    session.call("files", &params).await.unwrap()
}

/// What the calls are about, with so many entries in the directory that is listed.
fn filled(entries: usize) -> TempDir {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    fs::create_dir_all(path.join("one/two")).unwrap();
    for name in ["file", "one/two/file"] {
        fs::write(path.join(name), vec![1; 64 * 1024]).unwrap();
    }
    let listed = path.join("listed");
    fs::create_dir(&listed).unwrap();
    for number in 0..entries {
        fs::write(listed.join(number.to_string()), "").unwrap();
    }
    folder
}

fn quartiles(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[values.len() * quarter / 4])
}

impl Case {
    fn params(&self, push: bool) -> Value {
        params((self.call)(), self.times, push)
    }
}
