//! The tool `batch_rename_preview`: renames many files by a regular expression, after approval.
//!
//! The preview decides everything: `select` finds the files, `rule` gives each its new name, and
//! `plan` refuses a rename that would overwrite or lose a file. The other renames get an `order`
//! that works for swaps and cycles. `apply` follows it, and undoes its steps if one fails. The tool
//! renames files and symbolic links (the link, not its target), and directories if the caller asks
//! for it. Everything stays in its directory.

mod alike;
mod apply;
mod earlier;
mod form;
mod format;
mod glob;
mod kept;
mod name;
mod natural;
mod nesting;
mod order;
mod params;
mod plan;
mod regex;
mod report;
#[cfg(test)]
mod reported;
mod rule;
mod select;
mod template;
mod workspace;

use airlock_tool::{Action, Call, Error, Output, Preview, Resolution, Tool, Tools, export};

use crate::params::Params;
use crate::plan::{Limit, Plan};
use crate::report::{Details, Listing};
use crate::rule::Rule;
use crate::workspace::Workspace;

export!(tools);

fn tools() -> Tools {
    let tool = Tool::new(
        "batch_rename_preview",
        "Renames files, and directories if asked to, by applying a regular expression to their names. Lists every old \
         and new name and changes nothing until the plan is applied. Files stay in their directories, and none is ever \
         overwritten.",
    );
    Tools::new().with(
        tool.label("Batch Rename Preview")
            .output::<Details>()
            .preview(preview)
            .apply(apply)
            .reject(reject),
    )
}

fn preview(params: Params, _call: &Call) -> Result<Preview<Plan>, Error> {
    let rule = Rule::new(&params)?;
    let workspace = Workspace::of_session()?;
    let selection = select::select(&workspace, &params, &mut Limit::of(&rule))?;
    let planned = plan::plan(&selection.files, &rule, |from, to| {
        workspace.is_taken(from, to)
    })?;
    if planned.renames.is_empty() {
        return Ok(report::nothing(&selection, &planned).into());
    }
    let plan = Plan::of(&workspace, &planned.renames)?;
    let listing = Listing::of(&plan, |path| {
        workspace.stamp(path).is_ok_and(|stamp| stamp.is_some())
    });
    let action = Action::new(listing.label(), plan).details(listing.details());
    Ok(Preview::new(report::preview(&selection, &planned, &listing)).stage(action))
}

fn apply(plan: Plan, resolution: &Resolution) -> Result<Output, Error> {
    let outcome = apply::apply(&Workspace::of_session()?, &plan, resolution)?;
    Ok(report::applied(outcome, &plan, &resolution.reason))
}

fn reject(_plan: Plan, resolution: &Resolution) -> Result<Option<Output>, Error> {
    Ok(Some(report::discarded(&resolution.reason)))
}
