//! Who does what a script says: a plain folder, and a view.

use std::io;
use std::path::Path;

use cap_std::fs::Dir;

use super::Op;
use crate::{Directory, Kind, OpenFile, OpenOptions, Opened, View};

/// Who does what a script says. Each gives what came of it as text.
pub trait Subject {
    fn run(&mut self, op: &Op) -> String;
}

fn told<T: std::fmt::Debug>(result: io::Result<T>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(error) => format!("{:?}", error.kind()),
    }
}

pub fn digest(bytes: &[u8]) -> String {
    format!("{} bytes {:?}", bytes.len(), bytes.first())
}

pub struct Plain {
    directories: Vec<Dir>,
    files: Vec<Option<cap_std::fs::File>>,
}

impl Plain {
    pub fn at(folder: &Path) -> Self {
        let root = Dir::open_ambient_dir(folder, cap_std::ambient_authority()).unwrap();
        Self {
            directories: vec![root],
            files: Vec::new(),
        }
    }

    fn start(&self, start: usize) -> &Dir {
        &self.directories[start.min(self.directories.len() - 1)]
    }

    fn file(&self, file: usize) -> io::Result<&cap_std::fs::File> {
        let file = self.files.get(file).and_then(Option::as_ref);
        file.ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    fn open(&mut self, start: usize, path: &str, options: OpenOptions) -> io::Result<&'static str> {
        use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsMaybeDirExt};
        if options.directory && (options.create || options.exclusive || options.truncate) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut open = cap_std::fs::OpenOptions::new();
        open.read(true)
            .write(options.write || options.create || options.truncate);
        open.truncate(options.truncate).maybe_dir(true);
        if options.create && options.exclusive {
            open.create_new(true)
        } else {
            open.create(options.create)
        };
        open.follow(if options.follow {
            FollowSymlinks::Yes
        } else {
            FollowSymlinks::No
        });
        let opened = self.start(start).open_with(path, &open)?;
        if opened.metadata()?.is_dir() {
            self.directories.push(Dir::from_std_file(opened.into_std()));
            return Ok("directory");
        }
        if options.directory {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        self.files.push(Some(opened));
        Ok("file")
    }
}

impl Subject for Plain {
    fn run(&mut self, op: &Op) -> String {
        use cap_std::fs::{FileExt as _, MetadataExt as _};
        match op {
            Op::Open {
                start,
                path,
                options,
            } => told(self.open(*start, path, *options)),
            Op::Close { file } => {
                if let Some(file) = self.files.get_mut(*file) {
                    *file = None;
                }
                String::new()
            }
            Op::Read { file, offset } => told(self.file(*file).and_then(|file| {
                let mut bytes = vec![0; 1000];
                let read = file.read_at(&mut bytes, *offset)?;
                Ok(digest(&bytes[..read]))
            })),
            Op::Write {
                file,
                offset,
                bytes,
            } => told(
                self.file(*file)
                    .and_then(|file| file.write_all_at(&bytes.0, *offset)),
            ),
            Op::SetLen { file, length } => {
                told(self.file(*file).and_then(|file| file.set_len(*length)))
            }
            Op::Size { file } => told(self.file(*file).and_then(|file| Ok(file.metadata()?.len()))),
            Op::List { start, path } => told(self.start(*start).open_dir(path).and_then(|dir| {
                let mut names = Vec::new();
                for entry in dir.entries()? {
                    names.push(entry?.file_name().into_string().unwrap());
                }
                names.sort();
                Ok(names)
            })),
            Op::Stat {
                start,
                path,
                follow,
            } => {
                let start = self.start(*start);
                let found = if *follow {
                    start.metadata(path)
                } else {
                    start.symlink_metadata(path)
                };
                told(found.map(|found| {
                    let size = if found.is_dir() { 0 } else { found.len() };
                    let kind = (found.is_dir(), found.is_file(), found.is_symlink());
                    (kind, size, found.mode() & 0o7777)
                }))
            }
            Op::ReadLink { start, path } => {
                let target = self.start(*start).read_link_contents(path);
                told(target.map(|target| target.to_str().unwrap().to_owned()))
            }
            Op::CreateDirectory { start, path } => told(self.start(*start).create_dir(path)),
            Op::CreateLink {
                start,
                path,
                target,
            } => told(self.start(*start).symlink(target, path)),
            Op::RemoveDirectory { start, path } => told(self.start(*start).remove_dir(path)),
            Op::RemoveFile { start, path } => told(self.start(*start).remove_file(path)),
            Op::Rename {
                start,
                path,
                to,
                new_path,
            } => {
                let renamed = self.start(*start).rename(path, self.start(*to), new_path);
                told(renamed.map_err(|error| match error.kind() {
                    // Which of both a file system says of a directory with something in it is its
                    // own choice.
                    io::ErrorKind::AlreadyExists => io::ErrorKind::DirectoryNotEmpty.into(),
                    _ => error,
                }))
            }
            Op::Put { start, path, bytes } => told(self.start(*start).write(path, &bytes.0)),
        }
    }
}

