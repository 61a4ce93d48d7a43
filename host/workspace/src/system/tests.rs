//! The substitutes behave like what Linux has.

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, symlink};

use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;
use tempfile::TempDir;

use super::{linux, portable};
use crate::lower::open_directory;
use crate::mount::Mount;

type Open = fn(&File, &str, OFlags) -> Result<OwnedFd, Errno>;

const OPENERS: [(&str, Open); 2] = [
    ("linux", linux::open_beneath),
    ("portable", portable::open_beneath),
];

const READ: OFlags = OFlags::CLOEXEC.union(OFlags::NOFOLLOW);
const READ_DIRECTORY: OFlags = READ.union(OFlags::DIRECTORY);
const LOOK_UP: OFlags = READ_DIRECTORY.union(OFlags::PATH);

/// A folder with links that lead inside and outside, next to a file that nobody may reach.
fn folder() -> (TempDir, File) {
    let temporary = TempDir::new().unwrap();
    let root = temporary.path().join("root");
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::write(root.join("a/b/file"), "inside").unwrap();
    fs::create_dir(temporary.path().join("outside")).unwrap();
    fs::write(temporary.path().join("outside/file"), "outside").unwrap();
    symlink(temporary.path().join("outside"), root.join("out")).unwrap();
    symlink("b", root.join("a/in")).unwrap();
    symlink("b/file", root.join("a/link")).unwrap();
    symlink("nothing", root.join("dangling")).unwrap();
    let root = open_directory(&root).unwrap();
    (temporary, root)
}

/// Opens the path in both ways. `wanted` is what is opened, or the errors that are allowed.
#[track_caller]
fn check(path: &str, flags: OFlags, wanted: Result<&str, &[Errno]>) {
    let (temporary, root) = folder();
    for (opener, open) in OPENERS {
        match (open(&root, path, flags), wanted) {
            (Ok(opened), Ok(wanted)) => {
                let opened = File::from(opened).metadata().unwrap();
                let wanted = temporary.path().join("root").join(wanted);
                let wanted = wanted.metadata().unwrap();
                assert_eq!(opened.ino(), wanted.ino(), "{opener}: {path:?}");
            }
            (Err(error), Err(wanted)) => {
                assert!(wanted.contains(&error), "{opener}: {path:?}: {error:?}");
            }
            (found, _) => panic!("{opener}: {path:?}: {found:?}"),
        }
    }
}

#[test]
fn a_path_is_opened_below_the_directory() {
    check(".", READ, Ok(""));
    check("a", READ, Ok("a"));
    check("a/b/file", READ, Ok("a/b/file"));
    check("a/b", READ_DIRECTORY, Ok("a/b"));
    check("a/b", LOOK_UP, Ok("a/b"));
    check("a/./b//file", READ, Ok("a/b/file"));
    check("a/b/", READ, Ok("a/b"));
}

#[test]
fn no_path_leaves_the_directory() {
    check("..", READ, Err(&[Errno::XDEV]));
    check("../outside/file", READ, Err(&[Errno::XDEV]));
    check("a/../../outside/file", READ, Err(&[Errno::XDEV]));
    check("/", READ, Err(&[Errno::XDEV]));
    check("/etc/passwd", READ, Err(&[Errno::XDEV]));
}

#[test]
fn no_link_is_followed_on_the_way_or_at_the_end() {
    check("out/file", READ, Err(&[Errno::LOOP]));
    check("a/in/file", READ, Err(&[Errno::LOOP]));
    check("a/link/file", READ, Err(&[Errno::LOOP]));
    check("out/", READ, Err(&[Errno::LOOP]));
    check("a/link", READ, Err(&[Errno::LOOP]));
    check("dangling", READ, Err(&[Errno::LOOP]));
    check("out", READ_DIRECTORY, Err(&[Errno::LOOP, Errno::NOTDIR]));
    check("out", LOOK_UP, Err(&[Errno::LOOP, Errno::NOTDIR]));
}

#[test]
fn what_is_missing_or_no_directory_is_told_apart() {
    check("missing", READ, Err(&[Errno::NOENT]));
    check("missing/file", READ, Err(&[Errno::NOENT]));
    check("a/b/file/more", READ, Err(&[Errno::NOTDIR]));
    check("a/b/file/", READ, Err(&[Errno::NOTDIR]));
    check("a/b/file", READ_DIRECTORY, Err(&[Errno::NOTDIR]));
}

/// Another program exchanges a directory on the way for a link, over and over.
#[test]
fn a_directory_that_becomes_a_link_and_back_leads_nowhere_else() {
    for (opener, open) in OPENERS {
        let (temporary, root) = folder();
        let at = |name: &str| temporary.path().join("root").join(name);
        let (directory, link) = (at("a/b"), at("out"));
        let mut opened = 0;
        std::thread::scope(|scope| {
            let exchanging = scope.spawn(|| {
                for _ in 0..20_000 {
                    renameat_with(CWD, &directory, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                }
            });
            while !exchanging.is_finished() {
                let Ok(found) = open(&root, "a/b/file", READ) else {
                    continue;
                };
                let mut text = String::new();
                File::from(found).read_to_string(&mut text).unwrap();
                assert_eq!(text, "inside", "{opener}");
                opened += 1;
            }
        });
        assert!(opened > 0, "{opener}");
    }
}

#[test]
fn a_directory_has_the_same_birth_and_a_mount_on_each_system() {
    let (_temporary, root) = folder();
    assert_eq!(
        portable::birth(&root).unwrap(),
        linux::birth(&root).unwrap()
    );
    let mount = portable::mount_of(&root, "").unwrap();
    assert_eq!(mount, Mount::Device(root.metadata().unwrap().dev()));
    for name in ["a", "out", "dangling"] {
        assert_eq!(portable::mount_of(&root, name).unwrap(), mount, "{name}");
    }
    let system = File::open("/").unwrap();
    assert_ne!(portable::mount_of(&system, "proc").unwrap(), mount);
    assert!(portable::mount_of(&root, "missing").is_err());
}
