//! The tool `{{tool}}`: adds a line to a file, once somebody agreed.

use std::fs;

use airlock_tool::{Action, Call, Context, Error, Output, Preview, Resolution, Tool, Tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

airlock_tool::export!(tools);

fn tools() -> Tools {
    let tool = Tool::new("{{tool}}", "Adds a line at the end of a file.").label("{{label}}");
    Tools::new().with(tool.preview(preview).apply(apply).idempotent())
}

/// What a caller passes. The comments on its fields become the parameters' descriptions.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    /// The file's path, relative to the workspace.
    path: String,
    /// The line to add.
    line: String,
}

/// What waits for a decision: enough to notice that the file has changed since.
#[derive(Serialize, Deserialize)]
struct Plan {
    path: String,
    before: String,
    after: String,
}

fn preview(params: Params, _call: &Call) -> Result<Preview<Plan>, Error> {
    let Params { path, line } = params;
    let before = read(&path)?;
    let after = format!("{before}{line}\n");
    let text = format!("Would add to {path}: {line}");
    let label = format!("{{label}}: {path}");
    let plan = Plan { path, before, after };
    Ok(Preview::new(text).stage(Action::new(label, plan)))
}

fn apply(plan: Plan, resolution: &Resolution) -> Result<Output, Error> {
    let path = &plan.path;
    let now = read(path)?;
    // An attempt before this one may have done it already.
    if now != plan.after {
        if now != plan.before {
            return Err(Error::tool(format!("{path} changed since the preview: preview again.")));
        }
        fs::write(path, plan.after).with_context(|| format!("writing {path}"))?;
    }
    Ok(Output::text(format!("Added a line to {path}. Reason: {}", resolution.reason)))
}

fn read(path: &str) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|error| Error::tool(format!("can't read {path}: {error}")))
}
