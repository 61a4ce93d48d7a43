//! Plugins by name or path, and the engine that runs them.

mod bundled;
mod installed;
mod loaded;
mod module;
mod tools_file;

use std::borrow::Cow;
use std::env;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use airlock_host::compile::CompileCache;
use airlock_host::load::LoadError;
use airlock_host::regular::read_regular_file;
use airlock_host::{Engine, EngineBuilder, Limits, Plugin};
use airlock_registry::Reference;
use airlock_rules::PluginName;

use crate::Error;
use crate::lock::{Installed, Locks};

pub use bundled::{Bundled, BundledKind, Catalog};
pub use loaded::Loaded;
pub use tools_file::{component as component_of, is_tools_file, program as program_of};

/// The name of the user's folders for this program.
const PROGRAM: &str = "airlock";

/// The maximum size of a plugin file.
const MAX_PLUGIN_BYTES: u64 = 1 << 30;

/// The source of the tools that a user named.
#[derive(Debug, Clone)]
pub enum Source<'a> {
    /// The file of a component or of a program for WASI preview 1, or a file that gives a program
    /// its own tools.
    File(&'a Path),
    /// A plugin that is bundled with the program.
    Bundled(&'static Bundled),
    /// A plugin that was installed.
    Installed(Box<Installed>),
}

impl<'a> Source<'a> {
    /// Parses a path or a name. A separator, or the ending `.wasm` or `.toml`, makes it a path. The
    /// name of a bundled plugin wins over an installed one, and that over a file in the current
    /// directory. Any other word is a path if the file exists.
    ///
    /// # Errors
    /// Fails if no bundled or installed plugin has this name.
    pub fn find(catalog: Catalog, locks: &Locks, plugin: &'a OsStr) -> Result<Self, Error> {
        let path = Path::new(plugin);
        let name = plugin.to_string_lossy();
        if PluginName::is_path(&name) {
            return match name.parse() {
                Ok(reference @ (Reference::Oci(_) | Reference::Web(_))) if !path.exists() => {
                    Err(Error::NotInstalled { reference })
                }
                _ => Ok(Source::File(path)),
            };
        }
        if let Some(bundled) = catalog.find(&name) {
            return Ok(Source::Bundled(bundled));
        }
        match locks.find(&name) {
            Some(installed) => Ok(Source::Installed(Box::new(installed))),
            None if path.is_file() => Ok(Source::File(path)),
            None => Err(Error::UnknownPlugin {
                name: name.into_owned(),
                bundled: catalog.names(),
                installed: locks.names(),
            }),
        }
    }

    /// Returns the plugin's name.
    pub fn name(&self) -> Cow<'a, str> {
        match self {
            Source::File(path) => path.file_stem().unwrap_or_default().to_string_lossy(),
            Source::Bundled(bundled) => Cow::Borrowed(bundled.name),
            Source::Installed(installed) => Cow::Owned(installed.entry.name.to_string()),
        }
    }

    /// Returns the component's bytes. `None` if there is no component.
    ///
    /// # Errors
    /// Fails if the file can't be read, or can't be made a component.
    pub fn bytes(&self) -> Result<Option<Cow<'static, [u8]>>, Error> {
        match self {
            Source::File(path) => match made(path)? {
                Some(component) => Ok(Some(Cow::Owned(component))),
                None => read(path).map(|bytes| Some(Cow::Owned(bytes))),
            },
            Source::Bundled(bundled) => Ok(match bundled.kind {
                BundledKind::Component { bytes, .. } => Some(Cow::Borrowed(bytes)),
                BundledKind::Native(_) => None,
            }),
            Source::Installed(installed) => installed::bytes(installed).map(|it| Some(it.into())),
        }
    }

    /// Loads the plugin. Calls `engine` only if there is a component to load.
    ///
    /// # Errors
    /// Fails if there is no engine, if the component can't be loaded, or if an installed plugin
    /// differs from its lock.
    pub async fn load(
        &self,
        engine: impl FnOnce() -> Result<Engine, airlock_host::Error>,
    ) -> Result<Loaded, Error> {
        let plugin = match self {
            Source::File(path) => match made(path)? {
                Some(component) => Plugin::from_bytes(&engine()?, self.name(), component).await?,
                None => Plugin::load(&engine()?, path).await?,
            },
            Source::Bundled(bundled) => match bundled.kind {
                BundledKind::Component { bytes, .. } => {
                    Plugin::from_bytes(&engine()?, bundled.name, bytes).await?
                }
                BundledKind::Native(native) => return Ok(Loaded::Native(native())),
            },
            Source::Installed(installed) => installed::load(installed, &engine()?).await?,
        };
        Ok(Loaded::Plugin(plugin))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let bytes = read_regular_file(path, MAX_PLUGIN_BYTES);
    bytes.map_err(|error| {
        let path = path.to_owned();
        let source = Arc::new(error);
        LoadError::Read { path, source }.into()
    })
}

