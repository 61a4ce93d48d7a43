//! The folder of one layer's contents. Nobody else can read it, since what is in it may be of files
//! that only their owner can, and what a process left that was killed is removed by the next one
//! that makes such a folder beside it.

use std::fs;
use std::io;
use std::path::Path;

use crate::held::{self, HeldFolder};

const PREFIX: &str = "airlock-layer-";

/// Removed when it is dropped.
pub(super) struct LayerFolder(HeldFolder);

impl LayerFolder {
    /// # Errors
    /// Those of the system.
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
