//! What happens during a call, for observers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::actor::DecidedBy;
use crate::denial::Denial;
use crate::pending::{ActionId, Decision, PendingAction, SessionId};

/// How much a line of the log matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum LogLevel {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
}

/// Something that a guest said or did. Texts come from the guest as they are: they may hold control
/// characters.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A line of the log, or of the guest's standard output ([`LogLevel::Info`]) or error
    /// ([`LogLevel::Warn`]).
    Log {
        /// How much it matters.
        level: LogLevel,
        /// One line.
        message: String,
    },
    /// The progress of the call.
    Progress {
        /// What is being done.
        message: String,
        /// How much is done, in the tool's own unit.
        progress: Option<f64>,
        /// How much there is.
        total: Option<f64>,
    },
    /// The call ended, and this many lines of its log were dropped, since it wrote more than it
    /// may.
    LogsDropped {
        /// The number of lines.
        lines: u64,
    },
    /// The call ended, and directories that it listed had names that are not UTF-8. WASI has none
    /// but such, so the guest was told of all other entries, and nothing of these.
    NamesLeftOut {
        /// The number of names.
        names: u64,
        /// The number of listings that lack some.
        listings: u64,
    },
    /// The guest asked for something that it was not granted, or for more than its limit, and was
    /// refused. It may go on.
    Refused(Refusal),
    /// A guest, or a native tool, is about to be called.
    Began {
        /// Which of its functions.
        function: ToolFunction,
    },
    /// It has returned, or was stopped. A call whose future was dropped has no end.
    Ended {
        /// Which of its functions.
        function: ToolFunction,
        /// Wall-clock time since it began.
        time: Duration,
        /// The [kind](crate::error::Error::kind) of the error, where there was one.
        failure: Option<&'static str>,
    },
    /// A decision was carried out and recorded: the action is off the stack for good. One whose
    /// apply failed is pending again, and is not decided.
    Decided {
        /// The action.
        action: ActionId,
        /// Apply or discard.
        decision: Decision,
        /// Who decided, and how that is known.
        decided_by: DecidedBy,
    },
    /// A rule refused a requested apply, or a person declined it: the action is pending as before.
    Denied {
        /// The action.
        action: ActionId,
        /// The request, and who denied it.
        denial: Denial,
    },
    /// The call has pushed an action, which has its id and a place in the session's room. It is on
    /// the stack once the call has ended well, and nowhere otherwise.
    Staged {
        /// The action.
        action: Arc<PendingAction>,
    },
    /// The call has ended well, and the store has taken an action that it pushed.
    Pushed {
        /// The action.
        action: Arc<PendingAction>,
    },
}

/// What a tool is called for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolFunction {
    /// A preview.
    Execute,
    /// To apply an action where the host looks at what that does, and keeps nothing of it.
    Rehearse,
    /// To apply an action.
    Apply,
    /// To reject an action, since it is discarded.
    Reject,
}

impl ToolFunction {
    /// As the world has it, `execute`, `apply` or `reject`; and `rehearse`.
    pub fn as_str(self) -> &'static str {
        match self {
            ToolFunction::Execute => "execute",
            ToolFunction::Rehearse => "rehearse",
            ToolFunction::Apply => "apply",
            ToolFunction::Reject => "reject",
        }
    }
}

impl fmt::Display for ToolFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a guest was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// To change the workspace while it may only read it: reported once, at the end of the call.
    WorkspaceChange {
        /// How often it tried in this call.
        times: u64,
    },
    /// To reach a network, which no guest may: reported once, at the end of the call.
    Network {
        /// How often it tried in this call: each address that it would use, and each name that it
        /// looks up.
        times: u64,
    },
    /// To push a pending action: its label is empty, or it is too large, or the stack is full.
    Push {
        /// What the guest was told.
        reason: String,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::WorkspaceChange { times: 1 } => {
                f.write_str("refused write access to the workspace, which is read-only now")
            }
            Refusal::WorkspaceChange { times } => write!(
                f,
                "refused write access to the workspace, which is read-only now, {times} times"
            ),
            Refusal::Network { times: 1 } => f.write_str("refused network access: tools have none"),
            Refusal::Network { times } => {
                write!(f, "refused network access, {times} times: tools have none")
            }
            Refusal::Push { reason } => write!(f, "refused a pending action: {reason}"),
        }
    }
}

