//! What was seen, and what may be done about it: nothing without a layer, and nothing to what has
//! changed since.

use super::*;

#[test]
fn without_a_layer_nothing_gets_past_a_view() {
    let place = Fixture::without_layer(|folder| {
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
    let before = crate::tests::script::tree(&place.folder());
    let check = |root: &Directory| {
        for (number, refused) in all(root).into_iter().enumerate() {
            assert_eq!(refused, Some(Errno::ROFS), "operation {number}");
        }
        assert_eq!(code(kept.write_at(b"x", 0)), Some(Errno::BADF));
        assert_eq!(code(kept.append(b"x")), Some(Errno::BADF));
        assert_eq!(code(kept.set_len(0)), Some(Errno::INVAL));
        assert_eq!(crate::tests::script::tree(&place.folder()), before);
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
fn what_was_read_and_is_overwritten_then_must_be_as_it_was_read() {
    let check = |other: &dyn Fn(&Path), act: &dyn Fn(&Directory) -> io::Result<()>| {
        let place = Fixture::new(fill);
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
    let place = Fixture::new(fill);
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
