//! The folder with the contents of one layer. Only its owner can read it, because the contents may
//! come from files that only their owner can read. If a process was killed, the next one that
//! creates such a folder next to it removes the leftover.

use std::fs;
use std::io;
use std::path::Path;

use crate::held::{self, HeldFolder};

const PREFIX: &str = "airlock-layer-";

/// A folder that is removed on drop.
pub(super) struct LayerFolder(HeldFolder);

impl LayerFolder {
    /// Creates the folder in `place`.
    ///
    /// # Errors
    /// System errors.
    pub fn make(place: &Path) -> io::Result<Self> {
        let folder = HeldFolder::make(place, PREFIX)?;
        held::sweep(place, PREFIX, &folder.metadata()?, |left| {
            fs::remove_dir_all(left)
        });
        Ok(Self(folder))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_somebody_holds_is_not() {
        let place = TempDir::new().unwrap();
        let held = LayerFolder::make(place.path()).unwrap();
        fs::write(held.path().join("1"), "in use").unwrap();
        let at = |name: &str| place.path().join(name);
        for name in ["airlock-layer-left", "layer-of-others"] {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join("1"), "left").unwrap();
        }
        std::os::unix::fs::symlink(at("layer-of-others"), at("airlock-layer-link")).unwrap();

        let new = LayerFolder::make(place.path()).unwrap();
        assert!(!at("airlock-layer-left").exists());
        assert!(at("layer-of-others/1").exists() && at("airlock-layer-link").is_symlink());
        assert!(held.path().join("1").exists());
        let mode = new.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o700);
        let path = new.path().to_owned();
        drop(new);
        assert!(!path.exists());
    }
}
