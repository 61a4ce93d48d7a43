//! Ops that can't be done, each with what is wrong with it.

use serde_json::{Value, json};

use crate::tree::Tree;

#[tokio::test]
async fn ops_that_can_not_be_read_are_refused_with_their_place() {
    let tree = Tree::with(&[("a.rs", "fn a() { old(1) }\n")]);
    let check = async |ops: Value, why: &str| {
        let error = tree.refused(json!({"ops": ops})).await;
        assert!(
            error.starts_with("the params of `ast_edit` don't fit its schema: "),
            "{error}"
        );
        assert!(error.contains(why), "{ops}: {error}");
    };
    let one = |pat: &str, out: &str| json!([{"pat": pat, "out": out}]);
    check(json!([]), "/ops: [] has less than 1 item").await;
    check(one("", "x"), "/ops/0/pat: ").await;
    check(one("fn {", "x"), "/ops/0/pat: it can't be read as rust").await;
    check(one("$A", "x"), "/ops/0/pat: it is only a metavariable").await;
    check(one("$$$", "x"), "/ops/0/pat: it is only a metavariable").await;
    check(
        one("a(); b();", "x"),
        "/ops/0/pat: it is more than one piece of code",
    )
    .await;
    check(
        one("// only a remark", "x($A)"),
        "/ops/0/out: it uses `$A`, which `pat` doesn't have",
    )
    .await;
    check(
        one("old($A)", "new($B)"),
        "/ops/0/out: it uses `$B`, which `pat` doesn't have",
    )
    .await;
    check(
        json!([{"pat": "old($A)", "out": "x"}, {"pat": "old($A", "out": "$$$A"}]),
        "/ops/1/",
    )
    .await;
}

#[tokio::test]
async fn an_unknown_language_is_refused_with_those_that_there_are() {
    let tree = Tree::with(&[("a.rs", "old(1)")]);
    let params = json!({"ops": [{"pat": "old($A)", "out": "x"}], "lang": "cobol"});
    let error = tree.refused(params).await;
    assert!(
        error.contains("/lang: there is no language \"cobol\" here; there are: bash, c, cpp, "),
        "{error}"
    );
}

#[tokio::test]
async fn a_pattern_that_is_code_in_no_language_of_the_files_is_refused_and_not_called_without_match()
 {
    let tree = Tree::with(&[("a.json", "{}")]);
    let ops = json!([{"pat": "fn $A() {}", "out": ""}]);
    let error = tree.refused(json!({"ops": ops})).await;
    assert!(error.contains("/ops/0/pat: "), "{error}");
    assert!(error.contains("as json"), "{error}");
}

#[tokio::test]
async fn ops_that_would_change_the_same_place_are_refused_with_it() {
    let tree = Tree::with(&[("a.rs", "fn a() {\n    old(inner(1));\n}\n")]);
    let check = async |ops: Value, pair: &str| {
        let error = tree.refused(json!({"ops": ops})).await;
        let expected = format!(
            "ops {pair} would both change a.rs:2; make two calls, the one for what lies inside first"
        );
        assert_eq!(error, expected);
    };
    check(
        json!([{"pat": "old($A)", "out": "a"}, {"pat": "old($B)", "out": "b"}]),
        "0 and 1",
    )
    .await;
    check(
        json!([{"pat": "inner($A)", "out": "a"}, {"pat": "old($B)", "out": "b"}]),
        "1 and 0",
    )
    .await;
}

#[tokio::test]
async fn ops_that_find_the_same_are_refused_by_their_places() {
    let tree = Tree::with(&[("a.js", "old(1)")]);
    let check = async |other: Value, why: &str| {
        let ops = json!([{"pat": "old($A)", "out": "a"}, {"pat": "x", "out": "y"}, other]);
        let error = tree.refused(json!({"ops": ops})).await;
        assert!(error.contains(why), "{error}");
    };
    check(
        json!({"pat": "old($A)", "out": "a"}),
        "/ops/2: it is the same op as /ops/0",
    )
    .await;
    check(
        json!({"pat": "old($A)", "out": "b"}),
        "/ops/2: it finds the same as /ops/0",
    )
    .await;
}

#[tokio::test]
async fn what_is_wrong_with_a_pattern_is_told_for_the_language_of_the_most_files() {
    let tree = Tree::with(&[
        ("a.c", "int a;"),
        ("a.ts", "old(1)"),
        ("b.ts", "old(1)"),
        ("a.json", "{}"),
    ]);
    let error = tree
        .refused(json!({"ops": [{"pat": "function {", "out": ""}]}))
        .await;
    assert!(error.contains("can't be read as typescript"), "{error}");
    tree.write("b.c", "int b;");
    tree.write("c.c", "int c;");
    let error = tree
        .refused(json!({"ops": [{"pat": "function {", "out": ""}]}))
        .await;
    assert!(error.contains("can't be read as c:"), "{error}");
}
