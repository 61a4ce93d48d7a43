//! Pending actions and what is decided about them. Nothing here knows how an action is stored or
//! carried out.

mod brief;

use std::borrow::Borrow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::digest::Digest;
use crate::effects::EffectsSummary;
use crate::identity::WorkspaceIdentity;
use crate::json::Json;
use crate::policy::Policy;
use crate::visible::quoted;

pub use crate::interruption::Interruption;
pub use brief::{BriefAction, NamedAction};

/// Why an action is discarded that has [expired](PendingAction::expires_at).
pub const EXPIRED: &str = "expired: not decided in time";

/// The source tool's name where a plugin gives none.
pub const DEFAULT_SOURCE_TOOL_NAME: &str = "custom_tool";

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// A new id (UUID version 7): those of later milliseconds sort behind those of earlier
            /// ones.
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

            /// The id as text.
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
    /// Identifies one pending action, for as long as anybody remembers it.
    ActionId
}
impl ActionId {
    /// Letters of the [short](Self::short) id.
    const SHORT: usize = 8;

    /// The id for people: its last 8 characters, or all of it if it is no longer. They are random,
    /// while the ids of the same weeks begin alike. The commands of `airlock` take it as they take
    /// the whole id; if two actions of a store end alike, they ask for more.
    pub fn short(&self) -> &str {
        let start = self.0.char_indices().rev().nth(Self::SHORT - 1);
        start.map_or(&self.0, |(index, _)| &self.0[index..])
    }
}

id! {
    /// Identifies one call that pushed something.
    CallId
}
id! {
    /// Identifies one session. Two sessions with the same id share one stack of pending actions.
    SessionId
}

/// A preview that waits for a decision.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PendingAction {
    /// What the host calls it.
    pub id: ActionId,
    /// What would happen, in one line.
    pub label: String,
    /// The tool that made the preview; [`DEFAULT_SOURCE_TOOL_NAME`] where it gave no name.
    pub source_tool_name: String,
    /// Whether that is a tool of the plugin's. A plugin may name any other, and an action of an
    /// older version doesn't tell.
    pub source_is_own_tool: bool,
    /// For reviewers. Not forwarded to the resolution's result.
    pub details: Option<Json>,
    /// Whether the plugin wants to hear of a discard.
    pub has_reject: bool,
    /// Whether it was pushed with a state, and so outlives the instance that pushed it. The state
    /// itself stays in the store, see [`Claimed::guest_state`](crate::store::Claimed::guest_state).
    pub durable: bool,
    /// The bytes that pushed it, and the only ones that may apply it.
    pub plugin: Digest,
    /// What the host called the plugin when it loaded it. Not the plugin's own word.
    pub plugin_name: Arc<str>,
    /// What the plugin was granted when it pushed; applying never gets more.
    pub grants: Policy,
    /// The absolute path of the workspace that was previewed, and the only one that it may be
    /// applied to.
    pub workspace: Option<Arc<Path>>,
    /// Which directory that was, and on which machine; none without a workspace, and for an action
    /// of an older version.
    pub workspace_identity: Option<Arc<WorkspaceIdentity>>,
    /// When it was pushed, by this machine's clock.
    pub pushed_at: SystemTime,
    /// The call that pushed it, of which its store has a
    /// [record](crate::call_record::CallRecord); none for an action of an older version.
    pub call: Option<CallId>,
    /// When it can no longer be applied, by this machine's clock; none for never.
    pub expires_at: Option<SystemTime>,
}

impl PendingAction {
    /// A volatile action without a workspace, of which nothing else is known yet. The plugin is its
    /// bytes' digest and what the host calls it.
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

    /// Whether nobody may apply it any more at this time.
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

/// Where an action stands between its push and its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ActionState {
    /// On the stack, and waits for a decision: the first, or another after an apply that failed.
    Pending,
    /// Claimed: somebody is carrying a decision out right now.
    Resolving,
    /// On the stack again after an apply whose end nobody knows, since its host stopped in the
    /// middle.
    Interrupted,
    /// On the stack, but volatile, and the instance that held its preview in memory is gone, or its
    /// host is: it can only be discarded.
    Lost,
    /// Applied, for good.
    Applied,
    /// Discarded, for good.
    Discarded,
}

