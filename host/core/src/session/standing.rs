//! A handler that stands behind the stack: who calls `resolve` while nothing is pending decides
//! about that.

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

use super::Session;
use super::resolve::{self, DecisionSummary};
use crate::producer;

/// Takes decisions while nothing is pending: say, about a plan that the model has written and wants
/// approved.
///
/// It is asked only where the stack is empty and nothing on it is being resolved by this session,
/// and forces no tool choice. Errors are the embedder's: [`Error::Tool`] reaches the caller word
/// for word, anything else from `apply` behind `Apply failed: `.
#[async_trait]
pub trait StandingHandler: Send + Sync + 'static {
    /// The subject of the decision, in one line.
    fn label(&self) -> String;

    /// Which tool it is about, if any.
    fn source_tool_name(&self) -> Option<String> {
        None
    }

    /// Applies it. `extra` is what came with the decision, such as a title for the plan.
    ///
    /// # Errors
    /// Why it could not be applied. The handler stays, and may be asked again.
    async fn apply(
        &self,
        reason: &str,
        extra: Option<&Map<String, Value>>,
    ) -> Result<StandingResult, Error>;

    /// Discards it. With none, the result is the text
    /// `Discarded: <label>. Reason: <reason>`.
    ///
    /// # Errors
    /// Whatever went wrong; it reaches the caller as it is.
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
    /// Blocks for the model.
    pub content: Vec<Content>,
    /// For programs; becomes `sourceResultDetails`.
    pub details: Option<Json>,
}

impl StandingResult {
    /// A result of one text.
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

/// A session's standing handler, and whether it may be asked now.
#[derive(Default)]
pub(super) struct StandingState {
    handler: RwLock<Option<Arc<dyn StandingHandler>>>,
    /// Resolutions of this session that have claimed an action.
    resolving: AtomicUsize,
}

/// Counts as one of them until it is dropped.
pub(super) struct Resolving<'a>(&'a AtomicUsize);

impl Drop for Resolving<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl StandingState {
    /// To be called before an action is claimed.
    pub fn resolving(&self) -> Resolving<'_> {
        self.resolving.fetch_add(1, Ordering::SeqCst);
        Resolving(&self.resolving)
    }

    fn handler(&self) -> Option<Arc<dyn StandingHandler>> {
        // What races for an action that another is resolving must not decide about something else.
        let alone = self.resolving.load(Ordering::SeqCst) <= 1;
        let handler = self.handler.read().unwrap_or_else(PoisonError::into_inner);
        handler.clone().filter(|_| alone)
    }
}

impl Session {
    /// Sets what is asked when `resolve` is called and nothing is pending, or with none, takes it
    /// away.
    pub fn set_standing_handler(&self, handler: Option<Arc<dyn StandingHandler>>) {
        let standing = &self.inner.standing;
        *standing
            .handler
            .write()
            .unwrap_or_else(PoisonError::into_inner) = handler;
    }

    /// Calls the standing handler.
    ///
    /// # Errors
    /// [`Error::NothingPending`] where there is none.
    pub(super) async fn ask_standing_handler(
        &self,
        resolution: Resolution,
        cancel: Option<&CancellationToken>,
    ) -> Result<ResolutionOutcome, Error> {
        let handler = self.inner.standing.handler().ok_or(Error::NothingPending)?;
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
                    Err(error) => Err(resolve::apply_error(error)),
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
        Ok(resolve::outcome(decision, extra, summary, returned))
    }
}
