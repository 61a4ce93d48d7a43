//! The state of a folder: read from it, and restored.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, XattrFlags};

use crate::fault::inode;
use crate::kept::attribute;

/// The extended attribute that a state includes.
const NOTE: &str = "user.note";

/// The number of an object.
pub type Number = u64;

/// A name, in the directory with a number.
pub type Name = (Number, OsString);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Body {
    Directory,
    Link(PathBuf),
    File(Rc<[u8]>),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Attributes {
    mode: u32,
    /// Seconds and nanoseconds; none of a directory, whose changes are those of its names.
    modified: Option<(i64, i64)>,
    note: Option<Vec<u8>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// The folder itself.
    pub root: Number,
    pub names: BTreeMap<Name, Number>,
    /// Including objects without a name.
    pub objects: BTreeMap<Number, (Body, Attributes)>,
}

impl State {
    /// Reads a folder, with the numbers that the code under test sees.
    pub fn of(folder: &Path) -> Self {
        let root = inode(fs::metadata(folder).unwrap().ino());
        let mut state = Self {
            root,
            names: BTreeMap::new(),
            objects: BTreeMap::new(),
        };
        state.take(folder, root);
        state
    }

    fn take(&mut self, folder: &Path, directory: Number) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let path = entry.path();
            let metadata = entry.metadata().unwrap();
            let number = inode(metadata.ino());
            let body = if metadata.is_dir() {
                self.take(&path, number);
                Body::Directory
            } else if metadata.is_symlink() {
                Body::Link(fs::read_link(&path).unwrap())
            } else {
                Body::File(fs::read(&path).unwrap().into())
            };
            let note = matches!(body, Body::File(_))
                .then(|| attribute(&fs::File::open(&path).unwrap(), NOTE).unwrap());
            let attributes = Attributes {
                mode: metadata.mode() & 0o7777,
                modified: (body != Body::Directory)
                    .then_some((metadata.mtime(), metadata.mtime_nsec())),
                note: note.flatten(),
            };
            self.names.insert((directory, entry.file_name()), number);
            self.objects.insert(number, (body, attributes));
        }
    }

    /// Restores it in a folder, and returns the numbers of its objects by those that the system
    /// gave them.
    pub fn put(&self, folder: &Path) -> HashMap<u64, Number> {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                fs::remove_dir_all(entry.path()).unwrap()
            } else {
                fs::remove_file(entry.path()).unwrap()
            }
        }
        let mut numbers = HashMap::new();
        self.put_in(folder, self.root, &mut numbers);
        numbers
    }

    fn put_in(&self, folder: &Path, directory: Number, numbers: &mut HashMap<u64, Number>) {
        let first = (directory, OsString::new());
        let named = self.names.range(first..);
        for ((_, name), number) in named.take_while(|((of, _), _)| *of == directory) {
            let path = folder.join(name);
            let (body, attributes) = &self.objects[number];
            match body {
                Body::Directory => {
                    fs::create_dir(&path).unwrap();
                    self.put_in(&path, *number, numbers);
                }
                Body::Link(target) => std::os::unix::fs::symlink(target, &path).unwrap(),
                Body::File(bytes) => fs::write(&path, bytes).unwrap(),
            }
            attributes.put(&path, body);
            let made = fs::symlink_metadata(&path).unwrap().ino();
            let known = numbers.insert(made, *number);
            assert_eq!(known, None, "{path:?} has two names");
        }
    }
}

impl Attributes {
    fn put(&self, path: &Path, body: &Body) {
        if let Some(note) = &self.note {
            rustix::fs::setxattr(path, NOTE, note, XattrFlags::empty()).unwrap();
        }
        if !matches!(body, Body::Link(_)) {
            let mode = fs::Permissions::from_mode(self.mode);
            fs::set_permissions(path, mode).unwrap();
        }
        if let Some((tv_sec, tv_nsec)) = self.modified {
            let modified = Timespec { tv_sec, tv_nsec };
            let times = Timestamps {
                last_access: modified,
                last_modification: modified,
            };
            rustix::fs::utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
        }
    }
}
