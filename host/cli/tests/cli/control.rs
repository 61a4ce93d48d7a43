//! Control files under other names: nothing that a rule lets through makes one.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::airlock::{ProgramOutput, Store, guest, steps};
use crate::configuration::Machine;

const ALL: &str = "[[rule]]\nname = 'all'\nthen = 'allow'\n";

/// A folder whose user lets everything through.
struct Fixture(Machine, Store);

impl Fixture {
    fn new(make: impl FnOnce(&Path)) -> Self {
        let place = Self(Machine::new().user(ALL), Store::new());
        make(place.root());
        place
    }

    fn root(&self) -> &Path {
        self.0.workspace.path()
    }

    /// Applies these steps of a tool, on the command line without a terminal.
    fn applied(&self, apply: &Value, options: &[&str]) -> ProgramOutput {
        let (puppet, store) = (guest("puppet"), self.1.path());
        let params = steps(json!([{"do": "push", "label": "It", "apply": apply}]));
        let run = ["run", &puppet, "puppet", &params, "--json", "--apply", "go"];
        let run = self.0.airlock(&run).env("AIRLOCK_STORE", store);
        run.args(options).run()
    }

    /// The directories that git takes for repositories.
    fn repositories(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut ahead = vec![self.root().to_owned()];
        while let Some(directory) = ahead.pop() {
            let git = Command::new("git")
                .args(["rev-parse", "--resolve-git-dir", "."])
                .current_dir(&directory)
                .output();
            if git.unwrap().status.success() {
                found.push(directory.display().to_string());
            }
            let entries = fs::read_dir(&directory).unwrap().map(Result::unwrap);
            let directories = entries.filter(|it| it.file_type().unwrap().is_dir());
            ahead.extend(directories.map(|it| it.path()));
        }
        found
    }
}

fn write(path: &str, text: &str) -> Value {
    json!({"do": "fs", "op": "write", "path": format!("/workspace/{path}"), "text": text})
}

fn mkdir(path: &str) -> Value {
    json!({"do": "fs", "op": "mkdir", "path": format!("/workspace/{path}")})
}

fn link(path: &str, target: &str) -> Value {
    let path = format!("/workspace/{path}");
    json!({"do": "fs", "op": "symlink", "path": path, "target": target})
}

fn rename(path: &str, to: &str) -> Value {
    let [path, to] = [path, to].map(|it| format!("/workspace/{it}"));
    json!({"do": "fs", "op": "rename", "path": path, "to": to})
}

