//! Compiling: how complex components are, what hostile ones cost their host, and how the process
//! that compiles may misbehave.

mod complexity;
mod hostile;
mod process;
mod reading;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The program of these tests that compiles.
fn compiler() -> PathBuf {
    env!("CARGO_BIN_EXE_compiler").into()
}

/// A program that does this.
fn script(folder: &Path, body: &str) -> PathBuf {
    let path = folder.join("compiler.sh");
    // Written elsewhere and moved: the system doesn't start a file that somebody writes to.
    let part = folder.join("part");
    fs::write(&part, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&part, fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(&part, &path).unwrap();
    path
}
