//! Files embedded in this program, so that authors need only their language's compiler: the world,
//! and the SDKs that are compiled with each tool.

/// Lists files below a folder with their names and texts.
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
    use std::path::Path;

    use super::*;

    #[test]
    fn the_whole_world_is_embedded() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("wit/0.1.0");
        let present = fs::read_dir(folder).unwrap();
        let mut present: Vec<_> = present
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        present.sort();
        let embedded: Vec<_> = WORLD.iter().map(|(name, _)| *name).collect();
        assert_eq!(embedded, present);
    }

    #[test]
    fn sdks_are_embedded_without_their_documents_and_tests() {
        let check = |sdk: &[(&str, &[u8])], expected: &[&str]| {
            let names: Vec<_> = sdk.iter().map(|(name, _)| *name).collect();
            for name in expected {
                assert!(names.contains(name), "{name} is missing: {names:?}");
            }
            for name in &names {
                let is_left_out = [".md", "_test.go", ".pyc"]
                    .iter()
                    .any(|end| name.ends_with(end));
                assert!(!is_left_out && !name.starts_with("tests/"), "{name}");
            }
        };
        check(
            sdks::C,
            &[
                "airlock.c",
                "airlock.h",
                "glob.c",
                "cjson/cJSON.c",
                "cjson/LICENSE",
            ],
        );
        check(
            sdks::GO,
            &["go.mod", "tool.go", "internal/wit/runtime/linked.s"],
        );
        check(
            sdks::PYTHON,
            &[
                "LICENSE",
                "pyproject.toml",
                "src/airlock_tool/py.typed",
                "src/airlock_tool/wit/world.wit",
            ],
        );
        check(
            sdks::RUST,
            &[
                "Cargo.toml.copy",
                "LICENSE",
                "src/lib.rs",
                "wit/0.1.0/world.wit",
            ],
        );
        check(sdks::TS, &["airlock-tool.tgz"]);
    }
}
