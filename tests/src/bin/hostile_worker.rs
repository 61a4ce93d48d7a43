//! A host with a hostile session and an honest one, for the test `hostile`.
//!
//! `hostile_worker ROW FOLDER CACHE GRANTS` writes a line for each thing that happens: `ready`,
//! `honest` for each call of the honest session, `ended <JSON>` when the row's attack has ended,
//! and `done`. Behind `ready` and `done` it waits for a line, so that its process can be looked at.
//! What an attack is made with is there before `ready`: FOLDER holds the row's component, if there
//! is one.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use airlock_ast_edit::AstEdit;
use airlock_host::compile::CompileCache;
use airlock_host::load::LoadError;
use airlock_host::store::{DurableStore, Scope};
use airlock_host::{Engine, EngineBuilder, Error, Plugin, Policy, Resolution, Session};
use airlock_store_sqlite::SqliteStore;
use airlock_tests::hostile::{self, Attack, Grants, Row};
use airlock_tests::{Tester, component, push};
use anyhow::{Context, ensure};
use serde_json::{Value, json};

/// As much as anybody needs to know what it was, and whether there was anything in it that should
/// not be.
const MAX_OUTPUT_BYTES: usize = 1 << 20;

/// The id of the honest session.
const HONEST: &str = "honest";

fn main() -> anyhow::Result<()> {
    airlock_host::compile::compiler_main();
    airlock_ast_edit::parser_main();
    airlock_host::memory::limit_arenas();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(work())
}

