//! The other side: a session of the host, with its store in memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use airlock_host::{CompileCache, Engine, MemoryStore, Plugin, Resolution, Session};
use serde_json::Value;

use crate::stopwatch::Stopwatch;
use crate::{TOOL, params};

/// The most actions that are pending at one time: a conversation has a few, not thousands.
const STACK: u32 = 20;

/// Compiles a component, checks it against the world, links it and asks it for its tools.
pub async fn compile(engine: &Engine, bytes: Arc<[u8]>) -> Plugin {
    Plugin::from_bytes(engine, "tool", bytes).await.unwrap()
}

pub struct Ours {
    engine: Engine,
    component: PathBuf,
    workspace: PathBuf,
    params: Value,
    plugin: Plugin,
    store: Arc<MemoryStore>,
    session: Session,
}

impl Ours {
    /// A session with the component, which is compiled into a cache in `folder` unless it is there.
    pub async fn new(component: PathBuf, folder: &Path) -> Self {
        let cache = CompileCache::open(folder.join("compiled"), folder.join("key")).unwrap();
        let engine = Engine::builder().cache(cache).build().unwrap();
        let workspace = folder.join("workspace");
        std::fs::create_dir_all(&workspace).unwrap();
        let plugin = Plugin::load(&engine, &component).await.unwrap();
        let store = Arc::new(MemoryStore::new());
        let session = Session::builder()
            .workspace(&workspace)
            .store(store.clone())
            .bind(&plugin)
            .open()
            .unwrap();
        Self {
            engine,
            component,
            workspace,
            params: params(),
            plugin,
            store,
            session,
        }
    }

    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// From the component's file, whose code is in the cache, to a first answer.
    pub async fn first_calls(&mut self, count: u32) -> Duration {
        let mut took = Duration::ZERO;
        for _ in 0..count {
            let began = Stopwatch::start();
            let plugin = Plugin::load(&self.engine, &self.component).await.unwrap();
            let session = self.open(&plugin);
            session.call(TOOL, &self.params).await.unwrap();
            took += began.elapsed();
        }
        took
    }

    pub async fn executes(&mut self, count: u32) -> Duration {
        let mut took = Duration::ZERO;
        for actions in stacks(count) {
            // The first action of a session makes its stack.
            self.push(1).await;
            let began = Stopwatch::start();
            self.push(actions).await;
            took += began.elapsed();
            self.store.forget(self.session.id());
        }
        took
    }

    pub async fn rejects(&mut self, count: u32) -> Duration {
        let mut took = Duration::ZERO;
        for actions in stacks(count) {
            self.push(actions).await;
            let began = Stopwatch::start();
            for _ in 0..actions {
                let resolution = Resolution::discard("a benchmark says so");
                self.session.resolve(resolution).await.unwrap();
            }
            took += began.elapsed();
        }
        took
    }

    /// New sessions whose instances were called once, to be held.
    pub async fn called_instances(&self, count: usize) -> Vec<Session> {
        let mut all = Vec::new();
        for _ in 0..count {
            let session = self.open(&self.plugin);
            session.call(TOOL, &self.params).await.unwrap();
            all.push(session);
        }
        all
    }

    fn open(&self, plugin: &Plugin) -> Session {
        let session = Session::builder().workspace(&self.workspace);
        session.bind(plugin).open().unwrap()
    }

    async fn push(&self, actions: u32) {
        for _ in 0..actions {
            self.session.call(TOOL, &self.params).await.unwrap();
        }
    }
}

fn stacks(count: u32) -> impl Iterator<Item = u32> {
    (0..count)
        .step_by(STACK as usize)
        .map(move |done| (count - done).min(STACK))
}
