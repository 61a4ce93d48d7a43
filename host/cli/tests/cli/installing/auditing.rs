//! `airlock audit`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{Place, SAY};
use crate::airlock::ProgramOutput;

impl Place {
    /// Runs the tool `keep` of a plugin, which writes a file, in the workspace or another one.
    #[track_caller]
    fn keep(&self, plugin: &str, file: &str, args: &[&str]) -> ProgramOutput {
        let line = ["run", plugin, "keep", "--file", file, "--text", "x"];
        self.done(&[&line[..], args].concat())
    }

    fn audit(&self) -> Value {
        self.json(&["audit"])
    }

    /// Installs a tools file that has the name `say`.
    #[track_caller]
    fn install_say(&self, tools: &str) -> String {
        let file = self.tools("say", tools);
        self.done(&["install", &file, "--yes"]);
        file
    }
}

/// The state and text of each finding about this part.
fn findings(audited: &Value, part: &str) -> Vec<String> {
    let all = audited["findings"].as_array().unwrap().iter();
    let text = |it: &Value, name: &str| it[name].as_str().unwrap().to_owned();
    let of_part = all.filter(|it| it["part"] == part);
    let lines = of_part.map(|it| format!("{}: {}", text(it, "state"), text(it, "text")));
    lines.collect()
}

/// The numbers of pending, applied and discarded actions.
fn counts(activity: &Value) -> [u64; 3] {
    let count = |path: &str| activity.pointer(path).and_then(Value::as_u64).unwrap();
    let counts = ["/pending", "/applied/count", "/discarded/count"].map(count);
    assert_eq!(
        count("/actions"),
        counts.iter().sum::<u64>(),
        "{activity:#}"
    );
    for decision in ["applied", "discarded"] {
        let by = activity[decision]["by"].as_object().unwrap().values();
        let by: u64 = by.map(|it| it.as_u64().unwrap()).sum();
        assert_eq!(activity[decision]["count"], json!(by), "{activity:#}");
    }
    counts
}

#[test]
fn a_plugin_without_actions_is_reported_as_unused() {
    let place = Place::new();
    let nothing = place.done(&["audit"]).stdout;
    assert!(nothing.contains("No installed plugin"), "{nothing}");

    let file = place.install_say(SAY);
    let audited = place.audit();
    let plugin = &audited["plugins"][0];
    assert_eq!(plugin["name"], "say");
    let described = plugin["grants"]["description"].as_str().unwrap();
    let granted = "workspace: read docs/, and change docs/ while applying";
    assert!(described.starts_with(granted), "{described}");
    assert_eq!(plugin["unused"], true);
    assert_eq!(plugin["unusedChanges"], json!(["docs/"]));
    assert_eq!(counts(&plugin["activity"]), [0, 0, 0]);
    assert_eq!(plugin["activity"]["first"], Value::Null);
    assert_eq!(audited["others"], json!([]));
    let found = findings(&audited, "plugin");
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(
        found[0].starts_with("note: say has no action"),
        "{found:#?}"
    );
    let shown = place.done(&["audit"]).stdout;
    for part in [
        &*file,
        granted,
        "none in this store",
        "`airlock uninstall say`",
    ] {
        assert!(shown.contains(part), "no {part:?} in {shown}");
    }
}

