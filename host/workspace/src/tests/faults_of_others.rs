//! What layers above a folder are known to get wrong elsewhere: each is a row here, with what the
//! layer shows, what it says that it changes, and what the folder has after the commit.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, FileType, Mode, RenameFlags};
use rustix::io::Errno;
use tempfile::TempDir;

use super::model::{open, scratch, ticket};
use crate::{
    ChangeKind, ChangeSet, CommitError, ConflictKind, Directory, LayerOptions, OpenOptions, Opened,
    View, Workspace,
};

const TO_READ: OpenOptions = OpenOptions {
    write: false,
    create: false,
    exclusive: false,
    truncate: false,
    directory: false,
    follow: false,
};

const TO_WRITE: OpenOptions = OpenOptions {
    write: true,
    create: true,
    ..TO_READ
};

struct Place {
    folders: TempDir,
    workspace: Workspace,
    view: View,
}

impl Place {
    /// A folder, in which a layer is open.
    fn new(fill: impl Fn(&Path)) -> Self {
        let place = Self::without_layer(fill);
        place.begin();
        place
    }

    fn without_layer(fill: impl Fn(&Path)) -> Self {
        let folders = TempDir::new_in(scratch()).unwrap();
        for name in ["folder", "spill", "outside"] {
            fs::create_dir(folders.path().join(name)).unwrap();
        }
        fs::write(folders.path().join("outside/a"), "outside").unwrap();
        let folder = folders.path().join("folder");
        fill(&folder);
        let workspace = open(&folder);
        let view = workspace.view(1000).unwrap();
        Self {
            folders,
            workspace,
            view,
        }
    }

    fn begin(&self) {
        let spill = self.folders.path().join("spill");
        self.view.begin(&LayerOptions::new(spill)).unwrap();
    }

    fn folder(&self) -> PathBuf {
        self.folders.path().join("folder")
    }

    fn outside(&self) -> PathBuf {
        self.folders.path().join("outside")
    }

    fn commit(&self) -> Result<Vec<String>, CommitError> {
        let committed = self.view.commit(&self.workspace, &ticket("it"))?;
        assert!(committed.not_cleaned_up.is_none());
        Ok(told(&committed.changes))
    }

    /// A layer that can't be committed, since another program was here.
    fn check_conflict(&self, path: &str, what: ConflictKind) {
        match self.view.commit(&self.workspace, &ticket("it")) {
            Err(CommitError::Conflict(conflicts)) => {
                let found = conflicts
                    .iter()
                    .any(|it| it.path == path && it.what == what);
                assert!(found, "{conflicts:?}");
            }
            other => panic!("{other:?}"),
        }
    }
}

fn told(changes: &ChangeSet) -> Vec<String> {
    let told = changes.changes.iter().map(|change| {
        let from = change.from.as_ref().map(|from| format!(" from {from}"));
        let kind = format!("{:?}", change.kind).to_lowercase();
        format!("{kind} {}{}", change.path, from.unwrap_or_default())
    });
    told.collect()
}

/// All that is in a folder, with contents and targets.
fn seen(folder: &Path) -> Vec<String> {
    let mut seen: Vec<_> = super::script::paths(folder)
        .into_iter()
        .map(|path| match fs::symlink_metadata(folder.join(&path)) {
            Ok(found) if found.is_dir() => format!("{path}/"),
            Ok(found) if found.is_symlink() => {
                let target = fs::read_link(folder.join(&path)).unwrap();
                format!("{path} -> {}", target.display())
            }
            Ok(found) if found.is_file() => {
                let text = fs::read_to_string(folder.join(&path)).unwrap();
                format!("{path}: {text}")
            }
            _ => format!("{path} is special"),
        })
        .collect();
    seen.sort();
    seen
}

fn file(directory: &Directory, path: &str, options: OpenOptions) -> crate::OpenFile {
    match directory.open(path, options).unwrap() {
        Opened::File(file) => file,
        Opened::Directory(_) => panic!("{path} is a directory"),
    }
}

