//! An agent that is given `airlock serve` alone reads and changes files.

use std::fs;

use serde_json::{Value, json};

use super::client::{Calls, Server, text, words};
use crate::airlock::{Store, folder, names};

#[test]
fn a_long_file_is_read_in_parts_that_say_which_lines_they_are() {
    let (store, folder) = (Store::new(), folder(&[]));
    let lines: Vec<String> = (1..=2000).map(|at| format!("{at:060}\n")).collect();
    fs::write(folder.path().join("a.txt"), lines.concat()).unwrap();
    let (mut server, _) = Server::initialized(&store, folder.path(), &[], "2025-11-25", json!({}));
    let mut read = 0;
    for range in ["1–655", "656–1310", "1311–1965", "1966–2000"] {
        let part = server.call("read_file", json!({"path": "a.txt", "offset": read + 1}));
        let shown = words(&part);
        let (shown, note) = shown.rsplit_once('\n').unwrap();
        assert_eq!(note, format!("These are lines {range} of 2000."));
        let count = shown.lines().count();
        assert_eq!(
            shown.trim_end(),
            lines[read..read + count].concat().trim_end()
        );
        read += count;
    }
    assert_eq!(read, 2000);
}

#[test]
fn a_file_is_written_edited_and_read_by_what_is_served_by_default() {
    let (store, folder) = (Store::new(), folder(&[]));
    let args = ["--decide", "model"];
    let (mut server, _) =
        Server::initialized(&store, folder.path(), &args, "2025-11-25", json!({}));
    let file = folder.path().join("notes/a.txt");
    let on_disk = || fs::read_to_string(&file).ok();
    let read = json!({"path": "notes/a.txt"});

    let content = json!({"path": "notes/a.txt", "content": "one\ntwo\n"});
    let edit = json!({
        "path": "notes/a.txt",
        "edits": [{"old_text": "two", "new_text": "three"}],
    });
    let patch = json!({
        "patch": "*** Begin Patch\n*** Update File: notes/a.txt\n@@\n one\n+two\n three\n*** End Patch\n",
    });
    let steps: [(&str, Value, &str); 3] = [
        ("write_file", content, "one\ntwo\n"),
        ("edit_file", edit, "one\nthree\n"),
        ("apply_patch", patch, "one\ntwo\nthree\n"),
    ];
    for (tool, arguments, expected) in steps {
        let before = on_disk();
        let previewed = server.call(tool, arguments);
        assert!(text(&previewed).starts_with("Preview only"), "{previewed}");
        assert!(
            text(&previewed).contains("Verified by the host"),
            "{previewed}"
        );
        assert_eq!(on_disk(), before, "{tool}");
        let applied = server.resolve("apply");
        assert_eq!(applied["isError"], false, "{tool}: {applied}");
        assert_eq!(on_disk().as_deref(), Some(expected), "{tool}");
        let shown = words(&server.call("read_file", read.clone()));
        assert_eq!(shown, expected, "{tool}");
    }

    let wrong = server.call(
        "edit_file",
        json!({
            "path": "notes/a.txt",
            "edits": [{"old_text": "four", "new_text": ""}],
        }),
    );
    assert_eq!(wrong["isError"], true, "{wrong}");
    assert!(
        text(&wrong).contains("`old_text` isn't in `notes/a.txt`"),
        "{wrong}"
    );
    assert_eq!(names(&folder), ["notes"]);
}
