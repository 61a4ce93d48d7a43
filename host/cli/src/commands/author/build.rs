//! `airlock build`: builds a project into a checked component.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use airlock_author::build::{
    BuildOptions, Built, SourceWatcher, Toolchain, build as build_project,
};
use airlock_host::Limits;
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

fn tools(built: &Built) -> Vec<&str> {
    let tools = built.plugin.tools();
    tools.map(|tool| tool.name.as_str()).collect()
}

fn report(built: &Built, out: &mut Output) {
    let path = built.path.display().to_string();
    let version = built.about.version.as_deref();
    let version = version.unwrap_or("without a version");
    let name = format!("{} {version}", built.about.name);
    let size = format!("{} bytes", thousands(built.plugin.size()));
    let block = Block::from(Line::new().with_role(Role::Title, path))
        .fact(NAMES, "name", &name)
        .own_fact(NAMES, "size", &size)
        .own_fact(NAMES, "digest", &built.plugin.digest().to_string())
        .fact(NAMES, "tools", &tools(built).join("\n"));
    out.show(&block);
    warn_of_lost(built);
    out.json(&BuildReport {
        digest: built.plugin.digest().to_string(),
        language: built.language.name(),
        name: &built.about.name,
        path: built.path.display().to_string(),
        sdk: (built.about.sdk.as_ref()).map(|(name, version)| SdkVersion { name, version }),
        size: built.plugin.size(),
        tools: tools(built),
        version: built.about.version.as_deref(),
    });
}

/// Warns of parts of the schemas that MCP clients don't get.
fn warn_of_lost(built: &Built) {
    for tool in built.plugin.tools() {
        for lost in lost_by_clients(tool) {
            let message = format!("`{}`: MCP clients don't get {lost}", tool.name);
            show_on_stderr(&Block::new().own_named(Role::Error, "warning:", &message, 2));
        }
    }
}
