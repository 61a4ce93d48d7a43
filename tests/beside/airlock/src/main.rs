//! The tool in a program that embeds Airlock, with a session in a store in memory, and one in
//! SQLite.
//!
//! ```text
//! beside-airlock answer COMPONENT FOLDER STATE PARAMS   what the measuring program asks for
//! ```
//!
//! STATE is a folder for compiled code, and for what is pending.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use airlock_host::compile::CompileCache;
use airlock_host::pending::Actor;
use airlock_host::policy::Rehearse;
use airlock_host::{Engine, Plugin, Resolution, Session};
use airlock_store_sqlite::SqliteStore;
use anyhow::{Context, bail};
use beside_contestant::{NOTHING, TOOL, Took, answer};
use serde_json::Value;
use tokio::runtime::{Handle, Runtime};

/// The most actions that are pending at one time: a conversation has a few, not thousands.
const STACK: u32 = 20;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, component, folder, state, params] =
        arguments.try_into().ok().context("see the source")?;
    if mode != "answer" {
        bail!("unknown: {mode}");
    }
    let runtime = Runtime::new()?;
    let _inside = runtime.enter();
    let state = PathBuf::from(state);
    let cached = || -> anyhow::Result<Engine> {
        let cache = CompileCache::open(state.join("compiled"), state.join("key"))?;
        // What is measured is the first load of a process.
        Ok(Engine::builder().cache(cache).kept_loads(0).build()?)
    };
    let compiling = Engine::builder().kept_loads(0).build()?;
    let loading = cached()?;
    let engine = cached()?;
    let load = |engine: &Engine| runtime.block_on(Plugin::load(engine, &component));
    let plugin = load(&engine)?;
    let folder = Path::new(&folder);
    let open = || {
        Session::builder()
            .model_decides()
            .workspace(folder)
            .bind(&plugin)
    };
    let store = runtime.block_on(SqliteStore::open(state.join("pending.db")))?;

    let calls = Calls {
        runtime: runtime.handle().clone(),
        params: serde_json::from_str(&params)?,
        none: serde_json::from_str(NOTHING)?,
    };
    let in_memory = open().open()?;
    let unrehearsed = open().rehearse(Rehearse::Never).open()?;
    let durable = open().store(Arc::new(store)).open()?;
    let mut held = Vec::new();
    answer(|what, count| match what {
        "nothing" => Took::of_all(count, || calls.call(&in_memory, &calls.none)),
        "call" => calls.batches(&in_memory, count),
        "unrehearsed" => calls.batches(&unrehearsed, count),
        "discarded" => Took::of_all(count, || calls.call_and_discard(&in_memory)),
        "durable" => Took::of_all(count, || calls.call_and_discard(&durable)),
        "instance" => Took::of_all(count, || calls.call(&open().open()?, &calls.none)),
        "hold" => Took::of_all(count, || {
            let session = open().open()?;
            calls.call(&session, &calls.none)?;
            held.push(session);
            Ok(())
        }),
        "cold" => Took::of_all(count, || Ok(load(&compiling).map(drop)?)),
        "cached" => Took::of_all(count, || Ok(load(&loading).map(drop)?)),
        _ => bail!("unknown"),
    })
}

struct Calls {
    runtime: Handle,
    params: Value,
    none: Value,
}

impl Calls {
    fn call(&self, session: &Session, params: &Value) -> anyhow::Result<()> {
        let called = self
            .runtime
            .block_on(session.call(TOOL, params).into_future())?;
        std::hint::black_box(called);
        Ok(())
    }

    fn discard(&self, session: &Session) -> anyhow::Result<()> {
        let resolution = Resolution::discard("a benchmark says so");
        let resolved = session.resolve(resolution, Actor::program("beside"));
        self.runtime.block_on(resolved.into_future())?;
        Ok(())
    }

    fn call_and_discard(&self, session: &Session) -> anyhow::Result<()> {
        self.call(session, &self.params)?;
        self.discard(session)
    }

    /// Calls alone: what they push is discarded between batches.
    fn batches(&self, session: &Session, count: u32) -> anyhow::Result<Took> {
        let mut took = Took::default();
        for done in (0..count).step_by(STACK as usize) {
            let batch = (count - done).min(STACK);
            took += Took::of_all(batch, || self.call(session, &self.params))?;
            (0..batch).try_for_each(|_| self.discard(session))?;
        }
        Ok(took)
    }
}
