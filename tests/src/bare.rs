//! The other side of comparisons: what bare wasmtime needs to run a tool. WASI as wasmtime has it,
//! the world's bindings, and imports that do next to nothing.

use std::path::Path;

use wasmtime::component::{Component, HasSelf, Linker, ResourceTable};
use wasmtime::{Engine, Store};
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxView, WasiView};

use bindings::airlock::tool::{host, pending_actions, types};
pub use bindings::exports::airlock::tool::resolver::Resolution;
pub use bindings::{CustomTool, CustomToolPre};
pub use types::{Content, ToolResult};

#[allow(missing_docs, reason = "generated")]
mod bindings {
    wasmtime::component::bindgen!({
        path: "../wit/0.1.0",
        world: "custom-tool",
        imports: { "airlock:tool/pending-actions.push-pending-action": async },
        exports: { default: async },
    });
}

const ACTION_ID: &str = "019aa1b2-0000-7000-8000-000000000000";

/// The data of a store.
pub struct State {
    wasi: WasiCtx,
    table: ResourceTable,
    /// The state of the action that was pushed last.
    pushed: Option<Vec<u8>>,
}

/// A live instance, in a store of its own.
pub struct Live {
    store: Store<State>,
    tool: CustomTool,
}

/// Links all of WASI, and the world.
///
/// # Panics
/// Where wasmtime doesn't.
pub fn linker(engine: &Engine) -> Linker<State> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker).unwrap();
    CustomTool::add_to_linker::<State, HasSelf<State>>(&mut linker, |state| state).unwrap();
    linker
}

/// Links a component as far as can be done once for all instances.
///
/// # Panics
/// Where it imports what the linker doesn't have.
pub fn link(linker: &Linker<State>, component: &Component) -> CustomToolPre<State> {
    CustomToolPre::new(linker.instantiate_pre(component).unwrap()).unwrap()
}

impl Live {
    /// Without any directory.
    ///
    /// # Panics
    /// Where it can't be made, as all others do where the guest traps or fails.
    pub async fn new(engine: &Engine, linked: &CustomToolPre<State>) -> Self {
        Self::with(engine, linked, None).await
    }

    /// With this directory of the host's as `/workspace`.
    pub async fn on(engine: &Engine, linked: &CustomToolPre<State>, folder: &Path) -> Self {
        Self::with(engine, linked, Some(folder)).await
    }

    async fn with(engine: &Engine, linked: &CustomToolPre<State>, folder: Option<&Path>) -> Self {
        let mut wasi = WasiCtx::builder();
        wasi.allow_blocking_current_thread(true);
        if let Some(folder) = folder {
            wasi.preopened_dir(folder, "/workspace", FsPerms::ReadWrite)
                .unwrap();
        }
        let state = State {
            wasi: wasi.build(),
            table: ResourceTable::new(),
            pushed: None,
        };
        let mut store = Store::new(engine, state);
        store.epoch_deadline_async_yield_and_update(1);
        store.set_epoch_deadline(1);
        let tool = linked.instantiate_async(&mut store).await.unwrap();
        Self { store, tool }
    }

    /// Calls a tool with params as JSON.
    pub async fn execute(&mut self, name: &str, params: &str) -> ToolResult {
        let guest = self.tool.airlock_tool_tool();
        guest
            .call_execute(&mut self.store, "call-1", name, params)
            .await
            .unwrap()
            .unwrap()
    }

    /// What a host tells the guest that is to apply or reject the action that it pushed last.
    pub fn resolution(&self, label: &str, source_tool_name: &str) -> Resolution {
        Resolution {
            action_id: ACTION_ID.to_owned(),
            label: label.to_owned(),
            source_tool_name: source_tool_name.to_owned(),
            state: self.store.data().pushed.clone(),
            reason: "a benchmark says so".to_owned(),
            extra: None,
            attempt: 1,
        }
    }

    /// Applies it.
    pub async fn apply(&mut self, resolution: &Resolution) -> ToolResult {
        let resolver = self.tool.airlock_tool_resolver();
        resolver
            .call_apply(&mut self.store, resolution)
            .await
            .unwrap()
            .unwrap()
    }

    /// Rejects it.
    pub async fn reject(&mut self, resolution: &Resolution) {
        let resolver = self.tool.airlock_tool_resolver();
        resolver
            .call_reject(&mut self.store, resolution)
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
        action: pending_actions::PendingAction,
    ) -> Result<String, pending_actions::PushError> {
        self.pushed = action.state;
        Ok(ACTION_ID.to_owned())
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
