//! Sources are parsed in processes with limits, which end with their call.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use airlock_ast_edit::AstEdit;
use airlock_host::cancel::CancellationToken;
use airlock_host::{Error, Limits, Session};
use airlock_tests::poll_once;
use serde_json::{Value, json};
use tempfile::TempDir;

const PARSER: &str = env!("CARGO_BIN_EXE_compiler");

/// A workspace, and what stands beside it.
struct Project {
    folder: TempDir,
}

impl Project {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("workspace")).unwrap();
        for (name, text) in files {
            fs::write(folder.path().join("workspace").join(name), text).unwrap();
        }
        Self { folder }
    }

    fn session(&self, ast_edit: AstEdit, limits: Limits) -> Session {
        Session::builder()
            .model_decides()
            .workspace(self.folder.path().join("workspace"))
            .limits(limits)
            .bind(&ast_edit.producer())
            .open()
            .unwrap()
    }

    async fn edit(&self, ast_edit: AstEdit) -> Result<String, Error> {
        let session = self.session(ast_edit, Limits::default());
        let called = session.call("ast_edit", &ops()).await;
        called.map(|outcome| outcome.text())
    }

    /// A program that does as this shell script says; `$0.pid` is where it notes its process.
    fn script(&self, script: &str) -> PathBuf {
        let path = self.folder.path().join("script");
        let text = format!("#!/bin/sh\necho $$ > '{}.pid'\n{script}\n", path.display());
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// The script's process, once it has said so.
    fn script_process(&self) -> Option<String> {
        let said = fs::read_to_string(self.folder.path().join("script.pid")).ok()?;
        said.strip_suffix('\n').map(str::to_owned)
    }

    /// Whether the script's process is there. A killed one is waited for by the call that started
    /// it; one that was killed before it said anything is gone.
    fn script_runs(&self) -> bool {
        let process = self.script_process();
        process.is_some_and(|process| Path::new("/proc").join(process).exists())
    }

    /// Looks again and again, without a pause, until this is so.
    async fn until(&self, what: &str, mut is_so: impl AsyncFnMut() -> bool) {
        let began = Instant::now();
        while !is_so().await {
            assert!(began.elapsed() < Duration::from_secs(60), "{what}");
            tokio::task::yield_now().await;
        }
    }
}

fn ops() -> Value {
    json!({"ops": [{"pat": "old($A)", "out": "new($A)"}]})
}

/// tree-sitter takes as much memory as the square of its length.
fn greedy() -> String {
    format!("old(1);\n{}", "a<b,".repeat(3000))
}

#[tokio::test]
async fn what_the_parser_needs_too_much_memory_for_is_told_and_the_rest_is_edited() {
    let project = Project::with(&[
        ("a.ts", "old(1);"),
        ("b.ts", &greedy()),
        ("c.ts", "old(2);"),
    ]);
    let ast_edit = AstEdit::new().parser(PARSER).parser_memory(64 << 20);
    let text = project.edit(ast_edit).await.unwrap();
    assert!(
        text.contains("2 replacements in 2 files, of 3 files searched"),
        "{text}"
    );
    let told = "Not searched: \"b.ts\", the parser needs more than 64 MiB of memory for it.";
    assert!(text.contains(told), "{text}");
    // With what it has by default, it is enough.
    let text = project.edit(AstEdit::new().parser(PARSER)).await.unwrap();
    assert!(!text.contains("Not searched"), "{text}");
}

#[tokio::test]
async fn ops_that_the_parser_needs_too_much_memory_for_are_an_error() {
    let project = Project::with(&[("a.ts", "old(1);")]);
    let ast_edit = AstEdit::new().parser(PARSER).parser_memory(64 << 20);
    let session = project.session(ast_edit, Limits::default());
    let pattern = "a<b,".repeat(3000);
    let ops = json!({"ops": [{"pat": pattern, "out": "x"}], "lang": "typescript"});
    let error = session
        .call("ast_edit", &ops)
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "can't read `ops` as typescript: the parser needs more than 64 MiB of memory for it"
    );
}

