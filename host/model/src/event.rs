//! Events of a call, for observers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::actor::DecidedBy;
use crate::denial::Denial;
use crate::pending::{ActionId, Decision, PendingAction, SessionId};

/// The severity of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum LogLevel {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
}

/// An event of a call, or an act of a guest. Texts come from the guest unchanged and may contain
/// control characters.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A line of the log, or of the guest's standard output ([`LogLevel::Info`]) or error
    /// ([`LogLevel::Warn`]).
    Log {
        /// The severity.
        level: LogLevel,
        /// The line.
        message: String,
    },
    /// The progress of the call.
    Progress {
        /// The current step.
        message: String,
        /// The amount done, in the tool's own unit.
        progress: Option<f64>,
        /// The total amount.
        total: Option<f64>,
    },
    /// The call ended after exceeding its log limit, and this many lines were dropped.
    LogsDropped {
        /// The number of lines.
        lines: u64,
    },
    /// The call ended, and directories that it listed had names that are not UTF-8. WASI can't
    /// represent such names, so the guest got only the other entries.
    NamesLeftOut {
        /// The number of names.
        names: u64,
        /// The number of listings that lack names.
        listings: u64,
    },
    /// The guest was refused something that it was not granted, or that exceeds its limit. It may
    /// continue.
    Refused(Refusal),
    /// A guest or a native tool is about to be called.
    Began {
        /// The function that is called.
        function: ToolFunction,
    },
    /// The function returned or was stopped. If a call's future is dropped, there is no such event.
    Ended {
        /// The function that was called.
        function: ToolFunction,
        /// The wall-clock time since it began.
        time: Duration,
        /// The [kind](crate::error::Error::kind) of the error, if the call failed.
        failure: Option<&'static str>,
    },
    /// A decision was carried out and recorded, and the action has left the stack. An action whose
    /// apply failed is pending again and doesn't count as decided.
    Decided {
        /// The action.
        action: ActionId,
        /// The decision: apply or discard.
        decision: Decision,
        /// The actor that decided, and the evidence for it.
        decided_by: DecidedBy,
    },
    /// A rule refused a requested apply, or a person declined it. The action is still pending.
    Denied {
        /// The action.
        action: ActionId,
        /// The request and its denial.
        denial: Denial,
    },
    /// The call pushed an action, which now has an id and counts towards the session's limits. It
    /// joins the stack only if the call succeeds.
    Staged {
        /// The action.
        action: Arc<PendingAction>,
    },
    /// The call succeeded, and the store accepted an action that it pushed.
    Pushed {
        /// The action.
        action: Arc<PendingAction>,
    },
}

/// The purpose of a call of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolFunction {
    /// A preview.
    Execute,
    /// Applies an action to observe its effects, then drops them.
    Rehearse,
    /// Applies an action.
    Apply,
    /// Rejects an action that is being discarded.
    Reject,
}

impl ToolFunction {
    /// Returns the function's name in the WIT world (`execute`, `apply`, `reject`), or `rehearse`.
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

/// A request of a guest that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// A change to the workspace while it was read-only. Reported once, at the end of the call.
    WorkspaceChange {
        /// The number of attempts in this call.
        times: u64,
    },
    /// Network access, which no guest has. Reported once, at the end of the call.
    Network {
        /// The number of attempts in this call, counting each address and each name lookup.
        times: u64,
    },
    /// Access to paths of the workspace that the plugin was not granted. Reported at most once for
    /// reads and once for changes, at the end of the call.
    Path(PathRefusal),
    /// A push of a pending action whose label is empty, that is too large, or that finds the stack
    /// full.
    Push {
        /// The reason that the guest got.
        reason: String,
    },
}

/// A path of the workspace that a guest was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathRefusal {
    /// The access that it tried.
    pub access: PathAccess,
    /// The first path in this call that was refused.
    pub path: String,
    /// True if the component wants this access, so that a grant would allow it.
    pub is_wanted: bool,
    /// The number of further attempts in this call.
    pub more: u64,
}

