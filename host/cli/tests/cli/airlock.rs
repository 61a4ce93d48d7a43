//! Runs the program.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::documents;

/// The params with which the bundled plugin renames `a.jpeg` and the like.
pub const RENAME: &str = r#"{"files": ["*.jpeg"], "find": "jpeg$", "replace": "jpg"}"#;

/// A command line that is to be run.
pub struct Airlock {
    command: Command,
    stdin: Vec<u8>,
    /// Kept until the command has run.
    _workspace: Option<TempDir>,
}

/// What the program did.
#[derive(Debug)]
pub struct ProgramOutput {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// `airlock` with these arguments, in an empty directory.
pub fn airlock(args: &[&str]) -> Airlock {
    let workspace = TempDir::new().unwrap();
    let mut airlock = airlock_in(workspace.path(), args);
    airlock._workspace = Some(workspace);
    airlock
}

/// `airlock` with these arguments, in this directory.
pub fn airlock_in(folder: &Path, args: &[&str]) -> Airlock {
    let mut command = command(folder);
    command.args(args);
    Airlock {
        command,
        stdin: Vec::new(),
        _workspace: None,
    }
}

/// The bare program in this directory, with no variable of who runs the tests, and with a home of
/// its own.
pub fn command(folder: &Path) -> Command {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("home");
    let mut command = Command::new(env!("CARGO_BIN_EXE_airlock"));
    command
        .current_dir(folder)
        .env_clear()
        .env("HOME", &home)
        // One cache for all tests, so that each guest is compiled once.
        .env("XDG_CACHE_HOME", home.join("cache"))
        .env("XDG_STATE_HOME", home.join("state"))
        // Nor what the machine's administrator says.
        .env("AIRLOCK_SYSTEM_CONFIG", home.join("none.toml"));
    command
}

impl Airlock {
    pub fn stdin(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.stdin = text.into();
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub fn args(mut self, args: &[&str]) -> Self {
        self.command.args(args);
        self
    }

    pub fn arg(mut self, arg: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    /// The same, run by another program: by `program argument airlock …`.
    pub fn beneath(mut self, program: &Path, argument: &Path) -> Self {
        let mut command = Command::new(program);
        command.arg(argument);
        command.arg(self.command.get_program());
        command.args(self.command.get_args());
        command.env_clear();
        let set = self.command.get_envs();
        command.envs(set.filter_map(|(name, value)| Some((name, value?))));
        if let Some(folder) = self.command.get_current_dir() {
            command.current_dir(folder);
        }
        self.command = command;
        self
    }

    pub fn run(mut self) -> ProgramOutput {
        let (input, output) = (Stdio::piped(), Stdio::piped());
        let child = self
            .command
            .stdin(input)
            .stdout(output)
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.unwrap();
        // Who reads no params closes the pipe.
        let _ = child.stdin.take().unwrap().write_all(&self.stdin);
        let output = child.wait_with_output().unwrap();
        let ran = ProgramOutput {
            code: output.status.code().expect("it was not ended by a signal"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        };
        // What a panic of the program itself would say; one of a guest's is reported without it.
        assert!(!ran.stderr.contains("RUST_BACKTRACE"), "{}", ran.stderr);
        // It may have been run by another program.
        let program = std::iter::once(self.command.get_program());
        let words = program.chain(self.command.get_args());
        let words = words.filter_map(|word| word.to_str());
        let words = words.skip_while(|word| *word != env!("CARGO_BIN_EXE_airlock"));
        documents::check(words.skip(1), &ran.stdout);
        ran
    }
}

impl ProgramOutput {
    /// The one object on standard output.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

impl ProgramOutput {
    /// The error object's kind, message and hint.
    #[track_caller]
    pub fn error(&self) -> (String, String, String) {
        let error = &self.json()["error"];
        let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
        (text("kind"), text("message"), text("hint"))
    }
}

/// A store of a test's own.
pub struct Store(TempDir);

impl Store {
    pub fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub fn path(&self) -> PathBuf {
        self.0.path().join("pending.db")
    }

    /// A command line that uses it.
    pub fn airlock(&self, folder: &Path, args: &[&str]) -> Airlock {
        airlock_in(folder, args).env("AIRLOCK_STORE", self.path())
    }

    /// Runs one that succeeds, and gives its object.
    #[track_caller]
    pub fn json(&self, folder: &Path, args: &[&str]) -> Value {
        let ran = self.airlock(folder, args).arg("--json").run();
        assert_eq!(ran.code, 0, "{args:?}: {ran:#?}");
        ran.json()
    }

    /// The rename of `*.jpeg` in this directory, left pending. Gives its id.
    #[track_caller]
    pub fn push_rename(&self, folder: &Path) -> String {
        let report = self.json(folder, &["run", "batch-rename", RENAME]);
        report["pending"][0]["id"].as_str().unwrap().to_owned()
    }

    /// The puppet's preview with these steps, left pending. Gives the id of the topmost action.
    #[track_caller]
    pub fn push(&self, folder: &Path, steps_: Value) -> String {
        let (puppet, params) = (guest("puppet"), steps(steps_));
        let report = self.json(folder, &["run", &puppet, "puppet", &params]);
        let id = report["pending"][0]["id"].as_str();
        id.expect("something is pending").to_owned()
    }
}

/// An id as lists and hints have it.
pub fn short(id: &str) -> &str {
    &id[id.len() - 8..]
}

/// The text with each id of an action as `ID`, whole or short: they are random.
pub fn without_ids(text: &str) -> String {
    let is_id = |word: &str| {
        let dashes: Vec<_> = word.match_indices('-').map(|(index, _)| index).collect();
        match word.len() {
            8 => dashes.is_empty(),
            36 => dashes == [8, 13, 18, 23],
            _ => false,
        }
    };
    let mut text = text.to_owned();
    for word in text
        .clone()
        .split(|c: char| !c.is_ascii_hexdigit() && c != '-')
    {
        if is_id(word) {
            text = text.replace(word, "ID");
        }
    }
    text
}

/// A test guest, built from source by `tests/run`.
pub fn guest(name: &str) -> String {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = match std::env::var_os("CARGO_TARGET_DIR") {
        Some(target) => workspace.join(PathBuf::from(target)),
        None => workspace.join("target"),
    };
    let path = target.join("guests").join(format!("{name}.wasm"));
    match path.canonicalize() {
        Ok(path) => path.to_str().expect("the path is UTF-8").to_owned(),
        Err(_) => panic!("{} is missing: run tests/run", path.display()),
    }
}

/// The params that make the puppet take these steps.
pub fn steps(steps: Value) -> String {
    json!({ "steps": steps }).to_string()
}

/// The puppet, doing these steps.
pub fn puppet(steps_: Value, options: &[&str]) -> Airlock {
    let (puppet, params) = (guest("puppet"), steps(steps_));
    let mut args = vec!["run", &puppet, "puppet", &params];
    args.extend(options);
    airlock(&args)
}

/// A directory with these files, each holding its own name.
pub fn folder(files: &[&str]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for file in files {
        fs::write(folder.path().join(file), file).unwrap();
    }
    folder
}

/// The names in a directory, sorted, but for what commits keep there.
pub fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != ".airlock")
        .collect();
    names.sort();
    names
}
