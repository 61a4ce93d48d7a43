//! `airlock store check`: whether all is as it should be.

use airlock_desk::store::{self, WhenMissing};
use airlock_render::{Line, Role};
use serde_json::json;

use crate::args::CheckArgs;
use crate::failure::{Exit, Failure};
use crate::output::{Output, on_stderr};

pub async fn check(args: &CheckArgs, out: &mut Output) -> Result<Exit, Failure> {
    let store = store::open(args.store.named(), WhenMissing::Refuse).await?;
    let problems = store.durable().check().await?;
    let location = store.location();
    out.json(&json!({"store": location, "problems": problems}));
    if problems.is_empty() {
        out.line(format_args!("{location} is as it should be."));
        return Ok(Exit::Done);
    }
    for problem in &problems {
        out.line(problem.as_str());
    }
    if !out.is_json() {
        let found = match problems.len() {
            1 => "1 problem".to_owned(),
            count => format!("{count} problems"),
        };
        let error = Line::new().with_role(Role::Error, "error:");
        on_stderr(error.with(format!(" {location} has {found}")));
        let hint = Line::new().with_role(Role::Hint, "hint:");
        on_stderr(
            hint.with(" move it away, and bring a backup back with `airlock store restore FILE`"),
        );
    }
    Ok(Exit::Failed)
}