/// Where an event comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventSource<'a> {
    /// The session; none while a plugin is being loaded.
    pub session: Option<&'a SessionId>,
    /// The plugin's name.
    pub plugin: &'a str,
    /// The tool that is being called or resolved; empty while a plugin is being loaded.
    pub tool: &'a str,
    /// The call's number in the session, from 1, in the order in which calls and resolutions began;
    /// the same as the text that a guest gets as its `call-id`. None while a plugin is being
    /// loaded.
    pub call: Option<u64>,
}

impl<'a> EventSource<'a> {
    /// The session is none while a plugin is being loaded, and the tool is empty then.
    pub fn new(session: Option<&'a SessionId>, plugin: &'a str, tool: &'a str) -> Self {
        Self {
            session,
            plugin,
            tool,
            call: None,
        }
    }

    /// With the call's number; 0 is none.
    pub fn in_call(self, number: u64) -> Self {
        Self {
            call: (number > 0).then_some(number),
            ..self
        }
    }
}

/// Called with every event, on the thread that runs the guest: it should return soon.
pub type Observer = Arc<dyn Fn(EventSource<'_>, &Event) + Send + Sync>;

/// Hands an event to the observer, and to `tracing`: under the target `airlock::guest` what a guest
/// said and did, under `airlock::call` what it was called for.
pub fn emit(observer: Option<&Observer>, source: EventSource<'_>, event: &Event) {
    if let Some(observer) = observer {
        observer(source, event);
    }
    let EventSource {
        plugin, tool, call, ..
    } = source;
    let call = call.unwrap_or_default();
    macro_rules! line {
        ($level:ident, $message:expr) => {
            tracing::$level!(target: "airlock::guest", plugin, tool, call, "{}", $message)
        };
    }
    macro_rules! call {
        ($message:expr) => {
            tracing::debug!(target: "airlock::call", plugin, tool, call, "{}", $message)
        };
    }
    match event {
        Event::Log { level, message } => match level {
            LogLevel::Trace => line!(trace, message),
            LogLevel::Debug => line!(debug, message),
            LogLevel::Info => line!(info, message),
            LogLevel::Warn => line!(warn, message),
            LogLevel::Error => line!(error, message),
        },
        Event::Progress { message, .. } => line!(debug, message),
        Event::LogsDropped { lines: 1 } => line!(warn, "1 more line dropped"),
        Event::LogsDropped { lines } => line!(warn, format_args!("{lines} more lines dropped")),
        Event::NamesLeftOut { names, listings } => line!(
            warn,
            format_args!("names that are not UTF-8: {names} left out; listings: {listings}")
        ),
        Event::Refused(refusal) => line!(debug, refusal),
        Event::Began { function } => call!(format_args!("{function} began")),
        Event::Ended {
            function,
            time,
            failure: None,
        } => call!(format_args!("{function} ended after {time:?}")),
        Event::Ended {
            function,
            time,
            failure: Some(kind),
        } => call!(format_args!("{function} failed after {time:?}: {kind}")),
        Event::Decided {
            action,
            decision,
            decided_by,
        } => {
            let (done, actor) = (decision.past(), &decided_by.actor);
            let by = actor.name().unwrap_or(actor.kind());
            tracing::info!(target: "airlock::call", plugin, tool, call, "{action} {done} by {by}");
        }
        Event::Denied { action, denial } => {
            let (asked, denied) = (denial.decision.as_str(), denial.denied_by.past());
            let why = &denial.why;
            tracing::info!(target: "airlock::call", plugin, tool, "{action}: {asked} {denied}: {why}");
        }
        Event::Staged { action } => line!(debug, format_args!("staged {}", action.id)),
        Event::Pushed { action } => line!(debug, format_args!("pushed {}", action.id)),
    }
}
