//! One suite of cases for the same tool in every language: tests/conformance/README.md says what the tool does, and what a case is.
//!
//! Each case is a test for each language, named `<language>::<file>::<case>`.

mod case;
mod compare;
mod language;
mod play;

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use libtest_mimic::{Arguments, Failed, Trial};
use tokio::runtime::Runtime;

use language::Language;

/// Each is a folder beside the cases.
const LANGUAGES: [&str; 2] = ["rust", "ts"];

fn main() {
    let arguments = Arguments::from_args();
    libtest_mimic::run(&arguments, trials()).exit();
}

fn trials() -> Vec<Trial> {
    let cases = case::read_all(&folder().join("cases"));
    let mut trials = vec![Trial::test("languages_are_listed", languages_are_listed)];
    for name in LANGUAGES {
        let language = Arc::new(Language::new(name));
        // Without a component, one failure says how to build it, instead of one for each case.
        let is_built = language.is_built();
        let loaded = Arc::clone(&language);
        let load = move || on_runtime(async move { loaded.plugin().await.map(drop) });
        trials.push(Trial::test(format!("{name}::component"), load));
        for (file, case) in cases.iter().filter(|_| is_built) {
            let (language, case) = (Arc::clone(&language), case.clone());
            let name = format!("{name}::{file}::{}", case.name);
            let play = move || on_runtime(async move { play::play(&language, &case).await });
            trials.push(Trial::test(name, play));
        }
    }
    trials
}

fn on_runtime(
    test: impl Future<Output = Result<(), String>> + Send + 'static,
) -> Result<(), Failed> {
    static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("a runtime"));
    let ended = RUNTIME.block_on(RUNTIME.spawn(test));
    Ok(ended.map_err(|panicked| panicked.to_string())??)
}

/// A folder that has a `build`, and isn't in the list, would never be tested.
fn languages_are_listed() -> Result<(), Failed> {
    let mut found: Vec<String> = std::fs::read_dir(folder())
        .expect("the suite's folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.join("build").is_file())
        .map(|path| path.file_name().expect("a name").display().to_string())
        .collect();
    found.sort();
    let mut listed = LANGUAGES;
    listed.sort_unstable();
    match found == listed {
        true => Ok(()),
        false => Err(
            format!("the folders with a `build` are {found:?}, LANGUAGES has {listed:?}").into(),
        ),
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance")
}
