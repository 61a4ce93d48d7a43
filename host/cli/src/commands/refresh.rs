//! `airlock refresh`: repeats the tool call that previewed an action.

use airlock_desk::decider;
use airlock_desk::session::SessionChoice;
use airlock_desk::store::{self, Store, StoreOptions, WhenMissing};
use airlock_host::store::ActionRecord;
use airlock_host::{Limits, Session};
use airlock_render::{Block, Role};

use crate::commands::context::{CommandContext, OwnDecisions, reopened};
use crate::commands::run::give_up;
use crate::commands::{rehearsed, still_pending};
use crate::documents::calls::CallReport;
use crate::failure::{Exit, Failure};
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::{Output, show_on_stderr};
use crate::terminal::progress::Progress;

/// The arguments of the command.
pub struct Request {
    pub id: String,
    pub limits: Limits,
    pub store: StoreOptions,
}

pub async fn refresh(request: &Request, verbose: u8, out: &mut Output) -> Result<Exit, Failure> {
    let interrupt = Interrupt::watch();
    let progress = Progress::new(verbose);
    let store = store::open(&request.store, WhenMissing::Refuse).await?;
    let record = store.find(&request.id).await?;
    if !record.action.durable && record.resolved.is_none() {
        let message = "its tool keeps the preview only in memory, so that a new one would be lost when this command ends";
        let failure = Failure::new(Exit::Failed, "volatile", message);
        return Err(failure.with_hint("`airlock run` previews it again and asks at once"));
    }
    let context = CommandContext {
        session: open(request, &record, &store, &progress)?,
        interrupt,
        progress,
        user: decider::unanswered(),
        own: OwnDecisions::default(),
    };
    let refreshing = context
        .session
        .refresh(&record.action.id, context.user.clone())
        .cancelled_by(context.interrupt.token());
    let what = format!("Running {} again…", record.action.source_tool_name);
    let refreshed = context.progress.during(what, refreshing).await;
    let outcome = match refreshed {
        Ok(outcome) => outcome,
        Err(_) if context.interrupt.happened() => return Err(Failure::interrupted()),
        Err(error) => return Err(Failure::from(error)),
    };
    let outcome = rehearsed::of_call(&context, outcome).await;
    out.show(&Block::call(&outcome));
    let failure = give_up(&context, &store, &outcome.pushed).await?;
    let pending = context.session.pending().await?;
    out.json(&CallReport::new(&outcome, &pending, None, failure.as_ref()));
    if let (Some(failure), false) = (&failure, out.is_json()) {
        failure.report_on_stderr();
    }
    if outcome.pushed.is_empty() && !out.is_json() {
        let id = record.action.id.short();
        let note = format!("the tool proposes nothing any more, so {id} was discarded");
        show_on_stderr(&Block::new().own_named(Role::Note, "note:", &note, 2));
    }
    let session = SessionChoice {
        session: Some(record.session.to_string()),
        workspace: None,
    };
    let left = airlock_desk::discard::left_of(&outcome.pushed, &pending);
    still_pending::explain(&session, &store, &left);
    Ok(match failure {
        Some(_) => Exit::Failed,
        None => Exit::Done,
    })
}

/// Opens the action's session in its workspace.
fn open(
    request: &Request,
    record: &ActionRecord,
    store: &Store,
    progress: &Progress,
) -> Result<Session, Failure> {
    let id = record.session.clone();
    let session = reopened(id, &request.limits, store, progress)?;
    let session = match &record.action.workspace {
        Some(workspace) => session.workspace(&**workspace),
        None => session,
    };
    Ok(session.open()?)
}
