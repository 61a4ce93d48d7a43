//! The languages that have an SDK: size and speed of the same tool in each, beside the same
//! component under bare wasmtime.
//!
//! `cargo bench --bench languages` prints the table of sdk/README.md, and below it what the ratios
//! were made of; with `-- --quick` it takes less time, and says less; with names (`-- rust python`)
//! it is about these; with `-- --processor-time` it counts what processors spent, for a machine
//! that has much else to do. The tool is the conformance suite's, which `tests/build-guests` builds
//! in every language: `stage` reads its params, pushes one durable action, and returns a text. Both
//! sides take turns, round by round.

mod bare;
mod language;
mod memory;
mod ours;
mod progress;
mod rounds;
mod stopwatch;
mod table;

use std::sync::Arc;
use std::time::Duration;

use airlock_host::Engine;
use anyhow::Context;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use bare::Bare;
use language::Language;
use ours::Ours;
use progress::Progress;
use rounds::{Effort, Rounds};
use stopwatch::Stopwatch;

/// The tool's name, and the source of what it pushes.
const TOOL: &str = "stage";

/// The label of what it pushes.
const LABEL: &str = "Rename: 3 files in photos";

/// A hundred bytes of JSON, as in the benchmark beside wasmtime.
fn params() -> Value {
    let reject = json!({"how": "text", "text": "kept"});
    let params = json!({"label": LABEL, "details": {"files": 3}, "reject": reject});
    let length = params.to_string().len();
    assert!((95..=105).contains(&length), "{length}");
    params
}

/// All that is told of a language. Times are in seconds.
struct Measured {
    language: Language,
    component_bytes: usize,
    compile: Rounds,
    first_call: Rounds,
    execute: Rounds,
    reject: Rounds,
    memory_bytes: Rounds,
}

fn main() -> anyhow::Result<()> {
    let runtime = Runtime::new()?;
    if let Some(asked) = memory::Asked::of_this_process() {
        println!("{}", runtime.block_on(memory::measure(asked))?);
        return Ok(());
    }
    let (flags, names): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|argument| argument.starts_with("--"));
    let has = |name: &str| flags.iter().any(|flag| flag == name);
    let effort = if has("--quick") {
        Effort::QUICK
    } else {
        Effort::FULL
    };
    if has("--processor-time") {
        stopwatch::count_processor_time();
    }
    let languages = Language::chosen(&names).unwrap_or_else(|wrong| {
        eprintln!("error: {wrong}");
        std::process::exit(2);
    });
    let mut progress = Progress::new();
    print!("{}", table::head(effort));
    let mut all = Vec::new();
    for language in languages {
        let measured = runtime.block_on(measure(language, effort, &mut progress));
        progress.clear();
        let measured = measured.context(language.title)?;
        print!("{}", table::row(&measured));
        all.push(measured);
    }
    print!("{}", table::details(&all));
    Ok(())
}

async fn measure(
    language: Language,
    effort: Effort,
    progress: &mut Progress,
) -> anyhow::Result<Measured> {
    let bytes: Arc<[u8]> = std::fs::read(language.component())?.into();
    let mut say = |what: &str| progress.say(&format!("{}: {what}", language.title));

    // An engine without a cache, which remembers nothing: each time, everything is compiled.
    let engine = Engine::builder().kept_loads(0).build()?;
    let compile = rounds::compile(
        effort,
        async |round| {
            say(&format!("compiling, round {round}"));
            let bytes = Arc::clone(&bytes);
            timed(async || ours::compile(&engine, bytes).await).await
        },
        async |_| timed(async || Ok(bare::compile(&engine, &bytes))).await,
    )
    .await?;
    drop(engine);

    say("filling the compile cache");
    let folder = TempDir::new()?;
    let mut ours = Ours::new(language.component(), folder.path()).await?;
    let mut bare = Bare::new(ours.engine().wasmtime(), &bytes, folder.path()).await;

    say("first calls");
    let first_call = rounds::calls(
        effort,
        async |count| ours.first_calls(count).await,
        async |count| Ok(bare.first_calls(count).await),
    )
    .await?;
    say("calls");
    let execute = rounds::calls(
        effort,
        async |count| ours.executes(count).await,
        async |count| Ok(bare.executes(count).await),
    )
    .await?;
    say("decisions");
    let reject = rounds::calls(
        effort,
        async |count| ours.rejects(count).await,
        async |count| Ok(bare.rejects(count).await),
    )
    .await?;
    drop((ours, bare));

    say("memory");
    let memory_bytes = rounds::in_turn(
        effort.memory_rounds,
        async |_| memory::ask("ours", &language.component(), folder.path()),
        async |_| memory::ask("bare", &language.component(), folder.path()),
    )
    .await?;
    Ok(Measured {
        component_bytes: bytes.len(),
        language,
        compile,
        first_call,
        execute,
        reject,
        memory_bytes,
    })
}

/// The time that `work` takes, without that of dropping what it made.
async fn timed<T>(work: impl AsyncFnOnce() -> anyhow::Result<T>) -> anyhow::Result<Duration> {
    let began = Stopwatch::start();
    let made = work().await?;
    let took = began.elapsed();
    drop(made);
    Ok(took)
}
