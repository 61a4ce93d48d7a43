//! Makes SQLite open an existing log without syncing the folder, which only a new log needs.
//!
//! SQLite treats every log that it opens as new, and syncs the folder with the first commit. This
//! module registers a file system under another name that is identical to SQLite's, except for how
//! it opens a log.

use std::ffi::{CStr, OsStr, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use rusqlite::ffi::{self, sqlite3_file, sqlite3_filename, sqlite3_vfs};

/// The name of the file system.
const NAME: &CStr = c"airlock";

/// Size of a log's header. The header is synced together with the folder before anything follows
/// it.
const HEADER: u64 = 32;

/// SQLite's own file system, from which ours is copied. It is set once.
static ORIGINAL: AtomicPtr<sqlite3_vfs> = AtomicPtr::new(ptr::null_mut());

/// Returns the name of the file system; `None` if it can't be registered, in which case SQLite's
/// own works too.
pub fn name() -> Option<&'static CStr> {
    static IS_REGISTERED: OnceLock<bool> = OnceLock::new();
    IS_REGISTERED.get_or_init(register).then_some(NAME)
}

fn register() -> bool {
    // SAFETY: null asks for the default one, which SQLite never frees; it starts itself for that.
    let original = unsafe { ffi::sqlite3_vfs_find(ptr::null()) };
    if original.is_null() {
        return false;
    }
    ORIGINAL.store(original, Ordering::Release);
    // SAFETY: it is valid, as above, and is only read here. Its functions find all that they need
    // in the copy too: it has the same data.
    let ours = unsafe { ptr::read(original) };
    let ours = Box::leak(Box::new(sqlite3_vfs {
        pNext: ptr::null_mut(),
        zName: NAME.as_ptr(),
        xOpen: Some(open),
        ..ours
    }));
    // SAFETY: it lives as long as the process, and nothing else changes it.
    unsafe { ffi::sqlite3_vfs_register(ours, 0) == ffi::SQLITE_OK }
}

/// Opens a file for SQLite, which has just allocated memory for it at `file`.
extern "C" fn open(
    _: *mut sqlite3_vfs,
    name: sqlite3_filename,
    file: *mut sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    let original = ORIGINAL.load(Ordering::Acquire);
    // SAFETY: it was set before SQLite got this function, and is never freed.
    let Some(opens) = (unsafe { (*original).xOpen }) else {
        return ffi::SQLITE_CANTOPEN;
    };
    // SAFETY: these are SQLite's own arguments, for the file system that ours was copied from.
    let open = |flags| unsafe { opens(original, name, file, flags, out) };
    if flags & ffi::SQLITE_OPEN_WAL != 0 && !name.is_null() {
        // SAFETY: SQLite's names of files end with a zero, and stay while they are open.
        let path = unsafe { CStr::from_ptr(name) };
        let path = Path::new(OsStr::from_bytes(path.to_bytes()));
        if path.metadata().is_ok_and(|found| found.len() > HEADER) {
            let opened = open(flags & !ffi::SQLITE_OPEN_CREATE);
            if opened == ffi::SQLITE_OK {
                return opened;
            }
        }
    }
    open(flags)
}