#[tokio::test]
async fn a_program_that_is_no_parser_is_an_error_that_says_how_it_ended() {
    let check = async |script: &str, expected: &str| {
        let project = Project::with(&[("a.ts", "old(1);")]);
        let ast_edit = AstEdit::new().parser(project.script(script));
        let error = project.edit(ast_edit).await.unwrap_err().to_string();
        assert!(
            error.starts_with("can't read `ops` as typescript: "),
            "{error}"
        );
        assert!(error.contains(expected), "{script}: {error}");
        assert!(!project.script_runs(), "{script}");
    };
    check("exit 3", "the parser crashed on it; it exited with code 3").await;
    check(
        "echo 'no such argument' >&2; exit 2",
        "it said: no such argument",
    )
    .await;
    // It echoes what it is told.
    check("exec cat <&0 >&0", "the parser crashed on it; ").await;
    check(PARSER, "the parser crashed on it").await;
    let project = Project::with(&[("a.ts", "old(1);")]);
    let nowhere = AstEdit::new().parser("/nowhere/at/all");
    let error = project.edit(nowhere).await.unwrap_err().to_string();
    assert!(
        error.contains("the parser could not be started, /nowhere/at/all: No such file"),
        "{error}"
    );
}

#[tokio::test]
async fn its_processes_end_with_the_call_however_that_ends() {
    let works = format!("exec {PARSER} \"$@\"");
    let project = Project::with(&[("a.ts", "old(1);")]);
    let ast_edit = AstEdit::new().parser(project.script(&works));
    project.edit(ast_edit).await.unwrap();
    assert!(!project.script_runs(), "after a preview");

    let hangs = "sleep 1000";
    let project = Project::with(&[("a.ts", "old(1);")]);
    let limits = Limits::default().with_call_time(Duration::from_millis(300));
    let ast_edit = AstEdit::new().parser(project.script(hangs));
    let session = project.session(ast_edit.clone(), limits);
    let error = session.call("ast_edit", &ops()).await.unwrap_err();
    assert!(matches!(error, Error::Limit { .. }), "{error}");
    assert!(!project.script_runs(), "after its time");

    fs::remove_file(project.folder.path().join("script.pid")).unwrap();
    let session = project.session(ast_edit.clone(), Limits::default());
    let cancel = CancellationToken::new();
    let params = ops();
    let call = session.call("ast_edit", &params).cancelled_by(&cancel);
    let cancelling = async {
        project
            .until("it starts", async || project.script_process().is_some())
            .await;
        cancel.cancel();
    };
    let (called, ()) = tokio::join!(call, cancelling);
    assert!(matches!(called, Err(Error::Cancelled)), "{called:?}");
    assert!(!project.script_runs(), "after it was cancelled");

    let session = project.session(ast_edit, Limits::default());
    {
        fs::remove_file(project.folder.path().join("script.pid")).unwrap();
        let call = session.call("ast_edit", &params).into_future();
        tokio::pin!(call);
        let started = async || {
            assert!(poll_once(call.as_mut()).await.is_none());
            project.script_process().is_some()
        };
        project.until("it starts", started).await;
    }
    // Nobody waits for it, so its process is looked at.
    project
        .until("it ends", async || !project.script_runs())
        .await;
}

