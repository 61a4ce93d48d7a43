//! Files with syntax errors, and replacements that make some.

use serde_json::json;

use crate::tree::Tree;

/// What becomes of a file in which `old($A)` is replaced, and how many matches are left.
async fn check(name: &str, before: &str, after: &str, left: usize) {
    let tree = Tree::with(&[
        (name, before),
        ("fine.js", "old(0);\n"),
        ("fine.py", "old(0)\n"),
    ]);
    let previewed = tree.edit("old($A)", "new($A)").await.unwrap();
    let text = previewed.text();
    let details = previewed.details.unwrap().value();
    assert_eq!(details["leftByErrors"], left, "{before}: {text}");
    assert_eq!(details["syntaxErrors"][0]["path"], name, "{before}: {text}");
    assert!(
        text.contains("Syntax errors in 1 file, the first of each at "),
        "{text}"
    );
    let told = "Left as they are, being in, beside or around a syntax error: ";
    assert_eq!(text.contains(told), left > 0, "{text}");
    tree.apply().await.unwrap();
    assert_eq!(tree.read(name), after, "{text}");
    assert_eq!(tree.read("fine.js"), "new(0);\n");
}

#[tokio::test]
async fn matches_in_beside_or_around_an_error_are_listed_and_left_and_the_others_are_edited() {
    // In it.
    check(
        "a.js",
        "old(1);\nlet a = 1;\nclass { x ( old(2) ; let = \n",
        "new(1);\nlet a = 1;\nclass { x ( old(2) ; let = \n",
        1,
    )
    .await;
    // Around it.
    check(
        "a.js",
        "old(1);\nlet a = 1;\nold(2 @ 3);\nlet b = 1;\nold(4);\n",
        "new(1);\nlet a = 1;\nold(2 @ 3);\nlet b = 1;\nnew(4);\n",
        1,
    )
    .await;
    // Beside it, as an argument is and as a statement is.
    check(
        "a.js",
        "old(1);\nlet a = 1;\nf(a, @@, old(2), old(3));\nlet b = 1;\n",
        "new(1);\nlet a = 1;\nf(a, @@, old(2), new(3));\nlet b = 1;\n",
        1,
    )
    .await;
    // Beside it in the text alone, being the last or the first part of what is beside it in the
    // tree.
    for beside in ["x = old(2) @@;", "@@ old(2).b;"] {
        check(
            "a.js",
            &format!("old(1);\nlet a = 1;\n{beside}\nlet b = 1;\nold(4);\n"),
            &format!("new(1);\nlet a = 1;\n{beside}\nlet b = 1;\nnew(4);\n"),
            1,
        )
        .await;
    }
}

#[tokio::test]
async fn what_is_missing_is_an_error_too() {
    check(
        "a.js",
        "old(1);\nlet a = 1;\nif (old(2) { b() }\n",
        "new(1);\nlet a = 1;\nif (old(2) { b() }\n",
        1,
    )
    .await;
}

#[tokio::test]
async fn a_broken_file_without_a_replacement_is_told() {
    let tree = Tree::with(&[("a.js", "let x = ;\nfunction ( {\nlegacyWrap(x, 1\n")]);
    let previewed = tree
        .edit("legacyWrap($A, $B)", "wrap($A, $B)")
        .await
        .unwrap();
    let text = previewed.text();
    assert!(
        text.starts_with("No replacements: 1 file searched."),
        "{text}"
    );
    assert!(
        text.contains("Syntax errors in 1 file, the first of each at a.js:"),
        "{text}"
    );
    assert_eq!(tree.pending().await, 0);
}

#[tokio::test]
async fn many_broken_files_are_counted_and_the_first_are_named() {
    let tree = Tree::with(&[]);
    for file in 0..30 {
        tree.write(&format!("f{file:02}.js"), "let = ;\nlet a = 1;\nold(1)\n");
    }
    let previewed = tree.edit("old($A)", "new($A)").await.unwrap();
    let text = previewed.text();
    assert!(
        text.contains("Syntax errors in 30 files, the first of each at f00.js:1, "),
        "{text}"
    );
    assert!(text.contains(" and 10 more."), "{text}");
}

#[tokio::test]
async fn a_replacement_that_is_no_code_is_noted_and_one_in_a_file_with_errors_counts_only_new_ones()
{
    let tree = Tree::with(&[
        ("a.js", "let a = 1;\nold(1);\n"),
        ("b.js", "let = ;\nlet a = 1;\nold(1);\n"),
    ]);
    let previewed = tree.edit("old($A)", "new($A").await.unwrap();
    let text = previewed.text();
    let told = "The replacements would add a syntax error in 2 files: a.js:2, b.js:1.";
    assert!(text.contains(told), "{text}");
    let pending = tree.session.pending().await.unwrap();
    let details = pending[0].action.details.as_ref().unwrap().value();
    assert_eq!(details["breaks"][0], json!({"path": "a.js", "line": 2}));
    tree.discard().await;
    let previewed = tree.edit("old($A)", "new($A)").await.unwrap();
    assert!(
        !previewed.text().contains("would add a syntax error"),
        "{}",
        previewed.text()
    );
    assert!(previewed.details.unwrap().value().get("breaks").is_none());
}

#[tokio::test]
async fn what_the_limit_leaves_out_breaks_nothing() {
    let tree = Tree::with(&[("a.js", "old(1);\nlet a = 1;\nold({);\nold(2);\n")]);
    let ops = json!([{"pat": "old($A)", "out": "new($A)"}]);
    let previewed = tree.call(json!({"ops": ops, "limit": 1})).await.unwrap();
    assert!(
        !previewed.text().contains("would add a syntax error"),
        "{}",
        previewed.text()
    );
}
