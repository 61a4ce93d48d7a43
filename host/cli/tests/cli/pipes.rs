//! A named pipe in place of a file: whoever opens it waits for its other end, and this program
//! doesn't. Nor is what it keeps for others to read.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tempfile::TempDir;

use crate::airlock::{command, folder, guest, puppet, steps};

/// A home of its own, so that its cache is.
struct UserHome(TempDir);

impl UserHome {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = command(self.0.path());
        command
            .env("HOME", self.0.path())
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("XDG_STATE_HOME", self.path("state"))
            .args(args);
        command
    }

    /// Runs it, but not for longer than a test can wait. Gives its exit code, and all that it said.
    #[track_caller]
    fn ends(&self, args: &[&str]) -> (i32, String) {
        let mut command = self.command(args);
        let (out, err) = (self.path("out"), self.path("err"));
        let mut child = command
            .stdin(Stdio::null())
            .stdout(fs::File::create(&out).unwrap())
            .stderr(fs::File::create(&err).unwrap())
            .spawn()
            .unwrap();
        let end = Instant::now() + Duration::from_secs(30);
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if Instant::now() > end {
                child.kill().unwrap();
                panic!("{args:?} does not end");
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let said = fs::read_to_string(out).unwrap() + &fs::read_to_string(err).unwrap();
        (status.code().expect("an exit code"), said)
    }
}

