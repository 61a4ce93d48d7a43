//! Loads of code that an operator vouches for.
//!
//! Who can write to it has none: so these run in a process for which the folder is mounted
//! read-only.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use airlock_host::policy::Rehearse;
use airlock_host::{Engine, Plugin};
use tempfile::TempDir;

use crate::bare::Bare;
use crate::{Case, Ours, another_plugin, ratios};

/// Tells that process which folder it is.
const FOLDER: &str = "AIRLOCK_BENCH_VOUCHED";

/// The folder, in that process.
pub fn folder() -> Option<PathBuf> {
    env::var_os(FOLDER).map(PathBuf::from)
}

/// Starts that process, and waits for it.
pub async fn measure_elsewhere(engine: &Engine) {
    let folder = TempDir::new().unwrap();
    let compiled = Plugin::compile(engine, "another", another_plugin()).await;
    compiled.unwrap().write_to(folder.path()).unwrap();
    let mounted = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && exec \"$2\"";
    let mut process = Command::new("unshare");
    process
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", mounted])
        .arg("sh")
        .args([folder.path(), &env::current_exe().unwrap()])
        .env(FOLDER, folder.path());
    assert!(process.status().unwrap().success());
}

/// Prints how long they take, beside bare wasmtime with a mapped file.
pub async fn measure(folder: &Path) {
    let ours = Ours::new(Rehearse::Never, Some(folder)).await;
    let bare = Bare::new(ours.engine.wasmtime(), &ours.params).await;
    print!("{}", ratios(&[Case::Load], &ours, &bare).await.0);
}
