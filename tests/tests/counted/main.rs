//! What a load, a call, a decision and a commit allocate, which statements of SQLite they need, and
//! how many instructions they are: numbers that don't depend on how busy the machine is.
//! `tests/counted.txt` has what was recorded, and `UPDATE_EXPECT=1` records it anew.

mod instructions;
#[allow(unsafe_code, reason = "SQLite tells of statements to a function of C")]
mod statements;

use std::alloc::System;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use airlock_host::compile::CompileCache;
use airlock_host::policy::Rehearse;
use airlock_host::store::{MemoryStore, PendingStore};
use airlock_host::{Engine, Plugin, Resolution, Session};
use airlock_store_sqlite::SqliteStore;
use airlock_tests::{Tester, component};
use serde_json::{Value, json};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tempfile::TempDir;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// How much more than was recorded is no growth, in percent.
const TOLERATED: usize = 10;

/// How often each is done: the least counts, since what goes on beside it allocates too.
const ROUNDS: usize = 20;

/// Allocations, bytes of these, and statements.
type Counts = BTreeMap<String, usize>;

struct Counter(Counts);

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
        self.0.insert(format!("{what} allocations"), allocations);
        self.0.insert(format!("{what} bytes"), bytes);
        if what.ends_with("SQLite") {
            self.0.insert(format!("{what} statements"), statements);
        }
    }
}

fn session(plugin: &Plugin, store: Arc<dyn PendingStore>, workspace: &Path) -> Session {
    let session = Session::builder().workspace(workspace).store(store);
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

async fn counts() -> Counts {
    statements::watch();
    let folder = TempDir::new().unwrap();
    let cache = CompileCache::open(folder.path().join("compiled"), folder.path().join("key"));
    let engine = Engine::builder().cache(cache.unwrap()).kept_loads(0);
    let engine = engine.build().unwrap();
    let path = component("bench");
    let load = async || Plugin::load(&engine, &path).await.unwrap();
    let mut counter = Counter(Counts::new());
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

fn read(text: &str) -> Counts {
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    let rows = rows.map(|line| {
        let (about, count) = line.rsplit_once(' ').unwrap();
        (about.to_owned(), count.parse().unwrap())
    });
    rows.collect()
}

#[test]
fn nothing_allocates_a_tenth_more_than_was_recorded() {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    let mut counted = runtime.block_on(counts());
    counted.extend(instructions::counted());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("counted.txt");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let mut text = String::from(
            "# What is allocated. Written by tests/tests/counted/main.rs, with `UPDATE_EXPECT=1`.\n",
        );
        for (about, count) in &counted {
            writeln!(text, "{about} {count}").unwrap();
        }
        fs::write(&file, text).unwrap();
    }
    let recorded = read(&fs::read_to_string(file).unwrap());
    assert!(
        recorded.keys().eq(counted.keys()),
        "another list: {counted:?}"
    );
    let grown = counted
        .iter()
        .filter(|(about, now)| **now * 100 > recorded[*about] * (100 + TOLERATED));
    let grown: Vec<_> = grown
        .map(|(about, now)| format!("{about}: {now}; {} were recorded", recorded[about]))
        .collect();
    assert!(
        grown.is_empty(),
        "grown by more than {TOLERATED}%:\n{}\nif that is meant, UPDATE_EXPECT=1 records it",
        grown.join("\n")
    );
}
