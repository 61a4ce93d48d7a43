//! Reports each system call and each sync of a commit to a test.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::MetadataExt;

/// An event in a commit or a recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// A system call is about to be made.
    Step,
    /// The object with this number was synced.
    Synced(u64),
    /// The whole file system was synced.
    AllSynced,
}

type Watch = Box<dyn FnMut(Seen)>;

thread_local! {
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
    static INODES: RefCell<HashMap<u64, u64>> = RefCell::default();
}

/// Runs something on this thread and reports its events.
pub fn watched<T>(watch: impl FnMut(Seen) + 'static, run: impl FnOnce() -> T) -> T {
    WATCH.set(Some(Box::new(watch)));
    let result = run();
    WATCH.set(None);
    result
}

/// Runs something on this thread that sees other numbers than the system's.
pub fn with_inodes<T>(inodes: HashMap<u64, u64>, run: impl FnOnce() -> T) -> T {
    INODES.set(inodes);
    let result = run();
    INODES.take();
    result
}

fn tell(seen: Seen) {
    WATCH.with_borrow_mut(|watch| {
        if let Some(watch) = watch {
            watch(seen);
        }
    });
}

pub(super) fn step() {
    tell(Seen::Step);
}

pub(super) fn synced(file: Option<&File>) {
    tell(match file {
        Some(file) => Seen::Synced(inode(file.metadata().unwrap().ino())),
        None => Seen::AllSynced,
    });
}

pub fn inode(number: u64) -> u64 {
    INODES.with_borrow(|inodes| inodes.get(&number).copied().unwrap_or(number))
}
