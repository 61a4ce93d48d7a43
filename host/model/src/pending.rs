//! Pending actions and the decisions about them. This module doesn't know how actions are stored or
//! carried out.

mod brief;
mod resolution;

use std::borrow::Borrow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use serde::Serialize;

use crate::digest::Digest;
use crate::effects::EffectsSummary;
use crate::identity::WorkspaceIdentity;
use crate::json::Json;
use crate::policy::Policy;
use crate::visible::quoted;

pub use crate::interruption::Interruption;
pub use brief::{BriefAction, NamedAction};
pub use resolution::{Decision, Resolution};

/// The reason given when an [expired](PendingAction::expires_at) action is discarded.
pub const EXPIRED: &str = "expired: not decided in time";

/// The source tool's name if a plugin gives none.
pub const DEFAULT_SOURCE_TOOL_NAME: &str = "custom_tool";

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Generates an id (UUID version 7). Ids sort by the millisecond in which they were
            /// generated.
            pub fn generate(now: SystemTime) -> Self {
                let since_epoch = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
                let timestamp = uuid::Timestamp::from_unix_time(
                    since_epoch.as_secs(),
                    since_epoch.subsec_nanos(),
                    0,
                    0,
                );
                let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
                let text: &str = uuid::Uuid::new_v7(timestamp).hyphenated().encode_lower(&mut text);
                Self(text.into())
            }

            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl<T: Into<Arc<str>>> From<T> for $name {
            fn from(text: T) -> Self {
                Self(text.into())
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    };
}

id! {
    /// The id of a pending action. It stays valid for as long as a store remembers the action.
    ActionId
}
impl ActionId {
    /// The length of a [short](Self::short) id, in characters.
    const SHORT: usize = 8;

    /// Returns the id for people: its last 8 characters, or all of it if it is not longer. These
    /// are random, while ids of the same weeks share their beginnings. The commands of `airlock`
    /// accept it like the whole id. If two actions of a store share an ending, the commands ask for
    /// more characters.
    pub fn short(&self) -> &str {
        let start = self.0.char_indices().rev().nth(Self::SHORT - 1);
        start.map_or(&self.0, |(index, _)| &self.0[index..])
    }
}

id! {
    /// The id of a call that pushed actions.
    CallId
}
id! {
    /// The id of a session. Sessions with the same id share a stack of pending actions.
    SessionId
}

/// A preview that waits for a decision.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PendingAction {
    /// The host's id for the action.
    pub id: ActionId,
    /// A one-line summary of the proposed change.
    pub label: String,
    /// The tool that made the preview, or [`DEFAULT_SOURCE_TOOL_NAME`] if it gave no name.
    pub source_tool_name: String,
    /// True if the source tool belongs to the plugin. A plugin may name any other tool, and actions
    /// of older versions don't record this.
    pub source_is_own_tool: bool,
    /// Details for reviewers. The resolution's result doesn't include them.
    pub details: Option<Json>,
    /// True if the plugin's `reject` is called on a discard.
    pub has_reject: bool,
    /// True if the action was pushed with a state, and so outlives the instance that pushed it. The
    /// state stays in the store, see [`Claimed::guest_state`](crate::store::Claimed::guest_state).
    pub durable: bool,
    /// The digest of the plugin that pushed the action. Only the same bytes may apply it.
    pub plugin: Digest,
    /// The host's name for the plugin, set when it was loaded. The plugin can't choose it.
    pub plugin_name: Arc<str>,
    /// The plugin's grants at the time of the push. Applying never gets more.
    pub grants: Policy,
    /// The absolute path of the workspace that was previewed. The action may be applied to no
    /// other.
    pub workspace: Option<Arc<Path>>,
    /// The identity of that directory and its machine. `None` without a workspace, and for actions
    /// of older versions.
    pub workspace_identity: Option<Arc<WorkspaceIdentity>>,
    /// The time of the push, by this machine's clock.
    pub pushed_at: SystemTime,
    /// The call that pushed the action; the store has its [record](crate::call_record::CallRecord).
    /// `None` for actions of older versions.
    pub call: Option<CallId>,
    /// The time after which the action can't be applied, by this machine's clock. `None` means
    /// never.
    pub expires_at: Option<SystemTime>,
}

