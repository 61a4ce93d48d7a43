//! What plugins may do: grants on the command line and in the configuration, and a component's
//! wants.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::airlock::{ProgramOutput, airlock, airlock_in};
use crate::toolchain::done;

/// A workspace with notes and documents, and a store of its own.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        for path in ["ws/docs/a.md", "ws/notes/b.md"] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "old\n").unwrap();
        }
        Self { folder }
    }

    fn config(self, text: &str) -> Self {
        fs::write(self.folder.path().join("config.toml"), text).unwrap();
        self
    }

    /// Edits a file with the bundled plugin `files`, and applies it.
    fn edit(&self, path: &str, args: &[&str]) -> ProgramOutput {
        self.call(path, &[args, &["--apply", "a test says so"]].concat())
    }

    fn call(&self, path: &str, args: &[&str]) -> ProgramOutput {
        let params =
            json!({"path": path, "edits": [{"old_text": "old", "new_text": "new"}]}).to_string();
        let config = self.folder.path().join("config.toml");
        let store = self.folder.path().join("store.db");
        let ran = airlock_in(
            &self.folder.path().join("ws"),
            &["run", "files", "edit_file", &params],
        )
        .arg("--store")
        .arg(store)
        .args(args);
        if config.exists() {
            ran.arg("--config").arg(config).run()
        } else {
            ran.run()
        }
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.folder.path().join("ws").join(path)).unwrap()
    }
}

