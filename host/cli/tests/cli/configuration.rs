//! `airlock-host.toml`: who says what, what holds of it, and what a workspace can't say.

mod hostile;
mod narrowing;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::airlock::{
    Airlock, ProgramOutput, RENAME, airlock, airlock_in, folder, guest, names, steps,
};

/// A machine with an operator's files.
pub struct Machine {
    place: TempDir,
    /// What tools work on.
    pub workspace: TempDir,
}

impl Machine {
    pub fn new() -> Self {
        let place = TempDir::new().unwrap();
        fs::create_dir_all(place.path().join("config/airlock")).unwrap();
        Self {
            place,
            workspace: folder(&["a.jpeg"]),
        }
    }

    pub fn user_file(&self) -> PathBuf {
        self.place.path().join("config/airlock/airlock-host.toml")
    }

    pub fn system_file(&self) -> PathBuf {
        self.place.path().join("system.toml")
    }

    pub fn own_file(&self) -> PathBuf {
        self.workspace.path().join("airlock-host.toml")
    }

    pub fn user(self, text: &str) -> Self {
        fs::write(self.user_file(), text).unwrap();
        self
    }

    pub fn system(self, text: &str) -> Self {
        fs::write(self.system_file(), text).unwrap();
        self
    }

    pub fn own(self, text: &str) -> Self {
        fs::write(self.own_file(), text).unwrap();
        self
    }

    /// `airlock` in the workspace.
    pub fn airlock(&self, args: &[&str]) -> Airlock {
        airlock_in(self.workspace.path(), args)
            .env("XDG_CONFIG_HOME", self.place.path().join("config"))
            .env("XDG_STATE_HOME", self.place.path().join("state"))
            .env("AIRLOCK_SYSTEM_CONFIG", self.system_file())
    }

    /// What holds, which is an object by keys.
    #[track_caller]
    pub fn settings(&self, args: &[&str]) -> Value {
        let ran = self
            .airlock(&["config", "check", "--json"])
            .args(args)
            .run();
        assert_eq!(ran.code, 0, "{ran:#?}");
        ran.json()["settings"].clone()
    }