impl PendingAction {
    /// Creates a volatile action without a workspace. The plugin is given by its bytes' digest and
    /// the host's name for it.
    pub fn new(
        id: impl Into<ActionId>,
        label: impl Into<String>,
        plugin: Digest,
        plugin_name: impl Into<Arc<str>>,
        grants: Policy,
        pushed_at: SystemTime,
    ) -> Self {
        Self {
            id: id.into(),
            label: label.into(),
            source_tool_name: DEFAULT_SOURCE_TOOL_NAME.to_owned(),
            source_is_own_tool: false,
            details: None,
            has_reject: false,
            durable: false,
            plugin,
            plugin_name: plugin_name.into(),
            grants,
            workspace: None,
            workspace_identity: None,
            pushed_at,
            call: None,
            expires_at: None,
        }
    }

    /// Returns true if the action has expired at `now`.
    pub fn has_expired(&self, now: SystemTime) -> bool {
        self.expires_at.is_some_and(|expires_at| now >= expires_at)
    }

    /// Returns the plugin for a model: its quoted name and its short digest.
    pub fn plugin_for_model(&self) -> String {
        match &*self.plugin_name {
            "" => self.plugin.short(),
            name => format!("{} ({})", quoted(name), self.plugin.short()),
        }
    }
}

/// The state of an action between its push and its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ActionState {
    /// An action on the stack that waits for a decision, possibly again after a failed apply.
    Pending,
    /// Claimed: a decision is being carried out.
    Resolving,
    /// Back on the stack after an apply whose outcome is unknown because its host stopped midway.
    Interrupted,
    /// A volatile action on the stack, but the instance or the host that held its preview in memory
    /// is gone. It can only be discarded.
    Lost,
    /// Applied.
    Applied,
    /// Discarded.
    Discarded,
}

impl ActionState {
    /// The list of all values.
    pub const ALL: [Self; 6] = [
        Self::Pending,
        Self::Resolving,
        Self::Interrupted,
        Self::Lost,
        Self::Applied,
        Self::Discarded,
    ];

    /// Returns true if the action is on the stack and can be claimed.
    pub fn is_pending(self) -> bool {
        matches!(self, Self::Pending | Self::Interrupted | Self::Lost)
    }

    /// Returns a lower-case word for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            ActionState::Pending => "pending",
            ActionState::Resolving => "resolving",
            ActionState::Interrupted => "interrupted",
            ActionState::Lost => "lost",
            ActionState::Applied => "applied",
            ActionState::Discarded => "discarded",
        }
    }
}

impl fmt::Display for ActionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A pending action and its state on the stack.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StackedAction {
    /// The action as pushed.
    pub action: Arc<PendingAction>,
    /// The number of attempts to apply the action.
    pub attempts: u32,
    /// The error of the last failed attempt.
    pub last_error: Option<String>,
    /// [`Pending`](ActionState::Pending), [`Interrupted`](ActionState::Interrupted) or
    /// [`Lost`](ActionState::Lost).
    pub state: ActionState,
    /// The place that records how the last apply ended, if the store doesn't.
    pub interruption: Interruption,
    /// The effects that the host saw when it [rehearsed](crate::policy::Rehearse) the action.
    /// `None` if it was not rehearsed, or not yet.
    pub effects: Option<EffectsSummary>,
}

impl StackedAction {
    /// Creates the entry of an action without attempts.
    pub fn new(action: impl Into<Arc<PendingAction>>, state: ActionState) -> Self {
        Self {
            action: action.into(),
            attempts: 0,
            last_error: None,
            state,
            interruption: Interruption::None,
            effects: None,
        }
    }
}
