//! `airlock compile`: plugins as code that is mapped, for those who can't change it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use airlock_desk::plugin::{BundledKind, Source, compiled_folder, engine_that_compiles};
use airlock_host::compile::{CompiledPlugin, VouchedFolder};
use airlock_host::{Engine, Limits};
use airlock_render::{Block, Line, Role};
use serde_json::{Value, json};

use crate::bundled::CATALOG;
use crate::failure::{Exit, Failure};
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::{Output, say};
use crate::terminal::progress::Progress;
use crate::terminal::size::thousands;

/// Compiles these, or all that are bundled.
pub async fn compile(
    plugins: &[OsString],
    into: Option<PathBuf>,
    verbose: u8,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let folder = match into {
        Some(named) => named,
        None => compiled_folder()
            .map_err(|error| Failure::usage(error.to_string()))?
            .ok_or_else(|| Failure::usage("no folder is known: name one by `--into`"))?,
    };
    let (interrupt, progress) = (Interrupt::watch(), Progress::new(verbose));
    let engine = engine_that_compiles().limits(Limits::default());
    let engine = engine.live_instances(1).build()?;
    let mut written = Vec::new();
    for source in sources(plugins)? {
        let name = source.name().into_owned();
        let what = format!("Compiling {name}…");
        let compiling = progress.during(what, compiled(&source, &engine));
        let Some(compiled) = interrupt.token().run_until_cancelled(compiling).await else {
            return Err(Failure::interrupted());
        };
        let compiled = compiled?;
        let path = compiled
            .write_to(&folder)
            .map_err(|error| unwritten(&folder, &error))?;
        let line = Line::new().with_role(Role::Title, name.as_str());
        let bytes = thousands(compiled.code_bytes());
        out.line(line.with(format!("  {bytes} bytes of code")));
        written.push(described(&name, &compiled, &path));
    }
    let folder_text = folder.to_string_lossy();
    out.line(format!("in {folder_text}"));
    if !out.is_json()
        && let Some(note) = who_does_not_use_it(&folder)
    {
        say(&Block::new().own_named(Role::Note, "note:", &note, 2));
    }
    out.json(&json!({ "folder": folder_text, "compiled": written }));
    Ok(Exit::Done)
}

/// What is to be compiled.
fn sources(plugins: &[OsString]) -> Result<Vec<Source<'_>>, Failure> {
    if plugins.is_empty() {
        let bundled = CATALOG.all().iter();
        let components = bundled.filter(|it| matches!(it.kind, BundledKind::Component { .. }));
        return Ok(components.map(Source::Bundled).collect());
    }
    let found = plugins.iter().map(|plugin| Source::find(CATALOG, plugin));
    Ok(found.collect::<Result<_, _>>()?)
}

async fn compiled(source: &Source<'_>, engine: &Engine) -> Result<CompiledPlugin, Failure> {
    source.compile(engine).await?.ok_or_else(|| {
        let name = source.name();
        Failure::usage(format!(
            "`{name}` is a part of this program: there is nothing to compile"
        ))
    })
}

fn unwritten(folder: &Path, error: &io::Error) -> Failure {
    let failure = Failure::host(format!("can't write to {}: {error}", folder.display()));
    match error.kind() {
        io::ErrorKind::PermissionDenied => failure
            .with_hint("run it as a user who may write there, or name a folder with `--into`"),
        _ => failure,
    }
}

fn described(name: &str, compiled: &CompiledPlugin, path: &Path) -> Value {
    json!({
        "name": name,
        "digest": compiled.digest().to_string(),
        "bytes": compiled.code_bytes(),
        "path": path.to_string_lossy(),
    })
}

/// Whoever can write there is not who it is for.
fn who_does_not_use_it(folder: &Path) -> Option<String> {
    let error = VouchedFolder::open(folder).err()?;
    Some(format!(
        "programs of this user compile for themselves all the same: {error}"
    ))
}