    /// How a preview ends here.
    pub fn preview(&self, args: &[&str]) -> ProgramOutput {
        let line = ["run", "batch-rename", RENAME, "--json"];
        self.airlock(&line).args(args).run()
    }
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

#[test]
fn a_key_is_taken_from_the_first_file_that_has_it() {
    let machine = Machine::new()
        .user("decide = 'terminal'\n[limits]\ntimeout = '2m'")
        .system("decide = 'model'\nexpires = '2w'\n[limits]\nmax-memory = '1GiB'");
    let settings = machine.settings(&[]);
    let user = machine.user_file().display().to_string();
    let system = machine.system_file().display().to_string();
    for (key, value, from) in [
        ("decide", "\"terminal\"", user.as_str()),
        ("limits.timeout", "120.0", &user),
        ("expires", "\"14d\"", &system),
        ("limits.max-memory", "\"1GiB\"", &system),
        ("rehearse", "\"auto\"", "the default"),
    ] {
        assert_eq!(settings[key]["value"].to_string(), value, "{key}");
        assert_eq!(settings[key]["from"], from, "{key}");
    }
}

#[test]
fn an_option_names_a_file_in_place_of_the_users_and_never_of_the_systems() {
    let machine = Machine::new()
        .user("decide = 'terminal'\nexpires = '1h'")
        .system("decide = 'model'\nrehearse = 'always'");
    let other = machine.place.path().join("other.toml");
    fs::write(&other, "expires = '2h'").unwrap();
    let settings = machine.settings(&["--config", other.to_str().unwrap()]);
    assert_eq!(settings["expires"]["value"], "2h");
    assert_eq!(settings["decide"]["value"], "model");
    assert_eq!(settings["rehearse"]["value"], "always");

    let gone = machine.place.path().join("gone.toml");
    let ran = machine.preview(&["--config", gone.to_str().unwrap()]);
    let (kind, message, _) = ran.error();
    assert_eq!((ran.code, kind.as_str()), (2, "configuration"));
    assert!(message.contains("gone.toml: it can't be read"), "{message}");
}

#[test]
fn run_obeys_the_files_and_a_flag_counts_first() {
    let machine = Machine::new().user("expires = '1h'\n[limits]\ntimeout = 0.3");
    let expiring = |args: &[&str]| {
        let puppet = guest("puppet");
        let steps = steps(json!([{"do": "push", "label": "It", "quiet": true}]));
        let line = ["run", &puppet, "puppet", &steps, "--json"];
        let ran = machine
            .airlock(&line)
            .args(args)
            .args(&["--timeout", "60"])
            .run();
        assert_eq!(ran.code, 0, "{ran:#?}");
        let pending = machine.airlock(&["pending", "--json"]).run().json()["pending"][0].clone();
        let [from, until] = ["pushedAt", "expiresAt"].map(|at| pending[at].to_string());
        let at = |text: &str| text.trim_matches('"').parse::<jiff::Timestamp>().unwrap();
        at(&until).duration_since(at(&from)).as_secs()
    };
    assert!((3599..=3601).contains(&expiring(&[])));
    assert!((7199..=7201).contains(&expiring(&["--expires", "2h"])));

    let spin = steps(json!([{"do": "spin"}]));
    let ran = machine
        .airlock(&["run", &guest("puppet"), "puppet", &spin, "--json"])
        .run();
    assert_eq!((ran.code, ran.error().0.as_str()), (4, "limit"), "{ran:#?}");
}

#[test]
fn every_command_finds_the_store_that_the_operator_named() {
    let machine = Machine::new().user("store = 'mine/pending.db'");
    fs::create_dir_all(machine.user_file().with_file_name("mine")).unwrap();
    assert_eq!(machine.preview(&[]).code, 0);
    let store = machine.user_file().with_file_name("mine/pending.db");
    assert!(is_there(&store));
    assert!(!is_there(
        &machine.place.path().join("state/airlock/pending.db")
    ));
    let listed = machine.airlock(&["pending", "--json"]).run().json();
    let id = listed["pending"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(machine.airlock(&["show", &id]).run().code, 0);
    let stats = machine.airlock(&["store", "stats", "--json"]).run();
    assert_eq!(stats.json()["pending"], 1, "{stats:#?}");
    let discard = ["resolve", "discard", "--id", &id, "--reason", "no"];
    assert_eq!(machine.airlock(&discard).run().code, 0);
    let log = machine.airlock(&["log", "--all", "--json"]).run().json();
    assert_eq!(log["log"][0]["id"], id, "{log}");
    let settings = machine.settings(&[]);
    assert_eq!(settings["store"]["value"], store.to_str().unwrap());
}

#[test]
fn a_command_to_copy_finds_the_store_of_the_file_that_an_option_named() {
    let machine = Machine::new();
    let other = machine.place.path().join("other.toml");
    fs::write(&other, "store = 'other.db'").unwrap();
    let config = other.to_str().unwrap();
    let ran = machine
        .airlock(&["run", "batch-rename", RENAME, "--config", config])
        .run();
    assert_eq!(ran.code, 0, "{ran:#?}");
    let told = ran.stdout + &ran.stderr;
    assert!(told.contains(&format!("--config {config}")), "{told}");
    let listed = machine.airlock(&["pending", "--config", config, "--json"]);
    assert_eq!(listed.run().json()["pending"].as_array().unwrap().len(), 1);
    let listed = machine.airlock(&["pending", "--json"]).run().json();
    assert_eq!(listed["pending"].as_array().unwrap().len(), 0);
}

#[test]
fn the_workspace_and_plugins_of_a_file_are_relative_to_it() {
    let machine = Machine::new().user("workspace = 'there'\nplugins = ['batch-rename', 'p.wasm']");
    let settings = machine.settings(&[]);
    let there = machine.user_file().with_file_name("there");
    assert_eq!(settings["workspace"]["value"], there.to_str().unwrap());
    let plugin = machine.user_file().with_file_name("p.wasm");
    assert_eq!(settings["plugins"]["value"][0], "batch-rename");
    assert_eq!(settings["plugins"]["value"][1], plugin.to_str().unwrap());
}

#[test]
fn the_workspace_of_a_file_holds_for_every_command() {
    let photos = folder(&["a.jpeg"]);
    let path = photos.path().canonicalize().unwrap();
    let machine = Machine::new().user(&format!("workspace = '{}'", path.display()));
    let ran = machine.airlock(&["run", "batch-rename", RENAME]).run();
    assert_eq!(ran.code, 0, "{ran:#?}");
    let line = format!("Workspace: {}", path.display());
    assert!(ran.stdout.replace("\n  ", "").contains(&line), "{ran:#?}");
    let listed = machine.airlock(&["pending", "--json"]).run().json();
    assert_eq!(listed["pending"].as_array().unwrap().len(), 1, "{listed}");
    let apply = ["resolve", "apply", "--reason", "right", "--yes"];
    assert_eq!(machine.airlock(&apply).run().code, 0);
    assert_eq!(names(&photos), ["a.jpg"]);
    let log = machine.airlock(&["log", "--json"]).run().json();
    assert_eq!(log["log"].as_array().unwrap().len(), 1, "{log}");
}

#[test]
fn what_is_wrong_is_told_with_its_line_and_all_of_it() {
    let machine = Machine::new().user("expire = '30d'\n\n[limits]\ntimeout = 'soon'\n");
    let ran = machine.airlock(&["run", "batch-rename", RENAME]).run();
    assert_eq!(ran.code, 2, "{ran:#?}");
    let file = machine.user_file().display().to_string();
    for part in [
        format!("{file}:1:1: unknown field `expire`"),
        "did you mean `expires`?".to_owned(),
        "1 | expire = '30d'".to_owned(),
        "  | ^^^^^^".to_owned(),
        ":4:11: expected a number of seconds".to_owned(),
        "airlock config check".to_owned(),
    ] {
        // Rows are as wide as a terminal is.
        let told = ran.stderr.replace("\n  ", " ");
        let found = ran.stderr.contains(&part) || told.contains(&part);
        assert!(found, "{part}: {}", ran.stderr);
    }
    for line in [&["pending"][..], &["log"], &["serve"], &["store", "stats"]] {
        assert_eq!(machine.airlock(line).run().code, 2, "{line:?}");
    }
    let checked = machine.airlock(&["config", "check", "--json"]).run();
    assert_eq!(checked.code, 2);
    let files = checked.json()["files"].clone();
    let whose: Vec<_> = (0..3).map(|at| files[at]["whose"].clone()).collect();
    assert_eq!(whose, ["user", "system", "workspace"]);
    assert_eq!(files[0]["problems"].as_array().unwrap().len(), 2, "{files}");
    assert_eq!(files[0]["problems"][1]["line"], 4);
    assert_eq!(files[1]["found"], false);
}

#[test]
fn the_schema_is_what_the_types_say_and_the_example_has_all_its_keys() {
    let desk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../desk");
    let schema = airlock(&["config", "schema"]).run();
    let expected = expect_test::expect_file![desk.join("airlock-host.schema.json")];
    expected.assert_eq(&schema.stdout);

    let folder = TempDir::new().unwrap();
    let example = folder.path().join("airlock-host.toml");
    fs::copy(desk.join("airlock-host.example.toml"), &example).unwrap();
    // It names a file next to it.
    let sigstore = crate::installing::signing::Sigstore::new();
    fs::copy(sigstore.root(), folder.path().join("trusted_root.json")).unwrap();
    let ran = airlock(&["config", "check", example.to_str().unwrap()]).run();
    assert_eq!(ran.code, 0, "{ran:#?}");
    let text = fs::read_to_string(&example).unwrap();
    let said: toml::Table = toml::from_str(&text).unwrap();
    let schema: Value = schema.json();
    let keys = |at: &Value| -> Vec<String> {
        at["properties"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect()
    };
    for key in keys(&schema) {
        assert!(said.contains_key(&key), "{key}");
    }
    for (table, definition) in [
        ("limits", "Limits"),
        ("control", "Control"),
        ("budget", "Budget"),
    ] {
        for key in keys(&schema["$defs"][definition]) {
            assert!(said[table].get(&key).is_some(), "{table}.{key}");
        }
    }
    for key in keys(&schema["$defs"]["Rule"]) {
        assert!(said["rule"][0].get(&key).is_some(), "rule.{key}");
    }
}