fn directory(directory: &Directory, path: &str) -> Directory {
    match directory.open(path, TO_READ).unwrap() {
        Opened::Directory(directory) => directory,
        Opened::File(_) => panic!("{path} is a file"),
    }
}

fn put(directory: &Directory, path: &str, text: &str) {
    let options = OpenOptions {
        truncate: true,
        ..TO_WRITE
    };
    file(directory, path, options)
        .write_at(text.as_bytes(), 0)
        .unwrap();
}

fn text(directory: &Directory, path: &str) -> String {
    let mut bytes = [0; 1000];
    let read = file(directory, path, TO_READ).read_at(&mut bytes, 0);
    String::from_utf8(bytes[..read.unwrap()].to_vec()).unwrap()
}

fn code<T>(result: io::Result<T>) -> Option<Errno> {
    let error = result.err()?;
    Some(Errno::from_io_error(&error).unwrap_or_else(|| panic!("{error}")))
}

/// `a` with `b` in it and `f`.
fn fill(folder: &Path) {
    fs::create_dir(folder.join("a")).unwrap();
    fs::write(folder.join("a/b"), "old b").unwrap();
    fs::write(folder.join("f"), "old f").unwrap();
}

/// What is done to `a/b` and `f`, what it says that it changes, and what is there after the commit.
fn check(act: impl Fn(&Directory), changes: &[&str], after: &[&str]) {
    let place = Place::new(fill);
    let before = seen(&place.folder());
    act(&place.view.root());
    assert_eq!(told(&place.view.changes().unwrap()), changes);
    assert_eq!(seen(&place.folder()), before, "before the commit");
    assert_eq!(place.commit().unwrap(), changes);
    assert_eq!(seen(&place.folder()), after);
    // Who looks through the view sees the same.
    let fresh = place.workspace.view(0).unwrap();
    for line in after.iter().filter(|line| line.contains(": ")) {
        let (path, holds) = line.split_once(": ").unwrap();
        assert_eq!(text(&fresh.root(), path), holds);
    }
}

#[test]
fn what_was_moved_away_is_not_lost_when_its_name_is_taken_again() {
    // A directory made where one was moved away hides nothing of it, and shows nothing of it.
    check(
        |root| {
            root.rename("a", root, "c").unwrap();
            root.create_directory("a").unwrap();
            assert_eq!(directory(root, "a").list().unwrap().entries, []);
            assert_eq!(text(root, "c/b"), "old b");
        },
        &["created a", "renamed c from a"],
        &["a/", "c/", "c/b: old b", "f: old f"],
    );
    check(
        |root| {
            root.rename("a", root, "c").unwrap();
            root.create_directory("a").unwrap();
            root.rename("c/b", root, "a/b").unwrap();
            root.remove_directory("c").unwrap();
        },
        // A directory of the same permissions under the same name is no change, and its file is
        // where it was.
        &[],
        &["a/", "a/b: old b", "f: old f"],
    );
    check(
        |root| {
            root.rename("f", root, "g").unwrap();
            put(root, "f", "new f");
            root.rename("a", root, "f2").unwrap();
            put(root, "a", "a file");
        },
        &[
            "created a",
            "created f",
            "renamed f2 from a",
            "renamed g from f",
        ],
        &["a: a file", "f2/", "f2/b: old b", "f: new f", "g: old f"],
    );
    // Round in a circle.
    check(
        |root| {
            root.rename("f", root, "t").unwrap();
            root.rename("a/b", root, "f").unwrap();
            root.rename("t", root, "a/b").unwrap();
        },
        &["renamed a/b from f", "renamed f from a/b"],
        &["a/", "a/b: old f", "f: old b"],
    );
}

