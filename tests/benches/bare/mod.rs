//! The other side: wasmtime with WASI and the world's bindings, and nothing else.

use std::time::{Duration, Instant};

use airlock_tests::component;
use serde_json::Value;
use tempfile::TempDir;
use wasmtime::component::{Component, HasSelf, Linker, ResourceTable};
use wasmtime::{Engine, Store};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::Case;

wasmtime::component::bindgen!({
    path: "../wit",
    world: "custom-tool",
    imports: { "airlock:tool/pending-actions.push-pending-action": async },
    exports: { default: async },
});

use airlock::tool::{host, pending_actions, types};
use exports::airlock::tool::resolver::Resolution;

pub struct Bare {
    engine: Engine,
    linked: CustomToolPre<State>,
    params: String,
    compiled: std::path::PathBuf,
    _folder: TempDir,
}

struct State {
    wasi: WasiCtx,
    table: ResourceTable,
}

impl Bare {
    pub async fn new(engine: &Engine, params: &Value) -> Self {
        let mut linker = Linker::new(engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).unwrap();
        CustomTool::add_to_linker::<State, HasSelf<State>>(&mut linker, |state| state).unwrap();
        let bytes = std::fs::read(component("bench")).unwrap();
        let compiled = Component::from_binary(engine, &bytes).unwrap();
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("bench.compiled");
        std::fs::write(&path, compiled.serialize().unwrap()).unwrap();
        Self {
            engine: engine.clone(),
            linked: CustomToolPre::new(linker.instantiate_pre(&compiled).unwrap()).unwrap(),
            params: params.to_string(),
            compiled: path,
            _folder: folder,
        }
    }

    pub async fn time(&self, case: Case, count: u64) -> Duration {
        match case {
            Case::Execute => {
                let (mut store, tool) = self.instantiate().await;
                self.execute(&mut store, &tool).await;
                let began = Instant::now();
                for _ in 0..count {
                    self.execute(&mut store, &tool).await;
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
                let (mut store, tool) = self.instantiate().await;
                let resolution = Resolution {
                    action_id: "019aa1b2-0000-7000-8000-000000000000".to_owned(),
                    label: "Bench: 3 items".to_owned(),
                    source_tool_name: "bench".to_owned(),
                    state: Some(vec![3, 0, 0, 0]),
                    reason: "a benchmark says so".to_owned(),
                    extra: None,
                    attempt: 1,
                };
                let began = Instant::now();
                for _ in 0..count {
                    let resolver = tool.airlock_tool_resolver();
                    resolver
                        .call_reject(&mut store, &resolution)
                        .await
                        .unwrap()
                        .unwrap();
                }
                began.elapsed()
            }
            Case::Load => {
                let began = Instant::now();
                for _ in 0..count {
                    // SAFETY: the file was written above, by the same engine.
                    unsafe { Component::deserialize_file(&self.engine, &self.compiled) }.unwrap();
                }
                began.elapsed()
            }
        }
    }

    async fn instantiate(&self) -> (Store<State>, CustomTool) {
        let state = State {
            wasi: WasiCtx::builder()
                .allow_blocking_current_thread(true)
                .build(),
            table: ResourceTable::new(),
        };
        let mut store = Store::new(&self.engine, state);
        store.epoch_deadline_async_yield_and_update(1);
        store.set_epoch_deadline(1);
        let tool = self.linked.instantiate_async(&mut store).await.unwrap();
        (store, tool)
    }

    async fn execute(&self, store: &mut Store<State>, tool: &CustomTool) {
        let guest = tool.airlock_tool_tool();
        guest
            .call_execute(store, "call-1", "bench", &self.params)
            .await
            .unwrap()
            .unwrap();
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl types::Host for State {}

impl pending_actions::Host for State {
    async fn push_pending_action(
        &mut self,
        _: pending_actions::PendingAction,
    ) -> Result<String, pending_actions::PushError> {
        Ok("019aa1b2-0000-7000-8000-000000000000".to_owned())
    }
}

impl host::Host for State {
    fn log(&mut self, _: host::Level, _: String) {}

    fn report_progress(&mut self, _: String, _: Option<f64>, _: Option<f64>) {}

    fn is_cancelled(&mut self) -> bool {
        false
    }

    fn session(&mut self) -> Option<host::SessionInfo> {
        None
    }
}
