//! The languages' own tools, where `tests/run` installs them.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use serde_json::Value;
use tempfile::TempDir;

use crate::documents;

/// This checkout.
pub fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

/// Runs a line of a shell, in this folder, with `airlock` and the tools of a language on the PATH.
pub fn shell(language: &str, folder: &Path, line: &str) -> Output {
    let output = command(language, folder, line).output().unwrap();
    let (_, words) = line.rsplit_once("airlock ").unwrap_or_default();
    let stdout = String::from_utf8_lossy(&output.stdout);
    documents::check(words.split_whitespace(), &stdout);
    output
}

/// The same, not yet run. npm asks the network only for what it doesn't have, and cargo compiles
/// only what a new project has of its own.
pub fn command(language: &str, folder: &Path, line: &str) -> Command {
    let mut command = from_nothing(language, folder, line);
    if language == "rust" {
        command.env("CARGO_TARGET_DIR", rust_target());
    }
    command
}

fn from_nothing(language: &str, folder: &Path, line: &str) -> Command {
    let root = root();
    let mut command = match language {
        "c" | "go" => {
            let mut command = Command::new(root.join("tests/toolchain/guest-tools"));
            command.arg("sh");
            command
        }
        _ => Command::new("sh"),
    };
    let program = Path::new(env!("CARGO_BIN_EXE_airlock")).parent().unwrap();
    let mut path = vec![program.to_owned()];
    if language == "python" {
        path.insert(0, python_tools());
    }
    let before = std::env::var_os("PATH").unwrap();
    path.extend(std::env::split_paths(&before));
    command
        .args(["-euc", line])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(path).unwrap())
        .env(
            "AIRLOCK_CACHE_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("home/cache/airlock"),
        )
        .env("AIRLOCK_STORE", folder.join(".pending.db"))
        .env("npm_config_prefer_offline", "true")
        .env_remove("AIRLOCK_SDK")
        .env_remove("VIRTUAL_ENV");
    if let Some(toolchain) = wasm_toolchain() {
        command.env("RUSTUP_TOOLCHAIN", toolchain);
    }
    command
}

/// The programs of the environment that tests/toolchain/install-python-tools made.
pub fn python_tools() -> PathBuf {
    let target = match std::env::var_os("CARGO_TARGET_DIR") {
        Some(target) => root().join(PathBuf::from(target)),
        None => root().join("target"),
    };
    let programs = target.join("python-tools/bin");
    assert!(
        programs.join("python3").exists(),
        "{} is missing: run tests/toolchain/install-python-tools",
        programs.display()
    );
    programs
}

/// The toolchain that tests/toolchain/install-wasm-target made, where the default one has no target
/// for WebAssembly.
fn wasm_toolchain() -> Option<OsString> {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", "wasm32-wasip2"]);
    let said = rustc.env_remove("RUSTUP_TOOLCHAIN").output().unwrap();
    let folder = String::from_utf8(said.stdout).unwrap();
    let is_there = Path::new(folder.trim()).is_dir();
    let made = std::env::var_os("AIRLOCK_WASM_TOOLCHAIN").unwrap_or("wasm".into());
    (!is_there).then_some(made)
}

/// A target folder of this test's own, in which all that new projects depend on is compiled.
fn rust_target() -> PathBuf {
    thread_local! {
        static COPY: TempDir = {
            let copy = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
            let copied = Command::new("cp")
                .arg("-a")
                .arg(compiled_rust().join("."))
                .arg(copy.path())
                .status();
            assert!(copied.unwrap().success());
            copy
        };
    }
    COPY.with(|copy| copy.path().to_owned())
}

/// The target folder of a project that was built and tested once, for as long as new projects look
/// the same to the same compiler. One test process makes it, and the others wait.
fn compiled_rust() -> &'static Path {
    static COMPILED: LazyLock<PathBuf> = LazyLock::new(|| {
        let lock = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust-compiled.lock");
        let lock = File::create(lock).unwrap();
        lock.lock().unwrap();
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust-compiled");
        let (target, known) = (place.join("target"), place.join("of"));
        let parent = TempDir::new().unwrap();
        done(shell_from_nothing(
            parent.path(),
            "airlock new compiled-before --lang rust",
        ));
        let project = parent.path().join("compiled-before");
        let manifest = fs::read_to_string(project.join("Cargo.toml")).unwrap();
        let compiler = shell_from_nothing(&project, "rustc -vV").stdout;
        let of = format!("{manifest}{}", String::from_utf8(compiler).unwrap());
        if fs::read_to_string(&known).is_ok_and(|known| known == of) {
            return target;
        }
        let _ = fs::remove_dir_all(&place);
        let line = format!(
            "export CARGO_TARGET_DIR='{}'; airlock build >&2; cargo test --no-run; cargo check",
            target.display()
        );
        done(shell_from_nothing(&project, &line));
        fs::write(known, of).unwrap();
        target
    });
    &COMPILED
}

fn shell_from_nothing(folder: &Path, line: &str) -> Output {
    from_nothing("rust", folder, line).output().unwrap()
}

/// The object of a line that succeeded; null where it wrote nothing.
#[track_caller]
pub fn done(output: Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let written = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}{written}");
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

/// The error's object of a line that failed with this code, and all that it said.
#[track_caller]
pub fn failed(output: Output, code: i32) -> (Value, String) {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{said}");
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = format!("{said}{object}");
    (object["error"].clone(), all)
}
