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

pub const SDK_C: &[(&str, &str)] = &[
    ("airlock.h", include_str!("../../sdk/c/airlock.h")),
    ("airlock.c", include_str!("../../sdk/c/airlock.c")),
    ("glob.c", include_str!("../../sdk/c/glob.c")),
    ("cJSON.h", include_str!("../../sdk/c/cjson/cJSON.h")),
    ("cJSON.c", include_str!("../../sdk/c/cjson/cJSON.c")),
];

pub const SDK_GO: &[(&str, &str)] = files!("../../sdk/go":
    "call.go",
    "dispatch.go",
    "doc.go",
    "errors.go",
    "glob.go",
    "go.mod",
    "internal/bindings/export_airlock_tool_resolver/resolver.go",
    "internal/bindings/export_airlock_tool_tool/tool.go",
    "internal/guest/guest.go",
    "internal/wasm/lower/lower.go",
    "internal/wasm/wasm.go",
    "internal/wit/runtime/linked.s",
    "internal/wit/runtime/runtime.go",
    "internal/wit/types/types.go",
    "json.go",
    "log.go",
    "panic.go",
    "resolution.go",
    "result.go",
    "schema.go",
    "schema_tag.go",
    "tool.go",
    "wasip1.go",
);

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;

    /// The files of a folder of this package, with their paths from there.
    fn present(folder: &str, wanted: &dyn Fn(&str) -> bool) -> Vec<String> {
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
            .filter(|name| wanted(name))
            .collect();
        names.sort();
        names
    }

    fn embedded(files: &[(&str, &str)]) -> Vec<String> {
        let mut names: Vec<_> = files.iter().map(|(name, _)| (*name).to_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn nothing_of_the_world_and_the_sdks_is_left_out() {
        assert_eq!(embedded(WORLD), present("wit/0.1.0", &|_| true));
        assert_eq!(embedded(SDK_GO), present("sdk/go", &|_| true));
        assert_eq!(
            SDK_C.len(),
            present("sdk/c", &|name| name.ends_with(['c', 'h'])).len()
        );
    }
}
