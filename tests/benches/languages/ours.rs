//! The other side: a session of the host, with its store in memory.

use airlock_tests::Tester;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use airlock_host::compile::CompileCache;
use airlock_host::store::MemoryStore;
use airlock_host::{Engine, Plugin, Resolution, Session};
use serde_json::Value;

use crate::stopwatch::Stopwatch;
use crate::{TOOL, params};

/// The most actions that are pending at one time: a conversation has a few, not thousands.
const STACK: u32 = 20;

/// Compiles a component, checks it against the world, links it and asks it for its tools.
pub async fn compile(engine: &Engine, bytes: Arc<[u8]>) -> anyhow::Result<Plugin> {
    Ok(Plugin::from_bytes(engine, "tool", bytes).await?)
}

pub struct Ours {
    engine: Engine,
    /// The same component, and another plugin: the session's is not loaded a second time.
    another: PathBuf,
    workspace: PathBuf,
    params: Value,
    plugin: Plugin,
    store: Arc<MemoryStore>,
    session: Session,
}

impl Ours {
    /// A session with the component, which is compiled into a cache in `folder` unless it is there.
    pub async fn new(component: PathBuf, folder: &Path) -> anyhow::Result<Self> {
        let cache = CompileCache::open(folder.join("compiled"), folder.join("key"))?;
        // What is measured is the first load of a process.
        let engine = Engine::builder().cache(cache).kept_loads(0).build()?;
        let workspace = folder.join("workspace");
        std::fs::create_dir_all(&workspace)?;
        let plugin = Plugin::load(&engine, &component).await?;
        let another = folder.join("another.wasm");
        let mut bytes = std::fs::read(&component)?;
        // A custom section.
        bytes.extend_from_slice(b"\0\x02\x01a");
        std::fs::write(&another, bytes)?;
        Plugin::load(&engine, &another).await?;
        let store = Arc::new(MemoryStore::new());
        let session = Session::builder()
            .model_decides()
            .workspace(&workspace)
            .rehearse(airlock_host::policy::Rehearse::Never)
            .store(store.clone())
            .bind(&plugin)
            .open()?;
        Ok(Self {
            engine,
            another,
            workspace,
            params: params(),
            plugin,
            store,
            session,
        })
    }

    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// From the component's file, whose code is in the cache, to a first answer.
    pub async fn first_calls(&mut self, count: u32) -> anyhow::Result<Duration> {
        let mut took = Duration::ZERO;
        for _ in 0..count {
            let began = Stopwatch::start();
            let plugin = Plugin::load(&self.engine, &self.another).await?;
            let session = self.open(&plugin)?;
            session.call(TOOL, &self.params).await?;
            took += began.elapsed();
        }
        Ok(took)
    }

    pub async fn executes(&mut self, count: u32) -> anyhow::Result<Duration> {
        let mut took = Duration::ZERO;
        for actions in stacks(count) {
            // The first action of a session makes its stack.
            self.push(1).await?;
            let began = Stopwatch::start();
            self.push(actions).await?;
            took += began.elapsed();
            self.store.forget(self.session.id());
        }
        Ok(took)
    }

    pub async fn rejects(&mut self, count: u32) -> anyhow::Result<Duration> {
        let mut took = Duration::ZERO;
        for actions in stacks(count) {
            self.push(actions).await?;
            let began = Stopwatch::start();
            for _ in 0..actions {
                let resolution = Resolution::discard("a benchmark says so");
                self.session.resolve(resolution, Tester).await?;
            }
            took += began.elapsed();
        }
        Ok(took)
    }

    /// New sessions whose instances were called once, to be held.
    pub async fn called_instances(&self, count: usize) -> anyhow::Result<Vec<Session>> {
        let mut all = Vec::new();
        for _ in 0..count {
            let session = self.open(&self.plugin)?;
            session.call(TOOL, &self.params).await?;
            all.push(session);
        }
        Ok(all)
    }

    fn open(&self, plugin: &Plugin) -> anyhow::Result<Session> {
        let session = Session::builder()
            .model_decides()
            .workspace(&self.workspace)
            .rehearse(airlock_host::policy::Rehearse::Never);
        Ok(session.bind(plugin).open()?)
    }

    async fn push(&self, actions: u32) -> anyhow::Result<()> {
        for _ in 0..actions {
            self.session.call(TOOL, &self.params).await?;
        }
        Ok(())
    }
}

fn stacks(count: u32) -> impl Iterator<Item = u32> {
    (0..count)
        .step_by(STACK as usize)
        .map(move |done| (count - done).min(STACK))
}
