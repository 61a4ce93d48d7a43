//! What a preview says, stages and leaves alone.

use std::collections::HashSet;

use airlock_host::Limits;
use airlock_host::pending::ActionState;
use serde_json::json;

use crate::tree::Tree;

#[tokio::test]
async fn a_preview_shows_a_unified_diff_and_changes_nothing() {
    let tree = Tree::with(&[
        (
            "src/a.rs",
            "fn a() {\n    one();\n    old(1);\n    two();\n}\n",
        ),
        ("src/b.rs", "fn b() { old(2); old(3) }"),
        ("src/c.rs", "fn c() {}\n"),
    ]);
    let before = tree.files();
    let previewed = tree.edit("old($A)", "new($A)").await.unwrap();
    assert_eq!(
        previewed.text(),
        "\
3 replacements in 2 files, of 3 files searched.

src/a.rs: 1 replacement
--- a/src/a.rs
+++ b/src/a.rs
@@ -1,5 +1,5 @@
 fn a() {
     one();
-    old(1);
+    new(1);
     two();
 }

src/b.rs: 2 replacements
--- a/src/b.rs
+++ b/src/b.rs
@@ -1 +1 @@
-fn b() { old(2); old(3) }
\\ No newline at end of file
+fn b() { new(2); new(3) }
\\ No newline at end of file
"
    );
    let files = json!([
        {"path": "src/a.rs", "replacements": 1},
        {"path": "src/b.rs", "replacements": 2},
    ]);
    assert_eq!(
        previewed.details.unwrap(),
        json!({
            "dryRun": true, "replacements": 3, "fileCount": 2, "files": files,
            "searchedFiles": 3, "leftByLimit": 0, "leftInside": 0, "leftByErrors": 0,
            "leftByMoreCode": 0, "leftByMeaning": 0, "leftAsNoCode": 0, "removedComments": 0,
            "skipped": [], "syntaxErrors": [],
        })
    );
    assert_eq!(tree.files(), before);
    let pending = tree.session.pending().await.unwrap();
    let [pending] = &pending[..] else {
        panic!("{pending:?}");
    };
    assert_eq!(pending.state, ActionState::Pending);
    assert_eq!(pending.action.label, "AST Edit: 3 replacements in 2 files");
    assert_eq!(pending.action.source_tool_name, "ast_edit");
    assert!(pending.action.durable);
    assert_eq!(
        pending.action.details.as_ref().unwrap().value()["files"],
        files
    );
}

#[tokio::test]
async fn one_replacement_in_one_file_is_told_in_the_singular() {
    let tree = Tree::with(&[("a.rs", "fn a() { old(1) }\n")]);
    tree.edit("old($A)", "new($A)").await.unwrap();
    let pending = tree.session.pending().await.unwrap();
    assert_eq!(pending[0].action.label, "AST Edit: 1 replacement in 1 file");
}

#[tokio::test]
async fn nothing_found_is_told_and_nothing_is_pushed() {
    let tree = Tree::with(&[("a.rs", "fn a() { f(1) }\n"), ("b.txt", "old(1)")]);
    let check = async |pat, out, text: &str| {
        let previewed = tree.edit(pat, out).await.unwrap();
        assert_eq!(previewed.text(), text);
        assert_eq!(tree.pending().await, 0);
        assert_eq!(previewed.details.unwrap().value()["replacements"], 0);
    };
    check(
        "old($A)",
        "new($A)",
        "No replacements: 1 file searched.\nOp 0 matches nothing in rust (1 file), as `call_expression`.",
    )
    .await;
    // What would be replaced by itself is no replacement.
    check("f($A)", "f($A)", "No replacements: 1 file searched.").await;
}

