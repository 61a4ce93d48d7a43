//! `airlock store backup` and `restore`: of a store in a file. A server has tools of its own for that.

use std::path::Path;

use serde_json::json;

use crate::args::{BackupArgs, RestoreArgs};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::sanitize;
use crate::shell;
use crate::size;
use crate::store::{Choice, Location, WhenMissing, file};

pub async fn backup(args: &BackupArgs, out: &mut Output) -> Result<Exit, Failure> {
    let choice = Choice::of(&args.store)?;
    let path = match &choice.location {
        Location::File(path) => path,
        server @ Location::Postgres(_) => {
            let (to, address) = (args.file.to_string_lossy(), server.shown());
            let words = ["pg_dump", "--format=custom", "--file", &to, &address];
            return Err(not_ours("backed up", &words));
        }
    };
    file::backup(path, choice.makes(WhenMissing::Refuse), &args.file).await?;
    let bytes = size_of(&args.file);
    out.line(format_args!(
        "Backed up to {}: {}.",
        shown(&args.file),
        size::human(bytes)
    ));
    out.json(&json!({"backup": args.file.to_string_lossy(), "bytes": bytes}));
    Ok(Exit::Done)
}

pub async fn restore(args: &RestoreArgs, out: &mut Output) -> Result<Exit, Failure> {
    let choice = Choice::of(&args.store)?;
    let path = match &choice.location {
        Location::File(path) => path,
        server @ Location::Postgres(_) => {
            let (from, address) = (args.file.to_string_lossy(), server.shown());
            let words = [
                "pg_restore",
                "--clean",
                "--if-exists",
                "--dbname",
                &address,
                &from,
            ];
            return Err(not_ours("restored", &words));
        }
    };
    if path.symlink_metadata().is_ok() {
        let name = path.to_string_lossy();
        let moved = format!("{name}.before");
        let message = format!("there is a store at {name} already, and a restore overwrites none");
        let hint = format!(
            "move it away first, when nothing uses it: `{}`",
            shell::join(["mv", &name, &moved])
        );
        return Err(Failure::new(Exit::Failed, "store-exists", message).with_hint(hint));
    }
    file::restore(&args.file, path).await?;
    let list = choice.command(&["pending", "--all"]);
    out.line(format_args!(
        "Restored {} from {}.",
        shown(path),
        shown(&args.file)
    ));
    out.line(format_args!(
        "What was pending may have been resolved since that backup was made, so it counts as interrupted: `{list}`"
    ));
    out.json(&json!({"restored": path.to_string_lossy(), "from": args.file.to_string_lossy()}));
    Ok(Exit::Done)
}

fn shown(path: &Path) -> String {
    sanitize::line(&path.to_string_lossy()).into_owned()
}

fn size_of(path: &Path) -> u64 {
    path.metadata().map_or(0, |metadata| metadata.len())
}

fn not_ours(done: &str, words: &[&str]) -> Failure {
    let command = shell::join(words.iter().copied());
    Failure::usage(format!(
        "a store on PostgreSQL is {done} by PostgreSQL's own tools"
    ))
    .with_hint(format!("`{command}`"))
}
