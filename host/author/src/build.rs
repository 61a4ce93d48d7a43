//! Builds a project into a checked component.

mod bindings;
mod c;
mod component;
mod embedded;
mod go;
mod manifest;
mod metadata;
mod misbuilt;
mod node;
mod problem;
mod project;
mod python;
mod rust;
pub(crate) mod sdk;
mod sources;
mod toolchain;
mod watch;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use airlock_host::Plugin;
use airlock_host::wants::About;
use anyhow::Context;

use crate::error::{Error, ErrorKind};
use project::Project;

pub(crate) use bindings::World;
pub(crate) use project::detect;

pub use project::{Language, is_project};
pub use sources::newer_than;
pub use toolchain::{Reporter, Toolchain};
pub use watch::SourceWatcher;

/// Options for [`build()`].
#[derive(Debug, Clone, Copy)]
pub struct BuildOptions<'a> {
    /// The project's folder.
    pub folder: &'a Path,
    /// The path to write the component to; `None` means `build/NAME.wasm` in the project's folder.
    pub output: Option<&'a Path>,
    /// Arguments for the language's own build tool.
    pub options: &'a [OsString],
}

/// The output of a language's build tools.
struct BuildOutput {
    component: Vec<u8>,
    about: ProjectInfo,
}

/// A project's metadata, which is embedded in its component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectInfo {
    /// The project's name.
    pub name: String,
    /// What the project's own files say about it.
    pub about: About,
    /// The SDK's name and version.
    pub sdk: Option<(&'static str, String)>,
}

/// A built component that was written to a file.
pub struct Built {
    /// The path of the component.
    pub path: PathBuf,
    /// The language of the project.
    pub language: Language,
    /// The project's metadata.
    pub about: ProjectInfo,
    /// The component, loaded as a host loads it.
    pub plugin: Plugin,
}

/// Builds a project, checks that a host can load the component, and writes it.
///
/// # Errors
/// If the folder contains no project, the language's tools are missing or fail, a host can't load
/// the component or would leave out a tool, or the component can't be written. An existing
/// component is then left unchanged.
pub async fn build(order: BuildOptions<'_>, toolchain: &Toolchain<'_>) -> Result<Built, Error> {
    let BuildOptions {
        folder,
        output,
        options,
    } = order;
    let project = Project::find(folder)?;
    if let Some(note) = sdk::difference(&project.folder, project.language)? {
        toolchain.pass_on(&note);
    }
    let made = match project.language {
        Language::Rust => rust::build(&project, options, toolchain).await?,
        Language::TypeScript => node::build(&project, options, toolchain).await?,
        Language::Python => python::build(&project, options, toolchain).await?,
        Language::C => c::build(&project, options, toolchain).await?,
        Language::Go => go::build(&project, options, toolchain).await?,
    };
    let component = metadata::add(made.component, &project, &made.about)?;
    let plugin = load_checked(&made.about.name, component, toolchain)
        .await
        .map_err(|error| misbuilt::advise(error, project.language))?;
    let path = match output {
        Some(path) => path.to_owned(),
        None => folder
            .join("build")
            .join(format!("{}.wasm", made.about.name)),
    };
    write_component(&path, &plugin.source().bytes)?;
    Ok(Built {
        path,
        language: project.language,
        about: made.about,
        plugin,
    })
}

/// Loads the component as a host would. A tool that a host would leave out is an error, because
/// the author wants all of them.
///
/// # Errors
/// If a host can't load the component, or would leave out a tool.
pub async fn load_checked(
    name: &str,
    component: Vec<u8>,
    toolchain: &Toolchain<'_>,
) -> Result<Plugin, Error> {
    let engine = toolchain.engine()?;
    let loading = async { Ok(Plugin::from_bytes(&engine, name, component).await?) };
    let plugin = toolchain
        .during(format!("Checking {name}…"), loading)
        .await?;
    match plugin.rejected() {
        [] => Ok(plugin),
        [first, others @ ..] => {
            let mut message = format!("a host would leave out {first}");
            for other in others {
                message = format!("{message}; {other}");
            }
            let error = anyhow::Error::msg(message);
            Err(Error::new(ErrorKind::BadDefinitions, error)
                .with_advice("correct the tool's definition, and build again"))
        }
    }
}

/// Writes the component to a temporary file next to its path first, so that readers see either the
/// complete old or the complete new one.
///
/// # Errors
/// If it can't be written.
pub fn write_component(path: &Path, component: &[u8]) -> Result<(), Error> {
    replace(path, component)
        .with_context(|| format!("could not write {}", path.display()))
        .map_err(|error| Error::machine(error).with_advice("`-o FILE` writes it elsewhere"))
}

fn replace(path: &Path, component: &[u8]) -> std::io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(folder)?;
    let mut beside = tempfile::Builder::new();
    // These permissions let the umask apply, as for any other file.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        beside.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let file = beside.tempfile_in(folder)?;
    std::fs::write(file.path(), component)?;
    file.persist(path)?;
    Ok(())
}
