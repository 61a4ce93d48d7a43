//! The expected state of a workspace whose host is killed again and again.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// The number of lines of a text.
const LINES: usize = 40;

/// The files of a workspace. The texts `left` and `right` are always alike, and so are `x` and `y`,
/// which are only changed together. Another file changes its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceText(BTreeMap<String, String>);

impl WorkspaceText {
    /// Makes the files.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn create(folder: &Path) -> io::Result<Self> {
        let text: String = (0..LINES).map(|line| format!("{line}\n")).collect();
        let count = "0\n".to_owned();
        let files = [
            ("left", &text),
            ("right", &text),
            ("x", &count),
            ("y", &count),
        ];
        let mut made = BTreeMap::from([("named-0".to_owned(), String::new())]);
        made.extend(files.map(|(name, text)| (name.to_owned(), text.clone())));
        for (name, text) in &made {
            fs::write(folder.join(name), text)?;
        }
        Ok(Self(made))
    }

    /// Reads the files, except for the folder of the host.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                let name = entry.file_name().to_string_lossy().into_owned();
                files.insert(name, fs::read_to_string(entry.path())?);
            }
        }
        Ok(Self(files))
    }

    /// The name of the file that changes its name.
    ///
    /// # Panics
    /// If there is no such file.
    pub fn name(&self) -> &str {
        let mut names = self.0.keys();
        names
            .find(|name| name.starts_with("named-"))
            .expect("a file with a name")
    }

    /// Renames that file, and edits the texts.
    pub fn rename_and_edit(&mut self, name: &str, number: &str) {
        let old = self.name().to_owned();
        let text = self.0.remove(&old).unwrap_or_default();
        self.0.insert(format!("named-{name}"), text);
        self.edit(number, Some(number));
    }

    /// Edits a line at the beginning of the texts and, if told so, one at the end.
    pub fn edit(&mut self, first: &str, last: Option<&str>) {
        for name in ["left", "right"] {
            let text = self.0.entry(name.to_owned()).or_default();
            let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
            lines[1] = format!("first {first}");
            if let Some(last) = last {
                lines[LINES - 2] = format!("last {last}");
            }
            *text = lines.join("\n") + "\n";
        }
    }

    /// Changes `x` and `y`.
    pub fn count(&mut self, number: &str) {
        for name in ["x", "y"] {
            self.0.insert(name.to_owned(), format!("{number}\n"));
        }
    }

    /// The puppet's steps that write these files.
    pub fn writes(&self, names: &[&str]) -> Vec<Value> {
        let write = |name: &&str| {
            let text = self.0.get(*name);
            json!({"do": "fs", "op": "write", "path": name, "text": text})
        };
        names.iter().map(write).collect()
    }
}

/// The last states of a workspace, and the expected one. A step is noted before it begins. If it
/// was cut off, the workspace is as before it or as after it.
pub struct History {
    file: PathBuf,
    is_as_expected: bool,
    states: VecDeque<WorkspaceText>,
}

impl History {
    /// Opens the history of a workspace that is `now` like this.
    ///
    /// # Errors
    /// If the workspace is neither as before the last step nor as after it; any I/O error.
    pub fn open(file: &Path, now: WorkspaceText) -> io::Result<Self> {
        let mut states: VecDeque<WorkspaceText> = match fs::read(file) {
            Ok(text) => {
                let states: Vec<_> = serde_json::from_slice(&text)?;
                states.into_iter().map(WorkspaceText).collect()
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => VecDeque::from([now.clone()]),
            Err(error) => return Err(error),
        };
        let is_as_expected = states.back() == Some(&now);
        if !is_as_expected {
            states.pop_back();
        }
        if states.back() != Some(&now) {
            let torn = format!("{now:#?} is neither of {states:#?}");
            return Err(io::Error::other(torn));
        }
        Ok(Self {
            file: file.to_owned(),
            is_as_expected,
            states,
        })
    }

    /// Whether the last step had been done when the history was opened.
    pub fn is_as_expected(&self) -> bool {
        self.is_as_expected
    }

    /// The current state.
    ///
    /// # Panics
    /// Never: there is a first state.
    pub fn now(&self) -> &WorkspaceText {
        self.states.back().expect("a first state")
    }

    /// The state before the last step.
    pub fn before(&self) -> Option<&WorkspaceText> {
        self.states.iter().rev().nth(1)
    }

    /// Notes the state after the next step.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn expect(&mut self, next: WorkspaceText) -> io::Result<()> {
        self.states.push_back(next);
        if self.states.len() > 4 {
            self.states.pop_front();
        }
        let written = self.file.with_extension("new");
        let states: Vec<_> = self.states.iter().map(|state| &state.0).collect();
        fs::write(&written, serde_json::to_vec(&states)?)?;
        fs::rename(written, &self.file)
    }
}
