//! From a project or a component to what is to be tested.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::args::TestArgs;
use crate::failure::{Exit, Failure};
use crate::shell;

/// Where cases are, in a project.
pub const CASES: &str = "airlock-test.toml";

/// Where the tools of the languages put a component, in a project.
const PLACES: [&str; 5] = [
    "target/wasm32-wasip2/release",
    "target/wasm32-wasip2/debug",
    "dist",
    "build",
    ".",
];

/// What is to be tested.
#[derive(Debug)]
pub struct Found {
    /// A file, or the name of a bundled plugin.
    pub component: OsString,
    pub cases: Vec<PathBuf>,
}

/// # Errors
/// Where a project has no component yet.
pub fn find(args: &TestArgs) -> Result<Found, Failure> {
    let mut cases = args.cases.clone();
    if !args.subject.is_dir() {
        let component = args.subject.clone().into_os_string();
        return Ok(Found { component, cases });
    }
    let folder = &args.subject;
    let usual = folder.join(CASES);
    if cases.is_empty() && usual.exists() {
        cases.push(usual);
    }
    match newest_component(folder) {
        Some(component) => Ok(Found {
            component: component.into_os_string(),
            cases,
        }),
        None => Err(not_built(folder)),
    }
}

/// The one that was written last, of those in the usual places.
fn newest_component(folder: &Path) -> Option<PathBuf> {
    let components = PLACES
        .iter()
        .filter_map(|place| fs::read_dir(folder.join(place)).ok())
        .flat_map(|entries| entries.filter_map(Result::ok))
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "wasm"));
    components.max_by_key(|path| {
        let written = fs::metadata(path).and_then(|metadata| metadata.modified());
        // Where two are of one moment, the name decides, so that it is always the same.
        (written.unwrap_or(SystemTime::UNIX_EPOCH), path.clone())
    })
}

fn not_built(folder: &Path) -> Failure {
    let message = format!("there is no component in {}", folder.display());
    let hint = match build_command(folder) {
        Some(command) => format!("build it first: {command}"),
        None => format!(
            "build it first; looked in {}; or name a file: `airlock test FILE`",
            PLACES.join(", ")
        ),
    };
    Failure::new(Exit::NotLoaded, "not-built", message).with_hint(hint)
}

fn build_command(folder: &Path) -> Option<String> {
    // What marks a project that `airlock build` builds, and what others are built by.
    let marks = [
        ("airlock.toml", "airlock build"),
        ("Cargo.toml", "airlock build"),
        ("package.json", "airlock build"),
        ("pyproject.toml", "airlock build"),
        ("go.mod", "airlock build"),
        ("src/tool.c", "airlock build"),
        ("Makefile", "make"),
    ];
    let (_, command) = marks.iter().find(|(file, _)| folder.join(file).exists())?;
    Some(match folder == Path::new(".") {
        true => format!("`{command}`"),
        false => format!(
            "`cd {} && {command}`",
            shell::quote(&folder.to_string_lossy())
        ),
    })
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn the_newest_component_of_a_project_is_found() {
        let folder = TempDir::new().unwrap();
        assert_eq!(newest_component(folder.path()), None);
        let write = |path: &str, age: u64| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let file = fs::File::create(&path).unwrap();
            let written = SystemTime::now() - std::time::Duration::from_secs(age);
            file.set_modified(written).unwrap();
            path
        };
        write("dist/old.wasm", 500);
        write("dist/newer.txt", 1);
        let debug = write("target/wasm32-wasip2/debug/it.wasm", 100);
        assert_eq!(newest_component(folder.path()), Some(debug));
        let release = write("target/wasm32-wasip2/release/it.wasm", 50);
        write("target/wasm32-wasip2/release/deps/it.wasm", 1);
        assert_eq!(newest_component(folder.path()), Some(release));
    }

    #[test]
    fn a_project_that_is_not_built_is_told_how() {
        let folder = TempDir::new().unwrap();
        let hint = |folder: &Path| not_built(folder).to_json()["hint"].to_string();
        assert!(hint(folder.path()).contains("looked in target/wasm32-wasip2/release"));
        fs::write(folder.path().join("Makefile"), "").unwrap();
        assert!(hint(folder.path()).contains(" && make`"));
        fs::write(folder.path().join("pyproject.toml"), "").unwrap();
        assert!(hint(folder.path()).contains(" && airlock build`"));
    }
}