#[tokio::test]
async fn the_limit_takes_the_first_by_path_and_place_and_tells_of_the_rest() {
    let tree = Tree::with(&[
        ("b.rs", "fn b() { old(3); old(4); old(5) }\n"),
        ("a.rs", "fn a() { old(1); old(2) }\n"),
        ("c.rs", "fn c() { old(6) }\n"),
    ]);
    let params = json!({"ops": [{"pat": "old($A)", "out": "new($A)"}], "limit": 3});
    let previewed = tree.call(params).await.unwrap();
    let text = previewed.text();
    assert!(
        text.starts_with(
            "3 replacements in 2 files, of 3 files searched. 3 matches left: 3 beyond `limit`.\n"
        ),
        "{text}"
    );
    assert_eq!(previewed.details.unwrap().value()["leftByLimit"], 3);
    tree.apply().await.unwrap();
    assert_eq!(tree.read("a.rs"), "fn a() { new(1); new(2) }\n");
    assert_eq!(tree.read("b.rs"), "fn b() { new(3); old(4); old(5) }\n");
    assert_eq!(tree.read("c.rs"), "fn c() { old(6) }\n");
}

#[tokio::test]
async fn of_matches_in_each_other_the_outer_one_is_replaced_and_the_others_are_told() {
    let tree = Tree::with(&[("a.rs", "fn a() { old(old(old(1))) }\n")]);
    let previewed = tree.edit("old($A)", "new($A)").await.unwrap();
    let told = "2 matches left: 2 inside another (call again after this is applied).";
    assert!(previewed.text().contains(told), "{}", previewed.text());
    tree.apply().await.unwrap();
    assert_eq!(tree.read("a.rs"), "fn a() { new(old(old(1))) }\n");
    // As it says.
    for expected in ["new(new(old(1)))", "new(new(new(1)))"] {
        tree.edit("old($A)", "new($A)").await.unwrap();
        tree.apply().await.unwrap();
        assert_eq!(tree.read("a.rs"), format!("fn a() {{ {expected} }}\n"));
    }
}

#[tokio::test]
async fn several_ops_are_done_on_the_files_as_they_are() {
    let tree = Tree::with(&[("a.py", "one(1)\ntwo(2)\n")]);
    let ops = json!([{"pat": "one($A)", "out": "two($A)"}, {"pat": "two($A)", "out": "one($A)"}]);
    tree.call(json!({"ops": ops})).await.unwrap();
    tree.apply().await.unwrap();
    assert_eq!(tree.read("a.py"), "two(1)\none(2)\n");
}

#[tokio::test]
async fn a_long_preview_says_how_much_was_left_out_and_all_of_it_is_applied() {
    let source: String = (0..2000)
        .map(|line| format!("old({line})\n\n\n\n\n\n\n\n"))
        .collect();
    let files: Vec<String> = (0..6).map(|file| format!("f{file}.py")).collect();
    let tree = Tree::with(&[]);
    for file in &files {
        tree.write(file, &source);
    }
    let previewed = tree.edit("old($A)", "new($A)").await.unwrap();
    let text = previewed.text();
    assert!(text.len() < 300 << 10, "{} bytes", text.len());
    let (_, end) = text.rsplit_once("\nToo long to be shown: ").unwrap();
    assert!(end.contains(" hunks of f"), "{end}");
    assert!(end.contains(" files with "), "{end}");
    assert!(end.ends_with(" replacements.\n"), "{end}");
    tree.apply().await.unwrap();
    let after = source.replace("old", "new");
    assert!(files.iter().all(|file| tree.read(file) == after));
}

/// Files with ten replacements each, far enough from each other for a hunk each.
fn write_many(tree: &Tree, files: usize) {
    for file in 0..files {
        let source =
            (0..10).map(|line| format!("old({file}, {line})\n{}", "this_line_stays()\n".repeat(8)));
        tree.write(&format!("f{file:03}.py"), source.collect::<String>());
    }
}

