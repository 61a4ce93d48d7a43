//! What is no file: links in a directory's place, pipes and sockets.

use super::*;

#[test]
fn a_directory_that_another_program_replaces_by_a_link_leads_nowhere() {
    let place = Fixture::new(fill);
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
    let place = Fixture::new(|folder| {
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
fn pipes_and_sockets_are_moved_and_removed_but_never_opened() {
    let place = Fixture::new(|folder| {
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
    let place = Fixture::new(fill);
    let root = place.view.root();
    let open = file(&root, "f", TO_WRITE);
    fs::remove_file(place.folder().join("f")).unwrap();
    let mode = Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(CWD, place.folder().join("f"), FileType::Fifo, mode, 0).unwrap();
    assert_eq!(code(open.append(b"x")), Some(Errno::OPNOTSUPP));
    place.check_conflict("f", ConflictKind::Changed);
}

/// A writer that waits for a pipe's other end would be let go, and find nobody there.
#[test]
fn a_pipe_is_looked_at_without_being_opened() {
    use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
    let place = Fixture::new(|folder| {
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
