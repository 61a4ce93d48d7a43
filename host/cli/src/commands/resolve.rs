//! `airlock resolve`: resolves an action that was previewed before, possibly by another process.

mod asking;
mod reporting;
mod scope;
mod together;

use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Arc;

use airlock_desk::decider;
use airlock_desk::part::Patterns;
use airlock_desk::resolution::Resolved;
use airlock_desk::store::{self, Store, StoreOptions, WhenMissing};
use airlock_desk::target::{self, Target};
use airlock_host::pending::{DecidedBy, Decision};
use airlock_host::{Limits, Resolution, Session};
use serde_json::{Map, Value};

use crate::commands::context::{CommandContext, OwnDecisions, chosen, reopened};
use crate::commands::recovered;
use crate::commands::review::ReviewName;
use crate::documents::calls::{ResolutionReport, ResolutionReports};
use crate::failure::{Exit, Failure};
use crate::input;
use crate::rules;
use crate::terminal::confirming::{self, OperatorRules};
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::{Output, on_stderr};
use crate::terminal::progress::Progress;
use crate::terminal::prompt::{self, Answer};
use reporting::{explain, report, tell_what_is_left};
pub use scope::Scope;

/// The arguments of the command.
#[derive(Clone)]
pub struct Request {
    /// The decision and its action.
    pub target: target::ResolveRequest,
    /// The actions to resolve.
    pub scope: Scope,
    /// True to skip prompts.
    pub yes: bool,
    pub reason: Option<String>,
    /// The extras for the tool, in a form that `input` reads.
    pub extra: Option<String>,
    /// The changes to apply.
    pub part: Patterns,
    /// True to keep the rest as a new pending action.
    pub keep_rest: bool,
    /// The effects on which an apply is based.
    pub review: Option<ReviewName>,
    /// True to discard an interrupted action even if its outcome is unknown.
    pub abandon: bool,
    /// True to ask again about effects that the host has not seen before.
    pub confirm_effects: bool,
    pub limits: Limits,
    pub store: StoreOptions,
}

pub async fn resolve(request: &Request, verbose: u8, out: &mut Output) -> Result<Exit, Failure> {
    let asks = asks(request, out);
    confirming::check(request.confirm_effects, out.is_json())?;
    if request.keep_rest && request.part.is_empty() && !asks {
        let failure =
            Failure::usage("`--keep-rest` needs a selection; otherwise nothing is left to keep");
        return Err(failure.with_hint("name what to apply with `--only` or `--except`"));
    }
    let extra = request.extra.as_deref().map(input::extra).transpose()?;
    let interrupt = Interrupt::watch();
    let store = store::open(&request.store, WhenMissing::Refuse).await?;
    let mut request = request.clone();
    if request.target.id.is_none() {
        request.target.session = chosen(&request.target.session, &store).await?;
    }
    let request = &request;
    let session = match &request.target.id {
        Some(id) => store.find(id).await?.session,
        None => request.target.session.id(&store),
    };
    recovered::recover_session(&store, &session).await?;
    let mut targets = request.scope.targets(&request.target, &store).await?;
    if targets.is_empty() {
        out.json(&ResolutionReports::default());
        out.line("Nothing here is stale, or pending.");
        return Ok(Exit::Done);
    }
    if request.reason.is_none() && !asks && !request.yes {
        // A problem with the action is more useful to know.
        if let Some(first) = targets.first() {
            Target::find(first, &store).await?;
        }
        return Err(no_reason(out));
    }
    let mut desk = Desk {
        request,
        store: &store,
        progress: Progress::new(verbose),
        interrupt,
        extra,
        decided: None,
        asks,
        opened: Vec::new(),
        verbose,
    };
    let count = targets.len();
    let mut reports = Vec::new();
    if desk.discards_together()
        && let Some(exit) = desk.discard_alike(&mut targets, &mut reports, out).await?
    {
        return Ok(exit);
    }
    if desk.may_apply_together(&targets)
        && let Some(exit) = desk.apply_together(&targets, out).await?
    {
        return Ok(exit);
    }
    for (index, target) in targets.iter().enumerate() {
        let ended = match desk.resolve(target, (index, count), out).await {
            Ok(Ended::Left) => continue,
            Ok(Ended::Refreshed) if request.scope.is_several() => continue,
            // `refresh` has already shown the new preview.
            Ok(Ended::Refreshed) => return Ok(Exit::Done),
            Ok(Ended::Quit) => break,
            Ok(Ended::Resolved(ended)) => ended,
            // Decisions that were already carried out must still be reported.
            Err(failure) if out.is_json() && !reports.is_empty() => {
                out.json(&ResolutionReports {
                    error: Some(failure.object()),
                    ..ResolutionReports::new(&reports)
                });
                return Ok(failure.exit());
            }
            Err(failure) if request.scope.is_several() && !out.is_json() => {
                let exit = failure.report_on_stderr();
                tell_how_many_stay(count - reports.len());
                return Ok(exit);
            }
            Err(failure) => return Err(failure),
        };
        let (resolved, context) = *ended;
        if !request.scope.is_several() {
            return report(&resolved, &context, &store, request, out).await;
        }
        if resolved.outcome.is_err() {
            return desk.tell_failed(&resolved, &reports, &context, out).await;
        }
        out.gap();
        out.show(&resolved.block());
        reports.push(resolved);
    }
    out.json(&ResolutionReports::new(&reports));
    if desk.interrupt.happened() {
        return Err(Failure::interrupted());
    }
    if !out.is_json() {
        tell_how_many_stay(count - reports.len());
    }
    Ok(Exit::Done)
}

