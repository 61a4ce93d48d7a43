//! Decisions about pending actions.

use serde::Serialize;
use serde_json::{Map, Value};

use super::ActionId;
use crate::digest::Digest;
use crate::effects::Selection;

/// A decision to apply or to discard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Apply the action.
    Apply,
    /// Discard the action.
    Discard,
}

impl Decision {
    /// Returns a lower-case word for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Decision::Apply => "apply",
            Decision::Discard => "discard",
        }
    }

    /// Parses a word that [`as_str`](Self::as_str) returns.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Apply, Self::Discard]
            .into_iter()
            .find(|it| it.as_str() == word)
    }

    /// Returns the past tense: `applied` or `discarded`.
    pub fn past(self) -> &'static str {
        match self {
            Decision::Apply => "applied",
            Decision::Discard => "discarded",
        }
    }
}

/// A decision about an action.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct Resolution {
    /// The decision: apply or discard.
    pub decision: Decision,
    /// The reason. It reaches the plugin, and should not change what happens.
    pub reason: String,
    /// Extra values for the plugin.
    pub extra: Option<Map<String, Value>>,
    /// The action to resolve; `None` for the topmost one.
    pub id: Option<ActionId>,
    /// True to treat the session's workspace as the previewed one even if its path or
    /// [identity](crate::identity::WorkspaceIdentity) differs, because it was moved, copied or
    /// restored.
    pub same_workspace: bool,
    /// True to allow a discard even if the outcome of an interrupted apply can't be determined,
    /// because the workspace is gone.
    pub abandon: bool,
    /// The [digest](crate::effects::Effects::digest) of the effects that an apply was reviewed by.
    /// Default: `None`, which means the effects from the action's push.
    pub review: Option<Digest>,
    /// The part of the reviewed effects to apply. Requires [`review`](Self::review). Default:
    /// everything.
    pub selection: Selection,
    /// True to keep the changes that are not selected as a new pending action, without another run
    /// of the tool. If the host dies between the apply and the push of that action, it is not kept.
    pub keep_rest: bool,
    /// The number of earlier attempts to apply the action that the decider knew of. An apply is
    /// refused if there has been another since. Default: `None`, which allows any number.
    pub attempts: Option<u32>,
}

impl Resolution {
    /// Returns a decision to apply the topmost action.
    pub fn apply(reason: impl Into<String>) -> Self {
        Self::new(Decision::Apply, reason)
    }

    /// Returns a decision to discard the topmost action.
    pub fn discard(reason: impl Into<String>) -> Self {
        Self::new(Decision::Discard, reason)
    }

    /// Returns a decision about the topmost action.
    pub fn new(decision: Decision, reason: impl Into<String>) -> Self {
        Self {
            decision,
            reason: reason.into(),
            extra: None,
            id: None,
            same_workspace: false,
            abandon: false,
            review: None,
            selection: Selection::new(),
            keep_rest: false,
            attempts: None,
        }
    }

    /// Keeps the changes that are not selected as a new pending action, see
    /// [`Resolution::keep_rest`].
    pub fn keeping_rest(mut self) -> Self {
        self.keep_rest = true;
        self
    }

    /// Selects an action instead of the topmost one.
    pub fn with_id(mut self, id: impl Into<ActionId>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Requires these reviewed [effects](Resolution::review) and no others.
    pub fn with_review(mut self, effects: Digest) -> Self {
        self.review = Some(effects);
        self
    }

    /// Applies only a [part](Selection) of the effects that are reviewed.
    pub fn with_selection(mut self, selection: Selection) -> Self {
        self.selection = selection;
        self
    }

    /// Requires that there were exactly [this many](Resolution::attempts) attempts before.
    pub fn after_attempts(mut self, attempts: u32) -> Self {
        self.attempts = Some(attempts);
        self
    }

    /// Asserts that the session's workspace is the previewed one, see
    /// [`Resolution::same_workspace`].
    pub fn in_same_workspace(mut self) -> Self {
        self.same_workspace = true;
        self
    }

    /// Allows a discard even if the outcome of an apply is unknown, see [`Resolution::abandon`].
    pub fn abandoning(mut self) -> Self {
        self.abandon = true;
        self
    }

    /// Adds extra values for the plugin.
    pub fn with_extra(mut self, extra: Map<String, Value>) -> Self {
        self.extra = Some(extra);
        self
    }
}
