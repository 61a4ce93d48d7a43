//! One suite of cases for the same tool in every language: tests/conformance/README.md says what
//! the tool does, and what a case is.
//!
//! Each case is a test for each language, named `<language>::<file>::<case>`.

mod broken;
mod case;
mod compare;
mod language;
mod play;
mod rules;

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use libtest_mimic::{Arguments, Failed, Trial};
use tokio::runtime::Runtime;

use case::Case;
use language::Language;

/// Each is a folder beside the cases.
const LANGUAGES: [&str; 5] = ["c", "go", "python", "rust", "ts"];

fn main() {
    let arguments = Arguments::from_args();
    libtest_mimic::run(&arguments, trials()).exit();
}

fn trials() -> Vec<Trial> {
    let cases = case::read_all(&folder().join("cases"));
    let mut trials = vec![
        Trial::test("languages_are_listed", languages_are_listed),
        Trial::test("wrong_cases_fail", || on_runtime(wrong_cases_fail())),
        Trial::test("rules_name_tests_that_exist", {
            let cases = cases.clone();
            move || rules_name_tests_that_exist(&cases)
        }),
    ];
    trials.push(Trial::test(
        "patches_that_break_rules_fit_the_sources",
        || Ok(broken::check(&folder())?),
    ));
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
    if found == listed {
        Ok(())
    } else {
        Err(format!("the folders with a `build` are {found:?}, LANGUAGES has {listed:?}").into())
    }
}

/// A runner that finds fault with nothing would pass every case.
async fn wrong_cases_fail() -> Result<(), String> {
    let language = Language::new("rust");
    for case in case::read(&folder().join("wrong.json")) {
        if play::play(&language, &case).await.is_ok() {
            return Err(format!("the wrong case {} passed", case.name));
        }
    }
    Ok(())
}

fn rules_name_tests_that_exist(cases: &[(String, Case)]) -> Result<(), Failed> {
    let page = std::fs::read_to_string(folder().join("RULES.md")).expect("the rules");
    rules::check(&page, cases)?;
    // A check that finds nothing missing would accept any page.
    for wrong in [
        "",
        "| rule | held by |",
        "| Nothing holds it. | |",
        "| Nothing holds it. | by hand |",
        "| A case. | `conformance::applying::no_such_case` |",
        "| A test. | `host::resolving::failing::no_such_test` |",
        "| A test. | `host::no_such_file::a_failed_apply` |",
        "| A helper. | `host::resolving::failing::faults` |",
        "| A helper. | `host::durable::leases::claim` |",
        "| A name alone. | `an_apply_may_succeed_at_a_later_attempt` |",
    ] {
        if rules::check(wrong, cases).is_ok() {
            return Err(format!("this page was accepted: {wrong}").into());
        }
    }
    Ok(())
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance")
}