fn tell_how_many_stay(count: usize) {
    match count {
        0 => {}
        1 => on_stderr("1 action stays pending."),
        _ => on_stderr(format!("{count} actions stay pending.")),
    }
}

/// Returns whether to show the action and ask: on a terminal, unless the command line has both the
/// id and the reason.
fn asks(request: &Request, out: &Output) -> bool {
    let at_terminal =
        io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal();
    let is_said = request.yes || (request.target.id.is_some() && request.reason.is_some());
    at_terminal && !out.is_json() && !is_said
}

fn no_reason(out: &Output) -> Failure {
    let message = if out.is_json() {
        "a decision with `--json` needs a reason, because nothing is asked"
    } else {
        "there is no terminal to ask you at, and no reason"
    };
    Failure::usage(message).with_hint("add `--reason TEXT` to decide without a question")
}

/// The outcome of one action.
enum Ended {
    Resolved(Box<(Resolved, Arc<CommandContext>)>),
    Left,
    /// A new preview has replaced it.
    Refreshed,
    Quit,
}

/// The place where decisions are carried out, one after the other.
struct Desk<'a> {
    request: &'a Request,
    store: &'a Store,
    progress: Progress,
    interrupt: Interrupt,
    extra: Option<Map<String, Value>>,
    /// The person's answer for all that follow.
    decided: Option<String>,
    asks: bool,
    /// The sessions of the actions, to be reused.
    opened: Vec<Opened>,
    verbose: u8,
}

/// A session that was opened for an action, in its workspace.
struct Opened {
    workspace: Option<Arc<Path>>,
    context: Arc<CommandContext>,
}

