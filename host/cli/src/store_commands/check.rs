//! `airlock store check`: whether all is as it should be.

use serde_json::json;

use crate::args::CheckArgs;
use crate::failure::{Exit, Failure};
use crate::output::{Output, on_stderr};
use crate::sanitize;
use crate::store::{self, WhenMissing};
use crate::style::{ERROR, HINT, paint};

pub async fn check(args: &CheckArgs, out: &mut Output) -> Result<Exit, Failure> {
    let store = store::open(&args.store, WhenMissing::Refuse).await?;
    let problems = store.durable().check().await?;
    let location = store.location();
    let shown = sanitize::line(&location);
    out.json(&json!({"store": location, "problems": problems}));
    if problems.is_empty() {
        out.line(format_args!("{shown} is as it should be."));
        return Ok(Exit::Done);
    }
    for problem in &problems {
        out.line(sanitize::line(problem));
    }
    if !out.is_json() {
        let found = match problems.len() {
            1 => "1 problem".to_owned(),
            count => format!("{count} problems"),
        };
        on_stderr(format_args!(
            "{} {shown} has {found}",
            paint(ERROR, "error:")
        ));
        on_stderr(format_args!(
            "{} move it away, and bring a backup back with `airlock store restore FILE`",
            paint(HINT, "hint:")
        ));
    }
    Ok(Exit::Failed)
}
