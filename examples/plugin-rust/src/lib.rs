//! The tool `replace_text`: replaces a text in one file, once somebody agreed.

use std::fs;

use airlock_tool::{Action, Call, Context, Error, Output, Preview, Resolution, Tool, Tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

airlock_tool::export!(tools);

fn tools() -> Tools {
    let replace_text = Tool::new("replace_text", "Replaces a text wherever it is in a file.");
    Tools::new().with(replace_text.preview(preview).apply(apply))
}

/// What a caller passes. The comments on its fields become the parameters' descriptions.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    /// The file's path, relative to the workspace.
    path: String,
    /// What to look for, word for word.
    #[schemars(length(min = 1))]
    find: String,
    /// What to put in its place.
    replace: String,
}

/// What waits for a decision: enough to notice that the file has changed since.
#[derive(Serialize, Deserialize)]
struct Plan {
    path: String,
    before: String,
    after: String,
}

fn preview(params: Params, _call: &Call) -> Result<Preview<Plan>, Error> {
    let path = params.path;
    let before = read(&path)?;
    let times = before.matches(&params.find).count();
    if times == 0 {
        return Ok(Preview::new(format!(
            "`{path}` does not contain that text."
        )));
    }
    let text = format!("Would replace {times} occurrences in `{path}`.");
    let label = format!("Replace text: {times} times in {path}");
    let after = before.replace(&params.find, &params.replace);
    let plan = Plan {
        path,
        before,
        after,
    };
    Ok(Preview::new(text).stage(Action::new(label, plan)))
}

fn apply(plan: Plan, resolution: &Resolution) -> Result<Output, Error> {
    let path = &plan.path;
    if read(path)? != plan.before {
        return Err(Error::tool(format!(
            "`{path}` changed since the preview: preview again."
        )));
    }
    fs::write(path, plan.after).with_context(|| format!("writing `{path}`"))?;
    Ok(Output::text(format!(
        "Replaced the text in `{path}`. Reason: {}",
        resolution.reason
    )))
}

fn read(path: &str) -> Result<String, Error> {
    fs::read_to_string(path).with_context(|| format!("reading `{path}`"))
}