/// An access to a path of the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathAccess {
    /// To read it.
    Read,
    /// To create, change, move or remove it.
    Change,
}

impl PathAccess {
    /// Returns the word for it in grants.
    pub fn as_str(self) -> &'static str {
        match self {
            PathAccess::Read => "read",
            PathAccess::Change => "change",
        }
    }
}

/// Checks that a path, which a guest may have chosen, is the same as a pattern and in a shell.
fn is_word(path: &str) -> bool {
    !path.is_empty()
        && path
            .chars()
            .all(|it| it.is_ascii_alphanumeric() || "._/-".contains(it))
}

impl fmt::Display for PathRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (access, path) = (self.access.as_str(), &self.path);
        write!(f, "was not allowed to {access} {path:?}")?;
        if self.more > 0 {
            write!(f, " (and {} more)", self.more)?;
        }
        if self.is_wanted && is_word(path) {
            // A pattern without a slash would be for a name at any depth.
            let here = if path.contains('/') { "" } else { "./" };
            write!(f, ": add {access}={here}{path} to its grants to allow it")
        } else if self.is_wanted {
            write!(f, ": a grant {access}=PATH would allow it")
        } else {
            f.write_str(": the plugin doesn't say that it wants this, so no grant allows it")
        }
    }
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
            Refusal::Path(refusal) => refusal.fmt(f),
            Refusal::Push { reason } => write!(f, "refused a pending action: {reason}"),
        }
    }
}

/// The origin of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventSource<'a> {
    /// The session; `None` while a plugin is being loaded.
    pub session: Option<&'a SessionId>,
    /// The plugin's name.
    pub plugin: &'a str,
    /// The tool that is being called or resolved; empty while a plugin is being loaded.
    pub tool: &'a str,
    /// The call's number in the session, counted from 1 in the order in which calls and resolutions
    /// began. Equals the guest's `call-id`. `None` while a plugin is being loaded.
    pub call: Option<u64>,
}

impl<'a> EventSource<'a> {
    /// Creates a source. While a plugin is being loaded, `session` is `None` and `tool` is empty.
    pub fn new(session: Option<&'a SessionId>, plugin: &'a str, tool: &'a str) -> Self {
        Self {
            session,
            plugin,
            tool,
            call: None,
        }
    }

    /// Sets the call's number; 0 means none.
    pub fn in_call(self, number: u64) -> Self {
        Self {
            call: (number > 0).then_some(number),
            ..self
        }
    }
}

/// A callback for every event. It runs on the guest's thread and should return soon.
pub type Observer = Arc<dyn Fn(EventSource<'_>, &Event) + Send + Sync>;

/// Sends an event to the observer and to `tracing`: guest output under the target `airlock::guest`,
/// calls and decisions under `airlock::call`.
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
        // Whoever granted too little wants to know.
        Event::Refused(refusal @ Refusal::Path(_)) => line!(warn, refusal),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_suggests_only_a_grant_for_this_path() {
        let check = |path: &str, is_wanted, more, expected: &str| {
            let refusal = PathRefusal {
                access: PathAccess::Read,
                path: path.to_owned(),
                is_wanted,
                more,
            };
            let told = refusal.to_string();
            let advice = told.strip_prefix("was not allowed to read ").unwrap();
            assert_eq!(advice, expected);
        };
        let add = "to its grants to allow it";
        check(
            "a/b.md",
            true,
            0,
            &format!("\"a/b.md\": add read=a/b.md {add}"),
        );
        check(
            "a",
            true,
            2,
            &format!("\"a\" (and 2 more): add read=./a {add}"),
        );
        let unclear = "a grant read=PATH would allow it";
        check("**", true, 0, &format!("\"**\": {unclear}"));
        check("a b\n", true, 0, &format!("\"a b\\n\": {unclear}"));
        check(
            "a",
            false,
            0,
            "\"a\": the plugin doesn't say that it wants this, so no grant allows it",
        );
    }
}