/// What the session's only call gave its caller, and what its record has for whoever decides.
async fn short_and_in_full(tree: &Tree) -> (String, String) {
    let previewed = tree.edit("old($A, $B)", "new($A, $B)").await.unwrap();
    let id = &previewed.pushed[0].id;
    let call = tree.session.call_record(id).await.unwrap().unwrap();
    let in_full = call.content.iter().filter_map(|block| block.as_text());
    (previewed.text(), in_full.collect())
}

#[tokio::test]
async fn what_is_too_long_for_the_caller_is_in_the_record_of_the_call() {
    let tree = Tree::with(&[]);
    write_many(&tree, 300);
    let (short, in_full) = short_and_in_full(&tree).await;
    assert!(short.len() < 257 << 10, "{} bytes", short.len());
    let (shown, left_out) = short.rsplit_once("\nToo long to be shown: ").unwrap();
    assert!(left_out.ends_with(" replacements.\n"), "{left_out}");
    assert!(in_full.starts_with(shown));
    assert!(!in_full.contains("Too long to be shown"));
    let lines: HashSet<&str> = in_full.lines().collect();
    for file in 0..300 {
        for line in 0..10 {
            assert!(lines.contains(&*format!("-old({file}, {line})")));
            assert!(lines.contains(&*format!("+new({file}, {line})")));
        }
        assert!(lines.contains(&*format!("f{file:03}.py: 10 replacements")));
    }
}

#[tokio::test]
async fn what_is_too_long_for_a_record_too_is_told_by_name_and_number() {
    let limit = 128 << 10;
    let limits = Limits::default().with_result_bytes(limit);
    let tree = Tree::open(&[], |session| session.limits(limits));
    write_many(&tree, 300);
    let (short, in_full) = short_and_in_full(&tree).await;
    assert!(short.len() < limit / 2 + 1024, "{} bytes", short.len());
    assert!(in_full.len() <= limit, "{} bytes", in_full.len());
    assert!(
        in_full.len() > limit - (16 << 10),
        "{} bytes",
        in_full.len()
    );
    let (shown, left_out) = in_full.rsplit_once("\nToo long to be shown: ").unwrap();
    let diffs = shown.matches("\n--- a/").count();
    let named = left_out.matches(".py: 10 replacements\n").count();
    assert_eq!(diffs + named, 300);
    let told = format!("{named} files with {} replacements.\n\nf", named * 10);
    assert!(left_out.contains(&told), "{left_out}");
    assert!(
        left_out.ends_with("\nf299.py: 10 replacements\n"),
        "{left_out}"
    );
}

#[tokio::test]
async fn the_result_keeps_to_its_limit_however_much_there_is() {
    let limits = Limits::default().with_result_bytes(4096);
    let tree = Tree::open(&[], |session| session.limits(limits));
    for file in 0..200 {
        tree.write(&format!("f{file:03}.py"), "old(1)\n");
    }
    let previewed = tree.edit("old($A)", "new($A)").await.unwrap();
    let details = previewed.details.as_ref().unwrap().value();
    assert_eq!(details["fileCount"], 200);
    let listed = details["files"].as_array().unwrap().len();
    assert_eq!(details["filesOmitted"], 200 - listed);
    assert!(previewed.text().contains("Too long to be shown: "));
    let applied = tree.apply().await.unwrap();
    assert!(
        applied
            .text()
            .contains("Made 200 replacements in 200 files.")
    );
    assert_eq!(tree.read("f199.py"), "new(1)\n");
}

#[tokio::test]
async fn a_hunk_that_is_too_long_hides_no_other_file() {
    let long = "old(1);".repeat(60_000);
    let tree = Tree::with(&[("app.min.js", &long), ("small.js", "old(1)\n")]);
    let previewed = tree.edit("old($A)", "new($A)").await.unwrap().text();
    assert!(previewed.contains("bytes is too long to be shown.\n"));
    assert!(previewed.ends_with("@@ -1 +1 @@\n-old(1)\n+new(1)\n"));
}
