//! The outside of the engine: the script, its files, its output and its end.

use std::cell::{Cell, RefCell};
use std::env;
use std::io::Write;
use std::path::PathBuf;

/// The name of the script in messages. Its imports are relative to it.
pub(crate) const MAIN: &str = "script.js";

/// A script, and where it runs.
pub(crate) struct Script {
    pub(crate) source: String,
    pub(crate) args: Vec<String>,
    /// The folder that relative paths begin at. Empty for the current directory.
    pub(crate) root: PathBuf,
    /// A folder with packages, in addition to those of the workspace.
    pub(crate) modules: String,
}

/// Where output goes.
pub(crate) struct Output {
    pub(crate) stdout: Box<dyn Write>,
    pub(crate) stderr: Box<dyn Write>,
}

/// The state that the functions of a script share.
pub(crate) struct World {
    root: PathBuf,
    output: RefCell<Output>,
    exit: Cell<Option<i32>>,
}

impl World {
    pub(crate) fn new(root: PathBuf, output: Output) -> Self {
        Self {
            root,
            output: RefCell::new(output),
            exit: Cell::new(None),
        }
    }

    /// Resolves a path of the script.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(crate) fn current_dir(&self) -> String {
        if self.root.as_os_str().is_empty() {
            let current = env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
            return current.to_string_lossy().into_owned();
        }
        self.root.to_string_lossy().into_owned()
    }

    /// Writes a text, after all earlier ones of both streams. It is lost if the stream is closed.
    pub(crate) fn write(&self, is_error: bool, text: &str) {
        let mut output = self.output.borrow_mut();
        if is_error {
            let _ = output.stdout.flush();
            let _ = output.stderr.write_all(text.as_bytes());
        } else {
            let _ = output.stdout.write_all(text.as_bytes());
        }
    }

    pub(crate) fn flush(&self) {
        let mut output = self.output.borrow_mut();
        let _ = output.stdout.flush();
        let _ = output.stderr.flush();
    }

    /// Ends the script with this code, as soon as the engine looks.
    pub(crate) fn set_exit(&self, code: i32) {
        self.exit.set(Some(code));
    }

    pub(crate) fn exit(&self) -> Option<i32> {
        self.exit.get()
    }
}
