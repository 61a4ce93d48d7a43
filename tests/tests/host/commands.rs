//! Programs for `wasi:cli/command`, which know nothing of Airlock, are tools: their changes are
//! staged, and their output is the result.

use std::fs;

use airlock_host::content::{CallOutcome, Content};
use airlock_host::effects::ChangeKind;
use airlock_host::load::{COMMAND_TOOL, LoadError, World};
use airlock_host::tool::command::CommandTools;
use airlock_host::tool::with_command_tools;
use airlock_host::{Error, Limits, Policy, Resolution, Session};
use airlock_tests::{Tester, plugin};
use serde_json::json;
use tempfile::TempDir;

use crate::rehearsing::files;

struct Program {
    workspace: TempDir,
    session: Session,
}

impl Program {
    async fn new() -> Self {
        Self::with(|session| session).await
    }

    async fn with(
        settings: impl FnOnce(airlock_host::SessionBuilder) -> airlock_host::SessionBuilder,
    ) -> Self {
        let workspace = TempDir::new().unwrap();
        for (path, text) in [("a.txt", "a\n"), ("b.txt", "b\n")] {
            fs::write(workspace.path().join(path), text).unwrap();
        }
        let session = Session::builder()
            .model_decides()
            .workspace(workspace.path());
        let session = session.bind(&plugin("program").await);
        let session = settings(session).open().unwrap();
        Self { workspace, session }
    }

    async fn try_run(&self, args: &[&str]) -> Result<CallOutcome, Error> {
        let params = json!({ "args": args });
        self.session.call(COMMAND_TOOL, &params).await
    }

    async fn run(&self, args: &[&str]) -> CallOutcome {
        self.try_run(args).await.unwrap()
    }
}

fn texts(content: &[Content]) -> Vec<&str> {
    content.iter().filter_map(Content::as_text).collect()
}

#[tokio::test]
async fn a_program_is_a_plugin_of_one_tool() {
    let program = plugin("program").await;
    assert_eq!(*program.world(), World::Command);
    let tools: Vec<_> = program.tools().map(|tool| &*tool.name).collect();
    assert_eq!(tools, [COMMAND_TOOL]);
}