#[test]
fn what_was_written_goes_along_when_it_is_moved() {
    check(
        |root| {
            let open = file(root, "f", TO_WRITE);
            open.append(b", new").unwrap();
            root.rename("f", root, "g").unwrap();
            assert_eq!(text(root, "g"), "old f, new");
            // By who has it open, also after it was moved.
            open.append(b", more").unwrap();
            root.rename("g", root, "a/g").unwrap();
        },
        &["renamed a/g from f"],
        &["a/", "a/b: old b", "a/g: old f, new, more"],
    );
    // In a directory that is moved then.
    check(
        |root| {
            put(root, "a/b", "new b");
            root.rename("a", root, "c").unwrap();
            put(root, "c/d", "new d");
        },
        &["renamed c from a", "modified c/b", "created c/d"],
        &["c/", "c/b: new b", "c/d: new d", "f: old f"],
    );
    // Over another one, and what was written to that is gone.
    check(
        |root| {
            put(root, "a/b", "lost");
            put(root, "f", "new f");
            root.rename("f", root, "a/b").unwrap();
        },
        &["deleted a/b", "renamed a/b from f"],
        &["a/", "a/b: new f"],
    );
    // Removed and made again: the old contents don't come back.
    check(
        |root| {
            root.remove_file("f").unwrap();
            assert_eq!(code(root.open("f", TO_READ)), Some(Errno::NOENT));
            file(root, "f", TO_WRITE).append(b"x").unwrap();
            root.remove_file("a/b").unwrap();
            root.remove_directory("a").unwrap();
            root.create_directory("a").unwrap();
            assert_eq!(code(root.open("a/b", TO_READ)), Some(Errno::NOENT));
        },
        &["deleted a/b", "modified f"],
        &["a/", "f: x"],
    );
}

#[test]
fn without_a_layer_nothing_gets_past_a_view() {
    let place = Place::without_layer(|folder| {
        fill(folder);
        symlink("f", folder.join("link")).unwrap();
    });
    let root = place.view.root();
    let kept = file(&root, "f", TO_READ);
    let truncate = OpenOptions {
        truncate: true,
        ..TO_READ
    };
    let exclusive = OpenOptions {
        exclusive: true,
        ..TO_WRITE
    };
    let write = OpenOptions {
        write: true,
        ..TO_READ
    };
    let all = |root: &Directory| {
        [
            code(root.open("f", truncate)),
            code(root.open(
                "link",
                OpenOptions {
                    follow: true,
                    ..truncate
                },
            )),
            code(root.open("f", write)),
            code(root.open("new", TO_WRITE)),
            code(root.open("new", exclusive)),
            code(root.create_directory("new")),
            code(root.create_directory("new/")),
            code(root.create_link("f", "new")),
            code(root.rename("f", root, "new")),
            code(root.rename("f", root, "a/b")),
            code(root.rename("a", root, "new/")),
            code(root.remove_file("f")),
            code(root.remove_file("link")),
            code(root.set_times_at("f", true, None, Some(std::time::UNIX_EPOCH))),
            code(root.set_mode_at("f", 0o777)),
            code(kept.set_times(None, Some(std::time::UNIX_EPOCH))),
        ]
    };
    let before = super::script::tree(&place.folder());
    let check = |root: &Directory| {
        for (number, refused) in all(root).into_iter().enumerate() {
            assert_eq!(refused, Some(Errno::ROFS), "operation {number}");
        }
        assert_eq!(code(kept.write_at(b"x", 0)), Some(Errno::BADF));
        assert_eq!(code(kept.append(b"x")), Some(Errno::BADF));
        assert_eq!(code(kept.set_len(0)), Some(Errno::INVAL));
        assert_eq!(super::script::tree(&place.folder()), before);
    };
    check(&root);
    // Nor where a layer was open before, by what was opened in it.
    place.begin();
    let writable = file(&root, "f", TO_WRITE);
    writable.append(b"x").unwrap();
    let made = file(&root, "made", TO_WRITE);
    root.create_directory("d").unwrap();
    let below = directory(&root, "d");
    place.view.abandon();
    check(&root);
    let writes = |file: &crate::OpenFile| [code(file.append(b"x")), code(file.set_len(0))];
    assert_eq!(writes(&writable), [Some(Errno::ROFS); 2]);
    assert_eq!(writes(&made), [Some(Errno::ROFS); 2]);
    assert_eq!(code(below.create_directory("e")), Some(Errno::NOENT));
    // Nor in a layer after that.
    place.begin();
    assert_eq!(writes(&writable), [Some(Errno::ROFS); 2]);
    assert!(place.view.changes().unwrap().is_empty());
}

