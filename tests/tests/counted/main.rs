//! What a load, a call, a decision and a commit allocate, which statements of SQLite they need, and
//! how many instructions they are: numbers that don't depend on how busy the machine is.
//! `tests/counted.txt` and `tests/instructions.txt` have the recorded numbers, and
//! `UPDATE_EXPECT=1` records new ones.

mod instructions;
#[allow(unsafe_code, reason = "SQLite tells of statements to a function of C")]
mod statements;

use std::alloc::System;
use std::path::Path;
use std::sync::Arc;

use airlock_host::compile::CompileCache;
use airlock_host::policy::Rehearse;
use airlock_host::store::{MemoryStore, PendingStore};
use airlock_host::tool::Params;
use airlock_host::{Engine, Plugin, Resolution, Session};
use airlock_store_sqlite::SqliteStore;
use airlock_tests::recorded::{self, Numbers, Tolerated};
use airlock_tests::{Tester, component};
use serde_json::{Value, json};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tempfile::TempDir;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// How often each is done: the least counts, since what goes on beside it allocates too.
const ROUNDS: usize = 20;

/// Allocations, bytes of these, and statements.
struct Counter(Numbers);

impl Counter {
    async fn count(&mut self, what: &str, mut work: impl AsyncFnMut()) {
        let (mut allocations, mut bytes, mut statements) = (usize::MAX, usize::MAX, usize::MAX);
        for _ in 0..ROUNDS {
            let region = Region::new(ALLOCATOR);
            let before = statements::begun();
            work().await;
            let change = region.change();
            allocations = allocations.min(change.allocations + change.reallocations);
            bytes = bytes.min(change.bytes_allocated);
            statements = statements.min(statements::begun() - before);
        }
        let mut note = |kind: &str, count: usize| {
            self.0.insert(format!("{what} {kind}"), count as u64);
        };
        note("allocations", allocations);
        note("bytes", bytes);
        if what.ends_with("SQLite") {
            note("statements", statements);
        }
    }
}

fn session(plugin: &Plugin, store: impl Into<PendingStore>, workspace: &Path) -> Session {
    let session = Session::builder()
        .model_decides()
        .workspace(workspace)
        .store(store);
    session
        .rehearse(Rehearse::Never)
        .bind(plugin)
        .open()
        .unwrap()
}

async fn call(session: &Session, params: &Value) {
    session.call("bench", params).await.unwrap();
}

async fn discard(session: &Session) {
    let resolution = Resolution::discard("a test says so");
    session.resolve(resolution, Tester).await.unwrap();
}

async fn counts() -> Numbers {
    statements::watch();
    let folder = TempDir::new().unwrap();
    let cache = CompileCache::open(folder.path().join("compiled"), folder.path().join("key"));
    let engine = Engine::builder().cache(cache.unwrap()).kept_loads(0);
    let engine = engine.build().unwrap();
    let path = component("bench");
    let load = async || Plugin::load(&engine, &path).await.unwrap();
    let mut counter = Counter(Numbers::new());
    load().await;
    counter
        .count("load from the compile cache", async || drop(load().await))
        .await;
    let plugin = load().await;
    counter
        .count("load again", async || drop(load().await))
        .await;

    let params = json!({"title": "A title of some length, or so", "count": 3, "tags": ["alpha"]});
    let memory = session(&plugin, Arc::new(MemoryStore::new()), folder.path());
    counter
        .count("open a session", async || {
            session(&plugin, Arc::new(MemoryStore::new()), folder.path());
        })
        .await;
    call(&memory, &params).await;
    discard(&memory).await;
    counter
        .count("call, push and reject", async || {
            call(&memory, &params).await;
            discard(&memory).await;
        })
        .await;
    let text = params.to_string();
    counter
        .count("call with a text, push and reject", async || {
            let params = Params::from_text(&text).unwrap();
            memory.call("bench", params).await.unwrap();
            discard(&memory).await;
        })
        .await;
    for _ in 0..100 {
        call(&memory, &params).await;
    }
    memory.next_turn().await.unwrap();
    counter
        .count("next turn with 100 pending", async || {
            memory.next_turn().await.unwrap();
        })
        .await;

    let path = folder.path().join("pending.db");
    SqliteStore::open(&path).await.unwrap();
    counter
        .count("open a store in SQLite", async || {
            drop(SqliteStore::open(&path).await.unwrap());
        })
        .await;
    let file = SqliteStore::open(&path).await;
    let file = session(&plugin, Arc::new(file.unwrap()), folder.path());
    call(&file, &params).await;
    discard(&file).await;
    counter
        .count("call, push and reject in SQLite", async || {
            call(&file, &params).await;
            discard(&file).await;
        })
        .await;
    counter
        .count("call, push and apply in SQLite", async || {
            call(&file, &params).await;
            let apply = Resolution::apply("a test says so");
            file.resolve(apply, Tester).await.unwrap();
        })
        .await;
    counter.0
}

#[test]
fn nothing_allocates_a_tenth_more_than_was_recorded() {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    let counted = runtime.block_on(counts());
    let tolerated = Tolerated {
        percent: 10,
        always: 0,
        less_is_told: false,
    };
    recorded::check(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("counted.txt"),
        "What is allocated. Written by tests/tests/counted/main.rs, with `UPDATE_EXPECT=1`.",
        &counted,
        tolerated,
    );
}