#[test]
fn actions_are_counted_by_decision_and_changed_files() {
    let place = Place::new();
    let wide = SAY.replace("change = [\"docs/\"]", "change = [\"docs/\", \"notes/\"]");
    place.install_say(&wide);
    fs::create_dir_all(place.path("other/docs")).unwrap();
    let other = place.path("other");
    let elsewhere = ["--workspace", other.to_str().unwrap()];
    let apply = ["--apply", "a test says so"];

    place.keep("say", "docs/a", &apply);
    place.keep("say", "docs/b", &apply);
    // The same path is another file in another workspace.
    place.keep("say", "docs/a", &[&elsewhere[..], &apply].concat());
    place.keep("say", "notes/c", &["--discard", "a test says so"]);
    place.keep("say", "docs/d", &[]);
    place.keep("say", "docs/e", &elsewhere);
    // A call without an action.
    place.check_says("say");

    let audited = place.audit();
    let plugin = &audited["plugins"][0];
    let activity = &plugin["activity"];
    assert_eq!(counts(activity), [2, 3, 1]);
    assert_eq!(activity["denied"], 0);
    assert_eq!(activity["files"]["count"], 3, "{activity:#}");
    assert_eq!(activity["files"]["unknown"], 0);
    let latest = activity["files"]["latest"].as_array().unwrap().iter();
    let latest: Vec<&str> = latest.map(|it| it["path"].as_str().unwrap()).collect();
    assert_eq!(latest, ["docs/a", "docs/b", "docs/a"]);
    let workspace = activity["files"]["latest"][0]["workspace"].as_str();
    assert!(workspace.unwrap().ends_with("/other"), "{activity:#}");
    assert!(activity["first"].as_str() <= activity["last"].as_str());
    assert_eq!(plugin["unused"], false);
    // A discarded action and a pending one have changed nothing.
    assert_eq!(plugin["unusedChanges"], json!(["notes/"]));
    assert_eq!(findings(&audited, "plugin"), [""; 0]);
    let shown = place.done(&["audit"]).stdout;
    for part in [
        "pending   2",
        "applied   3",
        "3 changed",
        "no change of notes/ is known",
    ] {
        assert!(shown.contains(part), "no {part:?} in {shown}");
    }
}

#[test]
fn actions_belong_to_the_component_that_pushed_them() {
    let place = Place::new();
    let file = place.install_say(SAY);
    let apply = ["--apply", "a test says so"];
    place.keep("say", "docs/a", &apply);
    place.tools("say", &SAY.replace("Says", "Shouts"));
    place.done(&["update", "say", "--yes"]);
    place.keep("say", "docs/b", &[]);
    let plugin = &place.audit()["plugins"][0];
    assert_eq!(counts(&plugin["activity"]), [1, 0, 0]);
    assert_eq!(counts(&plugin["otherVersions"]), [0, 1, 0]);
    assert_eq!(plugin["unused"], false);
    // The earlier version has used the grant.
    assert_eq!(plugin["unusedChanges"], json!([]));

    // The same component from its file has the file's name.
    place.done(&["uninstall", "say"]);
    place.done(&["install", &file, "--as", "tidy", "--yes"]);
    place.keep(&file, "docs/c", &apply);
    let audited = place.audit();
    assert_eq!(audited["plugins"][0]["name"], "tidy");
    assert_eq!(audited["plugins"][0]["unused"], true);
    let others = audited["others"].as_array().unwrap();
    let mut kinds: Vec<&str> = others
        .iter()
        .map(|it| it["kind"].as_str().unwrap())
        .collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["named-differently", "not-installed"]);
}

#[test]
fn actions_of_a_plugin_that_is_not_installed_are_reported() {
    let place = Place::new();
    place.install_say(SAY);
    place.keep("say", "docs/a", &["--apply", "a test says so"]);
    place.keep("say", "docs/b", &[]);
    place.done(&["uninstall", "say"]);
    let audited = place.audit();
    assert_eq!(audited["plugins"], json!([]));
    let other = &audited["others"][0];
    assert_eq!(other["name"], "say");
    assert_eq!(other["kind"], "not-installed");
    assert_eq!(counts(&other["activity"]), [1, 1, 0]);
    let found = findings(&audited, "plugin");
    assert_eq!(found.len(), 1, "{found:#?}");
    let text = "has 2 actions and is not installed";
    assert!(
        found[0].starts_with("note: say (") && found[0].contains(text),
        "{found:#?}"
    );
}