#[test]
fn no_directory_becomes_a_git_repository_unseen() {
    let head = || write("notes/HEAD", "ref: refs/heads/main\n");
    let whole = [mkdir("notes/objects"), mkdir("notes/refs"), head()];
    // In one action, and one thing after the other.
    let place = Fixture::new(|root| fs::create_dir(root.join("notes")).unwrap());
    let ran = place.applied(&json!(whole), &[]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(
        ran.stdout.contains("control files (kind: .git)"),
        "{ran:#?}"
    );
    assert_eq!(place.repositories(), [""; 0]);
    let codes = whole.map(|one| place.applied(&json!([one]), &[]).code);
    assert_eq!(codes, [0, 0, 1]);
    assert_eq!(place.repositories(), [""; 0]);
    // The other way round, and by renames.
    let place = Fixture::new(|root| fs::create_dir_all(root.join("notes/o")).unwrap());
    let refs = mkdir("notes/refs");
    let moved = rename("notes/o", "notes/objects");
    let codes = [head(), moved, refs].map(|one| place.applied(&json!([one]), &[]).code);
    assert_eq!(codes, [0, 1, 1]);
    assert_eq!(place.repositories(), [""; 0]);
}

#[test]
fn a_link_makes_no_control_file_of_an_ordinary_one() {
    let flow = || [mkdir("g/workflows"), write("g/workflows/a.yml", "on: push")];
    let check = |make: &dyn Fn(&Path), apply: Value, told: &str| {
        let place = Fixture::new(make);
        let ran = place.applied(&apply, &[]);
        assert_eq!(ran.code, 1, "{apply} {ran:#?}");
        assert!(ran.stdout.contains(told), "{apply} {ran:#?}");
    };
    let folder = |root: &Path| fs::create_dir(root.join("g")).unwrap();
    let [one, two] = flow();
    let flows = "(kind: .github/workflows)";
    check(&folder, json!([one, two, link(".github", "g")]), flows);
    let both = |root: &Path| {
        folder(root);
        symlink("g", root.join(".github")).unwrap();
    };
    check(&both, json!(flow()), flows);
    let made = |root: &Path| {
        fs::create_dir_all(root.join("g/workflows")).unwrap();
        fs::write(root.join("g/workflows/a.yml"), "").unwrap();
    };
    check(&made, json!([link(".github", "g")]), flows);
    let memory = |root: &Path| {
        fs::create_dir(root.join("docs")).unwrap();
        fs::write(root.join("docs/ai.md"), "x").unwrap();
        symlink("docs/ai.md", root.join("CLAUDE.md")).unwrap();
    };
    check(
        &memory,
        json!([write("docs/ai.md", "y")]),
        "(kind: .claude)",
    );
    check(&memory, json!([write("CLAUDE.md", "y")]), "(kind: .claude)");
    let deep = |root: &Path| {
        fs::create_dir_all(root.join("a/b/c")).unwrap();
        symlink("../../../etc", root.join("a/b/c/l")).unwrap();
    };
    let out = "leads out of the workspace";
    check(&deep, json!([rename("a/b/c", "c")]), out);
    // Without the link it is an ordinary file.
    let place = Fixture::new(folder);
    assert_eq!(place.applied(&json!(flow()), &[]).code, 0);
}

#[test]
fn what_git_runs_is_a_control_file_wherever_it_lies() {
    let git = |root: &Path, args: &[&str]| {
        let git = Command::new("git").arg("-C").arg(root).args(args).output();
        assert!(git.unwrap().status.success(), "{args:?}");
    };
    let place = Fixture::new(|root| {
        git(root, &["init", "-q"]);
        git(root, &["config", "core.hooksPath", "tools/hooks"]);
        fs::create_dir_all(root.join("tools/hooks")).unwrap();
    });
    let hook = json!([write("tools/hooks/pre-commit", "x")]);
    let ran = place.applied(&hook, &[]);
    assert!(ran.stdout.contains("(kind: .git)"), "{ran:#?}");
    assert!(!place.root().join("tools/hooks/pre-commit").exists());
    let ran = place.applied(&json!([write("tools/other", "x")]), &[]);
    assert_eq!(ran.code, 0, "{ran:#?}");
}

#[test]
fn a_workspace_that_moved_is_judged_where_it_is() {
    let place = Fixture::new(|root| fs::create_dir_all(root.join("ws")).unwrap());
    let (puppet, at) = (guest("puppet"), |path: &str| place.root().join(path));
    let workspace = at("ws").display().to_string();
    let params = steps(json!([{"do": "push", "label": "It", "apply": [write("a.yml", "x")]}]));
    let airlock = |args: &[&str]| {
        let airlock = place.0.airlock(args).env("AIRLOCK_STORE", place.1.path());
        airlock.arg("--json").run()
    };
    let ran = airlock(&["run", &puppet, "puppet", &params, "--workspace", &workspace]);
    let pushed: Value = serde_json::from_str(&ran.stdout).unwrap();
    let id = pushed["pending"][0]["id"].as_str().unwrap();
    fs::create_dir(at(".github")).unwrap();
    fs::rename(at("ws"), at(".github/workflows")).unwrap();
    symlink(".github/workflows", at("ws")).unwrap();
    let apply = ["resolve", "apply", id, "--reason", "r", "--same-workspace"];
    let ran = airlock(&apply);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.stdout.contains("(kind: .github/workflows)"), "{ran:#?}");
    assert!(!at(".github/workflows/a.yml").exists());
}

