//! How often SQLite is asked: each statement that begins, on every connection of this process.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::ffi;

static BEGUN: AtomicUsize = AtomicUsize::new(0);

/// Since [`watch`].
pub fn begun() -> usize {
    BEGUN.load(Ordering::Relaxed)
}

/// Counts on each connection that is opened from here on.
pub fn watch() {
    // SAFETY: `opened` is what SQLite expects here, and can be called at any time.
    let added = unsafe { ffi::sqlite3_auto_extension(Some(opened)) };
    assert_eq!(added, ffi::SQLITE_OK);
}

unsafe extern "C" fn opened(
    connection: *mut ffi::sqlite3,
    _: *mut *mut c_char,
    _: *const ffi::sqlite3_api_routines,
) -> c_int {
    let statements = ffi::SQLITE_TRACE_STMT as c_uint;
    // SAFETY: SQLite has just opened the connection, and `begins` takes no part of what it is
    // given.
    unsafe { ffi::sqlite3_trace_v2(connection, statements, Some(begins), null_mut()) }
}

unsafe extern "C" fn begins(_: c_uint, _: *mut c_void, _: *mut c_void, _: *mut c_void) -> c_int {
    BEGUN.fetch_add(1, Ordering::Relaxed);
    0
}
