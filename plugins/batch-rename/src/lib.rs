//! The tool `batch_rename_preview`: renames many files by a regular expression, once somebody
//! agreed.
//!
//! The preview decides everything: `select` finds the files, `rule` gives each its new name, and
//! `plan` refuses whatever would overwrite or lose a file. What is left is put in an `order` that
//! survives swaps and cycles, and `apply` follows it, undoing what it did where a step fails. Only
//! files and symbolic links are renamed (the link, not what it points to), and each stays in its
//! directory.

mod apply;
mod earlier;
mod glob;
mod kept;
mod name;
mod natural;
mod order;
mod params;
mod plan;
mod regex;
mod report;
mod rule;
mod select;
mod template;
mod workspace;

use airlock_tool::{Action, Call, Error, Output, Preview, Resolution, Tool, Tools, export};

use crate::params::Params;
use crate::plan::{Limit, Plan, Planned};
use crate::report::Details;
use crate::rule::Rule;
use crate::workspace::Workspace;

export!(tools);

fn tools() -> Tools {
    let tool = Tool::new(
        "batch_rename_preview",
        "Renames files by applying a regular expression to their names. Lists every old and new name and changes nothing \
         until the plan is applied. Files stay in their directories, and none is ever overwritten.",
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
    let selection = select::select(&workspace, &params.files, &mut Limit::of(&rule))?;
    let planned = plan::plan(&selection.files, &rule, |from, to| {
        workspace.is_taken(from, to)
    })?;
    let output = report::preview(&selection, &planned);
    let Planned { renames, .. } = planned;
    if renames.is_empty() {
        return Ok(output.into());
    }
    let action = Action::new(report::label(&renames), Plan::of(&workspace, &renames)?);
    Ok(Preview::new(output).stage(action.details(Details::of(renames))))
}

fn apply(plan: Plan, resolution: &Resolution) -> Result<Output, Error> {
    let outcome = apply::apply(&Workspace::of_session()?, &plan, resolution)?;
    Ok(report::applied(outcome, plan, &resolution.reason))
}

fn reject(_plan: Plan, resolution: &Resolution) -> Result<Option<Output>, Error> {
    Ok(Some(report::discarded(&resolution.reason)))
}
