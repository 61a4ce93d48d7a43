//! Runs scripts as the program does, in a new folder.

mod console;
mod ending;
mod files;
mod globals;
mod imports;

use std::cell::RefCell;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;

use tempfile::TempDir;

use crate::engine;
use crate::world::{Output, Script};

/// What came of a script.
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

#[derive(Clone, Default)]
struct Kept(Rc<RefCell<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Kept {
    fn text(&self) -> String {
        String::from_utf8(self.0.borrow().clone()).expect("output is UTF-8")
    }
}

/// A folder with these files.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder for the test");
    for (path, content) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("a folder");
        fs::write(path, content).expect("a file");
    }
    folder
}

pub(crate) fn run_in(root: &Path, source: &str, args: &[&str]) -> Ran {
    let (stdout, stderr) = (Kept::default(), Kept::default());
    let script = Script {
        source: source.to_owned(),
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
        root: root.to_owned(),
        modules: root.join("modules").to_string_lossy().into_owned(),
    };
    let output = Output {
        stdout: Box::new(stdout.clone()),
        stderr: Box::new(stderr.clone()),
    };
    let code = engine::run(script, output);
    Ran {
        stdout: stdout.text(),
        stderr: stderr.text(),
        code,
    }
}

/// Runs a script that has to succeed without a word on standard error.
pub(crate) fn prints(files: &[(&str, &str)], source: &str, expected: &str) {
    let folder = folder(files);
    let ran = run_in(folder.path(), source, &["one", "two"]);
    assert_eq!(
        (ran.stderr.as_str(), ran.code),
        ("", 0),
        "stdout:\n{}",
        ran.stdout
    );
    assert_eq!(ran.stdout.trim_end_matches('\n'), expected);
}

/// Runs a script that has to end with this code, and these texts on standard error.
pub(crate) fn fails(files: &[(&str, &str)], source: &str, code: i32, expected: &[&str]) {
    let folder = folder(files);
    let ran = run_in(folder.path(), source, &[]);
    for text in expected {
        assert!(ran.stderr.contains(text), "no {text:?} in:\n{}", ran.stderr);
    }
    assert_eq!(ran.code, code, "{}", ran.stderr);
}

/// Tests of scripts and their output. Each begins with the files that it finds, if any.
macro_rules! printing {
    ($($name:ident $([$($file:tt)*])? : $source:expr => $expected:expr;)*) => {
        $(#[test]
        fn $name() {
            $crate::cases::prints(&[$($($file)*)?], $source, $expected);
        })*
    };
}

/// Tests of scripts that fail: the exit code, and parts of standard error.
macro_rules! failing {
    ($($name:ident $([$($file:tt)*])? : $source:expr => $code:literal, $expected:expr;)*) => {
        $(#[test]
        fn $name() {
            $crate::cases::fails(&[$($($file)*)?], $source, $code, &$expected);
        })*
    };
}

use {failing, printing};
