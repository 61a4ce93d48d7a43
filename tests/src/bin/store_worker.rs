//! One host of a fleet, for the tests: pushes actions into shared sessions and applies what is
//! pending there, until it is killed.
//!
//! Nothing is said of an action before it is pushed for good, and then by a line in the file of
//! acknowledgements: `tag id`. An apply leaves a line in a file of the action's own, named by its
//! tag. What is interrupted is left to people.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use airlock_host::compile::CompileCache;
use airlock_host::pending::ActionState;
use airlock_host::{Engine, Error, Plugin, Resolution, Session};
use airlock_store_postgres::PostgresStore;
use airlock_tests::{Tester, component, durable};
use anyhow::Context;
use serde_json::json;

/// What the parent says.
struct WorkerOptions {
    url: String,
    folder: PathBuf,
    name: String,
    sessions: usize,
    lease_time: Duration,
}

impl WorkerOptions {
    fn read() -> anyhow::Result<Self> {
        let value = |name: &'static str| std::env::var(name).context(name);
        let number = |name| value(name)?.parse().context(name);
        Ok(Self {
            url: value("WORKER_URL")?,
            folder: value("WORKER_FOLDER")?.into(),
            name: value("WORKER_NAME")?,
            sessions: number("WORKER_SESSIONS")?,
            lease_time: Duration::from_millis(number("WORKER_LEASE_MS")? as u64),
        })
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    if std::env::var_os("WORKER_URL").is_none() {
        println!("the tests of the PostgreSQL store start this");
        return Ok(());
    }
    end_with_the_parent();
    let orders = WorkerOptions::read()?;
    let store = PostgresStore::builder(&orders.url)
        .lease_time(orders.lease_time)
        .patience(Duration::from_secs(20))
        .holder(orders.name.clone());
    let store = Arc::new(store.connect().await?);
    let cache = CompileCache::open(orders.folder.join("cache"), orders.folder.join("key"));
    let engine = Engine::builder().cache(cache?).build()?;
    let plugin = Plugin::load(&engine, component("puppet")).await?;
    let mut tasks = Vec::new();
    for number in 0..orders.sessions {
        let session = Session::builder()
            .model_decides()
            .id(format!("session {number}"))
            .workspace(orders.folder.join("workspace"))
            .store(store.clone())
            .bind(&plugin)
            .open()?;
        let name = format!("{}-{number}", orders.name);
        let folder = orders.folder.clone();
        let working = async move { work(&session, &name, &folder).await };
        tasks.push(tokio::spawn(working));
    }
    for task in tasks {
        task.await?;
    }
    Ok(())
}

/// The system closes the parent's end of our standard input when the parent dies, however it does.
fn end_with_the_parent() {
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(1);
    });
}

async fn work(session: &Session, name: &str, folder: &Path) {
    for number in 0.. {
        let tag = format!("{name}-{number}");
        let path = format!("/workspace/{tag}");
        let apply = json!([
            {"do": "fs", "op": "create-new", "path": path},
            {"do": "fs", "op": "append", "path": path, "text": "applied\n"},
        ]);
        let steps = json!({"steps": [durable(&tag, apply)]});
        match session.call("puppet", &steps).await {
            Ok(outcome) => match outcome.pushed.first() {
                Some(action) => note(folder, "acknowledged", &format!("{tag} {}", action.id)),
                None => note(folder, "errors", &outcome.text()),
            },
            Err(error) => note(folder, "errors", &format!("push: {error}")),
        }
        if let Err(error) = apply_topmost(session).await {
            note(folder, "errors", &format!("resolve: {error}"));
        }
    }
}

/// One action, however many other hosts are faster with those above it.
async fn apply_topmost(session: &Session) -> Result<(), Error> {
    for stacked in session.pending().await? {
        if stacked.state != ActionState::Pending {
            continue;
        }
        let resolution = Resolution::apply("it is a test").with_id(stacked.action.id.clone());
        match session.resolve(resolution, Tester).await {
            Err(Error::ResolutionInProgress(_) | Error::AlreadyResolved { .. }) => {}
            other => return other.map(drop),
        }
    }
    Ok(())
}

fn note(folder: &Path, file: &str, line: &str) {
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join(file));
    // One write, so that lines of several processes don't mix.
    file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()))
        .expect("a note");
}
