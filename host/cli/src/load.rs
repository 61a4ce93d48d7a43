//! From the argument PLUGIN to a plugin.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs;
use std::path::{self, Path};

use airlock_host::{Engine, Limits, LoadError, Plugin};

use crate::bundled::{self, Bundled};
use crate::cache;
use crate::failure::{Exit, Failure};
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::sanitize;

/// One session at a time runs here, so that a pool for a server's load would be a waste. Room for components of many
/// memories is left.
const LIVE_INSTANCES: u32 = 32;

/// What PLUGIN means.
#[derive(Debug, PartialEq, Eq)]
enum Source<'a> {
    File(&'a Path),
    Bundled(&'static Bundled),
}

/// Finds, compiles and checks a plugin.
pub async fn load(
    plugin: &OsStr,
    limits: Limits,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<Plugin, Failure> {
    let source = Source::find(plugin)?;
    let engine = engine(limits)?;
    let what = format!("Compiling {}…", sanitize::line(&source.name()));
    let loading = progress.during(what, source.load(&engine));
    match interrupt.token().run_until_cancelled(loading).await {
        Some(loaded) => Ok(loaded?),
        None => Err(Failure::interrupted()),
    }
}

/// The component's bytes, where they can be read.
pub fn bytes(plugin: &OsStr) -> Option<Cow<'static, [u8]>> {
    match Source::find(plugin).ok()? {
        Source::File(path) => fs::read(path).ok().map(Cow::Owned),
        Source::Bundled(bundled) => Some(Cow::Borrowed(bundled.component)),
    }
}

/// What plugins run on, with the user's compile cache.
pub fn engine(limits: Limits) -> Result<Engine, Failure> {
    let mut engine = Engine::builder()
        .limits(limits)
        .live_instances(LIVE_INSTANCES);
    if let Some(cache) = cache::open() {
        engine = engine.cache(cache);
    }
    Ok(engine.build()?)
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

    fn name(&self) -> String {
        match self {
            Source::File(path) => path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            Source::Bundled(bundled) => bundled.name.to_owned(),
        }
    }

    async fn load(&self, engine: &Engine) -> Result<Plugin, LoadError> {
        match self {
            Source::File(path) => Plugin::load(engine, path).await,
            Source::Bundled(bundled) => {
                Plugin::from_bytes(engine, bundled.name, bundled.component).await
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_is_a_path_or_a_bundled_name() {
        let check = |plugin: &str, expected: Option<Source>| {
            assert_eq!(Source::find(OsStr::new(plugin)).ok(), expected, "{plugin}");
        };
        let bundled = || bundled::find("batch-rename").map(Source::Bundled);
        check("batch-rename", bundled());
        check("batch_rename", bundled());
        check(
            "batch_rename.wasm",
            Some(Source::File(Path::new("batch_rename.wasm"))),
        );
        check("PLUGIN.WASM", Some(Source::File(Path::new("PLUGIN.WASM"))));
        check(
            "./batch-rename",
            Some(Source::File(Path::new("./batch-rename"))),
        );
        // A file that is there: tests run in their crate's folder.
        check("Cargo.toml", Some(Source::File(Path::new("Cargo.toml"))));
        // A directory is none.
        check("src", None);
        check("batch-renames", None);
        check("", None);
    }
}
