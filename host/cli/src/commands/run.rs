//! `airlock run`: calls a tool and resolves the actions that it pushes.

pub mod call;
mod decide;
mod missing;
mod notify;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use airlock_desk::configuration::Settings;
use airlock_desk::decider;
use airlock_desk::discard;
use airlock_desk::plugin::Loaded;
use airlock_desk::session::{SessionChoice, real_path};
use airlock_desk::store::{self, Store, StoreOptions, WhenMissing};
use airlock_host::content::CallOutcome;
use airlock_host::pending::Decision;
use airlock_host::{PendingAction, Session};
use airlock_render::{Block, Line, Role};

use crate::commands::context::{CommandContext, OwnDecisions, undo_retention};
use crate::commands::params::given::Given;
use crate::commands::{rehearsed, still_pending};
use crate::documents::calls::CallReport;
use crate::failure::{Exit, Failure};
use crate::rules;
use crate::terminal::confirming::{self, OperatorRules};
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::{Output, show_on_stderr};
use crate::terminal::progress::Progress;
use call::Call;
use decide::Decider;
use notify::Notifier;

/// The arguments of the command.
pub struct Request {
    pub plugin: OsString,
    pub tool: Option<String>,
    /// The params, in a form that `input` reads.
    pub params: Option<String>,
    /// Individual values, which override those.
    pub given: Vec<Given>,
    pub session: SessionChoice,
    /// The settings of the command line and the configuration, for the session's workspace.
    pub settings: Settings,
    /// The decision about all pushed actions, with the reason. Without it, prompts if there is a
    /// terminal.
    pub decision: Option<(Decision, String)>,
    /// True to leave the pushed actions pending without asking.
    pub stage: bool,
    /// The extras for the tool, in a form that `input` reads.
    pub extra: Option<String>,
    /// True to ask again about effects that the host has not seen before.
    pub confirm_effects: bool,
    /// The command to run when an action is pending or was resolved elsewhere.
    pub notify: Option<String>,
    pub store: StoreOptions,
}

/// The reason for discarding a preview that exists only in its tool's memory.
const REASON: &str =
    "undecided when `airlock run` ended, and the tool keeps its preview only in memory";

/// Runs the command with its plugin.
pub async fn run(
    request: &Request,
    loaded: Loaded,
    verbose: u8,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let mut called = Call::read(request)?;
    let decider = Decider::choose(request, out)?;
    confirming::check(request.confirm_effects, out.is_json())?;
    let interrupt = Interrupt::watch();
    let progress = Progress::new(verbose);
    let tool = called.tool_of(&loaded)?.to_owned();
    let tool = tool.as_str();
    called.tell_what_was_left_out(&loaded);
    if decider.is_somebody() {
        missing::ask(tool, &loaded, &mut called.params, &interrupt).await?;
    }
    let store = store::open(&request.store, WhenMissing::Make).await?;
    let context = CommandContext {
        session: open(request, &loaded, &store, &progress, &interrupt, out)?,
        interrupt,
        progress,
        user: decider::unanswered(),
        own: OwnDecisions::default(),
    };

    let outcome = call(&context, tool, &called).await?;
    let outcome = rehearsed::of_call(&context, outcome).await;
    let seen = decider.for_decider(&context, &outcome).await;
    if !outcome.pushed.is_empty() {
        tell_workspace_elsewhere(request, out);
    }
    if decider.is_somebody() {
        out.page(&decider.preview(&seen))
    } else {
        out.show(&decider.preview(&seen))
    }
    if let (Some(obstacle), false) = (context.session.apply_obstacle(), outcome.pushed.is_empty()) {
        let note = Line::new()
            .with_role(Role::Note, "note:")
            .with(" nothing that changes files can be applied here: ")
            .with_quoted(Role::Plain, obstacle)
            .hanging(2);
        show_on_stderr(&Block::from(note));
    }
    let notifier = if decider.is_on_the_line() {
        None
    } else {
        Notifier::of(request.notify.as_deref(), &context.session, &store)
    };
    let notifier = notifier.map(|notifier| notifier.begin(&outcome.pushed, context.own.clone()));
    let resolved = decider.decide(&context, &seen, out).await;
    if let Some(notifier) = notifier {
        notifier.end().await;
    }
    let given_up = give_up(&context, &store, &outcome.pushed).await;
    // The outcome must be reported even if the store can no longer be read.
    let (pending, unread) = match context.session.pending().await {
        Ok(pending) => (pending, None),
        Err(error) => (Vec::new(), Some(Failure::from(error))),
    };
    let failure = given_up.unwrap_or_else(Some).or(unread);
    out.json(&CallReport::new(
        &outcome,
        &pending,
        resolved.last(),
        failure.as_ref(),
    ));
    let left = discard::left_of(&outcome.pushed, &pending);
    let is_push_expected = is_push_expected(&loaded, tool);
    let tell_what_is_left = || {
        if is_push_expected && outcome.pushed.is_empty() && !out.is_json() {
            still_pending::tell_of_nothing();
        }
        still_pending::explain(&request.session, &store, &left);
        let others = pending.len() - left.len();
        if !out.is_json() {
            still_pending::tell_of_others(others, &request.session.words(), &store);
        }
    };
    let failed = resolved
        .iter()
        .find_map(|resolved| resolved.outcome.as_ref().err());
    let undecided = failed.is_some() || failure.is_some() || !left.is_empty();
    if context.interrupt.happened() && undecided {
        Failure::interrupted().report_on_stderr();
        tell_what_is_left();
        return Ok(Exit::Interrupted);
    }
    if let (Some(failure), false) = (&failure, out.is_json()) {
        failure.report_on_stderr();
    }
    tell_what_is_left();
    Ok(match (failed, failure) {
        (Some(error), _) => Exit::of(error),
        (None, Some(_)) => Exit::Failed,
        (None, None) => Exit::Done,
    })
}

