//! How many instructions a process takes for what it does, the engine's code and the guest's among
//! them. Valgrind counts; what is done once is the difference between few times and many.
//!
//! The numbers are those of the profile `release`: `tests/everything counts` compares them.

use std::path::{Path, PathBuf};
use std::process::Command;

use airlock_tests::recorded::{self, Numbers, Tolerated};
use tempfile::TempDir;

/// How often each is done: what begins and ends a process doesn't count.
const FEW: u64 = 5;
const MANY: u64 = 25;

/// How often it is counted: the least counts, since threads that wait for each other take more.
const ROUNDS: usize = 3;

#[test]
fn nothing_takes_a_tenth_more_instructions_than_was_recorded() {
    let tolerated = Tolerated {
        percent: 10,
        always: 0,
        less_is_told: false,
    };
    recorded::check(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions.txt"),
        "Instructions, in the profile `release`. \
         Written by tests/tests/counted/instructions.rs, with `UPDATE_EXPECT=1`.",
        &counted(),
        tolerated,
    );
}

fn counted() -> Numbers {
    let folder = TempDir::new().unwrap();
    let mut counts = Numbers::new();
    // Compiles the component, with nobody counting.
    run(Command::new(worker()).args(arguments("call", 1, folder.path())));
    let start = least(|| instructions("call", 0, folder.path()));
    counts.insert(
        "start, load and open a session instructions".to_owned(),
        start,
    );
    for (what, argument) in [
        ("load from the compile cache", "load"),
        ("call, push and reject", "call"),
    ] {
        let few = least(|| instructions(argument, FEW, folder.path()));
        let many = least(|| instructions(argument, MANY, folder.path()));
        counts.insert(
            format!("{what} instructions"),
            many.saturating_sub(few) / (MANY - FEW),
        );
    }
    counts
}

fn least(count: impl Fn() -> u64) -> u64 {
    (0..ROUNDS).map(|_| count()).min().unwrap()
}

fn worker() -> &'static str {
    env!("CARGO_BIN_EXE_counted_worker")
}

fn arguments(what: &str, times: u64, folder: &Path) -> [PathBuf; 3] {
    [what.into(), times.to_string().into(), folder.into()]
}

fn instructions(what: &str, times: u64, folder: &Path) -> u64 {
    let counted = folder.join("counted");
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["--tool=cachegrind", "--cache-sim=no", "--quiet"])
        .arg(format!("--cachegrind-out-file={}", counted.display()))
        .arg(worker())
        .args(arguments(what, times, folder));
    run(&mut valgrind);
    let text = std::fs::read_to_string(counted).unwrap();
    let total = text.lines().find_map(|line| line.strip_prefix("summary: "));
    total
        .expect("cachegrind ends with a summary")
        .parse()
        .unwrap()
}

fn run(command: &mut Command) {
    let ran = command.output();
    let ran = ran.unwrap_or_else(|error| {
        panic!("{command:?}: {error}: tests/toolchain/install-valgrind installs it")
    });
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{command:?}: {said}");
}
