//! Loads a plugin, or calls it, so many times, for a program that counts instructions:
//! `counted_worker load|call TIMES FOLDER`.
//!
//! Nothing is done in parallel. There is no workspace, since valgrind knows no `openat2`, and no
//! store in a file, since it hides the page from which those read the clock.

use std::path::Path;
use std::sync::Arc;

use airlock_host::compile::CompileCache;
use airlock_host::policy::Rehearse;
use airlock_host::store::MemoryStore;
use airlock_host::{Engine, Plugin, Resolution, Session};
use airlock_tests::{Tester, component};
use anyhow::{Context, ensure};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let what = args.next().context("no WHAT")?;
    let times: usize = args.next().context("no TIMES")?.parse()?;
    let folder = args.next().context("no FOLDER")?;
    let folder = Path::new(&folder);
    let cache = CompileCache::open(folder.join("compiled"), folder.join("key"))?;
    // With room for one instance, what the pool reserves is no more than valgrind has.
    let engine = Engine::builder().cache(cache).kept_loads(0);
    let engine = engine.live_instances(1).build()?;
    let path = component("bench");
    let plugin = Plugin::load(&engine, &path).await?;
    if what == "load" {
        for _ in 0..times {
            Plugin::load(&engine, &path).await?;
        }
        return Ok(());
    }
    ensure!(what == "call", "what is {what}?");
    let store = Arc::new(MemoryStore::new());
    let session = Session::builder()
        .model_decides()
        .store(store)
        .rehearse(Rehearse::Never);
    let session = session.bind(&plugin).open()?;
    let params = json!({"title": "A title of some length, or so", "count": 3, "tags": ["alpha"]});
    for _ in 0..times {
        session.call("bench", &params).await?;
        let discard = Resolution::discard("a test says so");
        session.resolve(discard, Tester).await?;
    }
    Ok(())
}