#[test]
fn a_missing_or_damaged_component_is_wrong() {
    let place = Place::new();
    place.install_say(SAY);
    let component = place.components().remove(0);
    let component = place.path("etc/airlock-plugins/components").join(component);
    let check = |state: &str| {
        let ran = place.airlock(&["audit", "--json"]).run();
        assert_eq!(ran.code, 1, "{ran:#?}");
        let found = findings(&ran.json(), "plugin");
        let text = format!("say is {state}");
        let is_it = |it: &String| it.starts_with("wrong: ") && it.contains(&text);
        assert!(found.iter().any(is_it), "{found:#?}");
    };
    fs::write(&component, "damaged").unwrap();
    check("damaged");
    fs::remove_file(&component).unwrap();
    check("missing");
    let ran = place.airlock(&["audit"]).run();
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.stdout.contains("wrong  plugin"), "{ran:#?}");
}

#[test]
fn a_plugin_that_lists_no_wants_or_may_change_everything_is_noted() {
    let place = Place::new();
    let unlimited = SAY
        .split("[[tool]]")
        .skip(1)
        .map(|it| format!("[[tool]]{it}"));
    place.install_say(&unlimited.collect::<String>());
    let found = findings(&place.audit(), "plugin");
    for text in [
        "note: say lists no wants",
        "note: say may change every file",
    ] {
        assert!(
            found.iter().any(|it| it.starts_with(text)),
            "{text}: {found:#?}"
        );
    }
}

#[test]
fn names_choose_plugins() {
    let place = Place::new();
    let file = place.install_say(SAY);
    place.done(&["install", &file, "--as", "tidy", "--yes"]);
    place.keep("tidy", "docs/a", &["--apply", "a test says so"]);
    let names = |args: &[&str]| -> Vec<String> {
        let audited = place.json(&[&["audit"][..], args].concat());
        let of = |list: &str| audited[list].as_array().unwrap().clone();
        let all = of("plugins").into_iter().chain(of("others"));
        all.map(|it| it["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&[]), ["say", "tidy"]);
    assert_eq!(names(&["tidy"]), ["tidy"]);
    assert_eq!(names(&["batch_rename", "say"]), ["say", "batch-rename"]);
    // A plugin that is gone is known by its actions.
    place.done(&["uninstall", "tidy"]);
    assert_eq!(names(&["tidy"]), ["tidy"]);
    for args in [&["audit", "tide"][..], &["audit", "say", "tide", "--json"]] {
        let ran = place.airlock(args).run();
        assert_eq!(ran.code, 2, "{ran:#?}");
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            told.contains("tide is neither bundled nor installed"),
            "{ran:#?}"
        );
    }
}

#[test]
fn the_versions_that_advisories_are_compared_with_are_those_of_the_lock_file() {
    let place = Place::new();
    let runtime = &place.audit()["runtime"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let lock: toml::Table = toml::from_str(&read("../../Cargo.lock")).unwrap();
    let locked = lock["package"].as_array().unwrap();
    let known: Value = serde_json::from_str(&read("advisories.json")).unwrap();
    let crates = known["crates"].as_array().unwrap();
    assert!(crates.contains(&json!("wasmtime-wasi")), "{crates:#?}");
    for name in crates.iter().map(|it| it.as_str().unwrap()) {
        let family = if name.starts_with("cranelift") {
            "cranelift"
        } else {
            "wasmtime"
        };
        let found = locked.iter().filter(|it| it["name"].as_str() == Some(name));
        let found: Vec<_> = found.map(|it| it["version"].as_str().unwrap()).collect();
        let version = runtime[family].as_str().unwrap();
        assert_eq!(found, [version], "{name}: run tests/advisories");
    }
    assert_eq!(runtime["advisories"], json!([]));
    let found = findings(&place.audit(), "wasmtime");
    assert!(found[0].contains("advisories known on"), "{found:#?}");
    let doctor = place.json(&["doctor", "--offline"]);
    assert_eq!(doctor["wasmtime"], runtime["wasmtime"]);
}