#[test]
fn a_directory_that_another_program_replaces_by_a_link_leads_nowhere() {
    let place = Place::new(fill);
    let root = place.view.root();
    let held = directory(&root, "a");
    let open_file = file(&root, "a/b", TO_READ);
    put(&root, "a/new", "new");
    fs::rename(place.folder().join("a"), place.folder().join("aside")).unwrap();
    symlink(place.outside(), place.folder().join("a")).unwrap();

    // What the layer knows of is the directory of before, and what is read is not the link's.
    assert_eq!(code(held.open("a", TO_READ)), Some(Errno::NOENT));
    assert_eq!(code(root.open("a/a", TO_READ)), Some(Errno::NOENT));
    assert!(held.list().is_err());
    let mut bytes = [0; 5];
    open_file.read_at(&mut bytes, 0).unwrap();
    assert_eq!(&bytes, b"old b", "what is open stays open");
    put(&held, "new", "newer");
    assert_eq!(code(held.remove_file("a")), Some(Errno::NOENT));
    place.check_conflict("a", ConflictKind::Changed);
    assert_eq!(seen(&place.outside()), ["a: outside"]);
    assert_eq!(
        fs::read_dir(place.folder().join("aside")).unwrap().count(),
        1
    );

    // A fresh view sees a link, which it doesn't follow outside.
    let fresh = place.workspace.view(0).unwrap().root();
    assert_eq!(code(fresh.open("a/a", TO_READ)), Some(Errno::PERM));
}

