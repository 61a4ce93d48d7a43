//! Patches that were refused, or applied in the wrong place.

use super::{patch, patched};
use crate::workspace::tests::Sandbox;

// openai/codex#30946
#[test]
fn lines_that_are_only_added_come_after_the_line_of_their_header() {
    let file = "class A:\n    def a(self):\n        pass\n\nclass B:\n    pass\n";
    let new = patched(file, "@@ class A:\n+    x = 1").unwrap();
    assert_eq!(new, file.replace("class A:\n", "class A:\n    x = 1\n"));
    assert_eq!(patched("a\n", "@@\n+b").unwrap(), "a\nb\n");
}

// openai/codex#25399
#[test]
fn a_file_that_exists_is_not_added() {
    let sandbox = Sandbox::with(&[("a", "1\n")]);
    let refused = patch(
        &sandbox,
        "*** Begin Patch\n*** Add File: a\n+2\n*** End Patch",
    )
    .unwrap_err();
    assert!(refused.contains("`a`: it exists already"), "{refused}");
    assert_eq!(sandbox.read("a"), "1\n");
}

// openai/codex#10037
#[test]
#[cfg(unix)]
fn a_link_is_not_patched() {
    let sandbox = Sandbox::with(&[("real", "1\n")]);
    sandbox.link("real", "a");
    let refused = patch(
        &sandbox,
        "*** Begin Patch\n*** Update File: a\n-1\n+2\n*** End Patch",
    )
    .unwrap_err();
    assert!(
        refused.contains("is a symbolic link to `real`"),
        "{refused}"
    );
}

// openai/codex#34210, openai/codex#6358
#[test]
fn a_file_that_moves_to_its_own_path_stays() {
    let new = patched("before\n", "*** Move to: a\n@@\n-before\n+after").unwrap();
    assert_eq!(new, "after\n");
}

// octos-org/octos#1773
#[test]
fn one_patch_adds_updates_moves_and_deletes() {
    let sandbox = Sandbox::with(&[("src/app.py", "def f():\nprint(1)\n"), ("old.txt", "x")]);
    let text = "*** Begin Patch\n*** Add File: new/hello.txt\n+Hello\n*** Update File: src/app.py\n\
                *** Move to: src/main.py\n@@ def f():\n-print(1)\n+print(2)\n*** Delete File: old.txt\n*** End Patch\n";
    patch(&sandbox, text).unwrap();
    assert_eq!(
        sandbox.paths(),
        ["new/", "new/hello.txt", "src/", "src/main.py"]
    );
    assert_eq!(sandbox.read("src/main.py"), "def f():\nprint(2)\n");
    assert_eq!(sandbox.read("new/hello.txt"), "Hello\n");
}

// openai/codex#695
#[test]
fn a_hunk_header_before_a_new_file_is_skipped() {
    let sandbox = Sandbox::with(&[]);
    let text = "*** Begin Patch\n*** Add File: b\n@@ -0,0 +1,2 @@ Section\n+1\n+2\n*** End Patch";
    patch(&sandbox, text).unwrap();
    assert_eq!(sandbox.read("b"), "1\n2\n");
}

// github/copilot-cli#1109
#[test]
fn several_headers_and_hunks_are_read() {
    let file = "class A\n  def m\n    1\nclass B\n  def m\n    1\n";
    let new = patched(file, "@@ class B\n@@ def m\n-    1\n+    2\n").unwrap();
    assert_eq!(new, "class A\n  def m\n    1\nclass B\n  def m\n    2\n");
    assert_eq!(
        patched("a\nb\n", "@@\n@@\n-a\n+c\n@@\n-b\n+d").unwrap(),
        "c\nd\n"
    );
}

// openai/codex#35361
#[test]
fn something_that_is_no_patch_is_told_what_one_is() {
    let refused = patch(&Sandbox::with(&[]), "{\"command\": [\"apply_patch\"]}").unwrap_err();
    assert!(
        refused.contains("Pass the text of the patch itself."),
        "{refused}"
    );
}

// openai/codex#3953
#[test]
fn marks_of_shells_and_markdown_around_a_patch_are_skipped() {
    let body = "*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n*** End Patch";
    for text in [
        format!("apply_patch <<'EOF'\n{body}\nEOF\n"),
        format!("```diff\n{body}\n```\n"),
        format!("<<EOF\n{body}\nEOF"),
        format!("  {body}  \n"),
        body.replace("\n*** End Patch", ""),
    ] {
        let sandbox = Sandbox::with(&[("a", "1\n")]);
        patch(&sandbox, &text).unwrap();
        assert_eq!(sandbox.read("a"), "2\n", "{text}");
    }
}

// deer-flow/llm-space#174
#[test]
fn a_blank_line_needs_no_space() {
    let file = "a\n\nb\nc\n";
    assert_eq!(patched(file, "@@\n a\n\n-b\n+x").unwrap(), "a\n\nx\nc\n");
    assert_eq!(
        patched(file, "@@\n-b\n+x\n\n\n@@\n-c\n+y\n").unwrap(),
        "a\n\nx\ny\n"
    );
}