impl Desk<'_> {
    /// Returns whether all actions can be discarded at once: without prompts, and without extras
    /// for the tools.
    fn discards_together(&self) -> bool {
        let request = self.request;
        request.scope == Scope::Session
            && request.target.decision == Decision::Discard
            && !request.abandon
            && !self.asks
            && self.extra.is_none()
    }

    /// Returns the context for an action. It is opened once per session and workspace, because each
    /// session loads its plugins.
    fn context(&mut self, target: &Target, out: &Output) -> Result<Arc<CommandContext>, Failure> {
        let workspace = target.workspace_to_open(&self.request.target);
        let is_of =
            |it: &&Opened| *it.context.session.id() == target.session && it.workspace == workspace;
        if let Some(opened) = self.opened.iter().find(is_of) {
            return Ok(Arc::clone(&opened.context));
        }
        let context = Arc::new(CommandContext {
            session: self.open(target, out)?,
            interrupt: self.interrupt.clone(),
            progress: self.progress.clone(),
            user: decider::unanswered(),
            own: OwnDecisions::default(),
        });
        self.opened.push(Opened {
            workspace,
            context: Arc::clone(&context),
        });
        Ok(context)
    }

    /// Reports the failure of one of several actions. The ones before it were already reported.
    async fn tell_failed(
        &self,
        failed: &Resolved,
        before: &[Resolved],
        context: &CommandContext,
        out: &mut Output,
    ) -> Result<Exit, Failure> {
        let Err(error) = &failed.outcome else {
            return Ok(Exit::Done);
        };
        out.json(&ResolutionReports {
            failed: Some(ResolutionReport::new(failed)),
            ..ResolutionReports::new(before)
        });
        let failure = if self.interrupt.happened() {
            Failure::interrupted()
        } else {
            explain(error, failed, self.store)
        };
        if out.is_json() {
            return Ok(failure.exit());
        }
        let exit = failure.show_on_stderr(&failed.block());
        tell_what_is_left(context, self.store, self.request).await;
        Ok(exit)
    }

    async fn resolve(
        &mut self,
        wanted: &target::ResolveRequest,
        place: (usize, usize),
        out: &mut Output,
    ) -> Result<Ended, Failure> {
        let request = self.request;
        let target = Target::find(wanted, self.store).await?;
        let mut resolution = Resolution::new(wanted.decision, "");
        match (&self.decided, &request.reason) {
            (Some(reason), _) => resolution.reason.clone_from(reason),
            (None, reason) if !self.asks => {
                resolution.reason = reason.clone().unwrap_or_default();
                (resolution.review, resolution.selection) = self.selected(&target).await?;
            }
            (None, reason) => {
                let answered = self.ask(&target, place, reason.as_deref(), out).await?;
                resolution.review = answered.review;
                resolution.selection = answered.selection;
                match answered.answer {
                    // The question is asked until it has another answer.
                    Answer::Pick | Answer::Leave => return Ok(Ended::Left),
                    Answer::Quit => return Ok(Ended::Quit),
                    Answer::Refresh => return self.refresh(&target, out).await,
                    Answer::Decided {
                        decision,
                        reason,
                        all,
                    } => {
                        self.decided = all.then(|| reason.clone());
                        resolution.decision = decision;
                        resolution.reason = reason;
                    }
                }
            }
        }
        if let Some(review) = &request.review {
            resolution.review = Some(review.find(&target, self.store).await?);
        }
        if request.keep_rest {
            resolution = resolution.keeping_rest();
        }
        resolution.extra = self.extra.clone();
        if request.abandon {
            resolution = resolution.abandoning();
        }
        if self.is_same_workspace(wanted, &target, out).await? {
            resolution = resolution.in_same_workspace();
        }
        let context = self.context(&target, out)?;
        let by_whom = self.decided_by(&context);
        let resolved = context
            .resolve(&target.action, resolution, by_whom, place)
            .await;
        Ok(Ended::Resolved(Box::new((resolved, context))))
    }

    fn decided_by(&self, context: &CommandContext) -> DecidedBy {
        if self.asks {
            decider::person_at_terminal()
        } else {
            context.user.clone().into()
        }
    }

    /// Returns whether the workspace is confirmed to be the same. If it seems to be another,
    /// prompts on a terminal; otherwise the command line must confirm it.
    async fn is_same_workspace(
        &self,
        request: &target::ResolveRequest,
        target: &Target,
        out: &Output,
    ) -> Result<bool, Failure> {
        let Some(error) = target
            .difference(request)
            .filter(|_| !request.same_workspace)
        else {
            return Ok(request.same_workspace);
        };
        let terminals = [io::stdin().is_terminal(), io::stderr().is_terminal()];
        if out.is_json() || self.request.yes || terminals.contains(&false) {
            return Err(Failure::from(error));
        }
        on_stderr(format_args!("{error}."));
        let question = "Apply it here anyway? [y/N] ";
        match prompt::confirm(question, &self.interrupt).await {
            Some(true) => Ok(true),
            _ => Err(Failure::from(error)),
        }
    }

    /// Opens the action's session, in its workspace and with its plugin from the store.
    fn open(&self, target: &Target, out: &Output) -> Result<Session, Failure> {
        let id = target.session.clone();
        let mut session = reopened(id, &self.request.limits, self.store, &self.progress)?;
        // A discard has no effect, whatever a file in the workspace says.
        if self.request.target.decision == Decision::Apply {
            session = session.approver(OperatorRules {
                judge: rules::judge(target.action.workspace.as_deref(), self.store)?,
                asks: confirming::can_ask(out.is_json()) && !self.request.yes,
                confirms: self.request.confirm_effects,
                choice: self.store.choice().clone(),
                interrupt: self.interrupt.clone(),
                progress: self.progress.clone(),
            });
        }
        if let Some(workspace) = target.workspace_to_open(&self.request.target) {
            session = session.workspace(&*workspace);
        }
        Ok(session.open()?)
    }
}
