//! Renaming: all of it, or nothing.

use std::collections::HashSet;

use airlock_sdk::{Error, Resolution, check_cancelled, report_progress_of};

use crate::earlier::{self, Earlier};
use crate::name::shown;
use crate::order::{Order, Step};
use crate::plan::{Plan, Rename};
use crate::report;
use crate::workspace::Workspace;

/// How an apply ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Renamed,
    /// By an earlier attempt, whose end the host did not hear of.
    AlreadyRenamed,
}

/// Carries out a plan.
pub(crate) fn apply(
    workspace: &Workspace,
    plan: &Plan,
    resolution: &Resolution,
) -> Result<Outcome, Error> {
    let order = Order::of(&plan.renames, &resolution.action_id);
    if resolution.attempt > 1 && earlier::look(workspace, plan, &order)? == Earlier::Complete {
        return Ok(Outcome::AlreadyRenamed);
    }
    check_unchanged(workspace, plan, &order)?;
    run(workspace, &plan.renames, &order.steps)?;
    Ok(Outcome::Renamed)
}

/// Refuses a plan that the workspace no longer fits. What the files contain may have changed.
fn check_unchanged(workspace: &Workspace, plan: &Plan, order: &Order) -> Result<(), Error> {
    let mut problems = Vec::new();
    let leaving: HashSet<&str> = plan
        .renames
        .iter()
        .map(|rename| rename.from.as_str())
        .collect();
    for (Rename { from, to }, before) in plan.renames.iter().zip(&plan.stamps) {
        match workspace.stamp(from)? {
            None => problems.push(format!("`{}` is gone", shown(from))),
            Some(now) if now.kind != before.kind => {
                problems.push(format!(
                    "`{}` was {} and is {} now",
                    shown(from),
                    before.kind,
                    now.kind
                ));
            }
            Some(_) => {}
        }
        if !leaving.contains(to.as_str()) && workspace.is_taken(from, to)? {
            problems.push(format!(
                "`{}` has appeared, which `{}` would overwrite",
                shown(to),
                shown(from)
            ));
        }
    }
    for temporary in &order.temporaries {
        if workspace.stamp(&temporary.path)?.is_some() {
            problems.push(format!("`{}` is in the way", shown(&temporary.path)));
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    let heading = "Nothing was renamed, because the workspace changed since the preview:";
    let advice = "Discard this plan, and preview again.";
    Err(Error::tool(format!(
        "{}\n{advice}",
        report::problems(heading, &problems)
    )))
}

/// Takes the steps, and takes them back if one fails.
fn run(workspace: &Workspace, renames: &[Rename], steps: &[Step]) -> Result<(), Error> {
    for (done, Step { from, to, .. }) in steps.iter().enumerate() {
        if done % 100 == 0 {
            report_progress_of("Renaming", done as f64, steps.len() as f64);
        }
        if let Err(error) = check_cancelled().and_then(|()| workspace.rename(from, to)) {
            return Err(undo(workspace, renames, &steps[..done], error));
        }
    }
    Ok(())
}

/// Takes back the steps that are `done`, and says how things are.
fn undo(workspace: &Workspace, renames: &[Rename], done: &[Step], cause: Error) -> Error {
    let mut stuck = Vec::new();
    let mut moved = HashSet::new();
    for Step { rename, from, to } in done.iter().rev() {
        // A file of which a later step is stuck is no longer where this one would look for it.
        if moved.contains(rename) {
            continue;
        }
        if let Err(error) = workspace.rename(to, from) {
            moved.insert(rename);
            stuck.push(format!(
                "`{}` is now `{}` ({error})",
                shown(&renames[*rename].from),
                shown(to)
            ));
        }
    }
    match (stuck.as_slice(), cause) {
        ([], Error::Cancelled) => Error::Cancelled,
        ([], cause) => Error::failed(format!("{cause}. Every file has its old name again.")),
        (stuck, cause) => {
            let heading = format!(
                "{cause}. The other files have their old names again, but not all could be renamed back:"
            );
            Error::failed(report::problems(&heading, stuck))
        }
    }
}
