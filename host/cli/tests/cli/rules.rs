//! The operator's rules, over what would really happen.

use serde_json::{Value, json};

use std::fs;
use std::ops::Deref;

use crate::airlock::{Airlock, ProgramOutput, RENAME, Store, guest, names, steps};
use crate::configuration::Machine as Files;
use crate::serving::client::{Calls, Server, asks, text};
use crate::terminal::Terminal;

/// A machine with a store.
pub struct Machine(Files, pub Store);

impl Machine {
    pub fn new() -> Self {
        Self(Files::new(), Store::new())
    }

    pub fn user(self, text: &str) -> Self {
        Self(self.0.user(text), self.1)
    }

    fn own(self, text: &str) -> Self {
        Self(self.0.own(text), self.1)
    }

    pub fn airlock(&self, args: &[&str]) -> Airlock {
        self.0.airlock(args).env("AIRLOCK_STORE", self.1.path())
    }

    /// A client of a server, that can ask nobody.
    pub fn server(&self, args: &[&str]) -> Server {
        let file = self.user_file();
        let config = ["--config", file.to_str().unwrap()];
        let config = if file.exists() { &config[..] } else { &[] };
        let args = [config, args].concat();
        let workspace = self.workspace.path();
        Server::initialized(&self.1, workspace, &args, "2025-11-25", json!({})).0
    }
}

impl Deref for Machine {
    type Target = Files;

    fn deref(&self) -> &Files {
        &self.0
    }
}

/// Renames `a.jpeg` to this.
fn to(name: &str) -> String {
    json!({"files": ["a.jpeg"], "find": "^a.jpeg$", "replace": name}).to_string()
}

/// The same by a program, that decides on the command line.
fn applied(machine: &Machine, params: &str, options: &[&str]) -> ProgramOutput {
    let line = ["run", "batch-rename", params, "--apply", "do it", "--json"];
    machine.airlock(&line).args(options).run()
}

#[track_caller]
fn check_refused(ran: &ProgramOutput, told: &str) {
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.stdout.contains(told), "{ran:#?}");
}

#[test]
fn a_control_file_takes_a_person_at_the_terminal_whether_the_host_has_seen_it_before_or_not() {
    for options in [&[][..], &["--rehearse", "never"]] {
        let machine = Machine::new();
        let ran = applied(&machine, &to(".env"), options);
        check_refused(&ran, "`.env` is a control file (kind: .env)");
        assert_eq!(names(&machine.workspace), ["a.jpeg"]);
        // It is pending, and can be dropped by anybody.
        let discard = ["resolve", "discard", "--reason", "no"];
        assert_eq!(machine.airlock(&discard).run().code, 0);
        assert_eq!(applied(&machine, &to("b.txt"), options).code, 0);
        assert_eq!(names(&machine.workspace), ["b.txt"]);
    }
}

#[test]
fn who_decided_on_the_command_line_is_asked_where_there_is_a_terminal() {
    let folder = crate::airlock::folder(&["a.jpeg"]);
    let env = to(".env");
    let run = ["run", "batch-rename", &env, "--apply", "do it"];
    let mut terminal = Terminal::run(folder.path(), &run);
    terminal
        .sees("asks at a terminal, since `.env` is a control file")
        .sees("Apply it?")
        .types("n")
        .sees("not confirmed")
        .ends(1);
    assert_eq!(names(&folder), ["a.jpeg"]);
    let resolve = ["resolve", "apply", "--reason", "do it", "--all", "--yes"];
    let mut terminal = Terminal::run(folder.path(), &resolve);
    terminal.sees("asks at a terminal").ends(1);
    let mut terminal = Terminal::run(folder.path(), &["resolve", "apply"]);
    terminal.sees("Apply it?").types("y").asks_why("").ends(0);
    assert_eq!(names(&folder), [".env"]);
}

#[test]
fn an_operator_lets_a_control_file_through_by_name_and_the_record_says_so() {
    let rule = "[[rule]]\nname = 'settings'\npaths = ['.env', 'a.jpeg']\ncontrol = ['.env']\nthen = 'allow'";
    let machine = Machine::new().user(rule);
    let mut server = machine.server(&[]);
    server.call("batch_rename_preview", params(&to(".env")));
    let applied = server.resolve("apply");
    assert_eq!(applied["isError"], false, "{applied}");
    let log = machine.airlock(&["log", "--all", "--json"]).run().json();
    let by = &log["log"][0]["resolved"]["decidedBy"];
    assert_eq!(
        by,
        &json!({"actor": "program", "name": "rule `settings`", "evidence": "none"})
    );
}