async fn work() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut argument = || {
        let next = arguments.next();
        next.context("usage: hostile_worker ROW FOLDER CACHE")
    };
    let row = hostile::row(&argument()?);
    let folder = PathBuf::from(argument()?);
    let cache = PathBuf::from(argument()?);
    let word = argument()?;
    let mut grants = [Grants::Default, Grants::Narrow].into_iter();
    let grants = grants.find(|it| it.as_str() == word);
    let policy = grants.context("no such grants")?.policy();
    // On a busy machine, the puppet takes longer to compile than an attack may.
    let unhurried = engine(&folder, &cache)?.build()?;
    let puppet = Plugin::load(&unhurried, component("puppet")).await?;
    drop((puppet, unhurried));
    let engine = engine(&folder, &cache)?.compile_limits(hostile::compile_limits());
    let engine = engine.build()?;
    let plugin = Plugin::load(&engine, component("puppet")).await?;
    let host = Host {
        store: store(&folder, "store.db").await?,
        policy,
        folder,
        engine,
        plugin,
    };
    let hostile = host.open("hostile", "workspace", &host.plugin, &host.store);
    let honest = host.open(HONEST, "honest", &host.plugin, &host.store);
    let made = AttackInput::of(&row.attack, &host.folder)?;
    honest_call(&honest).await?;
    say("ready");
    wait();

    let is_over = Arc::new(AtomicBool::new(false));
    let goes_on = tokio::spawn({
        let is_over = is_over.clone();
        async move {
            // Some more when the attack is over: it must have left nothing broken.
            let mut left = 3;
            while left > 0 {
                honest_call(&honest).await?;
                if is_over.load(Ordering::Relaxed) {
                    left -= 1;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            anyhow::Ok(())
        }
    });
    let attack = tokio::spawn(async move { attack(row, made, &host, &hostile).await });
    let ended = attack.await.context("the host panicked")?;
    say(&format!("ended {ended}"));
    is_over.store(true, Ordering::Relaxed);
    goes_on.await.context("the host panicked")??;
    say("done");
    wait();
    Ok(())
}

/// What all sessions here share.
struct Host {
    folder: PathBuf,
    engine: Engine,
    plugin: Plugin,
    store: Arc<SqliteStore>,
    /// The grants of the hostile plugin.
    policy: Policy,
}

impl Host {
    fn open(
        &self,
        id: &str,
        workspace: &str,
        plugin: &Plugin,
        store: &Arc<SqliteStore>,
    ) -> Session {
        Session::builder()
            .model_decides()
            .id(id)
            .workspace(self.folder.join(workspace))
            .store(store.clone())
            .limits(hostile::limits())
            .bind(plugin.under(match id {
                HONEST => Policy::default(),
                _ => self.policy.clone(),
            }))
            .open()
            .expect("a session")
    }
}

async fn store(folder: &Path, name: &str) -> anyhow::Result<Arc<SqliteStore>> {
    let store = SqliteStore::builder(folder.join(name)).open().await?;
    Ok(Arc::new(store))
}

/// What an attack is made with.
#[derive(Default)]
struct AttackInput {
    component: Vec<u8>,
    params: Value,
}

impl AttackInput {
    fn of(attack: &Attack, folder: &Path) -> anyhow::Result<Self> {
        let params = match attack {
            Attack::Tool(_, make, _)
            | Attack::Params(make)
            | Attack::Edit(make)
            | Attack::Look(make, _) => make(),
            _ => Value::Null,
        };
        let component = match attack {
            Attack::Load(_) | Attack::Tool(..) => std::fs::read(folder.join("hostile.wasm")),
            _ => Ok(Vec::new()),
        };
        let component = component.context("can't read the row's component")?;
        Ok(Self { component, params })
    }
}

fn engine(folder: &Path, cache: &Path) -> anyhow::Result<EngineBuilder> {
    let cache = CompileCache::open(cache, cache.join("key"))?;
    Ok(Engine::builder()
        .limits(hostile::limits())
        .cache(cache)
        .compiler(std::env::current_exe()?)
        .live_instances(8)
        .scratch_parent(folder.join("scratch")))
}

/// What an honest tool does: reads a file, writes to its scratch directory, previews, and is
/// applied.
async fn honest_call(session: &Session) -> anyhow::Result<()> {
    let steps = json!([
        {"do": "fs", "op": "read", "path": "honest.txt"},
        {"do": "fs", "op": "write", "path": "/scratch/mine", "text": "mine"},
        push("Honest", json!({"apply": [{"do": "text", "text": "applied"}]})),
    ]);
    let called = session.call("puppet", &json!({ "steps": steps })).await;
    let text = called.context("an honest call failed")?.text();
    ensure!(text.starts_with("ok honest\nok\n"), "{text}");
    let resolved = session
        .resolve(Resolution::apply("it is honest"), Tester)
        .await;
    let text = resolved.context("an honest action was not applied")?.text();
    ensure!(text == "applied", "{text}");
    say("honest");
    Ok(())
}

async fn attack(row: Row, made: AttackInput, host: &Host, session: &Session) -> Value {
    let call_time = row.call_time;
    let AttackInput { component, params } = made;
    match row.attack {
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
        Attack::Again(harm, times) => {
            let mut last = call(session, json!([harm])).await;
            for _ in 0..times {
                last = resolve(session, Resolution::apply("a test says so")).await;
            }
            last
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
        Attack::Load(_) => loaded(Plugin::from_bytes(&host.engine, "hostile", component).await),
        Attack::LoadGuest(guest) => {
            loaded(Plugin::load(&host.engine, airlock_tests::component(guest)).await)
        }
        Attack::Tool(_, _, times) => {
            let plugin = match Plugin::from_bytes(&host.engine, "hostile", component).await {
                Ok(plugin) => plugin,
                failed => return loaded(failed),
            };
            let session = host.open("by hand", "workspace", &plugin, &host.store);
            let mut last = Value::Null;
            for _ in 0..times {
                last = called(&session, "t", &params).await;
            }
            last
        }
        Attack::Params(_) => called(session, "puppet", &params).await,
        Attack::Edit(_) => {
            let this = std::env::current_exe().expect("its own path");
            let ast_edit = AstEdit::new().parser(this).producer();
            let editing = Session::builder()
                .model_decides()
                .workspace(host.folder.join("workspace"))
                .store(host.store.clone())
                .limits(hostile::limits().with_call_time(call_time))
                .bind(&ast_edit)
                .open();
            called(&editing.expect("a session"), "ast_edit", &params).await
        }
        Attack::Look(_, times) => {
            let pushed = call(session, params).await;
            match look(host, session, times).await {
                Some(pending) => json!({"text": format!("{pending} pending, {pushed}")}),
                None => pushed,
            }
        }
        Attack::Sessions(steps, count) => fill(host, steps, count).await,
    }
}

/// Everybody who may looks at what is pending, so many times. None where they don't see the same.
async fn look(host: &Host, session: &Session, times: usize) -> Option<usize> {
    let other = host.open("hostile", "workspace", &host.plugin, &host.store);
    let mut seen = None;
    for _ in 0..times {
        let own = session.pending().await.ok()?.len();
        session.next_turn().await.ok()?;
        let others = other.pending().await.ok()?.len();
        let all = host.store.open_actions(Scope::All).await.ok()?.len();
        // The honest session may have one of its own there.
        let is_same = own == others && (own..=own + 1).contains(&all);
        if !is_same || *seen.get_or_insert(own) != own {
            return None;
        }
    }
    seen
}

/// Has many sessions do the same, one after the other, in a store of their own: what fills it is no
/// other store's concern.
async fn fill(host: &Host, steps: Value, count: usize) -> Value {
    let store = store(&host.folder, "second.db").await;
    let store = store.expect("a store");
    let limited = store.set_byte_limit(Some(hostile::STORE_BYTES)).await;
    limited.expect("a store can be limited");
    let mut last = Value::Null;
    for number in 0..count {
        let id = format!("hostile-{number}");
        let session = host.open(&id, "workspace", &host.plugin, &store);
        last = call(&session, steps.clone()).await;
    }
    last
}

async fn call(session: &Session, steps: Value) -> Value {
    called(session, "puppet", &json!({ "steps": steps })).await
}

async fn called(session: &Session, tool: &str, params: &Value) -> Value {
    let called = session.call(tool, params).await;
    told(called.map(|outcome| outcome.text()))
}

async fn resolve(session: &Session, resolution: Resolution) -> Value {
    let resolved = session.resolve(resolution, Tester).await;
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
    text.chars().take(MAX_OUTPUT_BYTES).collect()
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