#[test]
fn a_workspace_may_itself_be_a_control_file() {
    for (own, path) in [
        (".github", "workflows/a.yml"),
        (".config", "autostart/a.desktop"),
        (".ssh", "authorized_keys"),
        (".vscode", "tasks.json"),
    ] {
        let (directory, _) = path.split_once('/').unwrap_or(("x", ""));
        let inside = format!("{own}/{directory}");
        let place = Fixture::new(|root| fs::create_dir_all(root.join(inside)).unwrap());
        let workspace = place.root().join(own).display().to_string();
        let options = ["--workspace", &workspace];
        let ran = place.applied(&json!([write(path, "x")]), &options);
        assert_eq!(ran.code, 1, "{own} {ran:#?}");
        assert!(ran.stdout.contains("control file"), "{own} {ran:#?}");
        assert!(!place.root().join(own).join(path).exists(), "{own}");
    }
}

#[test]
fn what_the_rules_say_of_a_file_can_be_asked() {
    let place = Fixture::new(|root| {
        fs::create_dir(root.join("docs")).unwrap();
        symlink("docs/ai.md", root.join("CLAUDE.md")).unwrap();
    });
    let explain = |path: &str| {
        let args = ["policy", "explain", path, "--json"];
        place
            .0
            .airlock(&args)
            .env("AIRLOCK_STORE", place.1.path())
            .run()
    };
    let check = |path: &str, verdict: &str, files: Value, builds: bool| {
        let said = explain(path).json();
        assert_eq!(said["commandLine"]["verdict"], verdict, "{said}");
        let named = said["controlFiles"].as_array().unwrap().iter();
        let named: Vec<_> = named.map(|it| it["name"].clone()).collect();
        assert_eq!(json!(named), files, "{said}");
        assert_eq!(said["builds"], builds, "{said}");
    };
    check("src/main.rs", "allow", json!([]), false);
    check("./Makefile", "allow", json!([]), true);
    check(
        ".github/workflows/a.yml",
        "ask-at-terminal",
        json!([".github/workflows"]),
        false,
    );
    check("docs/ai.md", "ask-at-terminal", json!([".claude"]), false);
    let text = |path: &str| {
        let explain = place.0.airlock(&["policy", "explain", path]);
        explain.env("AIRLOCK_STORE", place.1.path()).run()
    };
    let led = text("docs/ai.md").stdout;
    assert!(led.contains("Links lead to it: `CLAUDE.md`."), "{led}");
    let new = text("Makefile");
    assert!(new.stderr.contains("write `./Makefile`"), "{new:#?}");
    let outside = explain("../x");
    assert_eq!(outside.code, 2, "{outside:#?}");
    assert!(
        outside.error().1.contains("is not below the workspace"),
        "{outside:#?}"
    );
}

#[test]
fn a_tools_file_and_its_program_in_the_workspace_are_control_files() {
    for is_served in [true, false] {
        let machine = Machine::new();
        let root = machine.workspace.path().to_owned();
        let tool = "[[tool]]\nname = 'a'\ndescription = 'a'\n";
        let text = format!("program = 'tools/p.wasm'\n{tool}");
        fs::write(root.join("a.toml"), text).unwrap();
        fs::create_dir(root.join("tools")).unwrap();
        fs::copy(guest("program"), root.join("tools/p.wasm")).unwrap();
        let named = format!("plugins = ['{}']\n", root.join("a.toml").display());
        // Of the server, or of a rule.
        let text = if is_served {
            named + ALL
        } else {
            ALL.to_owned() + &named
        };
        let place = Fixture(machine.user(&text), Store::new());
        let check = |path: &str, expected: &str| {
            let ran = place.0.airlock(&["policy", "explain", path, "--json"]);
            let ran = ran.env("AIRLOCK_STORE", place.1.path()).run();
            let verdict = ran.json()["commandLine"]["verdict"].clone();
            assert_eq!(verdict, expected, "{path}, {text}");
        };
        check("a.toml", "ask-at-terminal");
        check("tools/p.wasm", "ask-at-terminal");
        check("tools/q.wasm", "allow");
    }
}
