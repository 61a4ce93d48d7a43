//! Names: odd ones, long ones, deep ones, and such as only look the same.

use super::*;

#[test]
fn names_that_only_look_the_same_are_two() {
    let [composed, parted] = ["caf\u{e9}", "cafe\u{301}"];
    let place = Fixture::new(|folder| {
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
fn the_longest_names_are_committed_and_longer_ones_refused() {
    let [longest, other] = ["e", "f"].map(|first| format!("{first}{}", "\u{e9}".repeat(127)));
    assert_eq!(longest.len(), 255);
    let too_long = format!("{longest}x");
    let place = Fixture::new(|folder| fs::write(folder.join(&longest), "old").unwrap());
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
    let place = Fixture::new(|folder| {
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
    let place = Fixture::new(|folder| {
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
    let place = Fixture::new(|_| {});
    let root = place.view.root();
    let (deepest, depth) = dig(&root, "d", |_| false);
    assert!(depth > 2_000, "{depth}");
    assert_eq!(code(deepest.open("f", TO_WRITE)), Some(Errno::NAMETOOLONG));
    let committed = place.view.commit(&place.workspace, &ticket("it")).unwrap();
    assert!(committed.not_cleaned_up.is_none());
    assert_eq!(committed.changes.len(), depth);
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
    let place = Fixture::new(|_| {});
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
        ".airlock.",
        ".airlock ",
        ".airlock::$INDEX_ALLOCATION",
    ] {
        assert!(crate::is_private(name), "{name:?}");
        let place = Fixture::new(|folder| {
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
