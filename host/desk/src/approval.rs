//! Judging applies by the operator's rules.

mod git;
mod surroundings;

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use airlock_host::PendingAction;
use airlock_host::approval::{ApprovalRequest, ConfirmRequest, Confirmation};
use airlock_host::digest::Digest;
use airlock_host::effects::{Change, ChangeKind, Effects, Facts, ObjectKind};
use airlock_host::pending::{CallRecord, Evidence, SessionId};
use airlock_host::store::{self, DurableStore, StoreError};
use airlock_rules::{Budget, Empty, Judgement, Rules, Subject, Totals, Verdict};
use tokio::task::spawn_blocking;

use self::surroundings::Folder;
use crate::store::Store;

/// Judges actions by the rules of the operator and the workspace. Cheap to clone; clones share the
/// rules.
#[derive(Clone)]
pub struct Judge {
    rules: Arc<RwLock<Arc<Rules>>>,
    store: Arc<dyn DurableStore>,
    operator: Arc<str>,
}

/// An action to be applied, with the data that the caller has.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The session of its stack.
    pub session: &'a SessionId,
    /// The workspace to apply it to.
    pub workspace: Option<&'a Path>,
    /// The action.
    pub action: &'a PendingAction,
    /// The call, if known. Otherwise the store is asked.
    pub call: Option<&'a CallRecord>,
    /// The effects that the host saw.
    pub effects: Option<&'a Effects>,
}

impl<'a> From<&ApprovalRequest<'a>> for Wanted<'a> {
    fn from(request: &ApprovalRequest<'a>) -> Self {
        Self {
            session: request.session,
            workspace: request.workspace,
            action: &request.action.action,
            call: request.call,
            effects: request.effects,
        }
    }
}

/// Creates a request from the effects that are about to be committed.
impl<'a> From<&ConfirmRequest<'a>> for Wanted<'a> {
    fn from(request: &ConfirmRequest<'a>) -> Self {
        Self {
            session: request.session,
            workspace: request.workspace,
            action: request.action,
            call: None,
            effects: Some(request.effects),
        }
    }
}

impl Judge {
    /// Creates a judge. The operator is the owner of the budget: the user who runs the program, or
    /// a name that a server knows.
    pub fn new(rules: Rules, store: &Store, operator: impl Into<Arc<str>>) -> Self {
        Self {
            rules: Arc::new(RwLock::new(Arc::new(rules))),
            store: store.shared(),
            operator: operator.into(),
        }
    }

    /// Replaces the rules of this judge and of its clones.
    pub fn replace_rules(&self, rules: Rules) {
        let mut held = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        *held = Arc::new(rules);
    }

