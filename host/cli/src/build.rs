//! `airlock build`: from a project to a component that was checked.

mod bench;
mod bindings;
mod c;
mod component;
mod embedded;
mod go;
mod manifest;
mod metadata;
mod node;
mod project;
mod python;
mod rust;
mod sources;
mod watch;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use airlock_host::{Engine, Limits, Plugin};
use airlock_render::{Block, Line, Role};
use serde_json::{Value, json};

use crate::args::BuildArgs;
use crate::failure::{Exit, Failure};
use crate::interrupt::Interrupt;
use crate::load;
use crate::output::Output;
use crate::progress::Progress;
use crate::size::thousands;

use bench::Bench;
use project::{Language, Project};

pub use project::is_project;
pub use sources::newer_than;

/// Letters of the longest name of a fact.
const NAMES: usize = 8;

/// What a language's tools make of a project.
struct Made {
    component: Vec<u8>,
    about: About,
}

/// What is known of a project, and goes into its component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    name: String,
    version: Option<String>,
    /// The SDK's name and version.
    sdk: Option<(&'static str, String)>,
}

/// A component that was written, as it was told.
struct Built {
    path: PathBuf,
    language: Language,
    about: About,
    plugin: Plugin,
}

pub async fn build(args: &BuildArgs, verbose: u8, out: &mut Output) -> Result<Exit, Failure> {
    let (interrupt, progress) = (Interrupt::watch(), Progress::new(verbose));
    let bench = Bench::new(&interrupt, &progress);
    let folder = args.folder.as_deref().unwrap_or(Path::new("."));
    if args.watch {
        return watch::build_again_and_again(folder, args, &bench, out).await;
    }
    build_once(folder, args, &bench).await?.report(out);
    Ok(Exit::Done)
}

/// Builds a project as `airlock build FOLDER` does, for another command. Gives where its component is.
///
/// # Errors
/// As that command has them.
pub async fn build_for(
    folder: &Path,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<PathBuf, Failure> {
    let bench = Bench::new(interrupt, progress);
    let engine = load::engine(Limits::default())?;
    Ok(build_into(folder, None, &[], &engine, &bench).await?.path)
}

async fn build_once(folder: &Path, args: &BuildArgs, bench: &Bench<'_>) -> Result<Built, Failure> {
    let engine = match args.bundled {
        true => load::engine_without_reserved_names(Limits::default())?,
        false => load::engine(Limits::default())?,
    };
    let output = args.output.as_deref();
    build_into(folder, output, &args.options, &engine, bench).await
}

async fn build_into(
    folder: &Path,
    output: Option<&Path>,
    options: &[OsString],
    engine: &Engine,
    bench: &Bench<'_>,
) -> Result<Built, Failure> {
    let project = Project::find(folder)?;
    let made = match project.language {
        Language::Rust => rust::build(&project, options, bench).await?,
        Language::TypeScript => node::build(&project, options, bench).await?,
        Language::Python => python::build(&project, options, bench).await?,
        Language::C => c::build(&project, options, bench).await?,
        Language::Go => go::build(&project, options, bench).await?,
    };
    let component = metadata::add(made.component, project.language, &made.about)?;
    let plugin = check(&made.about, component, engine, bench).await?;
    let path = match output {
        Some(path) => path.to_owned(),
        None => folder
            .join("build")
            .join(format!("{}.wasm", made.about.name)),
    };
    write(&path, &plugin.source().bytes)?;
    Ok(Built {
        path,
        language: project.language,
        about: made.about,
        plugin,
    })
}

/// Loads the component as a host would. An author wants all of the tools, so that one which a host would leave out is an error.
async fn check(
    about: &About,
    component: Vec<u8>,
    engine: &Engine,
    bench: &Bench<'_>,
) -> Result<Plugin, Failure> {
    let name = about.name.clone();
    let loading = async { Ok(Plugin::from_bytes(engine, name, component).await?) };
    let plugin = bench
        .during(format!("Checking {}…", about.name), loading)
        .await?;
    match plugin.rejected() {
        [] => Ok(plugin),
        [first, others @ ..] => {
            let mut message = format!("a host would leave out {first}");
            for other in others {
                message = format!("{message}; {other}");
            }
            Err(Failure::new(Exit::NotLoaded, "bad-definitions", message)
                .with_hint("correct the tool's definition, and build again"))
        }
    }
}

/// Writes the component beside its place first, so that whoever reads it there finds the old one or the new one whole.
fn write(path: &Path, component: &[u8]) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::host(format!("could not write {}: {error}", path.display()))
            .with_hint("`-o FILE` puts it elsewhere")
    };
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut beside = tempfile::Builder::new();
    // As for any other file, the user's mask decides who may read it.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        beside.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let file = beside.tempfile_in(folder).map_err(failed)?;
    std::fs::write(file.path(), component).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

impl Built {
    fn tools(&self) -> Vec<&str> {
        let tools = self.plugin.tools();
        tools.map(|tool| tool.name.as_str()).collect()
    }

    fn report(&self, out: &mut Output) {
        let path = self.path.display().to_string();
        let version = self.about.version.as_deref().unwrap_or("without a version");
        let name = format!("{} {version}", self.about.name);
        let size = format!("{} bytes", thousands(self.plugin.size()));
        let block = Block::from(Line::new().with_role(Role::Title, path))
            .fact(NAMES, "name", &name)
            .own_fact(NAMES, "size", &size)
            .own_fact(NAMES, "digest", &self.plugin.digest().to_string())
            .fact(NAMES, "tools", &self.tools().join("\n"));
        out.show(&block);
        out.json(&self.to_json());
    }

    fn to_json(&self) -> Value {
        let mut object = json!({
            "path": self.path.display().to_string(),
            "language": self.language.name(),
            "name": self.about.name,
            "version": self.about.version,
            "size": self.plugin.size(),
            "digest": self.plugin.digest().to_string(),
            "tools": self.tools(),
        });
        if let Some((name, version)) = &self.about.sdk {
            object["sdk"] = json!({"name": name, "version": version});
        }
        object
    }
}