pub struct Viewed {
    directories: Vec<Directory>,
    files: Vec<Option<OpenFile>>,
}

impl Viewed {
    pub fn of(view: &View) -> Self {
        Self::at(view.root())
    }

    pub fn at(root: Directory) -> Self {
        Self {
            directories: vec![root],
            files: Vec::new(),
        }
    }

    fn start(&self, start: usize) -> &Directory {
        &self.directories[start.min(self.directories.len() - 1)]
    }

    fn file(&self, file: usize) -> io::Result<&OpenFile> {
        let file = self.files.get(file).and_then(Option::as_ref);
        file.ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    fn open(&mut self, start: usize, path: &str, options: OpenOptions) -> io::Result<&'static str> {
        match self.start(start).open(path, options)? {
            Opened::Directory(directory) => {
                self.directories.push(directory);
                Ok("directory")
            }
            Opened::File(file) => {
                self.files.push(Some(file));
                Ok("file")
            }
        }
    }

    pub fn is_gone(&self, file: usize) -> bool {
        self.file(file).is_ok_and(|file| file.metadata().is_err())
    }

    fn list(&self, start: usize, path: &str) -> io::Result<Vec<String>> {
        let options = OpenOptions {
            directory: true,
            follow: true,
            ..OpenOptions::default()
        };
        let Opened::Directory(directory) = self.start(start).open(path, options)? else {
            return Err(io::ErrorKind::NotADirectory.into());
        };
        let entries = directory.list()?.entries.into_iter();
        Ok(entries.map(|entry| entry.name).collect())
    }

    fn put(&self, start: usize, path: &str, bytes: &[u8]) -> io::Result<()> {
        let options = OpenOptions {
            write: true,
            create: true,
            truncate: true,
            follow: true,
            ..OpenOptions::default()
        };
        match self.start(start).open(path, options)? {
            Opened::File(file) => file.write_at(bytes, 0),
            Opened::Directory(_) => Err(io::ErrorKind::IsADirectory.into()),
        }
    }
}

impl Subject for Viewed {
    fn run(&mut self, op: &Op) -> String {
        match op {
            Op::Open {
                start,
                path,
                options,
            } => told(self.open(*start, path, *options)),
            Op::Close { file } => {
                if let Some(file) = self.files.get_mut(*file) {
                    *file = None;
                }
                String::new()
            }
            Op::Read { file, offset } => told(self.file(*file).and_then(|file| {
                let mut bytes = vec![0; 1000];
                let read = file.read_at(&mut bytes, *offset)?;
                Ok(digest(&bytes[..read]))
            })),
            Op::Write {
                file,
                offset,
                bytes,
            } => told(
                self.file(*file)
                    .and_then(|file| file.write_at(&bytes.0, *offset)),
            ),
            Op::SetLen { file, length } => {
                told(self.file(*file).and_then(|file| file.set_len(*length)))
            }
            Op::Size { file } => told(self.file(*file).and_then(|file| Ok(file.metadata()?.size))),
            Op::List { start, path } => told(self.list(*start, path)),
            Op::Stat {
                start,
                path,
                follow,
            } => {
                let found = self.start(*start).metadata_at(path, *follow);
                told(found.map(|found| {
                    let size = if found.kind == Kind::Directory {
                        0
                    } else {
                        found.size
                    };
                    let kind = (
                        found.kind == Kind::Directory,
                        found.kind == Kind::File,
                        found.kind == Kind::Link,
                    );
                    (kind, size, found.mode)
                }))
            }
            Op::ReadLink { start, path } => told(self.start(*start).read_link(path)),
            Op::CreateDirectory { start, path } => told(self.start(*start).create_directory(path)),
            Op::CreateLink {
                start,
                path,
                target,
            } => told(self.start(*start).create_link(target, path)),
            Op::RemoveDirectory { start, path } => told(self.start(*start).remove_directory(path)),
            Op::RemoveFile { start, path } => told(self.start(*start).remove_file(path)),
            Op::Rename {
                start,
                path,
                to,
                new_path,
            } => told(self.start(*start).rename(path, self.start(*to), new_path)),
            Op::Put { start, path, bytes } => told(self.put(*start, path, &bytes.0)),
        }
    }
}