#[test]
fn a_workspace_can_not_let_through_what_asks_and_can_refuse_what_does_not() {
    let allow = "[[rule]]\nname = 'all'\nthen = 'allow'\n";
    let machine = Machine::new().own(allow);
    let mut one = machine.server(&[]);
    one.call("batch_rename_preview", params(&to("b.txt")));
    let asked = one.resolve("apply");
    assert!(text(&asked).contains("a person must decide"), "{asked}");
    let machine = Machine::new()
        .user(allow)
        .own("[[rule]]\nname = 'no txt'\npaths = ['*.txt']\nthen = 'refuse'");
    let mut one = machine.server(&[]);
    one.call("batch_rename_preview", params(&to("b.txt")));
    let refused = one.resolve("apply");
    let told = "the operator's rules refuse it: `b.txt`: rule `no txt` of the workspace";
    assert!(text(&refused).contains(told), "{refused}");
    check_refused(&applied(&machine, &to("b.txt"), &[]), told);
    assert_eq!(applied(&machine, &to("b.md"), &[]).code, 0);
}

#[test]
fn a_model_that_decides_itself_gets_no_control_file_and_nothing_unseen() {
    let machine = Machine::new();
    let mut one = machine.server(&["--decide", "model"]);
    one.call("batch_rename_preview", params(&to(".env")));
    let refused = one.resolve("apply");
    assert!(
        text(&refused).contains("control file (kind: .env)"),
        "{refused}"
    );
    one.resolve("discard");
    one.call("batch_rename_preview", params(&to("b.txt")));
    assert_eq!(one.resolve("apply")["isError"], false);
    let unseen = ["--decide", "model", "--rehearse", "never"];
    let machine = Machine::new();
    let mut other = machine.server(&unseen);
    other.call("batch_rename_preview", params(&to("b.txt")));
    let refused = other.resolve("apply");
    let told = "its effects aren't verified";
    assert!(text(&refused).contains(told), "{refused}");
    // By name it may be let through, and is judged when it is seen.
    let unverified = "[[rule]]\nname = 'unseen'\nunverified = true\nthen = 'allow'";
    let machine = Machine::new().user(unverified);
    let mut third = machine.server(&unseen);
    third.call("batch_rename_preview", params(&to(".env")));
    let dropped = third.resolve("apply");
    assert!(
        text(&dropped).contains("control file (kind: .env)"),
        "{dropped}"
    );
    assert_eq!(names(&machine.workspace), ["a.jpeg"]);
    third.resolve("discard");
    third.call("batch_rename_preview", params(&to("b.txt")));
    assert_eq!(third.resolve("apply")["isError"], false);
}

#[test]
fn a_clients_word_is_not_enough_for_a_control_file() {
    let machine = Machine::new();
    let workspace = machine.workspace.path();
    let (mut server, _) = Server::initialized(&machine.1, workspace, &[], "2025-11-25", asks());
    server.call("batch_rename_preview", params(&to(".env")));
    // Nobody is asked in the client: the answer is there at once.
    let refused = server.resolve("apply");
    assert!(
        text(&refused).contains("airlock resolve apply"),
        "{refused}"
    );
    assert!(
        text(&refused).contains("control file (kind: .env)"),
        "{refused}"
    );
}

#[test]
fn a_budget_counts_over_all_processes_and_what_goes_beyond_asks() {
    let rules = "[budget]\nfiles = 5\n[[rule]]\nname = 'all'\nthen = 'allow'";
    let machine = Machine::new().user(rules);
    let mut left = 5;
    for at in 0..7 {
        std::fs::write(machine.workspace.path().join("a.jpeg"), "x").unwrap();
        let params = to(&format!("{at}.txt"));
        let is_applied = match at % 2 {
            0 => applied(&machine, &params, &[]).code == 0,
            _ => {
                let mut server = machine.server(&[]);
                server.call("batch_rename_preview", self::params(&params));
                let resolved = server.resolve("apply");
                resolved["isError"] == false
            }
        };
        assert_eq!(is_applied, left > 0, "{at}");
        left -= i32::from(is_applied);
    }
    let ran = applied(&machine, &to("more.txt"), &[]);
    check_refused(
        &ran,
        "the budget of the hour doesn't have that much: 1 file",
    );
    let id = ran.json()["pending"][0]["id"].as_str().unwrap().to_owned();
    let explain = ["policy", "explain", &id];
    let told = machine.airlock(&explain).run();
    assert!(
        told.stdout
            .contains("Let through in the last hour: 5 files"),
        "{told:#?}"
    );
}

#[test]
fn which_rule_decides_is_explained_and_nothing_is_counted_or_decided() {
    let rules = "[[rule]]\nname = 'text'\npaths = ['*.txt']\nthen = 'allow'\n[[rule]]\nname = 'pictures'\npaths = ['*.jpeg']\nthen = 'ask'\n[budget]\nfiles = 9";
    let machine = Machine::new().user(rules);
    let id = {
        let preview = ["run", "batch-rename", RENAME, "--json"];
        machine.airlock(&preview).run().json()["pending"][0]["id"].clone()
    };
    let explain = ["policy", "explain", id.as_str().unwrap()];
    let told = machine.airlock(&explain).run();
    assert_eq!(told.code, 0, "{told:#?}");
    let expected = "\
│ Batch rename: 1 files
A model's apply: asks a person
  ask: `a.jpeg`: rule `pictures`
  ask: no rule matches `a.jpg`, so the default applies
  The strictest of these counts.
On the command line, without a terminal: the same
It changes 1 file, 0 bytes.
Let through in the last hour: 0 files, 0 bytes, of 9 files.
";
    assert_eq!(told.stdout, expected);
    let json = machine.airlock(&explain).args(&["--json"]).run().json();
    assert_eq!(json["model"]["verdict"], "ask");
    assert_eq!(json["model"]["because"][0]["name"], "pictures");
    assert_eq!(json["commandLine"]["verdict"], "ask");
    assert_eq!(json["budget"]["spent"]["files"], 0);
}

