//! The file of tokens.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use airlock_host::regular::read_regular_file;
use airlock_render::shell;
use airlock_serve::http::Tokens;
use tempfile::NamedTempFile;

use crate::failure::Failure;

/// The largest file that is read.
const MAX_BYTES: u64 = 1 << 20;

/// The principal of the first token.
const OWNER: &str = "owner";

/// Reads the named file, or else the user's default one, which is created if it doesn't exist.
///
/// # Errors
/// If the file can't be read or created, if others may read it, or if it is invalid.
pub fn read_or_make(named: Option<&Path>) -> Result<(Tokens, PathBuf), Failure> {
    let file = match named {
        Some(named) => named.to_owned(),
        None => {
            let file = airlock_desk::store::state_folder()?.join("http-tokens");
            if fs::symlink_metadata(&file).is_err() {
                make(&file).map_err(|error| wrong(&file, &format!("it can't be made: {error}")))?;
            }
            file
        }
    };
    let bytes = read_regular_file(&file, MAX_BYTES);
    let bytes = bytes.map_err(|error| wrong(&file, &format!("it can't be read: {error}")))?;
    check_others(&file)?;
    let text = String::from_utf8(bytes).map_err(|_| wrong(&file, "it is not UTF-8"))?;
    let tokens = Tokens::parse(&text).map_err(|error| wrong(&file, &error.to_string()))?;
    Ok((tokens, std::path::absolute(&file).unwrap_or(file)))
}

/// Creates a file with a random token, which only this user can read. If another process is faster,
/// its file is kept.
fn make(file: &Path) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let (_, token) = Tokens::generate(OWNER).map_err(io::Error::other)?;
    let mut new = NamedTempFile::new_in(folder)?;
    writeln!(new, "{OWNER}:{token}")?;
    new.as_file().sync_all()?;
    match new.persist_noclobber(file) {
        Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(error.error),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn check_others(file: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::geteuid().as_raw();
    let name = file.to_string_lossy();
    let path = shell::quote(&name);
    match fs::metadata(file) {
        Ok(it) if it.uid() != user => {
            let problem = format!("it belongs to the user {}, who can change it", it.uid());
            let hint = format!("chown {user} {path}");
            Err(wrong(file, &problem).with_hint(hint))
        }
        Ok(it) if it.mode() & 0o077 == 0 => Ok(()),
        Ok(it) => {
            let problem = format!(
                "others may read or change it (mode {:o})",
                it.mode() & 0o777
            );
            Err(wrong(file, &problem).with_hint(format!("chmod 600 {path}")))
        }
        Err(error) => Err(wrong(file, &format!("it can't be read: {error}"))),
    }
}

#[cfg(not(unix))]
fn check_others(_file: &Path) -> Result<(), Failure> {
    Ok(())
}

fn wrong(file: &Path, problem: &str) -> Failure {
    Failure::usage(format!("the file of tokens {}: {problem}", file.display()))
}
