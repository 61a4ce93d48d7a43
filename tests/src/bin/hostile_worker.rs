//! A host with a hostile session and an honest one, for the test `hostile`.
//!
//! `hostile_worker ROW FOLDER CACHE` writes a line for each thing that happens: `ready`, `honest` for each call of the honest session,
//! `ended <JSON>` when the row's attack has ended, and `done`. Behind `ready` and `done` it waits for a line, so that its process can be looked at.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use airlock_host::{CompileCache, Engine, Error, LoadError, Plugin, Resolution, Session};
use airlock_store_sqlite::SqliteStore;
use airlock_tests::hostile::{self, Attack};
use airlock_tests::{component, push};
use serde_json::{Value, json};

/// As much as anybody needs to know what it was.
const MOST: usize = 4000;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(work());
}

async fn work() {
    let mut arguments = std::env::args().skip(1);
    let mut argument = || arguments.next().expect("three arguments");
    let row = hostile::row(&argument());
    let folder = PathBuf::from(argument());
    let engine = engine(&folder, Path::new(&argument()));
    let plugin = Plugin::load(&engine, component("puppet")).await;
    let plugin = plugin.expect("the puppet loads");
    let store = SqliteStore::builder(folder.join("store.db")).open().await;
    let store = Arc::new(store.expect("a store"));
    let open = |id: &str, workspace: &str| {
        Session::builder()
            .id(id)
            .workspace(folder.join(workspace))
            .store(store.clone())
            .limits(hostile::limits())
            .plugin(&plugin)
            .open()
            .expect("a session")
    };
    let hostile = open("hostile", "workspace");
    let honest = open("honest", "honest");
    honest_call(&honest).await;
    say("ready");
    wait();

    let is_over = Arc::new(AtomicBool::new(false));
    let goes_on = tokio::spawn({
        let is_over = is_over.clone();
        async move {
            // Some more when the attack is over: it must have left nothing broken.
            let mut left = 3;
            while left > 0 {
                honest_call(&honest).await;
                if is_over.load(Ordering::Relaxed) {
                    left -= 1;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    });
    let attack = tokio::spawn(async move { attack(row.attack, &engine, &hostile).await });
    let ended = attack.await.expect("the host doesn't panic");
    say(&format!("ended {ended}"));
    is_over.store(true, Ordering::Relaxed);
    goes_on.await.expect("the host doesn't panic");
    say("done");
    wait();
}

fn engine(folder: &Path, cache: &Path) -> Engine {
    let cache = CompileCache::open(cache, cache.join("key")).expect("a cache");
    Engine::builder()
        .limits(hostile::limits())
        .cache(cache)
        .live_instances(8)
        .scratch_parent(folder.join("scratch"))
        .build()
        .expect("an engine")
}

/// What an honest tool does: reads a file, writes to its scratch directory, previews, and is applied.
async fn honest_call(session: &Session) {
    let steps = json!([
        {"do": "fs", "op": "read", "path": "honest.txt"},
        {"do": "fs", "op": "write", "path": "/scratch/mine", "text": "mine"},
        push("Honest", json!({"apply": [{"do": "text", "text": "applied"}]})),
    ]);
    let called = session.call("puppet", &json!({ "steps": steps })).await;
    let text = called.expect("an honest call succeeds").text();
    assert!(text.starts_with("ok honest\nok\n"), "{text}");
    let resolved = session.resolve(Resolution::apply("it is honest")).await;
    let resolved = resolved.expect("an honest action is applied");
    assert_eq!(resolved.text(), "applied");
    say("honest");
}

async fn attack(attack: Attack, engine: &Engine, session: &Session) -> Value {
    match attack {
        Attack::Calls(all) => {
            let mut last = Value::Null;
            for steps in all {
                last = call(session, steps).await;
            }
            last
        }
        Attack::Apply(steps) => {
            let harm = push("Harm", json!({ "apply": steps }));
            call(session, json!([harm])).await;
            resolve(session, Resolution::apply("a test says so")).await
        }
        Attack::Discard(steps) => {
            let harm = push("Harm", json!({ "reject": steps }));
            call(session, json!([harm])).await;
            resolve(session, Resolution::discard("a test says so")).await
        }
        Attack::ApplyThenCall(steps, then) => {
            let harm = push("Harm", json!({ "apply": steps, "volatile": true }));
            call(session, json!([harm])).await;
            resolve(session, Resolution::apply("a test says so")).await;
            call(session, then).await
        }
        Attack::Load(bytes) => loaded(Plugin::from_bytes(engine, "hostile", bytes()).await),
        Attack::LoadGuest(guest) => loaded(Plugin::load(engine, component(guest)).await),
        Attack::Params(params) => {
            let called = session.call("puppet", &params()).await;
            told(called.map(|outcome| outcome.text()))
        }
    }
}

async fn call(session: &Session, steps: Value) -> Value {
    let called = session.call("puppet", &json!({ "steps": steps })).await;
    told(called.map(|outcome| outcome.text()))
}

async fn resolve(session: &Session, resolution: Resolution) -> Value {
    let resolved = session.resolve(resolution).await;
    told(resolved.map(|outcome| outcome.text()))
}

fn told(result: Result<String, Error>) -> Value {
    match result {
        Ok(text) => json!({"text": cut(text)}),
        Err(error) => json!({"kind": error.kind(), "text": cut(error.to_string())}),
    }
}

fn loaded(loaded: Result<Plugin, LoadError>) -> Value {
    match loaded {
        Ok(plugin) => json!({"text": format!("loaded {}", plugin.tools().len())}),
        Err(error) => json!({"kind": error.kind(), "text": cut(error.to_string())}),
    }
}

fn cut(text: String) -> String {
    text.chars().take(MOST).collect()
}

/// One line, at once.
fn say(line: &str) {
    let mut output = std::io::stdout().lock();
    // Without a reader, the test is over.
    if writeln!(output, "{line}").is_err() || output.flush().is_err() {
        std::process::exit(0);
    }
}

fn wait() {
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line);
    if read.is_err() || line.is_empty() {
        std::process::exit(0);
    }
}
