//! The place where a row is run: folders that nobody else uses.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use airlock_tests::hostile::Row;
use tempfile::TempDir;

/// What lies outside of the workspace: in a file, and as a file's name.
pub const SECRET: &str = "TOP-SECRET";

/// Of longer files, which have holes, the length is compared.
const MAX_READ_BYTES: u64 = 64 << 20;

pub struct Site {
    folder: TempDir,
    before: BTreeMap<PathBuf, String>,
}

impl Site {
    pub fn new(row: &Row) -> Self {
        let folder = TempDir::new().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in [
            "workspace",
            "workspace/dir",
            "workspace/empty",
            "honest",
            "scratch",
        ] {
            fs::create_dir(at(name)).unwrap();
        }
        fs::write(at("secret.txt"), SECRET).unwrap();
        fs::write(at(SECRET), "").unwrap();
        fs::write(at("honest/honest.txt"), "honest").unwrap();
        fs::write(at("workspace/a.txt"), "alpha").unwrap();
        fs::write(at("workspace/f"), "file").unwrap();
        fs::write(at("workspace/dir/b.txt"), "beta").unwrap();
        symlink("a.txt", at("workspace/link")).unwrap();
        if let Some(component) = row.component() {
            fs::write(at("hostile.wasm"), component).unwrap();
        }
        (row.fill)(&at("workspace"));
        let before = snapshot(folder.path(), &["secret.txt", "workspace"]);
        Self { folder, before }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// What changed that should not have.
    pub fn disturbed(&self, may_change: bool) -> Option<String> {
        let watched: &[&str] = if may_change {
            &["secret.txt"]
        } else {
            &["secret.txt", "workspace"]
        };
        let after = snapshot(self.path(), watched);
        let before = self.before.iter();
        let before: BTreeMap<_, _> = before
            .filter(|(path, _)| watched.iter().any(|name| path.starts_with(name)))
            .map(|(path, held)| (path.clone(), held.clone()))
            .collect();
        let strangers = fs::read_dir(self.path()).unwrap().filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let is_known = [
                "workspace",
                "honest",
                "scratch",
                "secret.txt",
                SECRET,
                "hostile.wasm",
            ]
            .contains(&&*name)
                || name.starts_with("store.db")
                || name.starts_with("second.db");
            (!is_known).then_some(name)
        });
        let strangers: Vec<String> = strangers.collect();
        if after != before {
            return Some("the workspace changed, though nobody decided".to_owned());
        }
        (!strangers.is_empty()).then(|| format!("it made {strangers:?} outside"))
    }

    /// Bytes on the disk, or as the files' lengths say, whichever is more.
    pub fn size(&self) -> u64 {
        let (mut blocks, mut lengths) = (0, 0);
        walk(self.path(), &mut |_, metadata| {
            blocks += metadata.blocks() * 512;
            if metadata.is_file() {
                lengths += metadata.len();
            }
        });
        blocks.max(lengths)
    }
}

fn walk(folder: &Path, seen: &mut dyn FnMut(&Path, &fs::Metadata)) {
    // What is removed meanwhile takes no space.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if let Ok(metadata) = path.symlink_metadata() {
            seen(&path, &metadata);
            if metadata.is_dir() {
                walk(&path, seen);
            }
        }
    }
}

/// Every path, with what is there.
fn snapshot(folder: &Path, names: &[&str]) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    walk(folder, &mut |path, metadata| {
        let below = path.strip_prefix(folder).unwrap();
        if !names.iter().any(|name| below.starts_with(name)) {
            return;
        }
        let held = match metadata {
            metadata if metadata.is_symlink() => format!("{:?}", fs::read_link(path).unwrap()),
            metadata if metadata.len() > MAX_READ_BYTES => format!("{} bytes", metadata.len()),
            metadata if metadata.is_file() => fs::read_to_string(path).unwrap(),
            _ => String::new(),
        };
        let times = if metadata.is_file() {
            metadata.mtime_nsec()
        } else {
            0
        };
        let (mode, links) = (metadata.mode(), metadata.nlink());
        found.insert(below.to_owned(), format!("{mode:o} {links} {times} {held}"));
    });
    found
}
