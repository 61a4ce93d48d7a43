//! `airlock run`: one call of a tool, and the decisions about what it wants to do.

mod decide;
mod left;
pub mod prompt;
mod report;
mod request;
mod volatile;

use airlock_desk::decider;
use airlock_desk::plugin::Loaded;
use airlock_desk::store::{self, Store, WhenMissing};
use airlock_desk::unheard::{self, Pushes};
use airlock_host::{CallOutcome, Session};

use crate::args::RunArgs;
use crate::failure::{Exit, Failure};
use crate::interrupt::Interrupt;
use crate::load;
use crate::output::Output;
use crate::progress::Progress;
use crate::stage::Stage;
use decide::Decider;
use report::Report;
use request::Request;

pub async fn run(args: &RunArgs, verbose: u8, out: &mut Output) -> Result<Exit, Failure> {
    let request = Request::read(args)?;
    let decider = Decider::choose(args, out)?;
    let interrupt = Interrupt::watch();
    let progress = Progress::new(verbose);
    let loaded = load::load(&args.plugin, args.call.limits(), &interrupt, &progress).await?;
    let tool = request.tool_of(&loaded)?;
    request.tell_what_was_left_out(&loaded);
    let store = store::open(args.store.named(), WhenMissing::Make).await?;
    let pushes = Pushes::default();
    let stage = Stage {
        session: open(args, &loaded, &store, &progress, &pushes)?,
        interrupt,
        progress,
        decider: decider::name(),
    };

    let outcome = call(&stage, &store, tool, &request, &pushes).await?;
    out.show(&decider.preview(&outcome));
    let resolved = decider.decide(&stage, &outcome.pushed, out).await;
    let given_up = volatile::give_up(&stage, &store, &outcome.pushed).await;
    // What was done must be told also where the store can't be read any more.
    let (pending, unread) = match stage.session.pending().await {
        Ok(pending) => (pending, None),
        Err(error) => (Vec::new(), Some(Failure::from(error))),
    };
    let failure = given_up.unwrap_or_else(Some).or(unread);
    out.json(&Report::new(
        &outcome,
        &pending,
        resolved.last(),
        failure.as_ref(),
    ));
    let left = unheard::left_of(&outcome.pushed, &pending);
    let tell_what_is_left = || {
        left::explain(args, &store, &left);
        let others = pending.len() - left.len();
        if !out.is_json() {
            crate::left::tell_of_others(others, &args.session.choice().words(), &store);
        }
    };
    let failed = resolved
        .iter()
        .find_map(|resolved| resolved.outcome.as_ref().err());
    let undecided = failed.is_some() || failure.is_some() || !left.is_empty();
    if stage.interrupt.happened() && undecided {
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

async fn call(
    stage: &Stage,
    store: &Store,
    tool: &str,
    request: &Request,
    pushes: &Pushes,
) -> Result<CallOutcome, Failure> {
    let call = stage
        .session
        .call_with(tool, &request.params, Some(stage.interrupt.token()));
    let what = format!("Running {tool}…");
    let error = match stage.progress.during(what, call).await {
        Ok(outcome) => return Ok(outcome),
        Err(error) => error,
    };
    let failure = match stage.interrupt.happened() {
        true => Failure::interrupted(),
        false => request.explain(&error),
    };
    // What it pushed before it failed is nobody's to decide about.
    Err(match pushes.discard_all(stage.session.id(), store).await {
        Ok(0) => failure,
        Ok(_) => {
            failure.and_hint("what it had made pending before was discarded, and was not applied")
        }
        Err(error) => failure.and_hint(&format!(
            "what it had made pending before could not be discarded: {error}"
        )),
    })
}

fn open(
    args: &RunArgs,
    loaded: &Loaded,
    store: &Store,
    progress: &Progress,
    pushes: &Pushes,
) -> Result<Session, Failure> {
    let (progress, pushes) = (progress.clone(), pushes.clone());
    let choice = args.session.choice();
    let session = Session::builder()
        .id(choice.id(store))
        .workspace(choice.workspace())
        .store(store.pending())
        .limits(args.call.limits())
        .observer(move |_, event| {
            progress.observe(event);
            pushes.observe(event);
        });
    Ok(loaded.bind_to(session).open()?)
}
