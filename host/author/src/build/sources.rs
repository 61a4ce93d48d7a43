//! Distinguishes sources from other files of a project.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

/// Folders without sources, which may be large.
const NO_SOURCES: [&str; 5] = ["build", "target", "node_modules", "__pycache__", "dist"];

/// Extensions of sources that are next to a project's manifest. Other files there may be test data
/// for the tool.
const ENDINGS: [&str; 19] = [
    "c", "cjs", "cts", "go", "h", "js", "json", "lock", "mjs", "mod", "mts", "py", "rs", "s",
    "sum", "toml", "ts", "tsx", "wit",
];

/// Returns whether no part of a path is hidden or known to hold other files.
pub fn holds_sources(below: &Path) -> bool {
    below.components().all(|part| match part {
        Component::Normal(name) => {
            let name = name.to_string_lossy();
            !name.starts_with('.') && !NO_SOURCES.contains(&name.as_ref())
        }
        _ => true,
    })
}

/// Returns the project's most recently changed source that is newer than its component, as a path
/// relative to the project's folder. Ignores components, files that `leave_out` matches, and files
/// next to the manifest that are not code.
///
/// Sources outside of the folder, and folders linked into it, are not checked.
pub fn newer_than(
    component: &Path,
    folder: &Path,
    leave_out: &dyn Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let written = changed(component)?;
    let (at, path) = latest(folder, Path::new(""), leave_out)?;
    (at > written).then_some(path)
}

fn latest(
    folder: &Path,
    below: &Path,
    leave_out: &dyn Fn(&Path) -> bool,
) -> Option<(SystemTime, PathBuf)> {
    let entries = fs::read_dir(folder.join(below)).ok()?;
    let sources = entries
        .flatten()
        .filter(|entry| holds_sources(Path::new(&entry.file_name())));
    let latest = sources.filter_map(|entry| {
        let path = below.join(entry.file_name());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => latest(folder, &path, leave_out),
            _ if is_component(&path) || leave_out(&entry.path()) => None,
            _ if below == Path::new("") && !is_code(&path) => None,
            _ => Some((changed(&entry.path())?, path)),
        }
    });
    latest.max()
}

fn is_component(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "wasm")
}

fn is_code(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.contains(&ending))
}

/// Returns when a file's contents changed. Links are followed.
fn changed(file: &Path) -> Option<SystemTime> {
    let metadata = fs::metadata(file).ok()?;
    metadata.is_file().then(|| metadata.modified().ok())?
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn the_last_change_of_a_source_is_found() {
        let folder = TempDir::new().unwrap();
        let write = |path: &str, age: u64| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let file = fs::File::create(&path).unwrap();
            let time = SystemTime::now() - Duration::from_secs(age);
            file.set_modified(time).unwrap();
        };
        let found = || {
            let component = folder.path().join("build/tool.wasm");
            newer_than(&component, folder.path(), &|path| {
                path.ends_with("cases.toml")
            })
        };
        write("src/tool.c", 10);
        assert_eq!(found(), None, "there is no component to compare with");
        write("build/tool.wasm", 100);
        assert_eq!(found(), Some(PathBuf::from("src/tool.c")));
        write("src/tool.c", 200);
        for other in [
            "build/generated/core.c",
            "target/debug/x",
            "node_modules/a/index.js",
            "old.wasm",
            ".git/index",
            "cases.toml",
            "notes.txt",
        ] {
            write(other, 1);
            assert_eq!(found(), None, "{other}");
        }
        write("Cargo.toml", 50);
        write("tests/files/a.txt", 40);
        assert_eq!(found(), Some(PathBuf::from("tests/files/a.txt")));
    }
}
