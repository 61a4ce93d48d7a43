//! The hostile corpus as this program meets it: whatever it is given, it ends in time, says what
//! was wrong, and takes little memory.
//!
//! What a plugin can do to the library is in `tests/src/hostile`; `tests/hostile/README.md` lists
//! both.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use airlock_tests::peak_memory_if_any;
use serde_json::json;
use tempfile::TempDir;

use crate::airlock::{command, guest, steps};

/// For a machine that does other things beside.
const SOON: Duration = Duration::from_secs(40);

/// The most memory that the program may ever have, in MiB: its bounds on what it reads, and itself.
const MEMORY: u64 = 400;

const TERABYTE: u64 = 1 << 40;

/// A home of its own, with a workspace in it.
struct UserHome(TempDir);

struct Exited {
    code: i32,
    said: String,
}

impl UserHome {
    fn new() -> Self {
        let home = Self(TempDir::new().unwrap());
        fs::create_dir(home.at("workspace")).unwrap();
        home
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    /// A file of so many bytes without a block behind them.
    fn sparse(&self, path: &str, bytes: u64) {
        let file = File::create(self.at(path)).unwrap();
        file.set_len(bytes).unwrap();
    }

    /// Runs the program, and looks at it from outside.
    #[track_caller]
    fn run(&self, args: &[&str]) -> Exited {
        let (out, err) = (self.at("out"), self.at("err"));
        let mut child = command(&self.at("workspace"))
            .env("XDG_CACHE_HOME", self.at("cache"))
            .env("XDG_STATE_HOME", self.at("state"))
            .args(args)
            .stdin(Stdio::null())
            .stdout(File::create(&out).unwrap())
            .stderr(File::create(&err).unwrap())
            .spawn()
            .unwrap();
        let started = Instant::now();
        let mut peak = 0;
        let status = loop {
            // None once it has ended.
            peak = peak.max(peak_memory_if_any(child.id()).unwrap_or_default() >> 20);
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if started.elapsed() > SOON {
                child.kill().unwrap();
                child.wait().unwrap();
                panic!("{args:?} does not end");
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let said = fs::read_to_string(out).unwrap() + &fs::read_to_string(err).unwrap();
        assert!(peak <= MEMORY, "{args:?}: {peak} MiB: {said:.300}");
        let code = status.code().expect("no signal ends it");
        Exited { code, said }
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn each_ends_in_time_with_its_code_and_takes_little_memory() {
    let home = UserHome::new();
    let puppet = guest("puppet");
    let check = |args: &[&str], code: i32, says: &str| {
        let ended = home.run(args);
        let said = &ended.said;
        assert_eq!(ended.code, code, "{args:?}: {said:.500}");
        assert!(said.contains(says), "{args:?}: {says}: {said:.500}");
    };
    let fine = steps(json!([{"do": "text", "text": "served"}]));
    let served = ["run", &puppet, "puppet", &fine];
    check(&served, 0, "served");

    // Files that are larger than any memory.
    home.sparse("workspace/huge", 8 * TERABYTE);
    home.sparse("workspace/huge.wasm", TERABYTE);
    check(&["run", &puppet, "puppet", "@huge"], 2, "more than 256 MiB");
    check(
        &["run", "./huge.wasm", "puppet", "{}"],
        3,
        "the limit is 134217728",
    );
    check(&["inspect", "huge.wasm"], 3, "the limit is 134217728");
    check(&["pending", "--store", "huge"], 1, "huge");
    check(
        &["store", "restore", "huge", "--store", "new.db"],
        1,
        "huge",
    );
    for entry in entries(&home.at("cache/airlock/compiled")) {
        let file = File::options().write(true).open(entry).unwrap();
        file.set_len(TERABYTE).unwrap();
    }
    check(&served, 0, "served");
    home.sparse("state/airlock/cache.key", TERABYTE);
    check(&served, 0, "served");

    // Plugins that do harm.
    let harms = [
        (json!([{"do": "spin"}]), 4, "was stopped after 1 s"),
        (json!([{"do": "block"}]), 4, "was stopped after 1 s"),
        (json!([{"do": "recurse"}]), 4, "used up its stack"),
        (json!([{"do": "allocate", "mib": 1024}]), 4, "of memory"),
        (json!([{"do": "trap"}]), 4, "crashed"),
        (json!([{"do": "log", "lines": 100_000}]), 0, ""),
        (
            json!([{"do": "result-bytes", "bytes": 17 << 20}]),
            4,
            "returned",
        ),
        (
            json!([{"do": "push", "label": "Large", "stateBytes": 4 << 20, "times": 60, "quiet": true}]),
            0,
            "limit-exceeded",
        ),
    ];
    for (harm, code, says) in harms {
        // Those that never end needn't be waited for.
        let time = if says.contains("1 s") { "1" } else { "30" };
        let harm = steps(harm);
        let args = ["run", &puppet, "puppet", &harm, "--timeout", time];
        check(&args, code, says);
    }
    check(&["pending"], 0, "Large");
    check(&["pending", "--all"], 0, "Large");
}