fn make_pipe(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_pipe_that_nobody_writes_to_is_said_to_be_one_wherever_a_file_is_named() {
    let home = UserHome::new();
    make_pipe(&home.path("pipe.wasm"));
    let puppet = guest("puppet");
    let check = |args: &[&str], expected: &str| {
        let (code, said) = home.ends(args);
        assert_ne!(code, 0, "{args:?}: {said}");
        assert!(said.contains(expected), "{args:?}: {said}");
    };
    let pipe = "it is a pipe that no program writes to";
    check(&["run", &puppet, "puppet", "@pipe.wasm"], pipe);
    let extra = ["resolve", "apply", "--reason", "x", "--extra", "@pipe.wasm"];
    check(&extra, pipe);
    let file = "it is not a regular file";
    check(&["run", "./pipe.wasm", "puppet", "{}"], file);
    check(&["inspect", "pipe.wasm"], file);
    check(&["store", "restore", "pipe.wasm"], "not a regular file");
    check(&["pending", "--store", "pipe.wasm"], "pipe.wasm");
    check(
        &["run", &puppet, "puppet", "{}", "--store", "pipe.wasm"],
        "pipe.wasm",
    );
    check(
        &["store", "backup", "--store", "pipe.wasm", "b"],
        "pipe.wasm",
    );
    check(
        &["run", &puppet, "puppet", "@/dev/zero"],
        "it is neither a file nor a pipe",
    );
}

#[test]
fn params_come_out_of_a_pipe_that_is_written_to() {
    let home = UserHome::new();
    let params = steps(json!([{"do": "text", "text": "through a pipe"}]));
    let shell = Command::new("bash")
        .args([
            "-c",
            r#""$0" run "$1" puppet @<(sleep 0.2; printf %s "$2")"#,
        ])
        .arg(env!("CARGO_BIN_EXE_airlock"))
        .args([&guest("puppet"), &params])
        .env("HOME", home.path(""))
        .env("XDG_CACHE_HOME", home.path("cache"))
        .env("XDG_STATE_HOME", home.path("state"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&shell.stdout);
    assert!(said.contains("through a pipe"), "{shell:?}");
}

#[test]
fn a_pipe_in_place_of_the_caches_key_or_of_an_entry_costs_a_compilation() {
    let params = steps(json!([{"do": "text", "text": "served"}]));
    let puppet = guest("puppet");
    let run = ["run", &puppet, "puppet", &params];
    let home = UserHome::new();
    make_pipe(&home.path("state/airlock/cache.key"));
    let (code, said) = home.ends(&run);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("served"), "{said}");

    fs::remove_file(home.path("state/airlock/cache.key")).unwrap();
    assert_eq!(home.ends(&run).0, 0);
    let entries = fs::read_dir(home.path("cache/airlock/compiled")).unwrap();
    let entries: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(entries.len(), 1);
    fs::remove_file(&entries[0]).unwrap();
    make_pipe(&entries[0]);
    let (code, said) = home.ends(&run);
    assert_eq!(code, 0, "{said}");
    assert!(entries[0].metadata().unwrap().is_file());
}

#[test]
fn a_pipe_in_place_of_an_ignore_file_ignores_nothing_and_is_not_waited_for() {
    let check = |link: bool, path: &str| {
        let home = UserHome::new();
        fs::create_dir(home.path("sub")).unwrap();
        fs::write(home.path("sub/a.js"), "old(1);\n").unwrap();
        if link {
            make_pipe(&home.path("pipe"));
            fs::create_dir_all(home.path(path).parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(home.path("pipe"), home.path(path)).unwrap();
        } else {
            make_pipe(&home.path(path))
        }
        let ops = r#"{"ops": [{"pat": "old($A)", "out": "new($A)"}]}"#;
        let (code, said) = home.ends(&["run", "ast_edit", ops, "--timeout", "10"]);
        let found = "1 replacement in 1 file, of 1 file searched";
        assert!(code == 0 && said.contains(found), "{path}: {said}");
    };
    for link in [false, true] {
        check(link, ".gitignore");
        check(link, ".ignore");
        check(link, "sub/.gitignore");
        check(link, ".git/info/exclude");
        // A work tree that is linked to its repository.
        check(link, ".git");
        check(link, "sub/.git");
        // The user's own, which play no part: `core.excludesFile` would be named by the first two.
        check(link, ".gitconfig");
        check(link, ".config/git/config");
        check(link, ".config/git/ignore");
    }
}

#[test]
fn ctrl_c_ends_a_search_within_a_moment() {
    let home = UserHome::new();
    // The parser takes a quarter of a minute for that.
    let source = format!("<b>x</b>{}", "<div>".repeat(150_000));
    fs::write(home.path("a.html"), source).unwrap();
    let ops = r#"{"ops": [{"pat": "<b>$$$A</b>", "out": "<i>$$$A</i>"}]}"#;
    let mut child = home
        .command(&["run", "ast_edit", ops, "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let threads = format!("/proc/{}/task", child.id());
    let is_searching = || {
        let mut threads = fs::read_dir(&threads).into_iter().flatten().flatten();
        threads.any(|thread| {
            let name = fs::read_to_string(thread.path().join("comm"));
            name.is_ok_and(|name| name.trim() == "airlock-ast_edit".split_at(15).0)
        })
    };
    let end = Instant::now() + Duration::from_secs(60);
    while !is_searching() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        assert!(Instant::now() < end, "it never searches");
        std::thread::sleep(Duration::from_millis(5));
    }
    let interrupted = Instant::now();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    // A second or two, on a machine that does other things.
    assert!(
        interrupted.elapsed() < Duration::from_secs(5),
        "{:?}",
        interrupted.elapsed()
    );
    assert_eq!(output.status.code(), Some(130), "{output:?}");
}

#[test]
fn what_the_program_keeps_is_for_its_user_alone_also_where_an_older_version_left_it_open() {
    let home = UserHome::new();
    let params = steps(json!([{"do": "push", "label": "One"}]));
    let puppet = guest("puppet");
    let run = ["run", &puppet, "puppet", &params];
    let folders = ["cache/airlock/compiled", "state/airlock"];
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let check = || {
        for folder in folders {
            let folder = home.path(folder);
            assert_eq!(mode(&folder), 0o700, "{folder:?}");
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let open = mode(&path) & 0o077;
                assert_eq!(open, 0, "{path:?}");
            }
        }
    };
    assert_eq!(home.ends(&run).0, 0);
    check();
    for folder in folders {
        fs::set_permissions(home.path(folder), fs::Permissions::from_mode(0o755)).unwrap();
    }
    assert_eq!(home.ends(&run).0, 0);
    check();
}

#[test]
fn names_that_a_tool_could_not_be_told_are_noted() {
    let workspace = folder(&["plain"]);
    let odd = std::ffi::OsStr::from_bytes(b"odd\xff");
    fs::write(workspace.path().join(odd), "").unwrap();
    let list = json!([{"do": "fs", "op": "ls", "path": "/workspace"}]);
    let ran = puppet(list, &["--workspace", workspace.path().to_str().unwrap()]).run();
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.stdout.contains(r#"["plain"]"#), "{ran:#?}");
    let note = "note: 1 name that is not UTF-8 was left out of the tool's listings";
    assert!(ran.stderr.contains(note), "{ran:#?}");
}
