//! Observes a tool's behavior with given params, for each way in which a preview can end.

use std::sync::Arc;

use airlock_host::pending::{Decision, StackedAction};
use airlock_host::store::{MemoryStore, PendingStore};
use airlock_host::{Plugin, Session};

use super::HarnessError;
use super::fault_injection::unacknowledged;
use super::files::Changes;
use super::harness::{self, Answer, Harness, ObservedEvents};
use super::report::Example;

/// The observations of a call. Each part starts over with a copy of the files and a new preview.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    pub preview: Preview,
    /// An apply. This and the following are `None` if nothing was pushed or the preview failed.
    pub applied: Option<Decided>,
    /// An apply after a rehearsal.
    pub rehearsed: Option<Decided>,
    /// An apply by another session, whose instances know nothing of the preview. Also `None` if an
    /// action is volatile.
    pub applied_fresh: Option<Decided>,
    /// A second run of `applied`. It explains a difference between `applied` and `applied_fresh`.
    pub applied_again: Option<Decided>,
    /// An apply that is repeated because its outcome was lost. Also `None` if the first one
    /// failed.
    pub applied_twice: Option<RepeatedApply>,
    pub discarded: Option<Discarded>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    pub answer: Answer,
    /// The pushed actions, topmost first.
    pub pushed: Vec<StackedAction>,
    pub changes: Changes,
    pub heard: ObservedEvents,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    /// The answer of the preview.
    pub preview: Answer,
    /// The answers, one for each action, topmost first.
    pub answers: Vec<Answer>,
    /// The changes since before the preview.
    pub changes: Changes,
    /// The events of the decisions only.
    pub heard: ObservedEvents,
}

impl Decided {
    /// Returns whether both had the same answers and changes.
    pub fn agrees_with(&self, other: &Decided) -> bool {
        self.answers == other.answers && self.changes == other.changes
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct RepeatedApply {
    pub first: Decided,
    pub second: Vec<Answer>,
    /// The changes since the first apply.
    pub changes: Changes,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Discarded {
    pub decided: Decided,
    /// The labels of the actions that are still pending.
    pub left: Vec<String>,
}

/// Runs all parts.
///
/// # Errors
/// If the host fails.
pub async fn observe(plugin: &Plugin, sample: &Example) -> Result<Observation, HarnessError> {
    let trial = Trial { plugin, sample };
    let stage = trial.stage()?;
    let session = stage.session()?;
    let preview = trial.preview(&stage, &session).await?;
    let mut observation = Observation {
        preview,
        applied: None,
        rehearsed: None,
        applied_fresh: None,
        applied_again: None,
        applied_twice: None,
        discarded: None,
    };
    let pushed = &observation.preview.pushed;
    if observation.preview.answer.is_err() || pushed.is_empty() {
        return Ok(observation);
    }
    let applied = trial
        .decide(&stage, &session, &observation.preview, Decision::Apply)
        .await?;
    drop(session);
    if pushed.iter().all(|stacked| stacked.action.durable) {
        observation.rehearsed = Some(trial.apply(true).await?);
        let fresh = trial.apply_fresh().await?;
        if !fresh.agrees_with(&applied) {
            observation.applied_again = Some(trial.apply(false).await?);
        }
        observation.applied_fresh = Some(fresh);
        if applied.answers.iter().all(Result::is_ok) {
            observation.applied_twice = trial.apply_twice().await?;
        }
    }
    observation.applied = Some(applied);
    observation.discarded = Some(trial.discard().await?);
    Ok(observation)
}

struct Trial<'a> {
    plugin: &'a Plugin,
    sample: &'a Example,
}

impl<'a> Trial<'a> {
    fn stage(&self) -> Result<Harness<'a>, HarnessError> {
        self.stage_on(Arc::new(MemoryStore::new()).into())
    }

    fn stage_on(&self, store: PendingStore) -> Result<Harness<'a>, HarnessError> {
        Harness::set(self.plugin, &self.sample.files, store)
    }

    async fn preview(
        &self,
        stage: &Harness<'_>,
        session: &Session,
    ) -> Result<Preview, HarnessError> {
        let mut answer = harness::call(session, &self.sample.tool, &self.sample.params).await?;
        let pushed = session.pending().await?;
        harness::without_ids(&mut answer, &pushed);
        Ok(Preview {
            answer,
            pushed,
            changes: self.sample.files.changes(&stage.files()?),
            heard: stage.observed_events(),
        })
    }

    async fn decide(
        &self,
        stage: &Harness<'_>,
        session: &Session,
        preview: &Preview,
        decision: Decision,
    ) -> Result<Decided, HarnessError> {
        let answers = harness::resolve_all(session, &preview.pushed, decision).await?;
        let mut heard = stage.observed_events();
        heard.refusals.drain(..preview.heard.refusals.len());
        heard.dropped_lines -= preview.heard.dropped_lines;
        Ok(Decided {
            preview: preview.answer.clone(),
            answers,
            changes: self.sample.files.changes(&stage.files()?),
            heard,
        })
    }

    async fn apply(&self, rehearses: bool) -> Result<Decided, HarnessError> {
        let stage = self.stage()?;
        let session = if rehearses {
            stage.session_that_rehearses()?
        } else {
            stage.session()?
        };
        let preview = self.preview(&stage, &session).await?;
        self.decide(&stage, &session, &preview, Decision::Apply)
            .await
    }

    async fn apply_fresh(&self) -> Result<Decided, HarnessError> {
        let stage = self.stage()?;
        let preview = self.preview(&stage, &stage.session()?).await?;
        self.decide(&stage, &stage.session()?, &preview, Decision::Apply)
            .await
    }

    async fn apply_twice(&self) -> Result<Option<RepeatedApply>, HarnessError> {
        let stage = self.stage_on(unacknowledged())?;
        let session = stage.session()?;
        let preview = self.preview(&stage, &session).await?;
        let first = self
            .decide(&stage, &session, &preview, Decision::Apply)
            .await?;
        drop(session);
        if !first.answers.iter().all(Result::is_ok) {
            return Ok(None);
        }
        let between = stage.files()?;
        // The workspace remembers commits, so the repeated one would not run again. Delete that
        // record.
        stage.forget_commits()?;
        let session = stage.session()?;
        let second = harness::resolve_all(&session, &preview.pushed, Decision::Apply).await?;
        Ok(Some(RepeatedApply {
            first,
            second,
            changes: between.changes(&stage.files()?),
        }))
    }

    async fn discard(&self) -> Result<Discarded, HarnessError> {
        let stage = self.stage()?;
        let session = stage.session()?;
        let preview = self.preview(&stage, &session).await?;
        let decided = self
            .decide(&stage, &session, &preview, Decision::Discard)
            .await?;
        let left = session.pending().await?;
        Ok(Discarded {
            decided,
            left: left
                .iter()
                .map(|stacked| stacked.action.label.clone())
                .collect(),
        })
    }
}
