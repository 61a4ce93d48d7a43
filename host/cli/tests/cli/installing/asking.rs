//! Grants that a person gives at a terminal.

use expectrl::Expect;
use serde_json::json;

use super::{Place, SAY};
use crate::terminal::Terminal;

impl Place {
    fn terminal(&self, args: &[&str]) -> Terminal {
        let config = self.config();
        let args = [args, &["--config", config.to_str().unwrap()]].concat();
        Terminal::run(&self.workspace(), &args)
    }

    /// The plugin's grants in the lock, in words.
    fn granted(&self) -> String {
        let listed = self.json(&["list"]);
        let granted = &listed["plugins"][0]["grants"]["description"];
        let granted = granted.as_str().unwrap_or("nothing is installed");
        let granted = granted.split("; no environment").next().unwrap();
        granted.replace("; scratch directory", "")
    }
}

/// The program on the terminal with these answers, until its end.
#[track_caller]
fn answering(mut terminal: Terminal, answers: &[(&str, &str)]) -> String {
    for (question, answer) in answers {
        terminal.sees(question).0.send_line(*answer).unwrap();
    }
    terminal.rest()
}

#[test]
fn the_person_who_installs_grants_all_a_part_or_nothing() {
    let check = |answers: &[(&str, &str)], granted: &str| {
        let place = Place::new();
        let file = place.tools("say", SAY);
        let terminal = place.terminal(&["install", &file]);
        let rest = answering(terminal, answers);
        assert_eq!(place.granted(), granted, "{answers:?}: {rest}");
    };
    let question = "Install it, and grant this? [y]es, [c]hoose, [n]o, [?]:";
    let all = "workspace: read docs/, and change docs/ while applying";
    check(&[(question, "y")], all);
    check(&[(question, "maybe"), ("c  choose", "y")], all);
    let which = "Grant which, such as 1 3, or none:";
    check(&[(question, "c"), (which, "1")], "workspace: read docs/");
    check(&[(question, "c"), (which, "3"), (which, "2 1")], all);
    check(&[(question, "c"), (which, "none")], "workspace: none");
    check(&[(question, "n")], "nothing is installed");
}

#[test]
fn before_an_installation_all_that_matters_is_on_the_screen() {
    let place = Place::new();
    let hosts = "[wants]\nhosts = [{ host = \"api.example.com\" }]";
    let file = place.tools("say", &SAY.replace("[wants]", hosts));
    let mut terminal = place.terminal(&["install", &file]);
    terminal
        .sees("from")
        .sees("component")
        .sees("sha256:")
        .sees("Its tools, as models see them:")
        .sees("Says something.")
        .sees("It wants to:")
        .sees("1  read docs/")
        .sees("2  change docs/ while applying")
        .sees("which Airlock can't grant yet:")
        .sees("talk to https://api.example.com while previewing")
        .sees("Install it, and grant this?");
    terminal.0.send_line("n").unwrap();
    assert!(terminal.rest().contains("say was not installed."));
}

#[test]
fn an_escalation_is_approved_in_whole_or_in_part_or_declined() {
    let wider = SAY
        .replace(
            "change = [\"docs/\"]",
            "change = [\"docs/\", \"notes/\"]\nreal-time = true",
        )
        .replace("Says something.", "Says anything.");
    let check = |answers: &[(&str, &str)], granted: &str, is_updated: bool| {
        let place = Place::new();
        let file = place.tools("say", SAY);
        place.done(&["install", &file, "--yes"]);
        let before = place.lock();
        place.tools("say", &wider);
        let mut terminal = place.terminal(&["update", "say"]);
        terminal
            .sees("Authority")
            .sees("wider: it newly wants to change notes/ while applying")
            .sees("-Says something.")
            .sees("+Says anything.");
        let rest = answering(terminal, answers);
        assert_eq!(place.granted(), granted, "{answers:?}: {rest}");
        assert_eq!(place.lock() != before, is_updated, "{answers:?}: {rest}");
        assert_eq!(place.components().len(), 1);
        place.check_says("say");
    };
    let question = "Update it, and grant this? [y]es, [c]hoose, [k]eep, [n]o, [?]:";
    let before = "workspace: read docs/, and change docs/ while applying";
    let notes = "workspace: read docs/, notes/, and change docs/, notes/ while applying";
    check(
        &[(question, "y")],
        &format!("{notes}; real time while applying"),
        true,
    );
    check(&[(question, "c"), ("Grant which", "1")], notes, true);
    check(&[(question, "k")], before, true);
    check(&[(question, "n")], before, false);
}