/// Returns whether a file is not a component itself, but one is made of it.
pub(crate) fn is_made(path: &Path) -> bool {
    is_tools_file(path) || module::is_core_module(path).unwrap_or(false)
}

/// Makes the component of a program or tools file. Other files are components themselves.
fn made(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    if is_tools_file(path) {
        return tools_file::component(path).map(Some);
    }
    Ok(module::component_of(path, MAX_PLUGIN_BYTES)?)
}

/// Returns a builder for a program's engine. It keeps compiled plugins in the user's own cache, and
/// compiles in another process of this program. So the program's `main` begins with
/// [`airlock_host::compile::compiler_main`].
pub fn engine(limits: Limits) -> EngineBuilder {
    let engine = Engine::builder().limits(limits);
    #[cfg(unix)]
    let engine = engine.compiler(this_program());
    match compile_cache() {
        Ok(cache) => engine.cache(cache),
        Err(error) => {
            tracing::warn!("there is no compile cache: {error}");
            engine
        }
    }
}

/// Opens the user's cache of compiled plugins.
///
/// # Errors
/// Fails if its folder can't be used.
pub fn compile_cache() -> io::Result<CompileCache> {
    match env::var_os("AIRLOCK_CACHE_DIR") {
        Some(folder) if !folder.is_empty() => CompileCache::of_user_in(Path::new(&folder), PROGRAM),
        _ => CompileCache::of_user(PROGRAM),
    }
}

/// Returns the program that compiles components and parses sources: this one, in other processes.
#[cfg(unix)]
pub fn this_program() -> PathBuf {
    // This leads to the running program, even if another one lies at its path by now.
    let running = PathBuf::from("/proc/self/exe");
    if running.exists() {
        running
    } else {
        // If that isn't known either, compiling reports the error.
        env::current_exe().unwrap_or_else(|_| PathBuf::from("airlock"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CATALOG: Catalog = Catalog::new(&[
        Bundled {
            name: "batch-rename",
            about: "",
            tools: &[],
            kind: BundledKind::Component {
                bytes: b"",
                record: "",
            },
        },
        Bundled {
            name: "ast_edit",
            about: "",
            tools: &[],
            kind: BundledKind::Component {
                bytes: b"",
                record: "",
            },
        },
    ]);

    #[test]
    fn a_plugin_is_a_path_or_a_bundled_name() {
        let check = |plugin: &str, expected: &str| {
            let found = match Source::find(CATALOG, &Locks::default(), OsStr::new(plugin)) {
                Ok(Source::File(path)) => format!("file {}", path.display()),
                Ok(Source::Bundled(bundled)) => format!("bundled {}", bundled.name),
                Ok(Source::Installed(installed)) => format!("installed {}", installed.entry.name),
                Err(_) => "nothing".to_owned(),
            };
            assert_eq!(found, expected, "{plugin}");
        };
        check("batch-rename", "bundled batch-rename");
        check("batch_rename", "bundled batch-rename");
        check("ast_edit", "bundled ast_edit");
        check("ast-edit", "bundled ast_edit");
        check("batch_rename.wasm", "file batch_rename.wasm");
        check("PLUGIN.WASM", "file PLUGIN.WASM");
        check("search.toml", "file search.toml");
        check("./batch-rename", "file ./batch-rename");
        // A file that is there: tests run in their crate's folder.
        check("Cargo.toml", "file Cargo.toml");
        check("ghcr.io/ann/dedupe:1", "nothing");
        check("https://example.com/x.wasm", "nothing");
        // A directory is none.
        check("src", "nothing");
        check("batch-renames", "nothing");
        check("", "nothing");
    }
}
