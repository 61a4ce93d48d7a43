//! What a tool does with some params, in each way in which a preview can come to its end.

use airlock_host::pending::{Decision, StackedAction};
use airlock_host::store::{MemoryStore, PendingStore};
use airlock_host::{Plugin, Session};
use serde_json::Value;

use super::HarnessError;
use super::fault_injection::UnacknowledgedStore;
use super::files::{Changes, Files};
use super::harness::{self, Answer, Harness, ObservedEvents};

/// A call that is tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    pub tool: String,
    pub params: Value,
    pub files: Files,
}

/// All that was seen of it. Each part begins anew: with a copy of the files and a preview.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    pub preview: Preview,
    /// None where nothing was pushed, or the preview failed. So for all that follow.
    pub applied: Option<Decided>,
    /// Rehearsed, and applied after that.
    pub rehearsed: Option<Decided>,
    /// Applied by another session, whose instances know nothing of the preview. None where an
    /// action is volatile, too.
    pub applied_fresh: Option<Decided>,
    /// As `applied`, once more: where `applied_fresh` is another, to tell why.
    pub applied_again: Option<Decided>,
    /// Applied, and applied again after nobody heard that it was. None where the first did not
    /// succeed, too.
    pub applied_twice: Option<RepeatedApply>,
    pub discarded: Option<Discarded>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    pub answer: Answer,
    /// Topmost first.
    pub pushed: Vec<StackedAction>,
    pub changes: Changes,
    pub heard: ObservedEvents,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    /// The preview that was decided about.
    pub preview: Answer,
    /// One for each action, topmost first.
    pub answers: Vec<Answer>,
    /// Since before the preview.
    pub changes: Changes,
    /// Of the decisions alone.
    pub heard: ObservedEvents,
}

impl Decided {
    /// Whether both had the same effect and said the same.
    pub fn agrees_with(&self, other: &Decided) -> bool {
        self.answers == other.answers && self.changes == other.changes
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct RepeatedApply {
    pub first: Decided,
    pub second: Vec<Answer>,
    /// Since the first apply.
    pub changes: Changes,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Discarded {
    pub decided: Decided,
    /// The labels of what is pending afterwards.
    pub left: Vec<String>,
}

/// Tries all of it.
///
/// # Errors
/// Where the host fails.
pub async fn observe(plugin: &Plugin, sample: &Sample) -> Result<Observation, HarnessError> {
    let trial = Trial { plugin, sample };
    let stage = trial.stage(MemoryStore::new())?;
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
        observation.rehearsed = Some(trial.apply_rehearsed().await?);
        let fresh = trial.apply_fresh().await?;
        if !fresh.agrees_with(&applied) {
            observation.applied_again = Some(trial.apply().await?);
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
    sample: &'a Sample,
}

impl<'a> Trial<'a> {
    fn stage(&self, store: impl PendingStore) -> Result<Harness<'a>, HarnessError> {
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
            heard: stage.heard(),
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
        let mut heard = stage.heard();
        heard.refusals.drain(..preview.heard.refusals.len());
        heard.dropped_lines -= preview.heard.dropped_lines;
        Ok(Decided {
            preview: preview.answer.clone(),
            answers,
            changes: self.sample.files.changes(&stage.files()?),
            heard,
        })
    }

    async fn apply(&self) -> Result<Decided, HarnessError> {
        let stage = self.stage(MemoryStore::new())?;
        let session = stage.session()?;
        let preview = self.preview(&stage, &session).await?;
        self.decide(&stage, &session, &preview, Decision::Apply)
            .await
    }

    async fn apply_rehearsed(&self) -> Result<Decided, HarnessError> {
        let stage = self.stage(MemoryStore::new())?;
        let session = stage.session_that_rehearses()?;
        let preview = self.preview(&stage, &session).await?;
        self.decide(&stage, &session, &preview, Decision::Apply)
            .await
    }

    async fn apply_fresh(&self) -> Result<Decided, HarnessError> {
        let stage = self.stage(MemoryStore::new())?;
        let preview = self.preview(&stage, &stage.session()?).await?;
        self.decide(&stage, &stage.session()?, &preview, Decision::Apply)
            .await
    }

    async fn apply_twice(&self) -> Result<Option<RepeatedApply>, HarnessError> {
        let stage = self.stage(UnacknowledgedStore::default())?;
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
        // A workspace that has what the host keeps of commits is not asked to repeat one.
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
        let stage = self.stage(MemoryStore::new())?;
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
