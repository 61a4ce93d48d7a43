//! One side: wasmtime, with WASI as it comes and imports that do next to nothing.

use std::path::{Path, PathBuf};
use std::time::Duration;

use airlock_tests::bare::{self, CustomToolPre, Live, State};
use airlock_tests::precompiled;
use wasmtime::Engine;
use wasmtime::component::{Component, Linker};

use crate::stopwatch::Stopwatch;
use crate::{LABEL, TOOL, params};

/// The file of the compiled component, below the folder for what is compiled.
const COMPILED: &str = "bare.compiled";

/// Compiles, and no more. The engine is the host's own, with its settings.
pub fn compile(engine: &airlock_host::Engine, bytes: &[u8]) -> Component {
    Component::from_binary(engine.wasmtime(), bytes).unwrap()
}

pub struct Bare {
    engine: Engine,
    linker: Linker<State>,
    linked: CustomToolPre<State>,
    compiled: PathBuf,
    params: String,
    live: Live,
}

impl Bare {
    /// Compiles the component into a file of `folder`, and makes an instance that is called from
    /// then on.
    pub async fn new(engine: &Engine, bytes: &[u8], folder: &Path) -> Self {
        let component = Component::from_binary(engine, bytes).unwrap();
        std::fs::write(folder.join(COMPILED), component.serialize().unwrap()).unwrap();
        Self::compiled_in(engine, folder).await
    }

    /// The same with a file that another process wrote there.
    pub async fn compiled_in(engine: &Engine, folder: &Path) -> Self {
        let linker = bare::linker(engine);
        let compiled = folder.join(COMPILED);
        let linked = bare::link(&linker, &precompiled::from_file(engine, &compiled));
        let live = Live::new(engine, &linked).await;
        Self {
            engine: engine.clone(),
            linker,
            linked,
            compiled,
            params: params().to_string(),
            live,
        }
    }

    /// From the compiled file to a first answer.
    pub async fn first_calls(&mut self, count: u32) -> Duration {
        let mut took = Duration::ZERO;
        for _ in 0..count {
            let began = Stopwatch::start();
            let component = precompiled::from_file(&self.engine, &self.compiled);
            let linked = bare::link(&self.linker, &component);
            let mut live = Live::new(&self.engine, &linked).await;
            live.execute(TOOL, &self.params).await;
            took += began.elapsed();
        }
        took
    }

    pub async fn executes(&mut self, count: u32) -> Duration {
        let began = Stopwatch::start();
        for _ in 0..count {
            self.live.execute(TOOL, &self.params).await;
        }
        began.elapsed()
    }

    pub async fn rejects(&mut self, count: u32) -> Duration {
        self.live.execute(TOOL, &self.params).await;
        let resolution = self.live.resolution(LABEL, TOOL);
        let began = Stopwatch::start();
        for _ in 0..count {
            self.live.reject(&resolution).await;
        }
        began.elapsed()
    }

    /// New instances that were called once, to be held.
    pub async fn called_instances(&self, count: usize) -> Vec<Live> {
        let mut all = Vec::new();
        for _ in 0..count {
            let mut live = Live::new(&self.engine, &self.linked).await;
            live.execute(TOOL, &self.params).await;
            all.push(live);
        }
        all
    }
}
