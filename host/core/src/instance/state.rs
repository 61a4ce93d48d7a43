//! The host's state for a live guest.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use airlock_model::event::{LogLevel, Refusal};
use airlock_model::limits::Limits;
use airlock_model::pending::ActionId;
use airlock_model::policy::{Phase, Policy};
use airlock_model::store::PluginBytes;
use airlock_workspace::View;
use tokio_util::sync::CancellationToken;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::clocks::WasiClocksCtxView;
use wasmtime_wasi::filesystem::WasiFilesystemCtxView;
use wasmtime_wasi::p2::pipe::MemoryInputPipe;
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

use super::call::Call;
use super::captured::Captured;
use super::clock::{MonotonicView, OwnClock};
use super::conditions::{Conditions, LookedAt};
use super::network::NetworkView;
use super::output::{GuestLog, GuestOutput};
use super::usage::Usage;
use crate::pushing::{SessionContext, StagedActions};
use crate::reserved::ToolNames;
use crate::workspace::{Files, FilesView, LeftOut, PathBounds, Roots};
use crate::world::{CommandLine, CommandOutput};

/// The owner of an instance: its plugin, its session, and its limits.
pub(crate) struct InstanceContext {
    pub plugin: PluginBytes,
    /// Names of its tools; `None` while the guest is asked for them.
    pub names: Option<Arc<ToolNames>>,
    pub policy: Policy,
    /// The bounds that the policy sets; `None` if it grants all paths.
    pub bounds: Option<Arc<PathBounds>>,
    pub limits: Arc<Limits>,
    pub roots: Arc<Roots>,
    pub volatile: VolatileActions,
    /// `None` while a plugin is being loaded.
    pub session: Option<Arc<SessionContext>>,
    /// `None` to use the machine's own clock and randomness.
    pub conditions: Option<Conditions>,
    /// The command line, if the guest is a program that runs.
    pub command: Option<CommandLine>,
}

/// The actions whose preview exists only in the memory of a plugin's live instance.
///
/// Kept outside the instance, because it is queried while a call is running.
#[derive(Clone, Default)]
pub(crate) struct VolatileActions(Arc<Mutex<HashSet<ActionId>>>);

impl VolatileActions {
    pub fn insert(&self, id: ActionId) {
        self.lock().insert(id);
    }

    /// Removes an action that was finally resolved.
    pub fn remove(&self, id: &ActionId) {
        self.lock().remove(id);
    }

    pub fn contains(&self, id: &ActionId) -> bool {
        self.lock().contains(id)
    }

    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<ActionId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The guest export that the host is calling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Export {
    Definitions,
    Execute,
    /// `apply`, whose changes are dropped.
    Rehearse,
    Apply,
    Reject,
}

impl Export {
    /// Returns the phase, which determines what the sandbox allows.
    fn phase(self) -> Phase {
        match self {
            Export::Definitions | Export::Execute | Export::Reject => Phase::Preview,
            Export::Rehearse => Phase::Rehearse,
            Export::Apply => Phase::Apply,
        }
    }
}

/// The data of a wasmtime store.
pub(crate) struct State {
    wasi: WasiCtx,
    table: ResourceTable,
    files: Files,
    /// Number of network attempts in the current call.
    network_attempts: u64,
    /// `None` to use the machine's own clock.
    clock: Option<OwnClock>,
    /// The output of a program. `None` for other guests, whose output is logged.
    output: Option<[Captured; 2]>,
    pub usage: Usage,
    pub looked_at: LookedAt,
    pub context: InstanceContext,
    pub log: GuestLog,
    /// `None` between calls, and while the guest is instantiated.
    pub running: Option<Export>,
    /// Actions that the current call has pushed.
    pub staged: StagedActions,
    /// Token by which the caller cancels the current call.
    pub cancel: Option<CancellationToken>,
}

impl State {
    pub fn new(context: InstanceContext, usage: Usage) -> Self {
        let limits = &context.limits;
        let log = GuestLog::new(&context);
        let mut table = ResourceTable::new();
        table.set_max_capacity(handles(limits));
        let mut wasi = WasiCtx::builder();
        // Inline file access is several times faster than a thread per access, and leaves nothing
        // running after a call is dropped.
        wasi.allow_blocking_current_thread(true)
            .max_random_size(1 << 16)
            .initial_cwd("/workspace");
        for name in &context.policy.environment {
            if let Ok(value) = std::env::var(name.as_str()) {
                wasi.env(name.as_str(), value);
            }
        }
        let output = match &context.command {
            None => {
                wasi.stdout(GuestOutput::Logged(log.clone(), LogLevel::Info))
                    .stderr(GuestOutput::Logged(log.clone(), LogLevel::Warn));
                None
            }
            Some(line) => Some(captured(line, &context.plugin.name, &mut wasi)),
        };
        let conditions = context.conditions.as_ref();
        let looked_at = conditions.map(|conditions| conditions.hold(&mut wasi));
        Self {
            wasi: wasi.build(),
            output,
            looked_at: looked_at.unwrap_or_default(),
            table,
            files: Files::new(
                context.roots.clone(),
                limits,
                conditions.map(Conditions::layer).unwrap_or_default(),
                context.bounds.clone(),
            ),
            network_attempts: 0,
            clock: conditions
                .and_then(Conditions::standing_time)
                .map(|_| OwnClock::default()),
            usage,
            running: None,
            staged: StagedActions::default(),
            cancel: None,
            log,
            context,
        }
    }

