//! Steps that keep files open: many at once, or from one call to the next.

use std::cell::RefCell;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};

use crate::files::{report, told_times};

thread_local! {
    static HELD: RefCell<Option<File>> = const { RefCell::new(None) };
    static MANY: RefCell<Vec<File>> = const { RefCell::new(Vec::new()) };
}

/// `opened <n> of <count>`, and behind `; ` the error that stopped it.
pub fn open_many(path: &str, count: usize) -> String {
    open_until_error(path, count).1
}

pub fn open_many_kept(path: &str, count: usize) -> String {
    let (files, said) = open_until_error(path, count);
    MANY.with_borrow_mut(|many| many.extend(files));
    said
}

pub fn list_many(path: &str, count: usize) -> String {
    until_error(count, || fs::read_dir(path)).1
}

fn open_until_error(path: &str, count: usize) -> (Vec<File>, String) {
    until_error(count, || File::open(path))
}

fn until_error<T>(count: usize, open: impl Fn() -> io::Result<T>) -> (Vec<T>, String) {
    let mut files = Vec::new();
    while files.len() < count {
        match open() {
            Ok(file) => files.push(file),
            Err(error) => {
                let said = format!("opened {} of {count}; error: {error}", files.len());
                return (files, said);
            }
        }
    }
    (files, format!("opened {count} of {count}"))
}

/// Opens for reading, and unless `read_only`, for writing too; creates the file then. Replaces what
/// was held.
pub fn hold(path: &str, read_only: bool) -> String {
    let file = OpenOptions::new()
        .read(true)
        .write(!read_only)
        .create(!read_only)
        .open(path);
    report(file.map(|file| {
        HELD.set(Some(file));
        String::new()
    }))
}

/// All of the held file, from its start.
pub fn read() -> String {
    with_held(|file| {
        let mut bytes = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    })
}

/// Writes where the held file stands.
pub fn write(text: &str) -> String {
    with_held(|file| file.write_all(text.as_bytes()).map(|()| String::new()))
}

pub fn set_len(len: u64) -> String {
    with_held(|file| file.set_len(len).map(|()| String::new()))
}

pub fn set_times() -> String {
    with_held(|file| file.set_times(told_times()).map(|()| String::new()))
}

fn with_held(action: impl FnOnce(&mut File) -> io::Result<String>) -> String {
    HELD.with_borrow_mut(|held| match held {
        Some(file) => report(action(file)),
        None => "error: nothing is held".into(),
    })
}
