//! The tool as a component of Airlock's world: what would be renamed waits for a decision.

use std::path::Path;
use std::{fs, io};

use airlock_tool::{Action, Call, Context, Error, Output, Preview, Resolution, Tool, Tools};
use beside_logic::{DESCRIPTION, NAME, Params, Rename};

airlock_tool::export!(tools);

fn tools() -> Tools {
    Tools::new().with(Tool::new(NAME, DESCRIPTION).preview(preview).apply(apply))
}

fn preview(params: Params, _call: &Call) -> Result<Preview<Vec<Rename>>, Error> {
    let renames = beside_logic::plan(Path::new("."), &params).context("reading the workspace")?;
    let preview = Preview::new(beside_logic::text(&renames));
    if renames.is_empty() {
        return Ok(preview);
    }
    let label = format!("Rename by prefix: {} files", renames.len());
    Ok(preview.stage(Action::new(label, renames)))
}

fn apply(renames: Vec<Rename>, _resolution: &Resolution) -> Result<Output, Error> {
    let renamed: io::Result<()> = renames
        .iter()
        .try_for_each(|it| fs::rename(&it.from, &it.to));
    renamed.context("renaming")?;
    Ok(Output::text(format!("Renamed {} files.", renames.len())))
}
