//! `airlock run`: one call of a tool, and the decisions about what it wants to do.

mod decide;
mod prompt;
mod report;
mod request;
mod rerun;
mod show;

use std::path::Path;

use airlock_host::{CallOutcome, Limits, Plugin, Session};

use crate::args::RunArgs;
use crate::failure::{Exit, Failure};
use crate::interrupt::Interrupt;
use crate::load;
use crate::output::Output;
use crate::progress::Progress;
use crate::sanitize;
use decide::Decider;
use report::Report;
use request::Request;

pub async fn run(args: &RunArgs, verbose: u8, out: &mut Output) -> Result<Exit, Failure> {
    let request = Request::read(args)?;
    let interrupt = Interrupt::watch();
    let progress = Progress::new(verbose);
    let plugin = load::load(&args.plugin, limits(args), &interrupt, &progress).await?;
    let tool = request.tool_of(&plugin)?;
    request.tell_what_was_left_out(&plugin);
    let session = open(args, &plugin, &progress)?;
    let stage = Stage {
        session,
        interrupt,
        progress,
    };

    let outcome = stage.call(tool, &request).await?;
    show::content(out, &outcome.content);
    show::pending(out, &outcome.pushed);
    let resolved = Decider::choose(args, out)
        .decide(&stage, &outcome.pushed, out)
        .await;

    let left = stage
        .session
        .pending()
        .await
        .map_err(|error| Failure::from(&error))?;
    out.json(&Report::new(&outcome, &left, resolved.last()));
    let failed = resolved
        .iter()
        .find_map(|resolved| resolved.outcome.as_ref().err());
    let done = failed.is_none() && left.is_empty();
    if stage.interrupt.happened() && !done {
        return Ok(Failure::interrupted().report_on_stderr());
    }
    if !left.is_empty() {
        rerun::explain(args, &request, left.len(), failed.is_some());
    }
    Ok(failed.map_or(Exit::Done, Exit::of))
}

/// Where a call and its resolutions take place.
struct Stage {
    session: Session,
    interrupt: Interrupt,
    progress: Progress,
}

impl Stage {
    async fn call(&self, tool: &str, request: &Request) -> Result<CallOutcome, Failure> {
        let call = self
            .session
            .call_with(tool, &request.params, Some(self.interrupt.token()));
        let what = format!("Running {tool}…");
        let error = match self.progress.during(what, call).await {
            Ok(outcome) => return Ok(outcome),
            Err(error) => error,
        };
        let failure = match self.interrupt.happened() {
            true => Failure::interrupted(),
            false => request.explain(&error),
        };
        // What it pushed before it failed is nobody's to decide about.
        match self.session.pending().await.as_deref().unwrap_or_default() {
            [] => Err(failure),
            _ => {
                Err(failure
                    .and_hint("what it had made pending before is dropped, and was not applied"))
            }
        }
    }
}

fn limits(args: &RunArgs) -> Limits {
    let mut limits = Limits::default();
    if let Some(timeout) = args.timeout {
        limits.call_time = timeout;
    }
    if let Some(mib) = args.max_memory {
        limits.memory = (mib as usize) << 20;
    }
    limits
}

fn open(args: &RunArgs, plugin: &Plugin, progress: &Progress) -> Result<Session, Failure> {
    let progress = progress.clone();
    let id = args
        .session
        .clone()
        .unwrap_or_else(|| default_id(&args.workspace));
    let opened = Session::builder()
        .id(id)
        .workspace(&args.workspace)
        .plugin(plugin)
        .observer(move |_, event| progress.observe(event))
        .open();
    opened.map_err(|error| Failure::from(&error))
}

/// The same for every run in a workspace, however its path is written.
fn default_id(workspace: &Path) -> String {
    let path = workspace.canonicalize();
    let path = path.as_deref().unwrap_or(workspace);
    format!("workspace:{}", sanitize::line(&path.to_string_lossy()))
}