#[tokio::test]
async fn a_program_that_changes_nothing_answers_at_once() {
    let program = Program::new().await;
    let check = async |args: &[&str], expected: &[&str]| {
        let outcome = program.run(args).await;
        assert!(outcome.pushed.is_empty(), "{args:?}");
        assert_eq!(texts(&outcome.content), expected, "{args:?}");
    };
    check(
        &["args", "say", ""],
        &["[\"program\", \"args\", \"say\", \"\"]\n"],
    )
    .await;
    check(&["read", "a.txt"], &["a\n"]).await;
    check(&["list", "."], &["[\"a.txt\", \"b.txt\"]\n"]).await;
    check(&["env"], &["[] in \"/\"\n"]).await;
    check(&[], &["(no output)"]).await;
    check(
        &["say", "1", "complain", "2"],
        &["1\n", "Standard error:\n2\n"],
    )
    .await;
    check(&["say", "1", "exit", "3"], &["1\n", "The program failed."]).await;
    // Writing and removing a file is no change.
    check(&["write", "new", "x", "remove", "new"], &["(no output)"]).await;
    assert!(program.session.pending().await.unwrap().is_empty());

    let params = json!({ "args": ["stdin"], "stdin": "from\nhere" });
    let outcome = program.session.call(COMMAND_TOOL, &params).await.unwrap();
    assert_eq!(texts(&outcome.content), ["from\nhere"]);
    let details = outcome.details.unwrap();
    assert_eq!(details.as_str(), r#"{"succeeded":true}"#);
}

#[tokio::test]
async fn the_changes_of_a_program_are_staged_and_applied_by_running_it_again() {
    let program = Program::new().await;
    let before = files(program.workspace.path());
    let args = [
        "say", "changing", "append", "a.txt", "more\n", "rename", "b.txt", "c d", "time", "random",
    ];
    let outcome = program.run(&args).await;
    let told = texts(&outcome.content)[0].to_owned();
    assert!(told.starts_with("changing\n"), "{told}");
    assert_eq!(files(program.workspace.path()), before);
    assert_eq!(
        outcome.pushed[0].label,
        r#"program say changing append a.txt "more\n" rename b.txt "c d" time random"#
    );
    let effects = &outcome.effects[0].effects;
    assert!(effects.verified && effects.uses_time);
    let changes: Vec<_> = effects
        .changes
        .iter()
        .map(|it| (it.kind, &*it.path))
        .collect();
    let expected = [
        (ChangeKind::Modified, "a.txt"),
        (ChangeKind::Renamed, "c d"),
    ];
    assert_eq!(changes, expected);
    let answer = effects.answer.clone().unwrap().kept.unwrap();
    assert_eq!(texts(&answer.content), [&*told]);

    let applied = program
        .session
        .resolve(Resolution::apply("yes"), Tester)
        .await
        .unwrap();
    assert_eq!(texts(&applied.content), [&*told], "the same run again");
    let after = files(program.workspace.path());
    assert_eq!(after["a.txt"], "a\nmore\n");
    assert!(after.contains_key("c d") && !after.contains_key("b.txt"));

    let outcome = program.run(&["remove", "a.txt"]).await;
    assert_eq!(outcome.pushed[0].label, "program remove a.txt");
    program
        .session
        .resolve(Resolution::discard("no"), Tester)
        .await
        .unwrap();
    assert_eq!(files(program.workspace.path()), after);
}

#[tokio::test]
async fn a_program_that_fails_midway_shows_what_it_did() {
    let program = Program::new().await;
    let outcome = program.run(&["write", "new", "x", "read", "missing"]).await;
    let told = texts(&outcome.content);
    assert!(told[0].contains("Standard error:\nError: "), "{told:?}");
    assert_eq!(told[1], "The program failed.");
    assert_eq!(outcome.effects[0].effects.changes.len(), 1);

    let error = program
        .try_run(&["write", "new", "x", "panic", "oh no"])
        .await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("oh no"), "{error}");
    assert_eq!(program.session.pending().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_program_has_the_limits_of_any_guest() {
    let limits = Limits::default().with_call_time(std::time::Duration::from_millis(300));
    let program = Program::with(|session| session.limits(limits)).await;
    for args in [["spin"], ["sleep"]] {
        let error = program.try_run(&args).await.unwrap_err();
        assert_eq!(error.kind(), "limit", "{args:?}: {error}");
    }
    let outcome = program.run(&["connect"]).await;
    let told = texts(&outcome.content)[0];
    assert!(told.starts_with("Err("), "{told}");
    let outcome = program.run(&["flood"]).await;
    let told = texts(&outcome.content)[0];
    assert!(told.len() < 300_000 && told.ends_with(" more bytes]"));
    // A path that leads out of the workspace.
    let outcome = program.run(&["write", "../outside", "x"]).await;
    assert!(outcome.pushed.is_empty());
    assert!(!program.workspace.path().join("../outside").exists());
}

#[tokio::test]
async fn a_program_that_may_not_change_the_workspace_can_not() {
    let workspace = TempDir::new().unwrap();
    let plugin = plugin("program").await;
    let policy = Policy::default().with_workspace(airlock_host::policy::WorkspaceGrant::Read);
    let session = Session::builder()
        .model_decides()
        .workspace(workspace.path());
    let session = session.bind(plugin.under(policy)).open().unwrap();
    let params = json!({ "args": ["write", "new", "x"] });
    let outcome = session.call(COMMAND_TOOL, &params).await.unwrap();
    assert!(outcome.pushed.is_empty());
    assert_eq!(texts(&outcome.content).last(), Some(&"The program failed."));
    assert!(files(workspace.path()).is_empty());
}

/// A program with its own tools, in place of the one that takes a command line.
async fn with_own_tools(tools: serde_json::Value) -> Result<airlock_host::Plugin, LoadError> {
    let program = plugin("program").await;
    let tools: CommandTools = serde_json::from_value(tools).unwrap();
    let component = with_command_tools(program.source().bytes.to_vec(), &tools);
    airlock_host::Plugin::from_bytes(program.engine(), "own", component).await
}

#[tokio::test]
async fn a_program_can_have_tools_of_its_own_with_schemas() {
    let tools = json!({ "tool": [
        {
            "name": "append_line",
            "description": "Appends a line",
            "params": { "file": { "type": "string" }, "line": { "type": "string" } },
            "required": ["file", "line"],
            "args": ["append", "{file}", "{line}\n"],
            "title": "Append to {file}",
        },
        {
            "name": "say",
            "label": "Say",
            "description": "Says a text",
            "params": { "texts": { "type": "array", "items": { "type": "string" } } },
            "args": [["say", "{texts}"], "stdin"],
            "stdin": "-{texts}-",
            "read-only": true,
        },
        {
            "name": "note",
            "description": "Writes a text twice, and says that it doesn't",
            "params": { "text": { "type": "string" } },
            "args": [["write", "n", "{text}"]],
            "stdin": "{text}",
            "title": " ",
            "read-only": true,
        },
    ]});
    let own = with_own_tools(tools).await.unwrap();
    let defined: Vec<_> = own.tools().collect();
    let names: Vec<_> = defined.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["append_line", "say", "note"]);
    assert_eq!(
        (&*defined[0].label, &*defined[1].label),
        ("append_line", "Say")
    );
    assert!(defined[1].traits.read_only && !defined[0].traits.read_only);
    assert_eq!(own.rejected(), []);

    let workspace = TempDir::new().unwrap();
    fs::write(workspace.path().join("a.txt"), "a\n").unwrap();
    let session = Session::builder()
        .model_decides()
        .workspace(workspace.path());
    let session = session.bind(&own).open().unwrap();
    // The promise of a tool to change nothing is not taken for granted.
    let written = session.call("note", &json!({ "text": "x" })).await.unwrap();
    assert_eq!(written.pushed[0].label, "own write n x");
    session
        .resolve(Resolution::discard("no"), Tester)
        .await
        .unwrap();
    let huge = json!({ "text": "x".repeat(3 << 20) });
    let refused = session.call("note", &huge).await.unwrap_err().to_string();
    assert!(refused.contains("command line is longer than"), "{refused}");

    let params = json!({ "texts": ["x"] });
    let said = session.call("say", &params).await.unwrap();
    assert_eq!(texts(&said.content), ["x\n-[\"x\"]-"]);
    let said = session.call("say", &json!({})).await.unwrap();
    assert_eq!(texts(&said.content), ["--"]);

    let wrong = session
        .call("append_line", &json!({ "file": "a.txt" }))
        .await;
    assert!(
        matches!(wrong, Err(Error::InvalidParams { .. })),
        "{wrong:?}"
    );
    let other = session.call(COMMAND_TOOL, &json!({ "args": [] })).await;
    assert!(matches!(other, Err(Error::UnknownTool { .. })), "{other:?}");

    let params = json!({ "file": "a.txt", "line": "b" });
    let outcome = session.call("append_line", &params).await.unwrap();
    assert_eq!(outcome.pushed[0].label, "Append to a.txt");
    // A refresh calls the tool again, on the changed file.
    fs::write(workspace.path().join("a.txt"), "0\n").unwrap();
    session
        .refresh(&outcome.pushed[0].id, Tester)
        .await
        .unwrap();
    session
        .resolve(Resolution::apply("yes"), Tester)
        .await
        .unwrap();
    let text = fs::read_to_string(workspace.path().join("a.txt")).unwrap();
    assert_eq!(text, "0\nb\n");
}

#[tokio::test]
async fn a_section_of_tools_that_is_wrong_is_refused_with_the_reason() {
    let program = plugin("program").await;
    let tool = json!({ "name": "a", "description": "a" });
    let tools: CommandTools = serde_json::from_value(json!({ "tool": [tool] })).unwrap();
    let check = async |component: Vec<u8>, says: &str| {
        let loaded = airlock_host::Plugin::from_bytes(program.engine(), "own", component).await;
        let error = loaded.unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    };
    let bytes = || program.source().bytes.to_vec();
    let twice = with_command_tools(with_command_tools(bytes(), &tools), &tools);
    check(twice, "two sections `airlock:command-tools`").await;
    let other = plugin("puppet").await.source().bytes.to_vec();
    check(with_command_tools(other, &tools), "only for programs").await;
    let mut wrong = with_command_tools(bytes(), &tools);
    let at = wrong.len() - br#""description":"a""#.len() - 1;
    wrong[at..].fill(b' ');
    check(wrong, "its section `airlock:command-tools` is wrong").await;
}