#[test]
fn a_blank_line_with_its_space_tells_the_place() {
    let sandbox = Sandbox::with(&[("a", "\n")]);
    patch(&sandbox, "--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n+a\n \n").unwrap();
    assert_eq!(sandbox.read("a"), "a\n\n");
    assert_eq!(patched("\n", "@@\n+a\n ").unwrap(), "a\n\n");
}

// openai/codex#678
#[test]
fn a_line_without_a_sign_is_refused_with_its_number() {
    let refused = patched("const a = 1;\n", "@@\nconst a = 1;\n+x").unwrap_err();
    assert!(
        refused.contains("In line 4, each line of a change begins with a space"),
        "{refused}"
    );
}

// BaseIntelligence/bounty-challenge#5068, BaseIntelligence/bounty-challenge#11065
#[test]
fn a_hunk_whose_lines_are_not_there_is_refused_in_spite_of_its_number() {
    let sandbox = Sandbox::with(&[("a", "1\n2\n3\n")]);
    let text = "--- a/a\n+++ b/a\n@@ -2,1 +2,1 @@\n-two\n+zwei\n";
    let refused = patch(&sandbox, text).unwrap_err();
    assert!(
        refused.contains("its lines aren't in the file"),
        "{refused}"
    );
    assert_eq!(sandbox.read("a"), "1\n2\n3\n");
}

// ymichael/open-codex#24
#[test]
fn a_hunk_with_an_old_number_is_found_by_its_lines() {
    let sandbox = Sandbox::with(&[("a", "new\nnew\n1\n2\n3\n")]);
    patch(
        &sandbox,
        "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n 1\n-2\n+two\n",
    )
    .unwrap();
    assert_eq!(sandbox.read("a"), "new\nnew\n1\ntwo\n3\n");
}

// lidge-jun/opencodex#1036
#[test]
fn lines_that_occur_twice_are_refused_unless_a_number_or_header_tells_which() {
    let file = "a\nx\nb\nx\n";
    let refused = patched(file, "@@\n-x\n+y").unwrap_err();
    assert!(
        refused.contains("occur 2 times, at lines 2, 4"),
        "{refused}"
    );
    assert_eq!(patched(file, "@@ b\n-x\n+y").unwrap(), "a\nx\nb\ny\n");
    assert_eq!(
        patched(file, "@@ -4,1 +4,1 @@\n-x\n+y").unwrap(),
        "a\nx\nb\ny\n"
    );
    assert_eq!(
        patched(file, "@@\n-x\n+y\n*** End of File").unwrap(),
        "a\nx\nb\ny\n"
    );
}

// holon-run/holon#2741
#[test]
fn the_first_line_that_differs_is_shown() {
    let refused = patched("a\nb\nc\nd\n", "@@\n a\n b\n c2\n-d\n+e").unwrap_err();
    assert!(
        refused.contains("The first difference is in line 3, where this was expected:\nc2"),
        "{refused}"
    );
}

// openai/codex#21164
#[test]
fn a_file_in_another_encoding_is_refused() {
    let sandbox = Sandbox::with(&[]);
    sandbox.workspace().write("a", b"caf\xe9\n").unwrap();
    let refused = patch(
        &sandbox,
        "*** Begin Patch\n*** Update File: a\n-x\n+y\n*** End Patch",
    )
    .unwrap_err();
    assert!(refused.contains("isn't UTF-8 text"), "{refused}");
}

// aaif-goose/goose#4522
#[test]
fn a_unified_diff_changes_several_files_or_none() {
    let files = [("a b.txt", "1\n2\n"), ("c", "x\n"), ("gone", "y\n")];
    let good = "diff --git a/a b.txt b/a b.txt\nindex 1..2 100644\n--- a/a b.txt\t\n+++ b/a b.txt\t\n\
                @@ -1,9 +1,9 @@\n 1\n-2\n+two\n\\ No newline at end of file\n\
                diff --git a/c b/d\nrename from c\nrename to d\n\
                --- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n\
                --- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n";
    let sandbox = Sandbox::with(&files);
    patch(&sandbox, good).unwrap();
    assert_eq!(sandbox.paths(), ["a b.txt", "d", "new"]);
    assert_eq!(sandbox.read("a b.txt"), "1\ntwo");
    let sandbox = Sandbox::with(&files);
    let bad = good.replace("-2\n", "-3\n");
    assert!(
        patch(&sandbox, &bad)
            .unwrap_err()
            .contains("nothing of it would be applied")
    );
    assert_eq!(sandbox.paths(), ["a b.txt", "c", "gone"]);
}

#[test]
fn a_path_out_of_the_workspace_is_refused() {
    for path in ["/etc/passwd", "../x", "a/../../x"] {
        let text = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch");
        assert!(patch(&Sandbox::with(&[]), &text).is_err(), "{path}");
    }
}

// RooCodeInc/Roo-Code#9663
#[test]
fn dashes_and_quotes_of_the_file_are_found_and_kept() {
    let new = patched(
        "say “hi” – now\nend\n",
        "@@\n-say \"hi\" - now\n+say \"ho\" - now\n end",
    )
    .unwrap();
    assert_eq!(new, "say “ho” – now\nend\n");
}
