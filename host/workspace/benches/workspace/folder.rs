//! Folders to measure in.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use airlock_workspace::{
    Key, LayerOptions, OpenFile, OpenOptions, Opened, Retention, Ticket, View, Workspace,
};
use rustix::fs::{Mode, OFlags};
use tempfile::TempDir;

/// How many files are in one directory.
pub const IN_ONE: usize = 100;

/// How many paths a view notes as read, as the host has it.
pub const READS: usize = 10_000;

/// Where folders are made.
pub struct Fixture {
    path: PathBuf,
}

/// A folder, and beside it where layers spill to.
pub struct Folder {
    _temporary: TempDir,
    pub path: PathBuf,
    pub spill: PathBuf,
    pub root: File,
}

impl Fixture {
    pub fn new(path: &Path) -> Self {
        let path = path.canonicalize().unwrap();
        Self { path }
    }

    pub fn folder(&self) -> Folder {
        let temporary = TempDir::new_in(&self.path).unwrap();
        let [path, spill] = ["folder", "spill"].map(|name| temporary.path().join(name));
        fs::create_dir(&path).unwrap();
        fs::create_dir(&spill).unwrap();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(&path, flags, Mode::empty()).unwrap();
        Folder {
            _temporary: temporary,
            path,
            spill,
            root: root.into(),
        }
    }
}

impl Folder {
    /// The path of a file below the folder, 100 of them in each directory.
    pub fn file(prefix: &str, number: usize) -> String {
        format!("d{:03}/{prefix}{number:05}", number / IN_ONE)
    }

    /// Makes directories for so many files.
    pub fn make_directories(&self, files: usize) {
        for directory in 0..files.div_ceil(IN_ONE) {
            fs::create_dir(self.path.join(format!("d{directory:03}"))).unwrap();
        }
    }

    /// Fills it with so many files of so many bytes.
    pub fn fill(&self, files: usize, bytes: usize) {
        self.make_directories(files);
        for number in 0..files {
            let path = self.path.join(Self::file("f", number));
            fs::write(path, contents(number, 0, bytes)).unwrap();
        }
        self.settle();
    }

    /// Writes out everything that is still to be written, so that nobody pays for what another one
    /// did.
    pub fn settle(&self) {
        rustix::fs::syncfs(&self.root).unwrap();
    }

    pub fn workspace(&self) -> Workspace {
        Workspace::open(&self.path, &Key::new([7; 32])).unwrap()
    }

    /// A view with an open layer.
    pub fn layer(&self, workspace: &Workspace) -> View {
        let view = workspace.view(READS).unwrap();
        view.begin(&LayerOptions::new(&self.spill)).unwrap();
        view
    }
}

/// Some bytes that differ from file to file and from round to round.
pub fn contents(number: usize, round: usize, bytes: usize) -> Vec<u8> {
    let line = format!("file {number}, round {round}, and some words of text\n");
    line.bytes().cycle().take(bytes).collect()
}

/// Opens a file through a view.
pub fn open(view: &View, path: &str, options: OpenOptions) -> OpenFile {
    match view.root().open(path, options).unwrap() {
        Opened::File(file) => file,
        Opened::Directory(_) => panic!("{path} is a directory"),
    }
}

pub fn to_write() -> OpenOptions {
    OpenOptions {
        write: true,
        ..OpenOptions::default()
    }
}

pub fn to_make() -> OpenOptions {
    OpenOptions {
        create: true,
        exclusive: true,
        ..OpenOptions::default()
    }
}

/// Commits, and returns how long it took; `round` must not have been committed before.
pub fn commit(view: &View, workspace: &Workspace, round: usize) -> Duration {
    commit_with(view, workspace, &format!("round-{round}"), None)
}

/// The same with an id, and with a retention of originals.
pub fn commit_with(
    view: &View,
    workspace: &Workspace,
    id: &str,
    originals: Option<Retention>,
) -> Duration {
    let ticket = Ticket {
        title: String::new(),
        others: Vec::new(),
        originals,
        id: id.to_owned(),
        note: String::new(),
    };
    let began = Instant::now();
    let committed = view.commit(workspace, &ticket).unwrap();
    let took = began.elapsed();
    assert!(!committed.changes.is_empty());
    assert!(committed.not_cleaned_up.is_none());
    workspace.take_outcome(&ticket.id).unwrap();
    took
}

/// How long something takes.
pub fn timed(run: impl FnOnce()) -> Duration {
    let began = Instant::now();
    run();
    began.elapsed()
}
