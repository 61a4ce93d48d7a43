//! Opening files that others can change, without blocking.
//!
//! Opening a named pipe blocks until its other end is opened, possibly forever, and no signal or
//! deadline ends that. Checking the path first doesn't help, because it may be replaced a moment
//! later. So these functions open without blocking, and then check the descriptor.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Opens a regular file for reading. Follows links.
///
/// # Errors
/// Fails if the file can't be opened or is not a regular file: a pipe, a device or a folder.
pub fn open_regular_file(path: impl AsRef<Path>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = without_waiting(options.read(true)).open(path)?;
    check_regular(&file)?;
    Ok(file)
}

/// Sets options to open without blocking. Check the opened file with [`check_regular`].
pub fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    options
}

/// Returns an error unless the file is a regular one. Makes later reads and writes blocking.
pub fn check_regular(file: &File) -> io::Result<()> {
    if file.metadata()?.is_file() {
        must_wait(file)
    } else {
        Err(not_regular())
    }
}

/// Reads a whole regular file of up to `most` bytes, opened by [`open_regular_file`].
///
/// # Errors
/// The errors of [`open_regular_file`], and [`io::ErrorKind::FileTooLarge`] if the file is larger.
pub fn read_regular_file(path: impl AsRef<Path>, most: u64) -> io::Result<Vec<u8>> {
    read_regular(open_regular_file(path)?, most)
}

/// Reads a file that was opened without blocking, as [`read_regular_file`] does.
pub fn read_regular(file: File, most: u64) -> io::Result<Vec<u8>> {
    check_regular(&file)?;
    let length = file.metadata()?.len();
    let too_large = |length: u64| {
        let message = format!("it is {length} bytes; the limit is {most}");
        io::Error::new(io::ErrorKind::FileTooLarge, message)
    };
    if length > most {
        return Err(too_large(length));
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(usize::try_from(length).unwrap_or(usize::MAX))?;
    // The file may grow during the read.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 {
        length if length > most => Err(too_large(length)),
        _ => Ok(bytes),
    }
}

/// Opens a folder, to lock it or to open files in it.
pub fn open_folder(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        // The kernel refuses anything but a folder before it opens it.
        let flags = OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    #[cfg(windows)]
    {
        use std::os::windows::fs::OpenOptionsExt;
        // Windows opens a folder only with this flag.
        const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
        options.custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
    }
    options.open(path)
}

/// Makes reads and writes blocking, as programs expect of files.
pub fn must_wait(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
        let flags = fcntl_getfl(file)?;
        fcntl_setfl(file, flags.difference(OFlags::NONBLOCK))?;
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

/// Returns the error for anything but a regular file.
pub fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    fn pipe(folder: &Path) -> std::path::PathBuf {
        let pipe = folder.join("pipe");
        let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        pipe
    }

    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = pipe(folder.path());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        for path in [&pipe, &link, folder.path(), Path::new("/dev/null")] {
            let error = open_regular_file(path).unwrap_err();
            assert_eq!(error.to_string(), "it is not a regular file", "{path:?}");
        }
        assert!(open_folder(&pipe).is_err());
        assert!(open_folder(folder.path()).is_ok());
    }

    #[test]
    fn a_file_is_read_up_to_a_limit_through_links_too() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "12345").unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(read_regular_file(&link, 5).unwrap(), b"12345");
        let error = read_regular_file(&file, 4).unwrap_err();
        assert_eq!(error.to_string(), "it is 5 bytes; the limit is 4");
    }

    /// Simulates an attacker who replaces the file between a check and an open.
    #[test]
    fn a_file_that_becomes_a_pipe_and_back_blocks_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let (path, file, pipe) = (
            folder.path().join("path"),
            folder.path().join("file"),
            pipe(folder.path()),
        );
        fs::write(&file, "text").unwrap();
        fs::hard_link(&file, &path).unwrap();
        std::thread::scope(|scope| {
            let swapping = scope.spawn(|| {
                for turn in 0..2000 {
                    let from = if turn % 2 == 0 { &pipe } else { &file };
                    let next = folder.path().join("next");
                    fs::hard_link(from, &next).unwrap();
                    fs::rename(&next, &path).unwrap();
                    // Renaming a name of a file over another one of the same file leaves both.
                    let _ = fs::remove_file(&next);
                }
            });
            while !swapping.is_finished() {
                if let Ok(bytes) = read_regular_file(&path, 10) {
                    assert_eq!(bytes, b"text");
                }
            }
        });
    }
}
