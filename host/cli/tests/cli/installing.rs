//! Plugins by name: `install`, `update`, `list`, `uninstall`, `push` and `airlock.lock`.

mod asking;
mod attacks;
mod auditing;
mod doctor;
mod locked;
mod names;
mod registry;
#[cfg(feature = "serve")]
mod serving;
mod signed;
pub mod signing;

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::airlock::{Airlock, ProgramOutput, airlock_in, guest};
use registry::{Registry, serve};

/// A configuration with its lock, a workspace, and a store.
pub struct Place {
    folder: TempDir,
}

/// The tools of a plugin that was made of a program, as a tools file has them.
pub const SAY: &str = r#"
[wants]
read = ["docs/"]
change = ["docs/"]

[[tool]]
name = "say"
label = "Say"
description = "Says something."
args = ["say", "{text}"]
required = ["text"]
params.text = { type = "string", description = "What to say" }

[[tool]]
name = "keep"
description = "Keeps something in a file."
args = ["write", "{file}", "{text}"]
required = ["file", "text"]
params.file = { type = "string" }
params.text = { type = "string" }
"#;

impl Place {
    pub fn new() -> Self {
        let folder = TempDir::new().unwrap();
        for path in ["etc", "ws/docs", "ws/notes", "tools"] {
            fs::create_dir_all(folder.path().join(path)).unwrap();
        }
        let place = Self { folder };
        fs::write(place.config(), "").unwrap();
        place
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub fn config(&self) -> PathBuf {
        self.path("etc/airlock-host.toml")
    }

    pub fn workspace(&self) -> PathBuf {
        self.path("ws")
    }

    /// The text of `airlock.lock`.
    pub fn lock(&self) -> String {
        fs::read_to_string(self.path("etc/airlock.lock")).unwrap_or_default()
    }

    /// The components that are there.
    pub fn components(&self) -> Vec<String> {
        let components = self.path("etc/airlock-plugins/components");
        let Ok(files) = components.read_dir() else {
            return Vec::new();
        };
        let names = files.map(|it| it.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    /// Writes a tools file for a program, with these tools, and returns its path.
    pub fn tools(&self, name: &str, tools: &str) -> String {
        let path = self.path("tools").join(format!("{name}.toml"));
        let text = format!("program = {:?}\n{tools}", guest("program"));
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// A command line with this configuration.
    pub fn airlock(&self, args: &[&str]) -> Airlock {
        let line = airlock_in(&self.workspace(), args)
            .env("AIRLOCK_STORE", self.path("pending.db"))
            .env("DOCKER_CONFIG", self.path("docker"));
        match args[0] {
            "build" | "push" => line,
            _ => line.arg("--config").arg(self.config()),
        }
    }

    #[track_caller]
    pub fn done(&self, args: &[&str]) -> ProgramOutput {
        let ran = self.airlock(args).run();
        assert_eq!(ran.code, 0, "{args:?}: {ran:#?}");
        ran
    }

    #[track_caller]
    pub fn json(&self, args: &[&str]) -> Value {
        self.done(&[args, &["--json"]].concat()).json()
    }

    /// Publishes a program with these tools.
    #[track_caller]
    pub fn push(&self, reference: &str, tools: &str) -> Value {
        let file = self.tools("pushed", tools);
        self.json(&["push", reference, &file])
    }

    /// Runs the tool `say` of an installed plugin.
    pub fn say(&self, name: &str) -> ProgramOutput {
        self.airlock(&["run", name, "say", "--text", "hello"]).run()
    }

    #[track_caller]
    pub fn check_says(&self, name: &str) {
        let ran = self.say(name);
        assert_eq!((ran.code, &*ran.stdout), (0, "│ hello\n"), "{ran:#?}");
    }
}

#[test]
fn a_plugin_from_a_registry_has_a_name_for_every_command() {
    let (registry, place) = (Registry::start(), Place::new());
    let reference = format!("{}/ann/dedupe:1", registry.host);
    let pushed = place.push(&reference, SAY);
    assert_eq!(place.push(&reference, SAY), pushed, "the same bytes again");

    let installed = place.json(&["install", &reference, "--yes"]);
    let plugin = &installed["plugins"][0];
    assert_eq!(plugin["state"], "installed");
    assert_eq!(plugin["name"], "dedupe");
    assert_eq!(plugin["manifest"], pushed["manifest"]);
    assert_eq!(plugin["digest"], pushed["digest"]);
    assert_eq!(plugin["tools"], json!(["say", "keep"]));
    let again = place.json(&["install", &reference, "--yes"]);
    assert_eq!(again["plugins"][0]["state"], "unchanged");

    place.check_says("dedupe");
    let inspected = place.json(&["inspect", "dedupe"]);
    assert_eq!(inspected["digest"], pushed["digest"]);
    let granted = "workspace: read docs/, and change docs/ while applying";
    let described = inspected["grants"]["description"].as_str().unwrap();
    assert!(described.starts_with(granted), "{described}");
    let listed = place.done(&["list"]).stdout;
    assert!(
        listed.contains(&reference) && listed.contains(granted),
        "{listed}"
    );
    let plugins = place.json(&["plugins"]);
    let plugins = plugins["plugins"].as_array().unwrap().iter();
    let named: Vec<_> = plugins.filter(|it| it["name"] == "dedupe").collect();
    assert_eq!(named[0]["reference"], json!(reference));

    let removed = place.json(&["uninstall", "dedupe"]);
    assert_eq!(removed, json!({"uninstalled": ["dedupe"]}));
    assert_eq!(place.components(), [""; 0]);
    let ran = place.say("dedupe");
    assert_eq!(ran.code, 3, "{ran:#?}");
    assert!(
        ran.stderr.contains("no bundled or installed plugin"),
        "{ran:#?}"
    );
}

#[test]
fn files_folders_and_addresses_are_installed_like_artifacts() {
    let place = Place::new();
    let file = place.tools("search", SAY);
    let (project, built) = (
        place.path("tools/project"),
        place.path("tools/project/build"),
    );
    fs::create_dir_all(&built).unwrap();
    let component = built.join("dedupe.wasm");
    place.done(&["build", &file, "--output", component.to_str().unwrap()]);
    let bytes = fs::read(&component).unwrap();
    let host = serve(move |path| match path {
        "/x/dedupe.wasm" => (200, bytes.clone()),
        _ => (404, Vec::new()),
    });
    let address = format!("http://{host}/x/dedupe.wasm");
    let check = |reference: &str, name: &str| {
        let installed = place.json(&["install", reference, "--yes"]);
        assert_eq!(installed["plugins"][0]["name"], name, "{reference}");
        place.check_says(name);
    };
    check(&file, "search");
    check(project.to_str().unwrap(), "project");
    check(&address, "dedupe");
    check("../tools/search.toml", "search");
    // All of them are the same component.
    assert_eq!(place.components().len(), 1);

    let missing = place
        .airlock(&["install", &format!("http://{host}/y.wasm"), "--yes"])
        .run();
    assert_eq!(missing.code, 1, "{missing:#?}");
    fs::write(built.join("other.wasm"), "").unwrap();
    let ran = place
        .airlock(&["install", project.to_str().unwrap(), "--yes"])
        .run();
    assert!(ran.stderr.contains("has several components"), "{ran:#?}");
}

#[test]
fn the_configuration_names_installed_plugins() {
    let place = Place::new();
    let file = place.tools("search", SAY);
    place.done(&["install", &file, "--yes"]);
    let write = |text: &str| fs::write(place.config(), text).unwrap();
    let ran = |path: &str| {
        let args = ["run", "search", "keep", "--file", path, "--text", "x"];
        let args = [&args[..], &["--apply", "a test says so"]].concat();
        place.airlock(&args).run()
    };
    let keeps = |path: &str| {
        ran(path);
        place.workspace().join(path).exists()
    };
    // The grant of the installation counts before one for all plugins.
    write("[[grant]]\nread = ['**']\n");
    assert!(keeps("docs/a"));
    assert!(!keeps("notes/a"));
    // A grant for the plugin counts before that.
    write("plugins = ['search']\n[[grant]]\nplugins = ['search']\nread = ['docs/']\n");
    assert!(!keeps("docs/b"));
    let checked = place.json(&["config", "check"]);
    assert_eq!(checked["settings"]["plugins"]["value"], json!(["search"]));
    write("[[rule]]\nname = 'r'\nplugins = ['search']\nthen = 'refuse'\n");
    let ran = ran("docs/c");
    assert!(ran.stderr.contains("rule"), "{ran:#?}");
    write("[[grant]]\nplugins = ['serach']\n");
    let checked = place.airlock(&["config", "check"]).run();
    assert_eq!(checked.code, 2);
    assert!(
        checked.stderr.contains("bundled or installed: there are"),
        "{checked:#?}"
    );
}

#[test]
fn what_cannot_be_installed_is_said_with_the_way_out() {
    let place = Place::new();
    let file = place.tools("search", SAY);
    let text = place.path("tools/no.wasm");
    fs::write(&text, "no component").unwrap();
    let check = |args: &[&str], code: i32, says: &[&str]| {
        let ran = place.airlock(args).run();
        assert_eq!(ran.code, code, "{args:?}: {ran:#?}");
        for part in says {
            assert!(
                ran.stderr.contains(part),
                "{args:?}: no {part:?} in {}",
                ran.stderr
            );
        }
        assert_eq!(place.lock(), "", "{args:?}");
        assert_eq!(place.components(), [""; 0], "{args:?}");
    };
    let wants = [
        "it wants to read docs/, change docs/ while applying",
        "`--yes`",
    ];
    check(&["install", &file], 2, &wants);
    check(&["install", "dedupe"], 2, &["registry", "./dedupe"]);
    check(
        &["install", "./missing.wasm", "--yes"],
        3,
        &["missing.wasm"],
    );
    check(
        &["install", text.to_str().unwrap(), "--yes"],
        3,
        &["no is not a WebAssembly component"],
    );
    check(
        &["install", "../ws", "--yes"],
        3,
        &["has no component", "build"],
    );
    check(
        &["install", &file, "--as", "files", "--yes"],
        2,
        &["bundled", "--as NAME"],
    );
    check(
        &["install", &file, "--as", "a/b", "--yes"],
        2,
        &["not a plugin's name"],
    );
    check(
        &["install", &file, "--grant", "network"],
        2,
        &["environment=NAME"],
    );
    check(
        &["install", "127.0.0.1:1/x:1", "--yes"],
        1,
        &["127.0.0.1:1"],
    );
    check(
        &["update", "dedupe"],
        2,
        &["dedupe is not installed", "`airlock list`"],
    );
    check(&["uninstall", "dedupe"], 2, &["dedupe is not installed"]);
    check(&["push", "./x.wasm"], 2, &["not a reference to a registry"]);
    check(&["run", "dedupe"], 3, &["no bundled or installed plugin"]);
}
