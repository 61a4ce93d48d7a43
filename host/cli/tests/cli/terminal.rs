//! With somebody at the terminal.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use expectrl::process::unix::WaitStatus;
use expectrl::session::OsSession;
use expectrl::{ControlCode, Eof, Expect, Session};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::airlock::{RENAME, airlock_in, command, folder, guest, names, steps};

/// The program on a terminal of its own.
pub struct Terminal(pub OsSession);

impl Terminal {
    pub fn run(folder: &Path, args: &[&str]) -> Self {
        let mut command = command(folder);
        command.env("TERM", "xterm").env("NO_COLOR", "1").args(args);
        command.env("AIRLOCK_PAGER", "sed 's/^/paged: /'");
        let mut session = Session::spawn(command).unwrap();
        session.set_expect_timeout(Some(Duration::from_secs(60)));
        Self(session)
    }

    /// The program on a terminal of its own, with one more variable of the environment.
    pub fn run_with(folder: &Path, args: &[&str], (name, value): (&str, &str)) -> Self {
        let mut command = command(folder);
        command.env("TERM", "xterm").env("NO_COLOR", "1").args(args);
        command.env("AIRLOCK_PAGER", "cat").env(name, value);
        let mut session = Session::spawn(command).unwrap();
        session.set_expect_timeout(Some(Duration::from_secs(60)));
        Self(session)
    }

    /// The program on a terminal of so many columns.
    pub fn run_within(columns: usize, folder: &Path, args: &[&str]) -> Self {
        // The library sets a size of the terminal too, perhaps after the program began.
        let mut session = Self::waiting_for_a_line(folder, args);
        let size = u16::try_from(columns).unwrap();
        let process = session.get_process_mut();
        process.set_window_size(size, 24).unwrap();
        session.send_line("").unwrap();
        Self(session)
    }

    /// The program on a terminal that has these typed lines already.
    pub fn run_after(typed: &[&str], folder: &Path, args: &[&str]) -> Self {
        let mut session = Self::waiting_for_a_line(folder, args);
        // The terminal has all of it before the program begins.
        session.send(format!("\n{}\n", typed.join("\n"))).unwrap();
        Self(session)
    }