impl ActionState {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Pending,
        Self::Resolving,
        Self::Interrupted,
        Self::Lost,
        Self::Applied,
        Self::Discarded,
    ];

    /// Whether it is on the stack, for anybody to claim.
    pub fn is_pending(self) -> bool {
        matches!(self, Self::Pending | Self::Interrupted | Self::Lost)
    }

    /// A lower-case word for programs.
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

/// A pending action as it stands on the stack.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StackedAction {
    /// The action as pushed.
    pub action: Arc<PendingAction>,
    /// How often somebody has tried to apply it.
    pub attempts: u32,
    /// Why the last try failed.
    pub last_error: Option<String>,
    /// [`Pending`](ActionState::Pending), [`Interrupted`](ActionState::Interrupted) or
    /// [`Lost`](ActionState::Lost).
    pub state: ActionState,
    /// Where to find out how its last apply ended, if that isn't recorded.
    pub interruption: Interruption,
    /// What the host saw it do when it was [rehearsed](crate::policy::Rehearse); none where it was
    /// not, or not yet.
    pub effects: Option<EffectsSummary>,
}

impl StackedAction {
    /// An action that nobody has tried to apply.
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

/// Apply or discard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Apply it.
    Apply,
    /// Discard it.
    Discard,
}

impl Decision {
    /// A lower-case word for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Decision::Apply => "apply",
            Decision::Discard => "discard",
        }
    }

    /// How a resolved action is spoken of: `applied` or `discarded`.
    pub fn past(self) -> &'static str {
        match self {
            Decision::Apply => "applied",
            Decision::Discard => "discarded",
        }
    }
}

/// What somebody decided, and about which action.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct Resolution {
    /// Apply or discard.
    pub decision: Decision,
    /// Why. It reaches the plugin, and should not change what happens.
    pub reason: String,
    /// Whatever else comes with the decision.
    pub extra: Option<Map<String, Value>>,
    /// Which action; the topmost where none is given.
    pub id: Option<ActionId>,
    /// Whoever decides says that the session's workspace is the one that was previewed, whatever
    /// its path and its [identity](crate::identity::WorkspaceIdentity) say: it was moved, copied,
    /// or restored.
    pub same_workspace: bool,
    /// Whoever discards an action says that nobody need find out whether an apply of it that was
    /// cut off has taken effect: its workspace is gone.
    pub abandon: bool,
    /// The [digest](crate::effects::Effects::digest) of the effects that an apply is decided by.
    /// Default: none, which means those of the action's push.
    pub review: Option<Digest>,
}

impl Resolution {
    /// Apply the topmost action.
    pub fn apply(reason: impl Into<String>) -> Self {
        Self::new(Decision::Apply, reason)
    }

    /// Discard the topmost action.
    pub fn discard(reason: impl Into<String>) -> Self {
        Self::new(Decision::Discard, reason)
    }

    /// Decide so about the topmost action.
    pub fn new(decision: Decision, reason: impl Into<String>) -> Self {
        Self {
            decision,
            reason: reason.into(),
            extra: None,
            id: None,
            same_workspace: false,
            abandon: false,
            review: None,
        }
    }

    /// Decide about this action instead of the topmost one.
    pub fn with_id(mut self, id: impl Into<ActionId>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Decide by these [effects](Resolution::review), and by no others.
    pub fn with_review(mut self, effects: Digest) -> Self {
        self.review = Some(effects);
        self
    }

    /// Say that the session's workspace is the one that was previewed, see
    /// [`Resolution::same_workspace`].
    pub fn in_same_workspace(mut self) -> Self {
        self.same_workspace = true;
        self
    }

    /// Discard it also where nobody can find out whether it was applied, see
    /// [`Resolution::abandon`].
    pub fn abandoning(mut self) -> Self {
        self.abandon = true;
        self
    }

    /// Hand this to the plugin too.
    pub fn with_extra(mut self, extra: Map<String, Value>) -> Self {
        self.extra = Some(extra);
        self
    }
}
