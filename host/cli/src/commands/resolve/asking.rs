//! Showing an action and asking about it.

use airlock_desk::decider;
use airlock_desk::part::is_divisible;
use airlock_desk::target::Target;
use airlock_host::Resolution;
use airlock_host::digest::Digest;
use airlock_host::effects::{Effects, Selection};
use airlock_host::pending::{Decision, Denial, DeniedBy};
use airlock_render::{Block, Line, Role};

use super::{Desk, Ended};
use crate::commands::part::{self, Picked};
use crate::commands::{refresh, rehearsed, show};
use crate::failure::Failure;
use crate::terminal::output::{Output, show_on_stderr};
use crate::terminal::prompt::{Answer, Asked, Question};

/// An action with its preview.
struct Shown {
    block: Block,
    /// True if it can't be applied any more.
    is_stale: bool,
    /// The effects that it shows.
    effects: Option<Effects>,
}

/// A person's answer, and its subject.
pub(super) struct Answered {
    pub answer: Answer,
    /// The digest of the effects that were shown.
    pub review: Option<Digest>,
    /// The part of them to apply.
    pub selection: Selection,
}

impl Desk<'_> {
    pub(super) async fn ask(
        &self,
        target: &Target,
        place: (usize, usize),
        reason: Option<&str>,
        out: &mut Output,
    ) -> Result<Answered, Failure> {
        let decision = self.request.target.decision;
        let Shown {
            block,
            is_stale,
            effects,
        } = self.load(target).await?;
        let effects = effects.as_ref();
        let mut selection = self.select(effects)?;
        let block = match effects {
            Some(effects) if !selection.is_everything() => {
                block.block(part::block(&selection, effects))
            }
            _ => block,
        };
        out.page(&block);
        let question = Question {
            action: &target.action,
            place,
            asked: if is_stale && decision == Decision::Apply {
                Asked::Stale
            } else {
                Asked::Whether(decision)
            },
            reason,
            has_parts: effects.is_some_and(is_divisible),
        };
        let show = async || show_on_stderr(&block);
        let answer = loop {
            match (question.ask(show, &self.interrupt).await, effects) {
                (Answer::Pick, Some(effects)) => {
                    match part::pick(effects, &question, &self.interrupt).await {
                        Picked::Nothing => {}
                        Picked::Quit => break Answer::Quit,
                        Picked::Part(part, reason) => {
                            selection = part;
                            break Answer::Decided {
                                decision: Decision::Apply,
                                reason,
                                all: false,
                            };
                        }
                    }
                }
                (answer, _) => break answer,
            }
        };
        if (question.asked, &answer) == (Asked::Whether(decision), &Answer::Leave) {
            self.record_no(target, reason).await;
        }
        Ok(Answered {
            answer,
            review: effects.map(Effects::digest),
            selection,
        })
    }

    /// Returns the selection of the command line: everything, if it names no changes.
    fn select(&self, effects: Option<&Effects>) -> Result<Selection, Failure> {
        let none = Effects::default();
        Ok(self.request.part.select(effects.unwrap_or(&none))?)
    }

    /// Returns the effects that the action has now, and the part that the command line selects.
    pub(super) async fn selected(
        &self,
        target: &Target,
    ) -> Result<(Option<Digest>, Selection), Failure> {
        if self.request.part.is_empty() {
            return Ok((None, Selection::new()));
        }
        let effects = self.load(target).await?.effects;
        let selection = self.select(effects.as_ref())?;
        Ok((effects.as_ref().map(Effects::digest), selection))
    }

    /// Records that the person asked for the decision and then answered no. If the record can't be
    /// written, the command continues.
    pub(super) async fn record_no(&self, target: &Target, reason: Option<&str>) {
        let asked = Resolution::new(self.request.target.decision, reason.unwrap_or_default());
        let person = DeniedBy::Person(decider::person_at_terminal());
        let asked_by = decider::unanswered().into();
        let denial = Denial::new(&asked, asked_by, person, "answered with no");
        let store = self.store.durable();
        let recording = store.record_denial(&target.session, &target.action.id, &denial);
        if let Err(error) = recording.await {
            tracing::warn!("the log lacks this answer: {error}");
        }
    }

    /// Replaces a stale preview with a new one, which is decided separately once it has been seen.
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

    /// Returns the action with its preview and effects.
    async fn load(&self, target: &Target) -> Result<Shown, Failure> {
        let record = self.store.find(target.action.id.as_str()).await?;
        let call = self.store.call_record(&record).await?;
        let effects = rehearsed::effects(self.store, &record, self.verbose).await?;
        let stale = rehearsed::stale(self.store, &record).await;
        let block = show::block(&record, call.as_ref(), effects.as_ref());
        if let Some(now) = rehearsed::moved(self.store, &record, &stale, self.verbose).await {
            let message = Line::new().with_role(
                Role::Note,
                "Since the preview, other lines of these files have changed. Its own edits are the same, and applied now it changes:",
            );
            return Ok(Shown {
                block: block
                    .line(message.hanging(2))
                    .block(Block::effects(&now).indented(2)),
                is_stale: false,
                effects: Some(now),
            });
        }
        Ok(Shown {
            block: block.block(show::told_stale(&stale, &record, self.store)),
            is_stale: !stale.is_empty(),
            effects,
        })
    }
}
