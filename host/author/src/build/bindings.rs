//! The world, and the bindings generated from it.

use std::path::Path;

use anyhow::Context;
use wit_bindgen_core::Files;
use wit_bindgen_core::wit_parser::{Resolve, SourceMap, WorldId};

use super::embedded;
use super::toolchain::failed;
use crate::error::Error;

/// The world of plugins, in the version that this program hosts.
pub struct World {
    pub resolve: Resolve,
    pub id: WorldId,
}

impl World {
    /// Reads the world from the files embedded in this program.
    ///
    /// # Errors
    /// If they are damaged.
    pub fn read() -> Result<Self, Error> {
        Self::parse()
            .context("the world of this program is damaged")
            .map_err(failed)
    }

    fn parse() -> anyhow::Result<Self> {
        let mut sources = SourceMap::new();
        for (name, text) in embedded::WORLD {
            sources.push_str(name, *text);
        }
        let group = sources.parse().map_err(|(_, error)| error)?;
        let mut resolve = Resolve::default();
        let package = resolve.push_group(group)?;
        let id = resolve.select_world(&[package], Some("custom-tool"))?;
        Ok(Self { resolve, id })
    }

    /// Generates C bindings: a header, a source, and an object that identifies the world.
    ///
    /// # Errors
    /// If the generator fails.
    pub fn for_c(&self) -> Result<Files, Error> {
        self.generate(wit_bindgen_c::Opts::default().build())
    }

    /// Generates Go bindings: packages below `package`.
    ///
    /// # Errors
    /// If the generator fails.
    pub fn for_go(&self, package: &str) -> Result<Files, Error> {
        let options = wit_bindgen_go::Opts {
            // The files are not edited by hand, and formatting requires another program.
            format: wit_bindgen_go::Format::False,
            pkg_name: Some(package.to_owned()),
            ..wit_bindgen_go::Opts::default()
        };
        self.generate(options.build())
    }

    fn generate(
        &self,
        mut generator: Box<dyn wit_bindgen_core::WorldGenerator>,
    ) -> Result<Files, Error> {
        let mut files = Files::default();
        generator
            .generate(&mut self.resolve.clone(), self.id, &mut files)
            .context("could not generate bindings")
            .map_err(failed)?;
        Ok(files)
    }
}

/// Writes a generated file, unless it already has these contents, so that builders see no change.
///
/// # Errors
/// If it can't be written.
pub fn write(path: &Path, contents: &[u8]) -> Result<(), Error> {
    if std::fs::read(path).is_ok_and(|present| present == contents) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(path, contents))
        .with_context(|| format!("could not write {}", path.display()))
        .map_err(|error| Error::machine(error).with_advice("check the folder's permissions"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_world_has_bindings_in_each_language() {
        let names = |files: Files| -> Vec<String> {
            files.iter().map(|(name, _)| name.to_owned()).collect()
        };
        let world = World::read().unwrap();
        let c = names(world.for_c().unwrap());
        assert!(c.contains(&"custom_tool.h".to_owned()), "{c:?}");
        let go = names(world.for_go("example/bindings").unwrap());
        assert!(
            go.contains(&"wit_exports/wit_exports.go".to_owned()),
            "{go:?}"
        );
    }
}