fn params(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_rule_about_a_plugin_means_its_bytes_and_no_file_of_that_name() {
    let rest = "[[rule]]\nname = 'rest'\nthen = 'refuse'";
    let ours =
        format!("[[rule]]\nname = 'ours'\nplugins = ['batch-rename']\nthen = 'allow'\n{rest}");
    let machine = Machine::new().user(&ours);
    let folder = tempfile::TempDir::new().unwrap();
    let pretender = folder.path().join("batch-rename.wasm");
    std::fs::copy(guest("puppet"), &pretender).unwrap();
    let write = steps(json!([{"do": "push", "label": "Write", "apply": [
        {"do": "fs", "op": "write", "path": "/workspace/made", "text": "x"},
    ]}]));
    let line = ["run", pretender.to_str().unwrap(), "puppet", &write];
    let ran = machine.airlock(&line).args(&["--apply", "do it", "--json"]);
    check_refused(&ran.run(), "the operator's rules refuse it");
    assert_eq!(applied(&machine, &to("b.txt"), &[]).code, 0);

    // Its path means that file.
    let path = pretender.display();
    let machine = Machine::new().user(&format!(
        "[[rule]]\nname = 'that file'\nplugins = ['{path}']\nthen = 'allow'\n{rest}"
    ));
    let ran = machine.airlock(&line).args(&["--apply", "do it", "--json"]);
    assert_eq!(ran.run().code, 0);
    check_refused(&applied(&machine, &to("b.txt"), &[]), "rule `rest`");
}

#[test]
fn a_rule_about_a_digest_is_about_the_plugin_that_has_it() {
    let lock = include_str!("../../bundled/batch_rename.wasm.lock");
    let digest = lock
        .lines()
        .find_map(|line| line.strip_prefix("component "));
    let refuse = |digest: &str| {
        format!("[[rule]]\nname = 'not that'\nplugins = ['{digest}']\nthen = 'refuse'")
    };
    let machine = Machine::new().user(&refuse(digest.unwrap()));
    check_refused(&applied(&machine, &to("b.txt"), &[]), "rule `not that`");
    let checked = machine.airlock(&["config", "check"]).run();
    assert!(!checked.stderr.contains("not that"), "{checked:#?}");

    // A digest that no plugin here has is noted.
    let other = format!("sha256:{}", "0".repeat(64));
    let machine = Machine::new().user(&refuse(&other));
    assert_eq!(applied(&machine, &to("b.txt"), &[]).code, 0);
    let checked = machine.airlock(&["config", "check"]).run();
    assert_eq!(checked.code, 0);
    let note = format!("rule \"not that\" is about {other}: no plugin has it");
    assert!(checked.stderr.contains(&note), "{checked:#?}");
}

#[test]
fn rules_of_a_workspace_make_no_components() {
    let rule = "[[rule]]\nname = 'a'\nplugins = ['a.toml']\nthen = 'refuse'";
    let machine = Machine::new().own(rule);
    let file = machine.workspace.path().join("a.toml");
    fs::write(&file, "program = 'a.wasm'\n[[tool]]\nname = 'a'").unwrap();
    let checked = machine.airlock(&["config", "check"]).run();
    assert_eq!(checked.code, 2, "{checked:#?}");
    assert!(
        checked.stderr.contains("a.toml is no component"),
        "{checked:#?}"
    );

    // Those of the operator do, and report the file's own error.
    let machine = Machine::new().user(&rule.replace("a.toml", &file.display().to_string()));
    let checked = machine.airlock(&["config", "check"]).run();
    assert_eq!(checked.code, 2, "{checked:#?}");
    assert!(
        checked.stderr.contains("a.toml:2:1: missing field"),
        "{checked:#?}"
    );
}

#[test]
fn a_rule_about_a_plugin_that_is_not_there_is_an_error() {
    for (plugin, told) in [
        ("batch-renam", "no plugin \"batch-renam\" is bundled"),
        ("plugins/gone.wasm", "there is no component"),
        ("sha256:12", "sha256:12"),
    ] {
        let machine = Machine::new().user(&format!(
            "[[rule]]\nname = 'a'\nplugins = ['{plugin}']\nthen = 'allow'"
        ));
        let checked = machine.airlock(&["config", "check"]).run();
        assert_eq!(checked.code, 2, "{checked:#?}");
        assert!(checked.stderr.contains(told), "{checked:#?}");
        assert_eq!(applied(&machine, &to("b.txt"), &[]).code, 2);
    }
}
