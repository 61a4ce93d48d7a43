//! Files that are not as plain as most: their ends of lines, encodings, sizes, and what they are.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use serde_json::json;

use crate::tree::Tree;

/// What a file holds before and after `old($A)` was replaced by two lines.
async fn check(before: &[u8], after: &[u8]) {
    let tree = Tree::with(&[]);
    tree.write("a.js", before);
    tree.edit("old($A)", "first()\nlast($A)").await.unwrap();
    tree.apply().await.unwrap();
    let held = fs::read(tree.path("a.js")).unwrap();
    assert_eq!(
        String::from_utf8_lossy(&held),
        String::from_utf8_lossy(after)
    );
}

#[tokio::test]
async fn ends_of_lines_stay_as_they_are_and_new_lines_get_the_same() {
    check(b"a\nold(1)\nb\n", b"a\nfirst()\nlast(1)\nb\n").await;
    check(b"a\r\nold(1)\r\nb\r\n", b"a\r\nfirst()\r\nlast(1)\r\nb\r\n").await;
    // Mixed ones stay mixed.
    check(b"a\r\nold(1)\nb\r\n", b"a\r\nfirst()\nlast(1)\nb\r\n").await;
    check(b"a\n  old(1)", b"a\n  first()\n  last(1)").await;
    check(b"a\r\nold(\r\n  1\r\n)\r\n", b"a\r\nfirst()\r\nlast(1)\r\n").await;
}

#[tokio::test]
async fn a_byte_order_mark_stays_in_front() {
    check(b"\xef\xbb\xbfold(1)\n", b"\xef\xbb\xbffirst()\nlast(1)\n").await;
    check(b"\xef\xbb\xbf\nold(1)", b"\xef\xbb\xbf\nfirst()\nlast(1)").await;
}

#[tokio::test]
async fn text_beyond_ascii_stays_whole() {
    check(
        "x('日本語 🦀');old('é')\n".as_bytes(),
        "x('日本語 🦀');first()\nlast('é')\n".as_bytes(),
    )
    .await;
}

#[tokio::test]
async fn what_can_not_be_searched_is_named_and_the_rest_is_done() {
    let tree = Tree::with(&[("good.js", "old(1)\n"), ("empty.js", "")]);
    tree.write("latin.js", b"old('\xe9')\n");
    tree.write("null.js", b"old(1)\0\n");
    tree.write("utf16.js", b"\xff\xfeo\0l\0d\0(\0)\0");
    tree.write("other.js", b"\0");
    let mut huge = b"old(1)\n".repeat(700_000);
    tree.write("huge.js", &huge);
    huge.truncate(4 << 20);
    let previewed = tree.edit("old($A)", "new($A)").await.unwrap();
    let text = previewed.text();
    assert!(text.starts_with("1 replacement in 1 file"), "{text}");
    for note in [
        "Not searched: \"huge.js\", it is 4900000 bytes; the limit is 4194304.",
        "Not searched: \"latin.js\", it is not text in UTF-8.",
        "Not searched: \"null.js\", it is not text in UTF-8.",
    ] {
        assert!(text.contains(note), "{note} in {text}");
    }
    let utf16 =
        "Not searched: \"utf16.js\", it is text in UTF-16; convert it to UTF-8 to search it.";
    assert!(text.contains(utf16), "{text}");
    // Without a word of the pattern in it, nothing could be found there.
    assert!(!text.contains("other.js"), "{text}");
    let skipped = &previewed.details.unwrap().value()["skipped"];
    assert_eq!(skipped[0]["path"], "huge.js");
    tree.apply().await.unwrap();
    assert_eq!(tree.read("good.js"), "new(1)\n");
}

#[tokio::test]
async fn a_file_that_was_named_and_can_not_be_searched_is_an_error() {
    let tree = Tree::with(&[("good.js", "old(1)\n")]);
    tree.write("latin.js", b"old('\xe9')\n");
    let params =
        json!({"ops": [{"pat": "old($A)", "out": "new($A)"}], "paths": ["good.js", "latin.js"]});
    let error = tree.refused(params).await;
    assert_eq!(error, "can't search latin.js: it is not text in UTF-8");
}

#[tokio::test]
async fn permissions_stay_and_other_names_of_a_file_keep_what_they_had() {
    let tree = Tree::with(&[("run.sh", "old hello\n")]);
    fs::set_permissions(tree.path("run.sh"), fs::Permissions::from_mode(0o751)).unwrap();
    fs::hard_link(tree.path("run.sh"), tree.path("other.txt")).unwrap();
    let owner = |name| {
        let metadata = fs::metadata(tree.path(name)).unwrap();
        (metadata.uid(), metadata.gid(), metadata.mode() & 0o7777)
    };
    let before = owner("run.sh");
    tree.edit("old $A", "new $A").await.unwrap();
    tree.apply().await.unwrap();
    assert_eq!(tree.read("run.sh"), "new hello\n");
    assert_eq!(owner("run.sh"), before);
    assert_eq!(before.2, 0o751);
    assert_eq!(tree.read("other.txt"), "old hello\n");
}

#[tokio::test]
async fn a_read_only_file_is_refused_by_name_before_anything_is_staged() {
    let tree = Tree::with(&[("a.js", "old(1)\n"), ("b.js", "old(2)\n")]);
    fs::set_permissions(tree.path("b.js"), fs::Permissions::from_mode(0o444)).unwrap();
    let params = json!({"ops": [{"pat": "old($A)", "out": "new($A)"}]});
    let error = tree.refused(params).await;
    assert!(
        error.starts_with("b.js would change, and is read-only"),
        "{error}"
    );
}
