//! The user's secret keys, which authenticate records that others could have written. Each key is
//! 32 random bytes in a file that no other user can read.

use std::fs::DirBuilder;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::OnceLock;

use airlock_model::regular::open_regular_file;
use airlock_workspace::Key;
use etcetera::base_strategy::{BaseStrategy, choose_base_strategy};

/// Length of a secret in bytes.
pub(crate) const SECRET_BYTES: usize = blake3::KEY_LEN;

/// Returns the key for the records that commits leave in workspaces: `airlock/workspace.key` in the
/// user's state folder, such as `~/.local/state`. All of the user's programs share it, because one
/// program finishes a commit that another began.
pub(crate) fn workspace_key() -> io::Result<Key> {
    static KEY: OnceLock<[u8; SECRET_BYTES]> = OnceLock::new();
    if let Some(key) = KEY.get() {
        return Ok(Key::new(*key));
    }
    let user = choose_base_strategy().map_err(io::Error::other)?;
    let state = user.state_dir().unwrap_or_else(|| user.data_dir());
    let key = read_or_make_key(&state.join("airlock").join("workspace.key"))?;
    Ok(Key::new(*KEY.get_or_init(|| key)))
}

pub(crate) fn read_or_make_key(path: &Path) -> io::Result<[u8; SECRET_BYTES]> {
    if let Some(key) = read_key(path)? {
        return Ok(key);
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    make_private_folder(folder)?;
    let mut key = [0; SECRET_BYTES];
    getrandom::fill(&mut key).map_err(io::Error::other)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&key)?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(key),
        // Another process was faster, or the file holds no key. Replace the file in the second
        // case.
        Err(error) => match read_key(path)? {
            Some(key) => Ok(key),
            None => {
                error.file.persist(path)?;
                Ok(key)
            }
        },
    }
}

/// Creates a folder and its parents, accessible only to this user. Leaves an existing folder as it
/// is, because others may be meant to see it.
pub(crate) fn make_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn read_key(path: &Path) -> io::Result<Option<[u8; SECRET_BYTES]>> {
    let file = match open_regular_file(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    check_private(&file, path)?;
    let mut key = Vec::with_capacity(SECRET_BYTES + 1);
    file.take(SECRET_BYTES as u64 + 1).read_to_end(&mut key)?;
    Ok(key.try_into().ok())
}

/// Refuses a key that other users can read or write.
#[cfg(unix)]
fn check_private(file: &std::fs::File, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;

    let facts = file.metadata()?;
    let path = path.display();
    let user = rustix::process::geteuid().as_raw();
    let problem = if facts.uid() != user {
        format!("the key {path} belongs to another user: delete it, and a new one is made")
    } else if facts.mode() & 0o077 != 0 {
        format!(
            "others may have read the key {path}: delete it, and a new one is made (or, if nobody has, `chmod 600 {path}`)"
        )
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::PermissionDenied, problem))
}

#[cfg(not(unix))]
fn check_private(_: &std::fs::File, _: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_that_others_can_read_or_write_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own").join("a.key");
        let key = read_or_make_key(&path).unwrap();
        assert_eq!(read_or_make_key(&path).unwrap(), key);
        for mode in [0o640, 0o604, 0o620, 0o602, 0o666] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let error = read_or_make_key(&path).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
            assert!(error.to_string().contains("chmod 600"), "{error}");
        }
        fs::remove_file(&path).unwrap();
        assert_ne!(read_or_make_key(&path).unwrap(), key);
    }
}