#[test]
fn a_plugin_changes_and_reads_what_the_command_line_grants() {
    let place = Place::new();
    let grant = ["--grant", "read=**", "--grant", "change=docs/"];
    let shown = place.call("docs/a.md", &grant).stdout;
    let granted = "granted: workspace: read, and change docs/ while applying";
    assert!(shown.contains(granted), "{shown}");
    assert!(
        shown.contains("wanted too, and denied: change **"),
        "{shown}"
    );

    let edited = place.edit("docs/a.md", &grant);
    assert_eq!(edited.code, 0, "{edited:#?}");
    assert_eq!(place.text("docs/a.md"), "new\n");

    let refused = place.edit("notes/b.md", &grant);
    assert_ne!(refused.code, 0, "{refused:#?}");
    assert_eq!(place.text("notes/b.md"), "old\n");
    let line = "note: the tool was not allowed to change \"notes/b.md\": add change=notes/b.md to its grants to allow it";
    assert!(refused.stderr.contains(line), "{}", refused.stderr);

    let unread = place.edit("notes/b.md", &["--grant", "read=docs/"]);
    assert_ne!(unread.code, 0, "{unread:#?}");
    // The plugin looks at each directory of a path.
    let line = "not allowed to read \"notes\": add read=./notes to its grants";
    assert!(unread.stderr.contains(line), "{}", unread.stderr);

    let wrong = place.edit("docs/a.md", &["--grant", "network"]);
    assert_eq!(wrong.code, 2);
    assert!(
        wrong.stderr.contains("environment=NAME"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn the_first_grant_that_is_about_a_plugin_counts() {
    let place = Place::new()
        .config("[[grant]]\nplugins = ['files']\nchange = ['docs/']\n\n[[grant]]\nread = ['**']\n");
    assert_eq!(place.edit("docs/a.md", &[]).code, 0);
    assert_ne!(place.edit("notes/b.md", &[]).code, 0);
    // The command line replaces them.
    assert_eq!(
        place.edit("notes/b.md", &["--grant", "change=notes/"]).code,
        0
    );
    let place = Place::new().config("[[grant]]\nplugins = ['scripts']\n[[grant]]\nread = ['**']\n");
    assert_ne!(place.edit("docs/a.md", &[]).code, 0);
}

#[test]
fn a_grant_for_a_digest_that_no_plugin_has_is_noted() {
    let digest = format!("sha256:{}", "0".repeat(64));
    let place = Place::new().config(&format!("[[grant]]\nplugins = ['{digest}']\nread = []\n"));
    let config = place.folder.path().join("config.toml");
    let checked = airlock_in(&place.folder.path().join("ws"), &["config", "check"])
        .arg("--config")
        .arg(config)
        .run();
    assert_eq!(checked.code, 0, "{checked:#?}");
    let note = format!("a grant is about {digest}: no plugin has it");
    assert!(checked.stderr.contains(&note), "{checked:#?}");
}

#[test]
fn an_error_in_a_grant_stops_the_load_and_tells_the_line() {
    let check = |text: &str, part: &str| {
        let place = Place::new().config(text);
        let ran = place.edit("docs/a.md", &["--json"]);
        let (kind, message, _) = ran.error();
        assert_eq!((ran.code, kind.as_str()), (2, "configuration"), "{message}");
        assert!(message.contains(part), "{message}");
        assert_eq!(place.text("docs/a.md"), "old\n");
    };
    check(
        "[[grant]]\nnetwork = true",
        "config.toml:2:1: unknown field `network`",
    );
    check("[[grant]]\nread = ['/etc']", "config.toml:2:");
    check("[[grant]]\nenvironment = ['A B']", "not a variable's name");
    check(
        "[[grant]]\nplugins = ['none']",
        "a grant: no plugin \"none\" is bundled",
    );
    check(
        "[[grant]]\nplugins = ['ast_edit']",
        "\"ast_edit\" is part of this program, and grants are for plugins",
    );
}

/// Builds a tool that wants this and that.
fn component_with_wants(folder: &Path) -> Value {
    let made = done(crate::toolchain::shell(
        "c",
        folder,
        "airlock new dedupe --lang c --json",
    ));
    assert_eq!(made["path"], "dedupe");
    fs::write(
        folder.join("dedupe/airlock.toml"),
        "name = 'dedupe'\nversion = '1.2.0'\nauthors = ['Ann <ann@example.com>']\nlicense = 'MIT'\n\
         description = 'Finds copies'\n\n[wants]\nread = ['**']\nchange = ['docs/', '*.txt']\n\
         environment = ['LANG']\n\n[[wants.hosts]]\nhost = 'example.com'\n",
    )
    .unwrap();
    done(crate::toolchain::shell(
        "c",
        folder,
        "airlock build dedupe --json",
    ))
}

#[test]
fn inspect_shows_the_wants_of_a_component_its_grants_and_what_is_denied() {
    let folder = TempDir::new().unwrap();
    let workspace = folder.path().join("ws");
    fs::create_dir(&workspace).unwrap();
    component_with_wants(&workspace);
    let component = "dedupe/build/dedupe.wasm";
    fs::write(
        folder.path().join("config.toml"),
        format!("[[grant]]\nplugins = ['ws/{component}']\nread = ['**']\nchange = ['docs/']\n"),
    )
    .unwrap();
    let inspect = ["inspect", component, "--config", "../config.toml"];
    let shown = airlock_in(&workspace, &inspect).run();
    assert_eq!(shown.code, 0, "{shown:#?}");
    for line in [
        "  version  1.2.0",
        "  authors  Ann <ann@example.com>",
        "  licenses MIT",
        "  about    Finds copies",
        "  granted  workspace: read, and change docs/ while applying; scratch directory; no environment, no network, no other path",
        "  denied   change *.txt; see the variables LANG; talk to https://example.com while previewing",
    ] {
        assert!(
            shown.stdout.lines().any(|it| it == line),
            "{line}\n{}",
            shown.stdout
        );
    }
    let told = airlock_in(&workspace, &inspect).arg("--json").run().json();
    assert_eq!(told["metadata"]["name"], "dedupe");
    assert_eq!(told["metadata"]["licenses"], "MIT");
    let host = json!({"scheme": "https", "host": "example.com", "phase": "preview"});
    assert_eq!(told["wants"]["hosts"], json!([host]));
    assert_eq!(told["grants"]["denied"].as_array().unwrap().len(), 3);

    // Its own wants limit every grant.
    fs::write(workspace.join("notes.md"), "One\n").unwrap();
    let params = r#"{"path": "notes.md", "line": "Two"}"#;
    let run = ["run", component, params, "--apply", "a test says so"];
    let ran = airlock_in(&workspace, &run)
        .args(&["--grant", "change=**"])
        .run();
    assert_ne!(ran.code, 0, "{ran:#?}");
    let line = "was not allowed to change \"notes.md\": the plugin doesn't say that it wants this, so no grant allows it";
    assert!(ran.stderr.contains(line), "{}", ran.stderr);
    assert_eq!(
        fs::read_to_string(workspace.join("notes.md")).unwrap(),
        "One\n"
    );
}

#[test]
fn help_tells_what_can_be_granted() {
    let help = airlock(&["help", "run"]).run().stdout;
    for word in [
        "read=PATH",
        "change=PATH",
        "environment=NAME",
        "real-time",
        "fresh-randomness",
    ] {
        assert!(help.contains(word), "{word} in:\n{help}");
    }
}