#[test]
fn nobody_gets_outside_while_a_directory_and_a_link_are_exchanged_all_the_time() {
    let place = Place::new(|folder| {
        for way in ["a", "a/deep"] {
            fs::create_dir(folder.join(way)).unwrap();
        }
        fs::write(folder.join("a/deep/a"), "inside").unwrap();
        symlink("../outside", folder.join("b")).unwrap();
    });
    fs::create_dir(place.outside().join("deep")).unwrap();
    fs::write(place.outside().join("deep/a"), "outside").unwrap();
    let [a, b] = ["a", "b"].map(|name| place.folder().join(name));
    let done = AtomicBool::new(false);
    let (mut inside, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                rustix::fs::renameat_with(CWD, &a, CWD, &b, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let root = place.view.root();
        let held = directory(&root, if a.is_symlink() { "b" } else { "a" });
        // Until both were seen, so that the race has taken place.
        for tries in 0.. {
            let opened = match tries % 2 {
                0 => root.open("a/deep/a", TO_READ),
                _ => held.open("deep/a", TO_READ),
            };
            match opened {
                Ok(Opened::File(file)) => {
                    let mut bytes = [0; 6];
                    file.read_at(&mut bytes, 0).unwrap();
                    assert_eq!(&bytes, b"inside");
                    inside += 1;
                }
                Ok(Opened::Directory(_)) => panic!("deep/a is a file"),
                Err(_) => refused += 1,
            }
            if tries >= 5_000 && inside > 100 && refused > 100 {
                break;
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    println!("{inside} inside, {refused} refused");
}

#[test]
fn names_that_only_look_the_same_are_two() {
    let [composed, parted] = ["caf\u{e9}", "cafe\u{301}"];
    let place = Place::new(|folder| {
        fs::write(folder.join(composed), "one").unwrap();
        fs::write(folder.join(parted), "two").unwrap();
    });
    let root = place.view.root();
    assert_eq!(root.list().unwrap().entries.len(), 2);
    put(&root, composed, "one more");
    root.remove_file(parted).unwrap();
    assert_eq!(code(root.open(parted, TO_READ)), Some(Errno::NOENT));
    root.create_directory(parted).unwrap();
    put(&root, &format!("{parted}/{composed}"), "below");
    assert_eq!(text(&root, composed), "one more");
    place.commit().unwrap();
    let expected = [
        format!("{parted}/"),
        format!("{parted}/{composed}: below"),
        format!("{composed}: one more"),
    ];
    assert_eq!(seen(&place.folder()), expected);
}

#[test]
fn pipes_and_sockets_are_moved_and_removed_but_never_opened() {
    let place = Place::new(|folder| {
        let mode = Mode::from_raw_mode(0o600);
        for name in ["pipe", "other", "gone", "replaced"] {
            rustix::fs::mknodat(CWD, folder.join(name), FileType::Fifo, mode, 0).unwrap();
        }
        drop(UnixListener::bind(folder.join("socket")).unwrap());
        fs::write(folder.join("f"), "f").unwrap();
    });
    let root = place.view.root();
    // Nobody has the other end: who opened it as the system does would wait forever.
    for name in ["pipe", "socket"] {
        for options in [
            TO_READ,
            TO_WRITE,
            OpenOptions {
                truncate: true,
                ..TO_READ
            },
        ] {
            assert_eq!(
                code(root.open(name, options)),
                Some(Errno::OPNOTSUPP),
                "{name}"
            );
        }
        assert_eq!(code(root.set_mode_at(name, 0o777)), Some(Errno::OPNOTSUPP));
        assert_eq!(
            root.metadata_at(name, false).unwrap().kind,
            crate::Kind::Special
        );
    }
    root.rename("pipe", &root, "moved").unwrap();
    root.rename("socket", &root, "other").unwrap();
    root.remove_file("gone").unwrap();
    root.rename("f", &root, "replaced").unwrap();
    let changes = place.commit().unwrap();
    let expected = [
        "deleted gone",
        "renamed moved from pipe",
        "deleted other",
        "renamed other from socket",
        "deleted replaced",
        "renamed replaced from f",
    ];
    assert_eq!(changes, expected);
    let kind = |name: &str| {
        fs::symlink_metadata(place.folder().join(name))
            .unwrap()
            .file_type()
    };
    assert!(kind("moved").is_fifo() && kind("other").is_socket());
    assert_eq!(
        seen(&place.folder()),
        ["moved is special", "other is special", "replaced: f"]
    );
    // A file that another program replaces by a pipe, while it is open: nobody waits for that.
    let place = Place::new(fill);
    let root = place.view.root();
    let open = file(&root, "f", TO_WRITE);
    fs::remove_file(place.folder().join("f")).unwrap();
    let mode = Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(CWD, place.folder().join("f"), FileType::Fifo, mode, 0).unwrap();
    assert_eq!(code(open.append(b"x")), Some(Errno::OPNOTSUPP));
    place.check_conflict("f", ConflictKind::Changed);
}

#[test]
fn the_longest_names_are_committed_and_longer_ones_refused() {
    let [longest, other] = ["e", "f"].map(|first| format!("{first}{}", "\u{e9}".repeat(127)));
    assert_eq!(longest.len(), 255);
    let too_long = format!("{longest}x");
    let place = Place::new(|folder| fs::write(folder.join(&longest), "old").unwrap());
    let root = place.view.root();
    put(&root, &longest, "new");
    root.create_directory(&other).unwrap();
    put(&root, &format!("{other}/{longest}"), "below");
    root.create_link(&longest, &format!("{other}/{other}"))
        .unwrap();
    for refused in [
        code(root.open(&too_long, TO_READ)),
        code(root.open(&too_long, TO_WRITE)),
        code(root.create_directory(&too_long)),
        code(root.create_link("a", &too_long)),
        code(root.rename(&longest, &root, &too_long)),
        code(root.rename(&too_long, &root, "a")),
        code(root.remove_file(&too_long)),
        code(root.metadata_at(&format!("{other}/{too_long}"), true)),
    ] {
        assert_eq!(refused, Some(Errno::NAMETOOLONG));
    }
    place.commit().unwrap();
    let expected = [
        format!("{longest}: new"),
        format!("{other}/"),
        format!("{other}/{longest}: below"),
        format!("{other}/{other} -> {longest}"),
    ];
    assert_eq!(seen(&place.folder()), expected);
}

#[test]
fn a_name_that_is_no_text_is_counted_and_never_removed_unseen() {
    let odd = OsStr::from_bytes(b"odd \xff");
    let place = Place::new(|folder| {
        fs::create_dir_all(folder.join("a")).unwrap();
        fs::create_dir_all(folder.join("empty")).unwrap();
        fs::write(folder.join("a").join(odd), "odd").unwrap();
    });
    let root = place.view.root();
    let listed = directory(&root, "a").list().unwrap();
    assert_eq!((listed.entries.len(), listed.left_out), (0, 1));
    assert_eq!(code(root.remove_directory("a")), Some(Errno::NOTEMPTY));
    assert_eq!(
        code(root.rename("empty", &root, "a")),
        Some(Errno::NOTEMPTY)
    );
    // It moves with its directory.
    root.rename("a", &root, "b").unwrap();
    root.remove_directory("empty").unwrap();
    fs::write(place.folder().join("empty").join(odd), "new").unwrap();
    place.check_conflict("empty/?", ConflictKind::Appeared);
    fs::remove_file(place.folder().join("empty").join(odd)).unwrap();
    place.commit().unwrap();
    assert_eq!(
        fs::read(place.folder().join("b").join(odd)).unwrap(),
        b"odd"
    );
}

#[test]
fn a_link_to_a_name_that_is_no_text_can_be_moved_and_removed() {
    let place = Place::new(|folder| {
        for name in ["moved", "gone"] {
            symlink(OsStr::from_bytes(b"odd \xff"), folder.join(name)).unwrap();
        }
    });
    let root = place.view.root();
    assert_eq!(code(root.read_link("moved")), Some(Errno::ILSEQ));
    assert_eq!(code(root.open("moved/a", TO_READ)), Some(Errno::ILSEQ));
    root.rename("moved", &root, "here").unwrap();
    root.remove_file("gone").unwrap();
    assert_eq!(
        place.commit().unwrap(),
        ["deleted gone", "renamed here from moved"]
    );
    let target = fs::read_link(place.folder().join("here")).unwrap();
    assert_eq!(target.as_os_str().as_bytes(), b"odd \xff");
}

/// Makes directories in one another, by what is open, each with a name of so many bytes.
fn dig(root: &Directory, name: &str, until: impl Fn(usize) -> bool) -> (Directory, usize) {
    let mut at = root.try_clone().unwrap();
    for depth in 0.. {
        if until(depth) {
            return (at, depth);
        }
        match at.create_directory(name) {
            Ok(()) => at = directory(&at, name),
            Err(error) => {
                assert_eq!(Errno::from_io_error(&error), Some(Errno::NAMETOOLONG));
                return (at, depth);
            }
        }
    }
    unreachable!("some depth is too deep")
}

#[test]
fn as_deep_as_a_path_goes_is_committed_and_removed_and_no_deeper() {
    let place = Place::new(|_| {});
    let root = place.view.root();
    let (deepest, depth) = dig(&root, "d", |_| false);
    assert!(depth > 2_000, "{depth}");
    assert_eq!(code(deepest.open("f", TO_WRITE)), Some(Errno::NAMETOOLONG));
    let committed = place.view.commit(&place.workspace, &ticket("it")).unwrap();
    assert!(committed.not_cleaned_up.is_none());
    assert_eq!(committed.changes.changes.len(), depth);
    let path = vec!["d"; depth].join("/");
    assert!(
        open(&place.folder())
            .view(0)
            .unwrap()
            .root()
            .metadata_at(&path, false)
            .is_ok()
    );

    // From the deepest up, as one removes it.
    place.begin();
    for length in (1..=depth).rev() {
        root.remove_directory(&vec!["d"; length].join("/")).unwrap();
    }
    place
        .view
        .commit(&place.workspace, &ticket("gone"))
        .unwrap();
    assert_eq!(seen(&place.folder()), [""; 0]);
}

#[test]
fn what_was_moved_to_where_no_path_leads_is_refused_and_fills_no_memory() {
    let place = Place::new(|_| {});
    let root = place.view.root();
    // Each goes to the deepest place of the next: together they would be a hundred thousand.
    for number in 0..50 {
        let top = format!("top{number}");
        root.create_directory(&top).unwrap();
        let (deepest, _) = dig(&directory(&root, &top), "d", |depth| depth == 2_000);
        if number > 0 {
            root.rename(&format!("top{}", number - 1), &deepest, "t")
                .unwrap();
        }
    }
    assert_eq!(code(place.view.changes()), Some(Errno::NAMETOOLONG));
    match place.view.commit(&place.workspace, &ticket("it")) {
        Err(CommitError::Io { source, .. }) => {
            assert_eq!(Errno::from_io_error(&source), Some(Errno::NAMETOOLONG));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(seen(&place.folder()), [""; 0]);
}

#[test]
fn the_private_folder_has_no_other_name() {
    for name in [
        ".airlock",
        ".AirLock",
        ".airloc\u{212a}",
        ".air\u{200d}lock",
        "\u{feff}.airlock",
        ".airlock\u{ad}",
    ] {
        assert!(crate::is_private(name), "{name:?}");
        let place = Place::new(|folder| {
            fs::create_dir_all(folder.join("a").join(name)).unwrap();
            fs::write(folder.join("a").join(name).join("committed"), "x").unwrap();
        });
        let root = place.view.root();
        let path = format!("a/{name}");
        let inside = format!("{path}/committed");
        assert_eq!(code(root.open(&path, TO_READ)), Some(Errno::NOENT));
        assert_eq!(code(root.open(&inside, TO_READ)), Some(Errno::NOENT));
        assert_eq!(code(root.remove_directory(&path)), Some(Errno::NOENT));
        for refused in [
            code(root.open(&path, TO_WRITE)),
            code(root.create_directory(&path)),
            code(root.create_link("b", &path)),
            code(root.rename("a", &root, name)),
        ] {
            assert_eq!(refused, Some(Errno::PERM), "{name:?}");
        }
        assert_eq!(directory(&root, "a").list().unwrap().entries, []);
    }
    for name in [
        ".airlocks",
        "airlock",
        ".airlo\u{e7}k",
        ".a\u{131}rlock",
        ".airlock\u{301}",
    ] {
        assert!(!crate::is_private(name), "{name:?}");
    }
}

#[test]
fn a_change_of_only_permissions_leaves_contents_and_a_link_is_told_as_one() {
    let place = Place::new(fill);
    let root = place.view.root();
    root.set_mode_at("f", 0o600).unwrap();
    root.create_link("f", "link").unwrap();
    let changes = place.view.changes().unwrap();
    let kinds: Vec<_> = changes.changes.iter().map(|change| change.kind).collect();
    assert_eq!(kinds, [ChangeKind::Mode, ChangeKind::Link]);
    place.commit().unwrap();
    let seen = seen(&place.folder());
    assert_eq!(seen, ["a/", "a/b: old b", "f: old f", "link -> f"]);
}

/// A writer that waits for a pipe's other end would be let go, and find nobody there.
#[test]
fn a_pipe_is_looked_at_without_being_opened() {
    use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
    let place = Place::new(|folder| {
        fs::create_dir(folder.join("sub")).unwrap();
        let mode = Mode::RUSR | Mode::WUSR;
        for name in ["pipe", "sub/pipe"] {
            rustix::fs::mknodat(CWD, folder.join(name), FileType::Fifo, mode, 0).unwrap();
        }
        fs::write(folder.join("f"), "f").unwrap();
    });
    let watched = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
    for folder in [place.folder(), place.folder().join("sub")] {
        inotify::add_watch(&watched, &folder, WatchFlags::OPEN).unwrap();
    }
    let root = place.view.root();
    for path in ["pipe", "sub/pipe"] {
        let opened = root.open(path, TO_READ).map(drop).unwrap_err();
        assert_eq!(opened.raw_os_error(), Some(Errno::OPNOTSUPP.raw_os_error()));
        root.metadata_at(path, true).unwrap();
    }
    root.open("f", TO_READ).unwrap();
    let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
    let mut reader = Reader::new(&watched, &mut buffer);
    let mut opened = Vec::new();
    while let Ok(event) = reader.next() {
        opened.extend(
            event
                .file_name()
                .map(|name| name.to_str().unwrap().to_owned()),
        );
    }
    assert!(opened.contains(&"f".to_owned()), "{opened:?}");
    assert!(!opened.contains(&"pipe".to_owned()), "{opened:?}");
}

#[test]
fn what_was_read_and_is_overwritten_then_must_be_as_it_was_read() {
    let check = |other: &dyn Fn(&Path), act: &dyn Fn(&Directory) -> io::Result<()>| {
        let place = Place::new(fill);
        let root = place.view.root();
        assert_eq!(text(&root, "f"), "old f");
        assert_eq!(text(&root, "a/b"), "old b");
        other(&place.folder());
        let before = seen(&place.folder());
        match act(&root) {
            Ok(()) => place.check_conflict("f", ConflictKind::Changed),
            Err(error) => assert_eq!(Errno::from_io_error(&error), Some(Errno::STALE)),
        }
        assert_eq!(seen(&place.folder()), before);
    };
    let written: &dyn Fn(&Path) = &|folder| fs::write(folder.join("f"), "theirs").unwrap();
    let replaced: &dyn Fn(&Path) = &|folder| {
        fs::write(folder.join("next"), "theirs").unwrap();
        fs::rename(folder.join("next"), folder.join("f")).unwrap();
    };
    let by_directory: &dyn Fn(&Path) = &|folder| {
        fs::remove_file(folder.join("f")).unwrap();
        fs::create_dir(folder.join("f")).unwrap();
    };
    for other in [written, replaced, by_directory] {
        let truncated = OpenOptions {
            truncate: true,
            ..TO_WRITE
        };
        check(other, &|root| match root.open("f", truncated) {
            Ok(_) => Ok(()),
            // It is a directory by now.
            Err(error) if Errno::from_io_error(&error) == Some(Errno::ISDIR) => {
                Err(Errno::STALE.into())
            }
            Err(error) => Err(error),
        });
        check(other, &|root| root.rename("f", root, "g"));
        check(other, &|root| {
            root.rename("a/b", root, "f").or(Err(Errno::STALE.into()))
        });
        check(other, &|root| {
            root.remove_file("f").or(Err(Errno::STALE.into()))
        });
        check(other, &|root| root.set_mode_at("f", 0o600));
    }
    // What this view has committed itself is no other program's, and what was read before the layer
    // is none of what is made in it.
    let place = Place::new(fill);
    let root = place.view.root();
    for id in ["first", "second"] {
        let before = text(&root, "f");
        put(&root, "f", &format!("{before}, {id}"));
        place.view.commit(&place.workspace, &ticket(id)).unwrap();
        assert_eq!(text(&root, "f"), format!("{before}, {id}"));
        fs::write(place.folder().join("f"), "theirs").unwrap();
        place.begin();
    }
    put(&root, "f", "ours");
    place.commit().unwrap();
    assert_eq!(seen(&place.folder()), ["a/", "a/b: old b", "f: ours"]);
}
