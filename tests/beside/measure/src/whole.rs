//! Whole processes: a start, one call, and the end.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use anyhow::ensure;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::library::{self, Library, output};
use crate::place::{Place, expected, params, params_of_batch_rename};
use crate::processor::of_ended;
use crate::rounds::{Entry, Sample};
use crate::served;

/// What ratios are about.
pub const BUNDLED: &str = "`airlock run batch-rename`, and discard";
/// The same with the tool that all have.
pub const RUN: &str = "`airlock run`, and discard";
/// The other front door.
pub const SERVE: &str = "`airlock serve`, call and discard";

/// All that take turns. Nobody else's process may end meanwhile.
pub fn entries<'a>(place: &'a Place, runtime: &'a Arc<Runtime>) -> Vec<Entry<'a>> {
    vec![
        Entry::new("a process that does nothing (`true`)", |count| {
            each(count, || {
                output(place, &mut place.command("true")).map(drop)
            })
        }),
        Entry::new("Extism, code from its cache", |count| {
            each(count, || {
                printed(&output(place, &mut library::extism(place, "once"))?)
            })
        }),
        Entry::new("plain wasmtime, code from a file", |count| {
            each(count, || {
                printed(&output(place, &mut library::plain(place, "once"))?)
            })
        }),
        Entry::new("rmcp server, no sandbox", |count| {
            each(count, || converse(place, runtime, served::rmcp(place)))
        }),
        Entry::new("Python MCP server, no sandbox", |count| {
            each(count, || converse(place, runtime, served::python(place)))
        }),
        Entry::new(RUN, |count| {
            let run = || run(place, &place.component, &params());
            each(count, || discarded(&output(place, &mut run())?))
        }),
        Entry::new(BUNDLED, |count| {
            let bundled = Path::new("batch-rename");
            let run = || run(place, bundled, &params_of_batch_rename());
            each(count, || discarded(&output(place, &mut run())?))
        }),
        Entry::new(SERVE, |count| {
            each(count, || converse(place, runtime, served::airlock(place)))
        }),
    ]
}

/// Sees that all libraries and commands do the same, and that their compiled code is kept.
pub fn check(place: &Place) -> anyhow::Result<()> {
    // It writes the file of compiled code that the others read.
    Library::plain(place)?.work("nothing", 1)?;
    printed(&output(place, &mut library::extism(place, "once"))?)?;
    printed(&output(place, &mut library::plain(place, "once"))?)?;
    discarded(&output(
        place,
        &mut run(place, &place.component, &params()),
    )?)
}

fn run(place: &Place, plugin: &Path, params: &Value) -> Command {
    let mut command = place.command(&place.airlock);
    command.arg("run").arg(plugin).arg(params.to_string());
    command.args(["--json", "--discard", "a benchmark says so"]);
    command.arg("--workspace").arg(place.workspace());
    command.arg("--store").arg(place.inside("pending.db"));
    command
}

fn printed(said: &str) -> anyhow::Result<()> {
    ensure!(said.trim_end() == expected().trim_end(), "it said {said:?}");
    Ok(())
}

/// What every name in it becomes, and that it was discarded.
fn discarded(said: &str) -> anyhow::Result<()> {
    let json: Value = serde_json::from_str(said)?;
    let text = json["content"][0]["text"].as_str().unwrap_or_default();
    let renames = expected().lines().skip(1).all(|line| text.contains(line));
    let discarded = json["resolved"]["details"]["action"] == "discard";
    ensure!(renames && discarded, "it said {said}");
    Ok(())
}

fn converse(place: &Place, runtime: &Arc<Runtime>, command: Command) -> anyhow::Result<()> {
    let (server, client) = served::start(runtime, place, command)?;
    client.check()?;
    server.stop(client)
}

fn each(count: u32, mut work: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<Sample> {
    let (clock, processor) = (Instant::now(), of_ended()?);
    (0..count).try_for_each(|_| work())?;
    Ok(Sample {
        clock: clock.elapsed().as_secs_f64(),
        processor: of_ended()? - processor,
    })
}