    fn rules(&self) -> Arc<Rules> {
        let held = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&held)
    }

    /// Judges an action. If no rule is about it, the verdict is `default`. Counts nothing towards
    /// the budget.
    pub async fn judge(&self, wanted: &Wanted<'_>, default: Verdict) -> Judgement {
        let action = wanted.action;
        let kept = match wanted.call {
            Some(_) => None,
            // Without a call, no rule about its tool matches.
            None => (self.store.call_record(wanted.session, &action.id).await)
                .ok()
                .flatten(),
        };
        let call = wanted.call.or(kept.as_ref());
        let tool = call.map_or("", |call| &call.tool);
        let effects = wanted.effects.map(without_diffs);
        let judged = self.judged(
            tool,
            action.plugin,
            wanted.workspace.map(Into::into),
            effects,
            default,
        );
        judged.await
    }

    /// Judges an action that only writes this file, with a tool that no rule names.
    pub async fn judge_path(&self, workspace: &Path, path: &str, default: Verdict) -> Judgement {
        let is_there = workspace.join(path).exists();
        let kind = if is_there {
            ChangeKind::Modified
        } else {
            ChangeKind::Created
        };
        let mut change = Change::new(kind, path);
        change.before = is_there.then(|| Facts::new(ObjectKind::File));
        change.after = Some(Facts::new(ObjectKind::File));
        let effects = Some(Effects::verified(vec![change]));
        let plugin = Digest::of(&[]);
        self.judged("", plugin, Some(workspace.into()), effects, default)
            .await
    }

    async fn judged(
        &self,
        tool: &str,
        plugin: Digest,
        workspace: Option<Arc<Path>>,
        effects: Option<Effects>,
        default: Verdict,
    ) -> Judgement {
        let (tool, rules) = (tool.to_owned(), self.rules());
        let judging = spawn_blocking(move || {
            let subject = Subject {
                tool: &tool,
                plugin,
                workspace: workspace.as_deref(),
                effects: effects.as_ref(),
            };
            let is_changed = effects.as_ref().is_some_and(|it| !it.changes.is_empty());
            match workspace.as_deref().filter(|_| is_changed) {
                Some(folder) => rules.judge(&subject, default, &Folder::at(folder)),
                None => rules.judge(&subject, default, &Empty),
            }
        });
        match judging.await {
            Ok(judgement) => judgement,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime is shutting down and drops this future.
                Err(_) => std::future::pending().await,
            },
        }
    }

    /// Judges an action that is applied at once if the rules allow it. Counts it towards the hourly
    /// budget, and asks a person if it exceeds the budget.
    pub async fn let_through(&self, wanted: &Wanted<'_>, default: Verdict) -> Judgement {
        let judgement = self.judge(wanted, default).await;
        match (judgement.verdict, judgement.totals) {
            (Verdict::Allow, Some(totals)) => self.counted(wanted, totals, judgement).await,
            _ => judgement,
        }
    }

    /// Judges an action that was decided about with this evidence. Only a decision without evidence
    /// counts towards the budget.
    pub async fn judge_with(
        &self,
        wanted: &Wanted<'_>,
        evidence: Evidence,
        default: Verdict,
    ) -> Judgement {
        match evidence {
            Evidence::None => self.let_through(wanted, default).await,
            _ => self.judge(wanted, default).await,
        }
    }

    /// Judges again right before a commit. Doesn't change the budget.
    pub async fn recheck(&self, request: &ConfirmRequest<'_>, default: Verdict) -> Confirmation {
        let judgement = self.judge(&Wanted::from(request), default).await;
        let reason = || {
            let why = why(&judgement);
            format!("it differs from the decision, since {why}. Decide again")
        };
        match judgement.verdict {
            Verdict::Refuse => Confirmation::Refuse { reason: reason() },
            verdict if verdict.accepts(request.decided_by.evidence) => Confirmation::Commit,
            _ => Confirmation::Drop { reason: reason() },
        }
    }

    /// Returns the hourly budget and how much of it is spent in this workspace, or `None` if there
    /// is no budget.
    ///
    /// # Errors
    /// Fails if the store can't be read.
    pub async fn spent(&self, workspace: Option<&Path>) -> Result<Option<Spent>, StoreError> {
        let budget = self.rules().budget();
        if budget == Budget::default() {
            return Ok(None);
        }
        let spent = self.store.spent(&self.account(workspace), HOUR).await?;
        Ok(Some(Spent {
            budget,
            spent: spent.into(),
        }))
    }

    async fn counted(
        &self,
        wanted: &Wanted<'_>,
        totals: Totals,
        judgement: Judgement,
    ) -> Judgement {
        let budget = self.rules().budget();
        if budget == Budget::default() {
            return judgement;
        }
        let account = self.account(wanted.workspace);
        let limit = budget.within(HOUR);
        let id = &wanted.action.id;
        match self.store.spend(&account, id, totals.into(), &limit).await {
            Ok(store::Spent::Within) => judgement,
            Ok(store::Spent::Exceeded { already }) => judgement.beyond_budget(format!(
                "{totals} in addition to {}, where it has {budget}",
                Totals::from(already)
            )),
            // An action that can't be counted is not allowed.
            Err(error) => judgement.beyond_budget(format!("it can't be counted: {error}")),
        }
    }

    fn account(&self, workspace: Option<&Path>) -> String {
        let workspace = workspace.map(Path::to_string_lossy).unwrap_or_default();
        format!("{} in {workspace}", self.operator)
    }
}

/// A budget and the part of it that is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spent {
    /// The budget for an hour.
    pub budget: Budget,
    /// The total of the actions that were allowed within the last hour.
    pub spent: Totals,
}

/// Returns the effects without diffs, which rules don't look at and which may be long.
fn without_diffs(effects: &Effects) -> Effects {
    let Effects {
        verified, changes, ..
    } = effects;
    let changes = changes.iter().map(|change| {
        let mut bare = Change::new(change.kind, &*change.path);
        bare.from.clone_from(&change.from);
        bare.before.clone_from(&change.before);
        bare.after.clone_from(&change.after);
        bare
    });
    let mut bare = Effects::default();
    (bare.verified, bare.changes) = (*verified, changes.collect());
    bare
}

/// Returns the reason why the rules refuse an action, as a clause.
pub fn refusal(judgement: &Judgement) -> String {
    format!("the operator's rules refuse it: {}", why(judgement))
}

/// Returns the strictest reasons for a judgement, as a clause.
pub fn why(judgement: &Judgement) -> String {
    let strictest = judgement.because.iter();
    let strictest = strictest.take_while(|it| it.verdict == judgement.verdict);
    let told: Vec<_> = strictest
        .take(MAX_REASONS)
        .map(ToString::to_string)
        .collect();
    told.join("; ")
}

/// The period of a budget.
const HOUR: Duration = Duration::from_secs(3600);

/// The maximum number of reasons in a clause.
const MAX_REASONS: usize = 3;