/// Names the workspace if it isn't the current directory.
fn tell_workspace_elsewhere(request: &Request, out: &mut Output) {
    let workspace = real_path(request.session.workspace());
    if workspace != real_path(Path::new(".")) {
        let line = Line::new()
            .with_role(Role::Faint, "Workspace: ")
            .with_quoted(Role::Plain, workspace.to_string_lossy());
        out.line(line.hanging(2));
    }
}

/// Returns whether a call of the tool that pushes nothing may be a mistake by its author.
fn is_push_expected(loaded: &Loaded, tool: &str) -> bool {
    let mut tools = loaded.tools().into_iter();
    tools.any(|known| known.name == tool && known.traits.deferrable)
}

async fn call(context: &CommandContext, tool: &str, called: &Call) -> Result<CallOutcome, Failure> {
    let call = context
        .session
        .call(tool, &called.params)
        .cancelled_by(context.interrupt.token());
    let what = format!("Running {tool}…");
    let error = match context.progress.during(what, call).await {
        Ok(outcome) => return Ok(outcome),
        Err(error) => error,
    };
    Err(if context.interrupt.happened() {
        Failure::interrupted()
    } else {
        called.explain(&error)
    })
}

fn open(
    request: &Request,
    loaded: &Loaded,
    store: &Store,
    progress: &Progress,
    interrupt: &Interrupt,
    out: &Output,
) -> Result<Session, Failure> {
    let workspace = real_path(request.session.workspace());
    let rules = OperatorRules {
        judge: rules::judge_by(&request.settings, &workspace, store),
        asks: confirming::can_ask(out.is_json()),
        confirms: request.confirm_effects,
        choice: store.choice().clone(),
        interrupt: interrupt.clone(),
        progress: progress.clone(),
    };
    let progress = progress.clone();
    let session = Session::builder()
        .id(request.session.id(store))
        .workspace(request.session.workspace())
        .store(store.shared())
        .undo_retention(Some(undo_retention(store)?))
        .limits(request.settings.limits());
    let session = session.approver(rules);
    let session = match request.settings.expires.value {
        Some(age) => session.pending_expires_after(age.0),
        None => session,
    };
    let session = session.observer(move |_, event| progress.observe(event));
    Ok(loaded
        .bind_to(session, request.settings.policy(loaded, &request.plugin))
        .open()?)
}

/// Discards previews that exist only in the tool's memory, which ends with this process, and says
/// so.
pub(super) async fn give_up(
    context: &CommandContext,
    store: &Store,
    pushed: &[Arc<PendingAction>],
) -> Result<Option<Failure>, Failure> {
    let discarded = discard::discard_volatile(&context.session, store, pushed, REASON).await?;
    let message = match discarded {
        0 => return Ok(None),
        1 => "the tool keeps its preview only in memory, which is lost when this command ends: the action was discarded".to_owned(),
        count => format!(
            "the tool keeps its previews only in memory, which is lost when this command ends: {count} actions were discarded"
        ),
    };
    let hint = "run it again and decide at once: with `--apply REASON` or `--discard REASON`, or in a terminal";
    Ok(Some(
        Failure::new(Exit::Failed, "volatile", message).with_hint(hint),
    ))
}
