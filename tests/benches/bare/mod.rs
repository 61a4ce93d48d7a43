//! The other side: wasmtime with WASI and the world's bindings, and nothing else.

use std::time::{Duration, Instant};

use airlock_tests::bare::{self, CustomToolPre, Live, State};
use airlock_tests::{component, precompiled};
use serde_json::Value;
use tempfile::TempDir;
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::Case;

pub struct Bare {
    engine: Engine,
    linked: CustomToolPre<State>,
    params: String,
    compiled: std::path::PathBuf,
    _folder: TempDir,
}

impl Bare {
    pub async fn new(engine: &Engine, params: &Value) -> Self {
        let bytes = std::fs::read(component("bench")).unwrap();
        let compiled = Component::from_binary(engine, &bytes).unwrap();
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("bench.compiled");
        std::fs::write(&path, compiled.serialize().unwrap()).unwrap();
        Self {
            engine: engine.clone(),
            linked: bare::link(&bare::linker(engine), &compiled),
            params: params.to_string(),
            compiled: path,
            _folder: folder,
        }
    }

    /// A compiled component, as wasmtime writes it.
    pub fn compiled(&self) -> &std::path::Path {
        &self.compiled
    }

    pub async fn time(&self, case: Case, count: u64) -> Duration {
        match case {
            Case::Execute => {
                let mut live = self.instantiate().await;
                live.execute("bench", &self.params).await;
                let began = Instant::now();
                for _ in 0..count {
                    live.execute("bench", &self.params).await;
                }
                began.elapsed()
            }
            Case::Instantiate => {
                let began = Instant::now();
                for _ in 0..count {
                    drop(self.instantiate().await);
                }
                began.elapsed()
            }
            Case::Reject => {
                let mut live = self.instantiate().await;
                live.execute("bench", &self.params).await;
                let resolution = live.resolution("Bench: 3 items", "bench");
                let began = Instant::now();
                for _ in 0..count {
                    live.reject(&resolution).await;
                }
                began.elapsed()
            }
            Case::Load => {
                let began = Instant::now();
                for _ in 0..count {
                    precompiled::from_file(&self.engine, &self.compiled);
                }
                began.elapsed()
            }
        }
    }

    async fn instantiate(&self) -> Live {
        Live::new(&self.engine, &self.linked).await
    }
}
