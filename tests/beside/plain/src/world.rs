//! The world of the component, with WASI as wasmtime has it, and imports that do next to nothing.

use std::path::Path;

use beside_contestant::TOOL;
use wasmtime::component::{HasSelf, Linker, ResourceTable};
use wasmtime::{Engine, Error, Store};
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxView, WasiView};

use bindings::CustomTool;
pub use bindings::CustomToolPre;
use bindings::airlock::tool::{host, pending_actions, types};

#[allow(missing_docs, reason = "generated")]
mod bindings {
    wasmtime::component::bindgen!({
        path: "../../../wit/0.1.0",
        world: "custom-tool",
    });
}

/// The data of a store.
pub struct State {
    wasi: WasiCtx,
    table: ResourceTable,
}

/// An instance, in a store of its own.
pub struct Live {
    store: Store<State>,
    tool: CustomTool,
}

/// All of WASI, and the world.
pub fn linker(engine: &Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_sync(&mut linker)?;
    CustomTool::add_to_linker::<State, HasSelf<State>>(&mut linker, |state| state)?;
    Ok(linker)
}

impl Live {
    /// It may read the folder, and nothing else.
    pub fn new(
        engine: &Engine,
        linked: &CustomToolPre<State>,
        folder: &Path,
    ) -> wasmtime::Result<Self> {
        let mut wasi = WasiCtx::builder();
        wasi.allow_blocking_current_thread(true);
        wasi.preopened_dir(folder, ".", FsPerms::ReadOnly)?;
        let state = State {
            wasi: wasi.build(),
            table: ResourceTable::new(),
        };
        let mut store = Store::new(engine, state);
        store.set_epoch_deadline(1);
        let tool = linked.instantiate(&mut store)?;
        Ok(Self { store, tool })
    }

    /// Calls the tool with params as JSON, and gives the text of its answer.
    pub fn execute(&mut self, params: &str) -> wasmtime::Result<String> {
        let guest = self.tool.airlock_tool_tool();
        let result = guest
            .call_execute(&mut self.store, "call-1", TOOL, params)?
            .map_err(|error| Error::msg(format!("{error:?}")))?;
        match result.content.into_iter().next() {
            Some(types::Content::Text(text)) => Ok(text),
            other => Err(Error::msg(format!("no text: {other:?}"))),
        }
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
    fn push_pending_action(
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
