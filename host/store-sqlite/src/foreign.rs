//! Distinguishes a store from other files before SQLite opens it. SQLite writes to any file that
//! it takes for a database, and treats a file of one byte as an empty one.

use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use airlock_model::regular::open_regular_file;
use airlock_model::store::{BackendErrorKind, StoreError};

use super::problem::{Problem, unfit};
use super::schema::APPLICATION_ID;

/// The magic bytes of every SQLite file.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Length of a SQLite file's header, and the positions of the application id and the page size in
/// it.
const HEADER: usize = 100;
const ID_AT: usize = 68;
const PAGE_SIZE_AT: usize = 16;

/// Lengths of a log's header, and of the header before each page in it.
const LOG_HEADER: u64 = 32;
const FRAME_HEADER: usize = 24;

/// Number of pages of a log to search.
const FRAMES: usize = 1000;

/// Refuses an existing file that is not a store, without writing to it.
///
/// An empty file is not a store either: this library creates its files under another name and
/// renames them when complete.
pub(super) fn refuse_foreign(path: &Path) -> Result<(), StoreError> {
    let io = |error| Problem::Io(error).at(path);
    let mut file = open_regular_file(path).map_err(io)?;
    let mut header = Vec::with_capacity(HEADER);
    let read = (&mut file).take(HEADER as u64).read_to_end(&mut header);
    read.map_err(io)?;
    let foreign = |problem: &str| Err(unfit(path, BackendErrorKind::Damaged, problem));
    if header.is_empty() {
        return foreign(
            "is an empty file, not a store; a store is created only where there is no file",
        );
    }
    if header.len() < HEADER || !header.starts_with(MAGIC) {
        return foreign("is damaged: file is not a database");
    }
    match number(&header, ID_AT) {
        APPLICATION_ID => Ok(()),
        // A store that was never closed may have its application id only in the log.
        0 if log_says_so(path, &header) => Ok(()),
        _ => foreign("is a SQLite file of another program"),
    }
}

/// Refuses to create a store next to files that belong to another database of that name, because
/// SQLite would use them for the store.
pub(super) fn refuse_siblings(path: &Path) -> Result<(), StoreError> {
    for sibling in ["-wal", "-shm", "-journal"].map(|end| beside(path, end)) {
        match sibling.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(Problem::Io(error).at(&sibling)),
            Ok(_) => {
                let problem = "already exists, and belongs to a file that doesn't; move it away";
                return Err(unfit(&sibling, BackendErrorKind::Settings, problem));
            }
        }
    }
    Ok(())
}

pub(super) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(end);
    path.into()
}

/// Returns whether the log has a first page with our id.
fn log_says_so(path: &Path, header: &[u8]) -> bool {
    let page_size = usize::from(u16::from_be_bytes([
        header[PAGE_SIZE_AT],
        header[PAGE_SIZE_AT + 1],
    ]));
    let search = || {
        let mut log = open_regular_file(beside(path, "-wal"))?;
        io::copy(&mut (&mut log).take(LOG_HEADER), &mut io::sink())?;
        let mut frame = vec![0; FRAME_HEADER + page_size.max(HEADER)];
        for _ in 0..FRAMES {
            log.read_exact(&mut frame)?;
            let (about, page) = frame.split_at(FRAME_HEADER);
            if number(about, 0) == 1 && page.starts_with(MAGIC) {
                return Ok(number(page, ID_AT) == APPLICATION_ID);
            }
        }
        Ok::<_, io::Error>(false)
    };
    search().unwrap_or(false)
}

fn number(bytes: &[u8], at: usize) -> u32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[at..at + 4]);
    u32::from_be_bytes(number)
}
