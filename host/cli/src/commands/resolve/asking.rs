//! Shows an action and asks about it.

use airlock_desk::target::Target;
use airlock_host::pending::Decision;
use airlock_render::{Block, Line, Role};

use super::{Desk, Ended};
use crate::commands::{refresh, rehearsed, show};
use crate::failure::Failure;
use crate::terminal::output::{Output, show_on_stderr};
use crate::terminal::prompt::{Answer, Asked, Question};

/// An action with its preview.
struct Shown {
    block: Block,
    /// Whether it can't be applied any more.
    is_stale: bool,
}

impl Desk<'_> {
    pub(super) async fn ask(
        &self,
        target: &Target,
        place: (usize, usize),
        reason: Option<&str>,
        out: &mut Output,
    ) -> Result<Answer, Failure> {
        let decision = self.request.target.decision;
        let Shown { block, is_stale } = self.shown(target).await?;
        out.page(&block);
        let question = Question {
            action: &target.action,
            place,
            asked: match is_stale && decision == Decision::Apply {
                true => Asked::Stale,
                false => Asked::Whether(decision),
            },
            reason,
        };
        let show = async || show_on_stderr(&block);
        Ok(question.ask(show, &self.interrupt).await)
    }

    /// Replaces a stale preview by a new one. It is decided separately, once it has been seen.
    pub(super) async fn refresh(
        &self,
        target: &Target,
        out: &mut Output,
    ) -> Result<Ended, Failure> {
        let request = refresh::Request {
            id: target.action.id.to_string(),
            limits: self.request.limits.clone(),
            store: self.request.store.clone(),
        };
        refresh::refresh(&request, self.verbose, out).await?;
        Ok(Ended::Refreshed)
    }

    /// The action with its preview and effects.
    async fn shown(&self, target: &Target) -> Result<Shown, Failure> {
        let record = self.store.find(target.action.id.as_str()).await?;
        let call = self.store.call_record(&record).await?;
        let effects = rehearsed::effects(self.store, &record, self.verbose).await?;
        let stale = rehearsed::stale(self.store, &record).await;
        let block = show::block(&record, call.as_ref(), effects.as_ref());
        if let Some(now) = rehearsed::moved(self.store, &record, &stale, self.verbose).await {
            let told = Line::new().with_role(
                Role::Note,
                "Since the preview, other lines of these files have changed. Its own edits are the same, and applied now it changes:",
            );
            return Ok(Shown {
                block: block
                    .line(told.hanging(2))
                    .block(Block::effects(&now).indented(2)),
                is_stale: false,
            });
        }
        Ok(Shown {
            block: block.block(show::told_stale(&stale, &record, self.store)),
            is_stale: !stale.is_empty(),
        })
    }
}
