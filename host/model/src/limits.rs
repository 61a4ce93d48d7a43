//! The limits of one guest.

use std::fmt;
use std::time::Duration;

/// Bounds on the resources that a guest can use, each with a safe default.
///
/// A limit applies to each live instance, or to each call if it says so. Stack depth and the number
/// of live instances apply to the whole `Engine`; set them on its builder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Wall-clock time per call, including host calls. Default: 60 s.
    pub call_time: Duration,
    /// Steps for checking a call's params against the tool's schema. A step examines one part of
    /// them; a second has about ten million steps. The check also counts towards the call's time.
    /// Default: 50,000,000.
    pub params_steps: u64,
    /// Time for a cancelled call to notice and to clean up. Default: 250 ms.
    pub cancel_grace: Duration,
    /// Bytes of linear memory, over all memories of an instance. Default: 256 MiB.
    pub memory: usize,
    /// Elements of a table. Default: 100,000.
    pub table_elements: usize,
    /// Core instances, memories and tables per component instance, each. Default: 64.
    pub core_instances: usize,
    /// Bytes of strings and lists that the host receives from the guest in one call. Default: 32
    /// MiB.
    pub hostcall_bytes: usize,
    /// Bytes of all definitions of a plugin. A single one may have a quarter of the default.
    /// Default: 1 MiB.
    pub definition_bytes: usize,
    /// Bytes of a result: its content and its details. Default: 16 MiB.
    pub result_bytes: usize,
    /// Bytes of a pending action's label and of its source tool's name, each. Default: 1,024.
    pub label_bytes: usize,
    /// Bytes of a decision's reason. Default: 4,096.
    pub reason_bytes: usize,
    /// Bytes of a pending action's details, and of the extra values of a decision. Default: 1 MiB.
    pub details_bytes: usize,
    /// Bytes of a pending action's state. Default: 4 MiB.
    pub state_bytes: usize,
    /// Pending actions of a session. Default: 10,000.
    pub pending_actions: usize,
    /// Bytes of a session's pending actions: labels, details, states, and the records of the calls
    /// that pushed them. Default: 64 MiB.
    pub pending_bytes: u64,
    /// Bytes that one call pushes, without its record. They stay in the host's memory until the
    /// call ends. Default: 64 MiB.
    pub staged_bytes: u64,
    /// Lines per call: of the log, of the guest's standard output and error, and of progress, in
    /// total. Default: 1,000.
    pub log_lines: usize,
    /// Bytes per line; longer lines are cut. Default: 8,192.
    pub log_line_bytes: usize,
    /// Open files, directories and listings per instance; a listing counts twice. A file is open
    /// until its descriptor and all its streams are closed. Default: 256.
    /// `EngineBuilder::guest_descriptors` bounds the total of all sessions.
    pub open_files: usize,
    /// Bytes in the scratch directory of a plugin in a session: the apparent sizes of files,
    /// including holes, and 4 KiB for each file, directory and link. Removed files no longer count.
    /// Default: 256 MiB.
    pub scratch_bytes: u64,
    /// Files, directories and links that an apply, its rehearsal or a draft may have changed at one
    /// time, including the directories on the way to them. The host needs up to 5 KiB of memory for
    /// each. Default: 250,000, enough for 100,000 renames.
    pub changed_files: usize,
    /// Bytes of changed files before they reach the workspace, in total. Default: 16 GiB.
    pub changed_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: usize = 1 << 20;
        Self {
            call_time: Duration::from_secs(60),
            params_steps: 50_000_000,
            cancel_grace: Duration::from_millis(250),
            memory: 256 * MIB,
            table_elements: 100_000,
            core_instances: 64,
            hostcall_bytes: 32 * MIB,
            definition_bytes: MIB,
            result_bytes: 16 * MIB,
            label_bytes: 1024,
            reason_bytes: 4096,
            details_bytes: MIB,
            state_bytes: 4 * MIB,
            pending_actions: 10_000,
            pending_bytes: 64 << 20,
            staged_bytes: 64 << 20,
            log_lines: 1000,
            log_line_bytes: 8192,
            open_files: 256,
            scratch_bytes: 256 << 20,
            changed_files: 250_000,
            changed_bytes: 16 << 30,
        }
    }
}

/// Defines a setter for each field: `with_NAME NAME: TYPE;`. Other crates of the host use it for
/// their limits.
#[doc(hidden)]
#[macro_export]
macro_rules! limit_setters {
    ($($with:ident $field:ident: $type:ty;)*) => {
        $(
            #[doc = concat!("These, with another [`", stringify!($field), "`](Self::", stringify!($field), ").")]
            #[must_use]
            pub fn $with(mut self, $field: $type) -> Self {
                self.$field = $field;
                self
            }
        )*
    };
}

impl Limits {
    limit_setters! {
        with_call_time call_time: Duration;
        with_params_steps params_steps: u64;
        with_cancel_grace cancel_grace: Duration;
        with_memory memory: usize;
        with_table_elements table_elements: usize;
        with_core_instances core_instances: usize;
        with_hostcall_bytes hostcall_bytes: usize;
        with_definition_bytes definition_bytes: usize;
        with_result_bytes result_bytes: usize;
        with_label_bytes label_bytes: usize;
        with_reason_bytes reason_bytes: usize;
        with_details_bytes details_bytes: usize;
        with_state_bytes state_bytes: usize;
        with_pending_actions pending_actions: usize;
        with_pending_bytes pending_bytes: u64;
        with_staged_bytes staged_bytes: u64;
        with_log_lines log_lines: usize;
        with_log_line_bytes log_line_bytes: usize;
        with_open_files open_files: usize;
        with_scratch_bytes scratch_bytes: u64;
        with_changed_files changed_files: usize;
        with_changed_bytes changed_bytes: u64;
    }
}

/// The limit that ended a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LimitKind {
    /// [`Limits::call_time`].
    CallTime,
    /// [`Limits::params_steps`].
    ParamsSteps,
    /// [`Limits::memory`].
    Memory,
    /// [`Limits::table_elements`].
    TableElements,
    /// [`Limits::core_instances`].
    CoreInstances,
    /// `EngineBuilder::stack_bytes`.
    Stack,
    /// [`Limits::hostcall_bytes`].
    HostcallBytes,
    /// [`Limits::result_bytes`].
    ResultBytes,
    /// `EngineBuilder::live_instances`.
    LiveInstances,
    /// The handles that a guest holds on the host's side: as many as [`Limits::open_files`], plus
    /// those that each file needs.
    Handles,
}

impl LimitKind {
    /// Returns a short name for programs, in kebab case.
    pub fn as_str(self) -> &'static str {
        match self {
            LimitKind::CallTime => "call-time",
            LimitKind::ParamsSteps => "params-steps",
            LimitKind::Memory => "memory",
            LimitKind::TableElements => "table-elements",
            LimitKind::CoreInstances => "core-instances",
            LimitKind::Stack => "stack",
            LimitKind::HostcallBytes => "hostcall-bytes",
            LimitKind::ResultBytes => "result-bytes",
            LimitKind::LiveInstances => "live-instances",
            LimitKind::Handles => "handles",
        }
    }
}

impl fmt::Display for LimitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