#[tokio::test]
async fn a_parser_that_gives_its_answer_byte_by_byte_or_leaves_others_behind_holds_up_nobody() {
    let limits = Limits::default().with_call_time(Duration::from_millis(300));
    let project = Project::with(&[("a.ts", "old(1);")]);
    // A length of 64 KiB, and then a byte at a time.
    let drips = "printf 'airlock-gives-2\\n\\000\\000\\001\\000\\000\\000\\000\\000' >&0; while :; do printf x >&0; sleep 0.01; done";
    let ast_edit = AstEdit::new().parser(project.script(drips));
    let session = project.session(ast_edit, limits);
    let began = Instant::now();
    let error = session.call("ast_edit", &ops()).await.unwrap_err();
    assert!(matches!(error, Error::Limit { .. }), "{error}");
    // The next one has its turn at once, and not when the answer is complete.
    session.call("ast_edit", &ops()).await.unwrap_err();
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "{:?}",
        began.elapsed()
    );

    let project = Project::with(&[("a.ts", "old(1);")]);
    let leaves = "setsid sleep 60 & exit 3";
    let began = Instant::now();
    let error = project
        .edit(AstEdit::new().parser(project.script(leaves)))
        .await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("it exited with code 3"), "{error}");
    assert!(
        began.elapsed() < Duration::from_secs(30),
        "{:?}",
        began.elapsed()
    );
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_refused() {
    // The socket is the program's standard input. A head with the length precedes each answer.
    let check = async |answer: &str, expected: &str| {
        let project = Project::with(&[("a.ts", "old(1);")]);
        let length = answer.len();
        let head = format!("airlock-gives-2\\n\\{length:03o}{}", "\\000".repeat(7));
        let says = format!("printf '{head}%s' '{answer}' >&0; exec sleep 1000");
        let ast_edit = AstEdit::new().parser(project.script(&says));
        let error = project.edit(ast_edit).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{answer}: {error}");
        assert!(!project.script_runs(), "{answer}");
    };
    let op = r#"[[{"index":9,"words":["old"],"kinds":[1],"metavariables":[]}],[]]"#;
    check(op, "its answer does not fit the source").await;
    check(
        "[[],[[7,{\"field\":\"pat\",\"message\":\"no\"}]]]",
        "its answer does not fit",
    )
    .await;
    check("{}", "the parser crashed on it").await;
}

#[tokio::test]
async fn it_finds_the_same_in_this_process_and_in_others() {
    let project = Project::with(&[
        ("a.ts", "old(1);\nold(old(2));\n"),
        ("b.js", "old(1;\nold(2);\n"),
        ("c.py", "\u{feff}old('ä')\nif x:\n    old(\"ö\")\n"),
        ("d.rs", "fn f() { old(1) }"),
        ("e.sh", "old 1\n"),
        ("f.php", "<?php old($A);"),
        ("g.go", "package p\nfunc f() { old(T) }"),
    ]);
    let here = project.edit(AstEdit::new()).await.unwrap();
    let apart = project.edit(AstEdit::new().parser(PARSER)).await.unwrap();
    assert_eq!(here, apart);
    assert!(here.contains("replacements in 6 files"), "{here}");
}

/// The processes that this one started from a program, by what the system says of them.
fn processes_of(program: &Path) -> usize {
    let own = std::process::id().to_string();
    let folders = fs::read_dir("/proc").unwrap().flatten();
    let is_child = |folder: &Path| {
        let stat = fs::read_to_string(folder.join("stat")).ok()?;
        let (_, behind_the_name) = stat.rsplit_once(')')?;
        let parent = behind_the_name.split_whitespace().nth(1)?;
        let runs = fs::read_link(folder.join("exe")).ok()?;
        Some(parent == own && runs == program)
    };
    let children = folders.filter(|folder| is_child(&folder.path()) == Some(true));
    children.count()
}

/// Calls that parse for as long as they may, and others: each has its turn.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn however_many_sessions_search_there_are_no_more_parsers_than_may_be() {
    const PARSERS: usize = 2;
    const SESSIONS: usize = 6;
    // A program of its own, so that other tests' processes are not counted.
    let folder = TempDir::new().unwrap();
    let program = folder.path().join("parser");
    fs::copy(PARSER, &program).unwrap();
    let program = program.canonicalize().unwrap();

    let names: Vec<String> = (0..60).map(|number| format!("{number}.ts")).collect();
    let files: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), "old(1);"))
        .collect();
    let project = Project::with(&files);
    let ast_edit = AstEdit::new().parser(&program).max_parsers(PARSERS);
    let done = CancellationToken::new();
    let most = std::thread::spawn({
        let (program, done) = (program.clone(), done.clone());
        move || {
            let mut most = 0;
            while !done.is_cancelled() {
                most = most.max(processes_of(&program));
            }
            most
        }
    });
    let calls = (0..SESSIONS).map(|_| {
        let session = project.session(ast_edit.clone(), Limits::default());
        tokio::spawn(async move { session.call("ast_edit", &ops()).await })
    });
    for call in calls.collect::<Vec<_>>() {
        let text = call.await.unwrap().unwrap().text();
        assert!(text.contains("60 replacements in 60 files"), "{text}");
    }
    done.cancel();
    let most = most.join().unwrap();
    assert!((1..=PARSERS).contains(&most), "{most}");
    assert_eq!(processes_of(&program), 0);
}
