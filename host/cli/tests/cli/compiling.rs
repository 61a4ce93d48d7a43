//! The program starts itself to compile a plugin, and ends that process whatever happens.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::airlock::{airlock, command};

/// For a process to be there, or gone.
const DEADLINE: Duration = Duration::from_secs(30);

/// A component that fits the world by its names, with these functions in a module.
fn component(folder: &Path, functions: &str) -> PathBuf {
    let text = format!(
        r#"(component (core module $m {functions}) (core instance (instantiate $m)) (instance $i)
            (export "airlock:tool/tool@0.1.0" (instance $i)) (export "airlock:tool/resolver@0.1.0" (instance $i)))"#
    );
    let path = folder.join("bomb.wasm");
    fs::write(&path, wat::parse_str(text).unwrap()).unwrap();
    path
}

/// A function of a megabyte without a branch, all of whose values are there at one time: a compiler
/// takes long for it.
fn straight() -> String {
    let loads: String = (0..120_000)
        .map(|number| format!("local.get 0 i32.load offset={} ", 16_384 + number))
        .collect();
    let adds = "i32.add ".repeat(119_999);
    format!("(memory 1) (func (param i32) (result i32) {loads} {adds})")
}

/// Starts to compile it, and gives the program and the process that it started for that.
#[expect(clippy::zombie_processes, reason = "whoever asks for it waits")]
fn compiling(folder: &Path) -> (Child, Pid) {
    let bomb = component(folder, &straight());
    let mut program: Command = command(folder);
    program.arg("inspect").arg(bomb).arg("--json");
    let child = program
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    let threads = format!("/proc/{}/task", child.id());
    let started = Instant::now();
    loop {
        let mut lists = vec![fs::read_to_string(&children).unwrap_or_default()];
        for thread in fs::read_dir(&threads).into_iter().flatten().flatten() {
            lists.push(fs::read_to_string(thread.path().join("children")).unwrap_or_default());
        }
        let found = lists
            .iter()
            .find_map(|list| list.split(' ').next()?.parse().ok());
        if let Some(found) = found.and_then(Pid::from_raw) {
            return (child, found);
        }
        assert!(started.elapsed() < DEADLINE, "nothing was started");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Who is dead and was not waited for yet, by the system's first process, is gone as well.
fn gone(process: Pid) {
    let stat = format!("/proc/{}/stat", process.as_raw_pid());
    let started = Instant::now();
    while fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        assert!(started.elapsed() < DEADLINE, "it is still there");
        thread::sleep(Duration::from_millis(5));
    }
}

fn ended(child: Child) -> Output {
    let started = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(started.elapsed() < DEADLINE, "{output:?}");
    output
}

#[test]
fn ctrl_c_ends_the_compiler_at_once() {
    let folder = TempDir::new().unwrap();
    let (child, compiler) = compiling(folder.path());
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = ended(child);
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    gone(compiler);
}

#[test]
fn a_compiler_does_not_outlive_the_program_that_was_killed() {
    let folder = TempDir::new().unwrap();
    let (mut child, compiler) = compiling(folder.path());
    child.kill().unwrap();
    child.wait().unwrap();
    gone(compiler);
}

#[test]
fn a_compiler_that_was_killed_is_an_error_with_advice() {
    let folder = TempDir::new().unwrap();
    let (child, compiler) = compiling(folder.path());
    kill_process(compiler, Signal::KILL).unwrap();
    let output = ended(child);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let error = &report["error"];
    assert_eq!(error["kind"], "compiler-failed", "{text}");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.starts_with("bomb could not be compiled: the compiler failed: it said nothing"),
        "{message}"
    );
    assert!(error["hint"].as_str().unwrap().starts_with("run it again"));
}

#[test]
fn a_component_that_is_too_complex_is_refused_with_the_function_the_figure_and_the_limit() {
    let folder = TempDir::new().unwrap();
    let locals = format!("(func) (func (local {}))", "i32 ".repeat(1001));
    let bomb = component(folder.path(), &locals);
    let ran = airlock(&["inspect", bomb.to_str().unwrap(), "--json"]).run();
    assert_eq!(ran.code, 3, "{ran:#?}");
    let (kind, message, hint) = ran.error();
    assert_eq!(
        (kind.as_str(), message.as_str()),
        (
            "too-complex",
            "bomb is too complex to be compiled: function 1 of module 0 has 1001 locals; the limit is 1000"
        )
    );
    assert!(hint.starts_with("no compiler makes"), "{hint}");
}

#[test]
fn the_argument_of_a_compiler_is_no_command_and_asks_for_a_host() {
    let ran = airlock(&["airlock-compile-a-component"]).run();
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:#?}");
    let help = airlock(&["--help"]).run();
    assert!(!help.stdout.contains("compile-a-component"));
}
