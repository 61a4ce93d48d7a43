//! A handler behind the stack: it resolves `resolve` calls while nothing is pending.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock};

use airlock_model::content::{Content, ResolutionOutcome, ToolResult};
use airlock_model::error::Error;
use airlock_model::json::Json;
use airlock_model::pending::{Decision, Resolution};
use async_trait::async_trait;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::Decisions;
use super::outcome::{DecisionSummary, apply_error, outcome};
use crate::producer;

/// Handles decisions while nothing is pending, for example about a plan that the model has written.
///
/// It is called only if the stack is empty and this session is not resolving any action. It forces
/// no tool choice. Errors are the embedder's own: [`Error::Tool`] reaches the caller verbatim, any
/// other error from `apply` gets the prefix `Apply failed: `.
#[async_trait]
pub trait StandingHandler: Send + Sync + 'static {
    /// Returns the subject of the decision, in one line.
    fn label(&self) -> String;

    /// Returns the tool that the decision is about, if any.
    fn source_tool_name(&self) -> Option<String> {
        None
    }

    /// Applies the subject. `extra` is the data that came with the decision, such as a title for
    /// the plan.
    ///
    /// # Errors
    /// The reason why it could not be applied. The handler stays, and may be called again.
    async fn apply(
        &self,
        reason: &str,
        extra: Option<&Map<String, Value>>,
    ) -> Result<StandingResult, Error>;

    /// Discards the subject. With `None`, the result is the text `Discarded: <label>. Reason:
    /// <reason>`.
    ///
    /// # Errors
    /// Any error; it reaches the caller unchanged.
    async fn reject(
        &self,
        _reason: &str,
        _extra: Option<&Map<String, Value>>,
    ) -> Result<Option<StandingResult>, Error> {
        Ok(None)
    }
}

/// The result of a [`StandingHandler`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StandingResult {
    /// Content for the model.
    pub content: Vec<Content>,
    /// Data for programs; becomes `sourceResultDetails`.
    pub details: Option<Json>,
}

impl StandingResult {
    /// Returns a result with one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![Content::text(text)],
            details: None,
        }
    }
}

impl From<StandingResult> for ToolResult {
    fn from(result: StandingResult) -> Self {
        Self {
            content: result.content,
            details: result.details.filter(|details| !details.is_null()),
        }
    }
}

/// A session's standing handler, and whether it may be called now.
#[derive(Default)]
pub(super) struct StandingState {
    handler: RwLock<Option<Arc<dyn StandingHandler>>>,
    /// Number of this session's resolutions that have claimed an action.
    resolving: AtomicUsize,
}

/// Counts as a resolution until it is dropped.
pub(super) struct Resolving<'a>(&'a AtomicUsize);

impl Drop for Resolving<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl StandingState {
    /// Counts a resolution. Call it before claiming an action.
    pub fn resolving(&self) -> Resolving<'_> {
        self.resolving.fetch_add(1, Ordering::SeqCst);
        Resolving(&self.resolving)
    }

    fn handler(&self) -> Option<Arc<dyn StandingHandler>> {
        // A call that races for an action being resolved must not decide about something else.
        let alone = self.resolving.load(Ordering::SeqCst) <= 1;
        let handler = self.handler.read().unwrap_or_else(PoisonError::into_inner);
        handler.clone().filter(|_| alone)
    }
}

impl Decisions {
    /// Sets the standing handler, or removes it.
    pub fn set_standing_handler(&self, handler: Option<Arc<dyn StandingHandler>>) {
        let standing = &self.standing;
        *standing
            .handler
            .write()
            .unwrap_or_else(PoisonError::into_inner) = handler;
    }

    /// Calls the standing handler.
    ///
    /// # Errors
    /// [`Error::NothingPending`] if there is no handler.
    pub(super) async fn ask_standing_handler(
        &self,
        resolution: Resolution,
        cancel: Option<&CancellationToken>,
    ) -> Result<ResolutionOutcome, Error> {
        let handler = self.standing.handler().ok_or(Error::NothingPending)?;
        let Resolution {
            decision,
            reason,
            extra,
            ..
        } = resolution;
        let deciding = async {
            match decision {
                Decision::Apply => match handler.apply(&reason, extra.as_ref()).await {
                    Ok(result) => Ok(Some(result)),
                    Err(error) => Err(apply_error(error)),
                },
                Decision::Discard => match handler.reject(&reason, extra.as_ref()).await {
                    Ok(result) => Ok(result),
                    Err(error) => Err(producer::told_by_tool(error)),
                },
            }
        };
        let returned = match cancel {
            None => deciding.await?,
            Some(cancel) => match cancel.run_until_cancelled(deciding).await {
                Some(returned) => returned?,
                None => return Err(Error::Cancelled),
            },
        };
        let summary = DecisionSummary {
            label: handler.label(),
            source_tool_name: handler.source_tool_name(),
            reason,
        };
        let returned = returned.map(ToolResult::from);
        Ok(outcome(decision, extra, summary, returned))
    }
}
