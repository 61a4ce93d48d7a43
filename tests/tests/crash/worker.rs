//! Processes to be killed, and the place that they work at.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread::JoinHandle;
use std::time::Duration;

use airlock_tests::Random;
use tempfile::TempDir;

/// Longer than a busy machine needs to start a process.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// A store, a workspace with a ledger for each worker, a compile cache, and a place for scratch
/// directories.
pub struct WorkerFiles(TempDir);

impl WorkerFiles {
    pub fn new(ledgers: usize) -> Self {
        let site = Self(TempDir::new().unwrap());
        for folder in ["workspace", "scratch"] {
            fs::create_dir(site.path(folder)).unwrap();
        }
        for ledger in 0..ledgers {
            fs::write(site.ledger(ledger), "").unwrap();
        }
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn store(&self) -> PathBuf {
        self.path("store.db")
    }

    pub fn workspace(&self) -> PathBuf {
        self.path("workspace")
    }

    pub fn cache(&self) -> PathBuf {
        self.path("cache")
    }

    /// The notes of a worker that undoes.
    pub fn history(&self) -> PathBuf {
        self.path("history")
    }

    pub fn scratch(&self) -> PathBuf {
        self.path("scratch")
    }

    /// How many scratch directories there are.
    pub fn scratches(&self) -> usize {
        fs::read_dir(self.path("scratch")).unwrap().count()
    }

    pub fn ledger(&self, ledger: usize) -> PathBuf {
        self.path("workspace").join(format!("ledger-{ledger}"))
    }

    pub fn ledgers(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path("workspace")).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        // But for what commits keep there.
        paths.filter(|path| path.is_file()).collect()
    }
}

fn command(site: &WorkerFiles, ledger: usize, seed: u64) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crash_worker"));
    command
        .arg(site.store())
        .arg(site.workspace())
        .arg(site.cache())
        .arg(format!("ledger-{ledger}"))
        .arg(seed.to_string())
        .env("TMPDIR", site.scratch());
    command
}

pub struct Worker {
    process: Child,
    lines: Receiver<String>,
    reader: JoinHandle<()>,
    /// Those that were taken from `lines`.
    heard: Vec<String>,
}

impl Worker {
    pub fn start(site: &WorkerFiles, ledger: usize, seed: u64) -> Self {
        Self::spawn(&mut command(site, ledger, seed))
    }

    /// One that applies an action which makes so many files.
    pub fn that_makes(site: &WorkerFiles, files: usize) -> Self {
        Self::spawn(command(site, 0, 0).arg(files.to_string()))
    }

    pub fn spawn(command: &mut Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        let reader = std::thread::spawn(move || {
            // A line that was cut off is one that was not said.
            for line in output.split(b'\n').map_while(Result::ok) {
                let _ = sender.send(String::from_utf8(line).unwrap());
            }
        });
        Self {
            process,
            lines,
            reader,
            heard: Vec::new(),
        }
    }

    /// Mostly until some time after some line: work goes on at once after each, so that this is any
    /// point of it. Sometimes less than it takes to start.
    pub fn live_a_while(&mut self, random: &mut Random) {
        if random.percent(10) {
            std::thread::sleep(Duration::from_micros(random.below(40_000)));
            return;
        }
        self.hear_until("ready");
        for _ in 0..random.below(12) {
            self.hear();
        }
        std::thread::sleep(Duration::from_micros(random.below(12_000)));
    }

    /// Waits for it to end or for something to be so; whether it has ended.
    pub fn ends_before(&mut self, mut is_so: impl FnMut() -> bool) -> bool {
        while !is_so() {
            if self.process.try_wait().unwrap().is_some() {
                return true;
            }
        }
        false
    }

    /// Stops it, if it goes on, and gives all that it said.
    pub fn stop(mut self) -> Vec<String> {
        // It may have ended meanwhile.
        let _ = self.process.kill();
        self.all_said()
    }

    fn hear_until(&mut self, line: &str) {
        while self.heard.last().is_none_or(|last| last != line) {
            self.hear();
        }
    }

    fn hear(&mut self) {
        let line = self.lines.recv_timeout(START_TIMEOUT);
        self.heard.push(line.expect("the worker goes on"));
    }

    /// Kills it, and gives all that it said.
    pub fn kill(mut self) -> Vec<String> {
        assert_eq!(self.process.try_wait().unwrap(), None, "it ended by itself");
        self.process.kill().unwrap();
        self.all_said()
    }

    fn all_said(mut self) -> Vec<String> {
        self.process.wait().unwrap();
        self.reader.join().unwrap();
        self.heard.extend(self.lines.try_iter());
        self.heard
    }
}
