//! From the argument PLUGIN to what it names.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{self, Path, PathBuf};

use airlock_host::{Engine, Error, Limits, LoadError, Plugin, read_regular_file};

use crate::bundled::{self, Bundled, Form};
use crate::cache;
use crate::failure::{Exit, Failure};
use crate::interrupt::Interrupt;
use crate::loaded::Loaded;
use crate::progress::Progress;

/// One session at a time runs here, so that a pool for a server's load would be a waste. Room for components of many
/// memories is left.
const LIVE_INSTANCES: u32 = 32;

/// A larger file is no plugin that was loaded.
const MOST_PLUGIN_BYTES: u64 = 1 << 30;

/// What PLUGIN means.
#[derive(Debug)]
enum Source<'a> {
    File(&'a Path),
    Bundled(&'static Bundled),
}

/// Finds what is meant; a plugin is compiled and checked.
pub async fn load(
    plugin: &OsStr,
    limits: Limits,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<Loaded, Failure> {
    let source = Source::find(plugin)?;
    let component = match &source {
        Source::File(path) => Component::File(path),
        Source::Bundled(bundled) => match bundled.form {
            Form::Component(bytes) => Component::Bytes(bundled.name, bytes),
            #[cfg(feature = "ast-edit")]
            Form::Native(native) => return Ok(Loaded::Native(native())),
        },
    };
    let engine = engine(limits)?;
    let what = format!("Compiling {}…", component.name());
    let loading = progress.during(what, component.load(&engine));
    match interrupt.token().run_until_cancelled(loading).await {
        Some(loaded) => Ok(Loaded::Plugin(loaded?)),
        None => Err(Failure::interrupted()),
    }
}

/// The component's bytes, where they can be read.
pub fn bytes(plugin: &OsStr) -> Option<Cow<'static, [u8]>> {
    match Source::find(plugin).ok()? {
        Source::File(path) => read_regular_file(path, MOST_PLUGIN_BYTES)
            .ok()
            .map(Cow::Owned),
        Source::Bundled(bundled) => match bundled.form {
            Form::Component(bytes) => Some(Cow::Borrowed(bytes)),
            #[cfg(feature = "ast-edit")]
            Form::Native(_) => None,
        },
    }
}

/// What plugins run on, with the user's compile cache.
pub fn engine(limits: Limits) -> Result<Engine, Error> {
    let mut engine = bundled::reserve_names(Engine::builder())
        .limits(limits)
        .live_instances(LIVE_INSTANCES);
    if let Some(cache) = cache::open() {
        engine = engine.cache(cache);
    }
    #[cfg(unix)]
    {
        engine = engine.compiler(this_program());
    }
    engine.build()
}

/// What compiles components: this program, in another process.
#[cfg(unix)]
fn this_program() -> PathBuf {
    // This leads to the very program that runs, though another may lie at its path by now.
    let running = PathBuf::from("/proc/self/exe");
    match running.exists() {
        true => running,
        // Where that is not known either, the error says so when something is to be compiled.
        false => std::env::current_exe().unwrap_or_else(|_| PathBuf::from("airlock")),
    }
}

impl<'a> Source<'a> {
    fn find(plugin: &'a OsStr) -> Result<Self, Failure> {
        let path = Path::new(plugin);
        let name = plugin.to_string_lossy();
        let means_a_path = name.contains(path::is_separator)
            || path
                .extension()
                .is_some_and(|extension| extension.eq_ignore_ascii_case("wasm"))
            || path.is_file();
        if means_a_path {
            return Ok(Source::File(path));
        }
        bundled::find(&name).map(Source::Bundled).ok_or_else(|| {
            let message = format!("there is no bundled plugin `{name}`, and no such file here");
            let hint = format!(
                "bundled: {}; a path to a plugin ends in .wasm",
                bundled::names()
            );
            Failure::new(Exit::NotLoaded, "unknown-plugin", message).with_hint(hint)
        })
    }
}

/// Where a plugin's bytes are.
enum Component<'a> {
    File(&'a Path),
    Bytes(&'static str, &'static [u8]),
}

impl Component<'_> {
    fn name(&self) -> String {
        match self {
            Component::File(path) => path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            Component::Bytes(name, _) => (*name).to_owned(),
        }
    }

    async fn load(&self, engine: &Engine) -> Result<Plugin, LoadError> {
        match self {
            Component::File(path) => Plugin::load(engine, path).await,
            Component::Bytes(name, bytes) => Plugin::from_bytes(engine, *name, *bytes).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_is_a_path_or_a_bundled_name() {
        let check = |plugin: &str, expected: &str| {
            let found = match Source::find(OsStr::new(plugin)) {
                Ok(Source::File(path)) => format!("file {}", path.display()),
                Ok(Source::Bundled(bundled)) => format!("bundled {}", bundled.name),
                Err(_) => "nothing".to_owned(),
            };
            assert_eq!(found, expected, "{plugin}");
        };
        check("batch-rename", "bundled batch-rename");
        check("batch_rename", "bundled batch-rename");
        #[cfg(feature = "ast-edit")]
        check("ast_edit", "bundled ast_edit");
        #[cfg(feature = "ast-edit")]
        check("ast-edit", "bundled ast_edit");
        check("batch_rename.wasm", "file batch_rename.wasm");
        check("PLUGIN.WASM", "file PLUGIN.WASM");
        check("./batch-rename", "file ./batch-rename");
        // A file that is there: tests run in their crate's folder.
        check("Cargo.toml", "file Cargo.toml");
        // A directory is none.
        check("src", "nothing");
        check("batch-renames", "nothing");
        check("", "nothing");
    }
}