#[test]
fn what_an_update_newly_wants_is_denied_until_it_is_granted() {
    let place = Place::new();
    let file = place.tools("say", SAY);
    place.done(&["install", &file, "--yes"]);
    place.tools("say", &SAY.replace("\"docs/\"", "\"**\""));
    let updated = place.json(&["update", "--yes"]);
    let plugin = &updated["plugins"][0];
    assert_eq!(plugin["state"], "updated");
    let differences = json!([
        "it newly wants to read **",
        "it newly wants to change ** while applying",
    ]);
    assert_eq!(plugin["differences"], differences);
    assert_eq!(plugin["grants"]["denied"], json!(["read **", "change **"]));
    let docs = "workspace: read docs/, and change docs/ while applying";
    assert_eq!(place.granted(), docs);
    place.done(&["update", "say", "--grant", "change=notes/"]);
    let both = "workspace: read docs/, notes/, and change docs/, notes/ while applying";
    assert_eq!(place.granted(), both);
}

#[test]
fn a_want_that_comes_back_is_a_new_one() {
    let place = Place::new();
    let wide = SAY.replace("\"docs/\"", "\"**\"");
    let file = place.tools("say", &wide);
    place.done(&["install", &file, "--yes"]);
    assert_eq!(
        place.granted(),
        "workspace: read, and change while applying"
    );
    place.tools("say", SAY);
    let updated = place.json(&["update", "--yes"]);
    let narrower = json!([
        "it no longer wants to read **",
        "it no longer wants to change ** while applying",
    ]);
    assert_eq!(updated["plugins"][0]["differences"], narrower);
    let docs = "workspace: read docs/, and change docs/ while applying";
    assert_eq!(place.granted(), docs);
    // The first grant is gone.
    place.tools("say", &wide);
    place.done(&["update", "--yes"]);
    assert_eq!(place.granted(), docs);
}

#[test]
fn a_plugin_that_never_said_what_it_wants_gets_what_is_granted() {
    let place = Place::new();
    let (_, tools) = SAY.split_once("change = [\"docs/\"]").unwrap();
    let file = place.tools("say", tools);
    let mut terminal = place.terminal(&["install", &file]);
    terminal.sees("It lists no wants, so only your grants limit it.");
    let answers = [("Install it, and grant this?", "c"), ("Grant which", "1")];
    let said = answering(terminal, &answers);
    assert!(said.contains("Installed say"), "{said}");
    assert_eq!(place.granted(), "workspace: read");
    let args = ["run", "say", "keep", "--file", "docs/a", "--text", "x"];
    place
        .airlock(&[&args[..], &["--apply", "a test says so"]].concat())
        .run();
    assert!(!place.path("ws/docs/a").exists());
    // Nor does the publisher grant anything by saying it.
    place.tools("say", SAY);
    place.done(&["update", "--yes"]);
    assert_eq!(place.granted(), "workspace: read docs/");
}

#[test]
fn a_publisher_cannot_speak_through_wants() {
    let place = Place::new();
    let says = "docs/ (checked by Airlock: safe)";
    let file = place.tools("say", &SAY.replacen("docs/", says, 1));
    let quoted = format!("read \"{says}\"");
    let ran = place.airlock(&["install", &file]).run();
    assert!(ran.stderr.contains(&quoted), "{ran:#?}");
    let mut terminal = place.terminal(&["install", &file]);
    terminal.sees(&format!("1  {quoted}")).sees("Install it");
    terminal.0.send_line("n").unwrap();
    terminal.rest();
}

#[test]
fn only_wanted_grants_are_kept_and_an_installation_replaces_them() {
    let place = Place::new();
    let file = place.tools("say", SAY);
    let install = ["install", &file, "--grant", "read=docs/"];
    let extra = ["--grant", "environment=LANG", "--grant", "change=notes/"];
    let ran = place.done(&[&install[..], &extra].concat());
    let note = "note: say doesn't want environment=LANG, so this is not granted";
    assert!(ran.stderr.contains(note), "{ran:#?}");
    assert!(
        ran.stderr.contains("doesn't want change=notes/"),
        "{ran:#?}"
    );
    assert_eq!(place.granted(), "workspace: read docs/");
    // So a version that wants it has to ask.
    place.tools(
        "say",
        &SAY.replace("change = [\"docs/\"]", "change = [\"notes/\"]"),
    );
    place.done(&["update", "--yes"]);
    assert_eq!(place.granted(), "workspace: read docs/");
    place.done(&["install", &file, "--grant", "change=notes/"]);
    let notes = "workspace: read notes/, and change notes/ while applying";
    assert_eq!(place.granted(), notes);
    place.done(&["install", &file, "--grant", "read=docs/"]);
    assert_eq!(place.granted(), "workspace: read docs/");
}
