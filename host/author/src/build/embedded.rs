//! What is part of this program, so that authors need only their language's compiler: the world,
//! and the SDKs that are compiled with each tool.

/// Files below a folder, as their names and texts.
macro_rules! files {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!($folder, "/", $name)))),+]
    };
}

pub const WORLD: &[(&str, &str)] = files!("../../wit/0.1.0":
    "host.wit",
    "pending-actions.wit",
    "resolver.wit",
    "tool.wit",
    "types.wit",
    "world.wit",
);

/// The files of each SDK, as `build.rs` found them.
pub mod sdks {
    include!(concat!(env!("OUT_DIR"), "/sdks.rs"));
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;

    /// The files of a folder of this package, with their paths from there.
    fn present(folder: &str) -> Vec<String> {
        fn visit(folder: &Path, below: &Path, found: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder.join(below)).unwrap() {
                let path = below.join(entry.unwrap().file_name());
                match folder.join(&path).is_dir() {
                    true => visit(folder, &path, found),
                    false => found.push(path),
                }
            }
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let mut found = Vec::new();
        visit(&root, Path::new(""), &mut found);
        let mut names: Vec<_> = found
            .iter()
            .map(|path| path.to_str().unwrap().to_owned())
            .collect();
        names.sort();
        names
    }

    fn embedded<T>(files: &[(&str, T)]) -> Vec<String> {
        let mut names: Vec<_> = files.iter().map(|(name, _)| (*name).to_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn nothing_of_the_world_and_the_sdks_is_left_out() {
        assert_eq!(embedded(WORLD), present("wit/0.1.0"));
        assert_eq!(embedded(sdks::C), present("sdk/c"));
        assert_eq!(embedded(sdks::GO), present("sdk/go"));
        assert_eq!(embedded(sdks::PYTHON), present("sdk/python"));
        assert_eq!(embedded(sdks::RUST), present("sdk/rust"));
        assert_eq!(embedded(sdks::TS), present("sdk/ts"));
    }
}
