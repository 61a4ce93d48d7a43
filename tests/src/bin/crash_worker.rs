//! A host that pushes, applies and discards without an end, and says so: to be killed by the test
//! `crash`.
//!
//! `crash_worker STORE WORKSPACE CACHE LEDGER SEED` writes a line to its standard output for each
//! thing that it knows to be done: `announced <id> <state> <attempts>` and `ready` at first, then
//! `pushed <id>`, `applied <id>`, `discarded <id>` and `failed <id> <attempt>`. What an apply does
//! is a line in the file LEDGER of the workspace.
//!
//! With FILES, it applies one action that makes so many files, and ends: to be killed in between.

use std::io::Write;
use std::path::{Path, PathBuf};

use airlock_host::compile::CompileCache;
use airlock_host::pending::StackedAction;
use airlock_host::store::{DurableStore, Scope};
use airlock_host::{Engine, Error, Plugin, Resolution, Session};
use airlock_store_sqlite::SqliteStore;
use airlock_tests::{Random, Tester, component, push};
use anyhow::Context;
use serde_json::{Value, json};

/// The most that wait for a decision, about: beyond it, nothing more is pushed.
const WAITING: usize = 6;

const USAGE: &str = "usage: crash_worker STORE WORKSPACE CACHE LEDGER SEED [FILES]";

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(work())
}

async fn work() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut argument = || arguments.next().context(USAGE);
    let store = SqliteStore::builder(argument()?).open().await?;
    let workspace = PathBuf::from(argument()?);
    let engine = engine(Path::new(&argument()?))?;
    let plugin = Plugin::load(&engine, component("puppet")).await?;
    let ledger = format!("/workspace/{}", argument()?);
    let random = Random::new(argument()?.parse()?);
    let open = |id: &str| {
        Session::builder()
            .model_decides()
            .id(id)
            .workspace(&workspace)
            .store(std::sync::Arc::new(store.clone()))
            .bind(&plugin)
            .open()
    };
    if let Some(files) = arguments.next() {
        return make_many(&open("one")?, files.parse()?).await;
    }
    announce(&store).await?;
    let mut worker = Worker {
        sessions: vec![open("one")?, open("two")?],
        ledger,
        random,
    };
    say("ready");
    loop {
        worker.turn().await?;
    }
}

async fn make_many(session: &Session, files: usize) -> anyhow::Result<()> {
    let make = json!({"do": "make-many", "path": "/workspace", "count": files});
    let step = push("Make files", json!({"apply": [make]}));
    let params = json!({"steps": [step]});
    let pushed = session.call("puppet", &params).await?.pushed;
    say(&format!("pushed {}", pushed[0].id));
    session.resolve(Resolution::apply(""), Tester).await?;
    Ok(())
}

fn engine(cache: &Path) -> anyhow::Result<Engine> {
    let cache = CompileCache::open(cache, cache.join("key"))?;
    Ok(Engine::builder().cache(cache).live_instances(2).build()?)
}

/// Tells all that is open, as an operator would see it.
async fn announce(store: &SqliteStore) -> anyhow::Result<()> {
    for record in store.open_actions(Scope::All).await? {
        let (id, state, attempts) = (record.action.id, record.state, record.attempts);
        say(&format!("announced {id} {state} {attempts}"));
    }
    Ok(())
}

/// One line, at once.
fn say(line: &str) {
    let mut output = std::io::stdout().lock();
    // Without a reader, the test is over.
    if writeln!(output, "{line}").is_err() || output.flush().is_err() {
        std::process::exit(0);
    }
}

struct Worker {
    sessions: Vec<Session>,
    ledger: String,
    random: Random,
}

impl Worker {
    async fn turn(&mut self) -> anyhow::Result<()> {
        let session = self.random.below(self.sessions.len() as u64) as usize;
        let session = self.sessions[session].clone();
        let pending = session.pending().await?;
        if pending.len() < WAITING && self.random.percent(40) {
            self.push(&session).await?;
        } else if !pending.is_empty() {
            self.resolve(&session, &pending).await?;
        }
        Ok(())
    }

    async fn push(&mut self, session: &Session) -> anyhow::Result<()> {
        let step = push(
            "Write a line",
            json!({"apply": self.apply_steps(), "reject": [{"do": "resolution"}]}),
        );
        let params = json!({"steps": [step]});
        let pushed = session.call("puppet", &params).await?.pushed;
        say(&format!("pushed {}", pushed[0].id));
        Ok(())
    }

    /// Some fail before they take effect, some afterwards, and some take a while.
    fn apply_steps(&mut self) -> Value {
        let mut steps = vec![json!({"do": "ledger"})];
        if self.random.percent(15) {
            let at = self.random.below(2) as usize;
            steps.insert(at, json!({"do": "fail-until-attempt", "n": 2}));
        }
        if self.random.percent(50) {
            let at = self.random.below(steps.len() as u64 + 1) as usize;
            steps.insert(at, json!({"do": "block", "ms": self.random.below(4)}));
        }
        steps.push(json!({"do": "resolution"}));
        Value::from(steps)
    }

    async fn resolve(&mut self, session: &Session, listed: &[StackedAction]) -> anyhow::Result<()> {
        let (mut chosen, mut id) = (&listed[0], None);
        if self.random.percent(50) {
            chosen = &listed[self.random.below(listed.len() as u64) as usize];
            id = Some(chosen.action.id.clone());
        }
        let mut resolution = if self.random.percent(75) {
            Resolution::apply("a test says so")
        } else {
            Resolution::discard("a test says so")
        };
        let extra = json!({"ledger": self.ledger}).as_object().cloned();
        resolution.id = id;
        resolution.extra = extra;
        let past = resolution.decision.past();
        match session.resolve(resolution, Tester).await {
            // The guest says which action it was: of several workers, one may have been quicker to
            // take the topmost.
            Ok(outcome) => {
                let told: Value = serde_json::from_str(&outcome.text())?;
                let id = told["actionId"].as_str();
                say(&format!("{past} {}", id.context("a result without an id")?));
            }
            Err(Error::ApplyFailed(_) | Error::Tool { .. }) => {
                let (id, attempt) = (&chosen.action.id, chosen.attempts + 1);
                say(&format!("failed {id} {attempt}"));
            }
            Err(
                Error::ResolutionInProgress(_)
                | Error::AlreadyResolved { .. }
                | Error::NothingPending,
            ) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}
