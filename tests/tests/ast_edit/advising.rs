//! What a preview says about patterns that probably mean something else than was meant.

use crate::tree::Tree;

async fn check(files: &[(&str, &str)], pat: &str, out: &str, advice: &str) {
    let tree = Tree::with(files);
    let previewed = tree.edit(pat, out).await.unwrap();
    let text = previewed.text();
    assert!(text.contains(advice), "{advice}\n{text}");
}

#[tokio::test]
async fn a_pattern_that_can_only_mean_nothing_gets_a_hint() {
    let js: &[(&str, &str)] = &[("a.js", "f({key: 1});\nf(1, 2);\n")];
    check(
        js,
        "key: $V",
        "other: $V",
        "Op 0 matches nothing in javascript (1 file), as `labeled_statement`. For a member of an object say where it stands: \"context\": \"({ key: $V })\".",
    )
    .await;
    check(
        js,
        "f($$ARGS)",
        "g($$ARGS)",
        "Op 0: `$$ARGS` stands for one node, with a name in the grammar or without, such as an operator; for any number of them write `$$$ARGS`.",
    )
    .await;
}

#[tokio::test]
async fn an_op_without_a_match_is_told_as_what_it_was_read_also_beside_ops_with_some() {
    let tree = Tree::with(&[
        ("a.js", "f(1);\n"),
        ("b.js", "f(2);\n"),
        ("c.yaml", "a: 1\n"),
    ]);
    let ops =
        serde_json::json!([{"pat": "f($A)", "out": "g($A)"}, {"pat": "function {", "out": ""}]);
    let previewed = tree.call(serde_json::json!({"ops": ops})).await.unwrap();
    let text = previewed.text();
    assert!(text.contains("Op 1 matches nothing in javascript (2 files), where pat says: it can't be read as javascript"), "{text}");
    assert!(text.contains("yaml (1 file), as `"), "{text}");
    assert!(!text.contains("Op 0"), "{text}");
}

#[tokio::test]
async fn an_op_that_some_programs_can_not_be_searched_for_says_so() {
    let files = [
        ("a.js", "f(() => 1);\n"),
        ("b.py", "x = 1\n"),
        ("c.json", "{}\n"),
    ];
    check(
        &files,
        "f(() => $A)",
        "f($A)",
        "Op 0 is not searched for in some files (1 in python); for python, pat says: it can't be read as python",
    )
    .await;
}

#[tokio::test]
async fn a_metavariable_with_the_name_of_a_variable_in_a_file_is_told() {
    check(
        &[("a.sh", "echo $HOME\necho $USER\n")],
        "echo $HOME",
        "printf $HOME",
        "Op 0: there are bash variables `$HOME`, and `$HOME` in `pat` stands for any code; write `\\$HOME` for the variable.",
    )
    .await;
    let tree = Tree::with(&[("a.sh", "echo $HOMEPAGE\n")]);
    let previewed = tree.edit("echo $HOME", "printf $HOME").await.unwrap();
    assert!(!previewed.text().contains("Op 0"), "{}", previewed.text());
}
