//! Finding the component to test, from a project or a component.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use airlock_author::build::{is_project, newer_than};
use airlock_render::{Line, Role, shell};

use super::Request;
use crate::commands::author::build::build_for;
use crate::failure::{Exit, Failure};
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::on_stderr;
use crate::terminal::progress::Progress;

/// The file with a project's cases.
pub const CASES: &str = "airlock-test.toml";

/// The folders of a project into which the languages' tools write a component.
const PLACES: [&str; 5] = [
    "target/wasm32-wasip2/release",
    "target/wasm32-wasip2/debug",
    "dist",
    "build",
    ".",
];

/// The component to test, and its cases.
#[derive(Debug)]
pub struct TestSubject {
    /// A file, or the name of a bundled plugin.
    pub component: OsString,
    pub cases: Vec<PathBuf>,
    /// The place for further cases, for people.
    pub place_for_cases: String,
    /// True if it was just built.
    pub built: bool,
}

/// Finds the component. If a project's component is out of date, builds it first, unless the
/// request says not to.
///
/// # Errors
/// If there is no component, or it can't be built.
pub async fn find(
    request: &Request,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<TestSubject, Failure> {
    let mut cases = request.cases.clone();
    if !request.subject.is_dir() {
        return Ok(TestSubject {
            component: request.subject.clone().into_os_string(),
            place_for_cases: place_for(&cases, "a file that `--cases FILE` names"),
            cases,
            built: false,
        });
    }
    let folder = &request.subject;
    let usual = folder.join(CASES);
    let place_for_cases = place_for(&cases, &usual.display().to_string());
    if cases.is_empty() && usual.exists() {
        cases.push(usual);
    }
    let there = newest_component(folder);
    let (component, built) = match why_build(request, there.as_deref()) {
        Some(why) => {
            let text = format!("building {}: {why}", folder.display());
            on_stderr(Line::new().with_role(Role::Faint, text));
            (build_for(folder, interrupt, progress).await?, true)
        }
        None => (there.ok_or_else(|| not_built(folder))?, false),
    };
    Ok(TestSubject {
        component: component.into_os_string(),
        place_for_cases,
        cases,
        built,
    })
}

fn place_for(cases: &[PathBuf], otherwise: &str) -> String {
    match cases.first() {
        Some(file) => file.display().to_string(),
        None => otherwise.to_owned(),
    }
}

/// Returns why a build is needed, for people. Returns `None` if it isn't, or if the request says
/// not to build.
fn why_build(request: &Request, component: Option<&Path>) -> Option<String> {
    let folder = &request.subject;
    if request.no_build || !is_project(folder) {
        return None;
    }
    let Some(component) = component else {
        return Some("it has no component yet".to_owned());
    };
    // Test cases and test reports don't affect the component.
    let report = request.junit.iter();
    let others: Vec<PathBuf> = report
        .chain(&request.cases)
        .chain([&folder.join(CASES)])
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    let leave_out = |path: &Path| path.canonicalize().is_ok_and(|path| others.contains(&path));
    let source = newer_than(component, folder, &leave_out)?;
    let component = component.strip_prefix(folder).unwrap_or(component);
    Some(format!(
        "{} is newer than {} (with --no-build, that is tested)",
        source.display(),
        component.display()
    ))
}

/// Returns the newest component in the usual places.
fn newest_component(folder: &Path) -> Option<PathBuf> {
    let components = PLACES
        .iter()
        .filter_map(|place| fs::read_dir(folder.join(place)).ok())
        .flat_map(|entries| entries.filter_map(Result::ok))
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "wasm"));
    components.max_by_key(|path| {
        let written = fs::metadata(path).and_then(|metadata| metadata.modified());
        // If two have the same time, the name decides, to be deterministic.
        (written.unwrap_or(SystemTime::UNIX_EPOCH), path.clone())
    })
}

fn not_built(folder: &Path) -> Failure {
    let message = format!("there is no component in {}", folder.display());
    let hint = match is_project(folder) {
        true => format!("build it first: `{}`", build_command(folder)),
        // This is the usual way to build a project that has a Makefile.
        false if folder.join("Makefile").exists() => format!(
            "build it first: `make -C {}`",
            shell::quote(&folder.to_string_lossy())
        ),
        false => format!(
            "looked in {}; name another folder, or a file: `airlock test FILE`",
            PLACES.join(", ")
        ),
    };
    Failure::new(Exit::NotLoaded, "not-built", message).with_hint(hint)
}

fn build_command(folder: &Path) -> String {
    if folder == Path::new(".") {
        "airlock build".to_owned()
    } else {
        shell::join(["airlock", "build", &*folder.to_string_lossy()])
    }
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
    fn where_nothing_is_built_it_is_told_what_to_do() {
        let folder = TempDir::new().unwrap();
        let hint = |folder: &Path| not_built(folder).object().hint.map(str::to_owned).unwrap();
        assert!(hint(folder.path()).contains("looked in target/wasm32-wasip2/release"));
        fs::write(folder.path().join("Makefile"), "").unwrap();
        assert!(hint(folder.path()).contains("`make -C "));
        fs::write(folder.path().join("Cargo.toml"), "").unwrap();
        let text = hint(folder.path());
        let command = format!("airlock build {}", folder.path().display());
        assert!(text.contains(&command), "{text}");
    }
}
