//! `airlock build`: builds a project into a checked component.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use airlock_author::build::{
    BuildOptions, Built, SourceWatcher, Toolchain, build as build_project, load_checked,
    write_component,
};
use airlock_desk::plugin::{component_of, is_tools_file, program_of};
use airlock_host::{Limits, Plugin};
use airlock_render::{Block, Line, Role};

use super::StderrReporter;
use crate::commands::inspect::lost_by_clients;
use crate::documents::author::{BuildReport, SdkVersion};
use crate::failure::{Exit, Failure};
use crate::load;
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::{Output, on_stderr, show_on_stderr};
use crate::terminal::progress::Progress;
use crate::terminal::size::thousands;

/// The length of the longest fact's name.
const NAMES: usize = 8;

/// The arguments of the command.
pub struct Request {
    /// The project's folder.
    pub folder: PathBuf,
    /// The component's file. Default: `build/NAME.wasm` in the project's folder.
    pub output: Option<PathBuf>,
    /// Arguments for the language's own build tool.
    pub options: Vec<OsString>,
    /// True to rebuild on each change.
    pub watch: bool,
}

pub async fn build(request: &Request, verbose: u8, out: &mut Output) -> Result<Exit, Failure> {
    let (interrupt, progress) = (Interrupt::watch(), Progress::new(verbose));
    let order = BuildOptions {
        folder: &request.folder,
        output: request.output.as_deref(),
        options: &request.options,
    };
    if is_tools_file(&request.folder) {
        return pack(request, &interrupt, &progress, out).await;
    }
    if request.watch {
        return build_again_and_again(order, &interrupt, &progress, out).await;
    }
    report(&build_once(order, &interrupt, &progress).await?, out);
    Ok(Exit::Done)
}

/// Builds a project as `airlock build FOLDER` does, for another command. Returns the path of its
/// component.
///
/// # Errors
/// Those of `airlock build`.
pub async fn build_for(
    folder: &Path,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<PathBuf, Failure> {
    let order = BuildOptions {
        folder,
        output: None,
        options: &[],
    };
    Ok(build_once(order, interrupt, progress).await?.path)
}

async fn build_once(
    order: BuildOptions<'_>,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<Built, Failure> {
    let reporter = StderrReporter::new(progress);
    let engine = || load::engine(Limits::default());
    let toolchain = Toolchain::new(&reporter, interrupt.token(), &engine);
    Ok(build_project(order, &toolchain).await?)
}

async fn build_again_and_again(
    order: BuildOptions<'_>,
    interrupt: &Interrupt,
    progress: &Progress,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let mut changes = SourceWatcher::of(order.folder)?;
    loop {
        changes.watch()?;
        match build_once(order, interrupt, progress).await {
            Ok(built) => report(&built, out),
            // Watching continues after a failed build, but not after an interrupt.
            Err(failure) => {
                if failure.report(out) == Exit::Interrupted {
                    return Ok(Exit::Done);
                }
            }
        }
        on_stderr(Line::new().with_role(Role::Faint, "waiting for a change; Ctrl-C stops"));
        tokio::select! {
            () = interrupt.token().cancelled() => return Ok(Exit::Done),
            changed = changes.next() => changed?,
        }
    }
}

/// Writes a program and the tools that a file gives it as one component.
async fn pack(
    request: &Request,
    interrupt: &Interrupt,
    progress: &Progress,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let file = &request.folder;
    if request.watch || !request.options.is_empty() {
        let message = format!("{} names a program that is built already", file.display());
        return Err(Failure::usage(message)
            .with_hint("leave out `--watch` and the options of a build tool"));
    }
    let path = request.output.clone();
    let path = path.unwrap_or_else(|| file.with_extension("wasm"));
    let is_input = |input: &Path| {
        let real = (path.canonicalize().ok(), input.canonicalize().ok());
        real.0.is_some() && real.0 == real.1
    };
    if is_input(file) || program_of(file).is_some_and(|program| is_input(&program)) {
        let message = format!("{} would be replaced by what is made of it", path.display());
        return Err(Failure::usage(message).with_hint("`-o FILE` writes it elsewhere"));
    }
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let component = component_of(file)?;
    let reporter = StderrReporter::new(progress);
    let engine = || load::engine(Limits::default());
    let toolchain = Toolchain::new(&reporter, interrupt.token(), &engine);
    let plugin = load_checked(&name, component, &toolchain).await?;
    write_component(&path, &plugin.source().bytes)?;
    show(&facts(&path, &plugin), &plugin, out);
    Ok(Exit::Done)
}

fn report(built: &Built, out: &mut Output) {
    let about = &built.about;
    let facts = BuildReport {
        language: built.language.name(),
        name: &about.name,
        sdk: (about.sdk.as_ref()).map(|(name, version)| SdkVersion { name, version }),
        version: about.about.version.as_deref(),
        ..facts(&built.path, &built.plugin)
    };
    show(&facts, &built.plugin, out);
}

/// Returns the facts about a component that was written, without those about a project.
fn facts<'a>(path: &Path, plugin: &'a Plugin) -> BuildReport<'a> {
    BuildReport {
        digest: plugin.digest().to_string(),
        language: "wasm",
        name: plugin.name(),
        path: path.display().to_string(),
        sdk: None,
        size: plugin.size(),
        tools: plugin.tools().map(|tool| &*tool.name).collect(),
        version: None,
    }
}

fn show(facts: &BuildReport<'_>, plugin: &Plugin, out: &mut Output) {
    let name = [facts.name, facts.version.unwrap_or("without a version")].join(" ");
    let size = format!("{} bytes", thousands(facts.size));
    let block = Block::from(Line::new().with_role(Role::Title, &facts.path))
        .fact(NAMES, "name", &name)
        .own_fact(NAMES, "size", &size)
        .own_fact(NAMES, "digest", &facts.digest)
        .fact(NAMES, "tools", &facts.tools.join("\n"));
    out.show(&block);
    warn_of_lost(plugin);
    out.json(facts);
}

/// Warns of parts of the schemas that MCP clients don't get.
fn warn_of_lost(plugin: &Plugin) {
    for tool in plugin.tools() {
        for lost in lost_by_clients(tool) {
            let message = format!("`{}`: MCP clients don't get {lost}", tool.name);
            show_on_stderr(&Block::new().own_named(Role::Error, "warning:", &message, 2));
        }
    }
}