    fn waiting_for_a_line(folder: &Path, args: &[&str]) -> OsSession {
        let airlock = command(folder);
        let waiting = "read -r line && exec \"$@\"";
        let mut shell = Command::new("/bin/sh");
        shell.current_dir(folder).env_clear();
        shell.envs(
            airlock
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        shell.env("PATH", "/usr/bin:/bin").env("NO_COLOR", "1");
        shell.env("AIRLOCK_PAGER", "cat");
        shell
            .args(["-c", waiting, "sh"])
            .arg(airlock.get_program())
            .args(args);
        let mut session = Session::spawn(shell).unwrap();
        session.set_expect_timeout(Some(Duration::from_secs(60)));
        session
    }

    /// All that is printed until the end.
    #[track_caller]
    pub fn rest(&mut self) -> String {
        let rest = self.0.expect(Eof).unwrap();
        String::from_utf8(rest.as_bytes().to_vec()).unwrap()
    }

    pub fn puppet(folder: &Path, steps_: Value) -> Self {
        // What an apply does is to be seen once.
        let (puppet, steps) = (guest("puppet"), steps(steps_));
        let args = ["run", &puppet, "puppet", &steps, "--rehearse", "never"];
        Self::run(folder, &args)
    }

    /// Waits for this text, and passes over what comes before.
    #[track_caller]
    pub fn sees(&mut self, text: &str) -> &mut Self {
        if let Err(error) = self.0.expect(text) {
            panic!("{text:?} did not come: {error}");
        }
        self
    }

    pub fn types(&mut self, line: &str) -> &mut Self {
        self.0.send_line(line).unwrap();
        self
    }

    pub fn presses(&mut self, key: ControlCode) -> &mut Self {
        self.0.send(key).unwrap();
        self
    }

    #[track_caller]
    pub fn asks(&mut self, answer: &str) -> &mut Self {
        self.sees("[d]iscard, [l]eave, [?]: ").types(answer)
    }

    #[track_caller]
    pub fn asks_why(&mut self, reason: &str) -> &mut Self {
        self.sees("Reason (may be empty): ").types(reason)
    }

    /// By nothing that a program can catch, or ignores since whoever started the tests did.
    #[track_caller]
    pub fn is_killed(&mut self) {
        let process = self.0.get_process();
        let pid = Pid::from_raw(process.pid().as_raw()).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
        let ended = process.wait().unwrap();
        assert!(matches!(ended, WaitStatus::Signaled(..)), "{ended:?}");
    }

    #[track_caller]
    pub fn ends(&mut self, code: i32) {
        self.0.expect(Eof).unwrap();
        match self.0.get_process().wait().unwrap() {
            WaitStatus::Exited(_, exited) => assert_eq!(exited, code),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn an_action_is_applied_discarded_or_left_as_somebody_says() {
    let check = |answer: &str, reason: Option<&str>, said: &str, expected: &str| {
        let folder = folder(&["a.jpeg"]);
        let mut terminal = Terminal::run(folder.path(), &["run", "batch-rename", RENAME]);
        terminal
            .sees("a.jpeg -> a.jpg")
            .sees("Batch rename: 1 files")
            .asks(answer);
        if let Some(reason) = reason {
            terminal.asks_why(reason);
        }
        terminal.sees(said).ends(0);
        assert_eq!(names(&folder), [expected], "{answer}");
    };
    check(
        "a",
        Some("the list is right"),
        "Applied batch rename. Reason: the list is right",
        "a.jpg",
    );
    check("apply", Some(""), "Applied batch rename", "a.jpg");
    check(
        "D",
        Some("the wrong one"),
        "Discarded batch rename. Reason: the wrong one",
        "a.jpeg",
    );
    check("d", Some(""), "Discarded batch rename", "a.jpeg");
    check("l", None, "resolve apply --id", "a.jpeg");
}

#[test]
fn other_answers_are_asked_about_again() {
    let folder = folder(&["a.jpeg"]);
    let mut terminal = Terminal::run(folder.path(), &["run", "batch-rename", RENAME]);
    terminal
        .asks("")
        .sees("Please answer one of these")
        .asks("yes")
        .sees("Please answer")
        .asks("l")
        .ends(0);
    assert_eq!(names(&folder), ["a.jpeg"]);
}

#[test]
fn the_end_of_the_input_leaves_the_action() {
    let folder = folder(&["a.jpeg"]);
    let mut terminal = Terminal::run(folder.path(), &["run", "batch-rename", RENAME]);
    terminal
        .sees("[l]eave, [?]: ")
        .presses(ControlCode::EndOfTransmission)
        .sees("stays pending")
        .ends(0);
    let mut terminal = Terminal::run(folder.path(), &["run", "batch-rename", RENAME]);
    terminal
        .asks("a")
        .sees("Reason")
        .presses(ControlCode::EndOfTransmission)
        .sees("stays pending")
        .ends(0);
    assert_eq!(names(&folder), ["a.jpeg"]);
}

#[test]
fn several_actions_are_asked_about_from_the_top() {
    let push = |label: &str| json!({"do": "push", "label": label, "apply": [{"do": "text", "text": format!("did {label}")}]});
    let folder = folder(&[]);
    let mut terminal = Terminal::puppet(
        folder.path(),
        json!([push("one"), push("two"), push("three")]),
    );
    terminal
        .sees("1 of 3: three")
        .asks("a")
        .asks_why("")
        .sees("did three");
    terminal.sees("2 of 3: two").asks("l");
    terminal
        .sees("3 of 3: one")
        .asks("d")
        .asks_why("no")
        .sees("Discard: one")
        .sees("reason: no");
    terminal.sees("this action stays pending").ends(0);
}

#[test]
fn a_failed_apply_is_asked_about_again() {
    let push = |n: u32| json!([{"do": "push", "label": "One", "apply": [{"do": "fail-until-attempt", "n": n}, {"do": "text", "text": "done"}]}]);
    let folder = folder(&[]);
    let mut terminal = Terminal::puppet(folder.path(), push(2));
    terminal
        .asks("a")
        .asks_why("")
        .sees("Failed: One")
        .sees("error: ")
        .asks("a")
        .asks_why("")
        .sees("done")
        .ends(0);
    let mut terminal = Terminal::puppet(folder.path(), push(9));
    terminal
        .asks("a")
        .asks_why("")
        .sees("Failed: One")
        .sees("error: ")
        .asks("d")
        .asks_why("")
        .ends(0);
    let mut terminal = Terminal::puppet(folder.path(), push(9));
    terminal
        .asks("a")
        .asks_why("")
        .sees("Failed: One")
        .sees("error: ")
        .asks("l")
        .ends(1);
}

#[test]
fn a_volatile_action_can_not_be_left() {
    let folder = folder(&[]);
    let push = json!([{"do": "push", "label": "One", "volatile": true}]);
    let mut terminal = Terminal::puppet(folder.path(), push.clone());
    terminal
        .asks("l")
        .sees("error: the tool keeps its preview only in memory")
        .sees("hint: ")
        .ends(1);
    let mut terminal = Terminal::puppet(folder.path(), push);
    terminal
        .sees("[l]eave, [?]: ")
        .presses(ControlCode::EndOfText)
        .sees("cancelled")
        .ends(130);
    let mut terminal = Terminal::run(folder.path(), &["log"]);
    terminal
        .sees("discarded by the program airlock")
        .sees("only in memory")
        .ends(0);
    let mut terminal = Terminal::run(folder.path(), &["pending"]);
    terminal.sees("Nothing is pending in the session").ends(0);
}

#[test]
fn an_interrupt_ends_whatever_is_going_on() {
    let folder = folder(&[]);
    let interrupt = ControlCode::EndOfText;
    // A call; the progress shows that it has begun.
    let progress = json!({"do": "progress", "message": "Counting", "progress": 1, "total": 3});
    let mut terminal = Terminal::puppet(folder.path(), json!([progress, {"do": "spin"}]));
    terminal
        .sees("Counting (1 of 3)")
        .presses(interrupt)
        .sees("cancelled")
        .ends(130);
    // A question.
    let mut terminal = Terminal::puppet(folder.path(), json!([{"do": "push", "label": "One"}]));
    terminal
        .sees("[l]eave, [?]: ")
        .presses(interrupt)
        .sees("cancelled")
        .ends(130);
    // An apply.
    let push = json!([{"do": "push", "label": "One", "apply": [progress, {"do": "block"}]}]);
    let mut terminal = Terminal::puppet(folder.path(), push);
    terminal
        .asks("a")
        .asks_why("")
        .sees("Counting")
        .presses(interrupt)
        .sees("cancelled")
        .ends(130);
}

#[test]
fn nobody_is_asked_for_json() {
    let folder = folder(&["a.jpeg"]);
    let mut terminal = Terminal::run(folder.path(), &["run", "batch-rename", RENAME, "--json"]);
    terminal.sees("\"pending\":[{").ends(0);
    assert_eq!(names(&folder), ["a.jpeg"]);
}

#[test]
fn an_answered_decision_is_not_asked_for() {
    let folder = folder(&["a.jpeg"]);
    let mut terminal = Terminal::run(
        folder.path(),
        &["run", "batch-rename", RENAME, "--apply", "yes"],
    );
    terminal.sees("Applied batch rename. Reason: yes").ends(0);
    assert_eq!(names(&folder), ["a.jpg"]);
}

#[test]
fn rows_are_as_wide_as_the_terminal_and_lines_in_a_pipe_are_whole() {
    let folder = folder(&[]);
    let text = "Some words of a tool, 日本語日本語日本語, and\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a line of a diff that is rather long\n+\tanother";
    let label = "Edit: a label that is longer than a narrow terminal is wide";
    let done = json!([{"do": "text", "text": text}]);
    let push = json!([{"do": "text", "text": text}, {"do": "push", "label": label, "apply": done, "quiet": true}]);
    let (puppet, params) = (guest("puppet"), steps(push));
    let args = [
        "run",
        &puppet,
        "puppet",
        &params,
        "--apply",
        "as it should be",
    ];
    for columns in [12, 30, 200] {
        let printed = Terminal::run_within(columns, folder.path(), &args).rest();
        for row in printed.lines() {
            // Each of the wide characters takes three bytes and two columns.
            let width = row
                .chars()
                .map(|c| 1 + usize::from(c > '\u{3000}'))
                .sum::<usize>();
            assert!(width <= columns, "{columns}: {row:?}");
        }
        // The label has no room behind the word in so few columns, and is below it.
        let accept = if columns < 20 {
            "Accept:\r\n"
        } else {
            "Accept: "
        };
        assert!(printed.contains(accept), "{printed}");
        assert_eq!(printed.contains('↪'), columns < 40, "{printed}");
    }
    let piped = airlock_in(folder.path(), &args).run().stdout;
    let shown = text.replace('\t', "       ");
    let (shown, indented) = (shown.replace('\n', "\n│ "), shown.replace('\n', "\n  │ "));
    let expected = format!(
        "│ {shown}\n\nAccept: Edit: a label that is longer than a narrow terminal is wide\n  reason: as it should be\n\n  │ {indented}\n"
    );
    assert_eq!(piped, expected);
}