    /// Prepares the state for a call. Call it before every call into the guest. The guest can't
    /// change the settings made here.
    ///
    /// # Errors
    /// If the workspace can't be opened.
    pub fn begin_call(&mut self, call: &Call<'_>, export: Export) -> wasmtime::Result<()> {
        let writable = self.context.policy.allows_workspace_change(export.phase());
        if writable {
            self.files.begin_changes()?;
        }
        self.files.set_workspace_writable(writable);
        // Discard reads of earlier calls.
        self.files.take_reads();
        self.log.begin_call(call.number, call.tool);
        self.running = Some(export);
        self.staged = StagedActions::default();
        self.cancel = call.cancel.cloned();
        self.usage.refused = None;
        Ok(())
    }

    /// Returns the workspace changes of the last call that are still to be committed.
    pub fn changes(&self) -> Option<View> {
        self.files.changes()
    }

    /// Returns the last lines of the guest's standard error in this call, as one.
    pub fn last_words(&self) -> String {
        match &self.output {
            Some([_, stderr]) => stderr.last_words(),
            None => self.log.last_words(),
        }
    }

    /// Takes the output of a program.
    pub fn take_output(&mut self) -> CommandOutput {
        let Some([stdout, stderr]) = &self.output else {
            return CommandOutput::default();
        };
        CommandOutput {
            stdout: stdout.take(),
            stderr: stderr.take(),
        }
    }

    /// Takes the actions that the last call pushed, with the files it read.
    pub fn take_staged(&mut self) -> StagedActions {
        let mut staged = std::mem::take(&mut self.staged);
        if !staged.is_empty() {
            staged.read = self.files.take_reads();
        }
        staged
    }

    pub fn end_call(&mut self) {
        self.files.set_workspace_writable(false);
        let times = self.files.take_refused_changes();
        if times > 0 {
            self.log.refused(Refusal::WorkspaceChange { times });
        }
        for refusal in self.files.take_refused_paths() {
            self.log.refused(Refusal::Path(refusal));
        }
        let times = std::mem::take(&mut self.network_attempts);
        if times > 0 {
            self.log.refused(Refusal::Network { times });
        }
        let LeftOut { names, listings } = self.files.take_left_out();
        if names > 0 {
            self.log.left_out(names, listings);
        }
        self.log.end_call();
        self.running = None;
        self.cancel = None;
    }

    pub(super) fn network(&mut self) -> NetworkView<'_> {
        NetworkView {
            attempts: &mut self.network_attempts,
            table: &mut self.table,
        }
    }

    pub(super) fn monotonic(&mut self) -> MonotonicView<'_> {
        MonotonicView {
            clock: self.clock.as_ref(),
            inner: WasiClocksCtxView {
                ctx: self.wasi.clocks(),
                table: &mut self.table,
            },
        }
    }

    pub(super) fn files(&mut self) -> FilesView<'_> {
        FilesView {
            inner: WasiFilesystemCtxView {
                ctx: self.wasi.filesystem(),
                table: &mut self.table,
            },
            files: &mut self.files,
        }
    }
}

/// Gives a program its command line, and captures its output.
fn captured(line: &CommandLine, name: &str, wasi: &mut WasiCtxBuilder) -> [Captured; 2] {
    let output = [(); 2].map(|()| Captured::default());
    let [stdout, stderr] = output.clone().map(GuestOutput::Captured);
    wasi.arg(name)
        .args(&line.args)
        .stdin(MemoryInputPipe::new(line.stdin.clone()))
        .stdout(stdout)
        .stderr(stderr);
    output
}

impl Drop for State {
    /// Marks the volatile actions as lost, because they end with their instance.
    fn drop(&mut self) {
        let lost: Vec<ActionId> = self.context.volatile.lock().drain().collect();
        if let Some(session) = self.context.session.as_ref().filter(|_| !lost.is_empty()) {
            session.lose(&lost);
        }
    }
}

/// Returns the maximum number of resource handles. For each open file, a guest holds a few others:
/// streams, listings, pollables.
pub(super) fn handles(limits: &Limits) -> usize {
    limits.open_files.saturating_mul(4).saturating_add(64)
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}
