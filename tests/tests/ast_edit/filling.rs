//! Captured code keeps its contents, wherever it goes.

use crate::tree::Tree;

async fn check(file: &str, before: &str, op: (&str, &str), after: &str) {
    let tree = Tree::with(&[(file, before)]);
    let (pat, out) = op;
    let previewed = tree.edit(pat, out).await;
    let previewed = previewed.unwrap_or_else(|error| panic!("{file}: {error}"));
    match tree.pending().await {
        0 => assert_eq!(before, after, "{file}: {}", previewed.text()),
        _ => drop(tree.apply().await.unwrap()),
    }
    assert_eq!(tree.read(file), after, "{file}");
}

#[tokio::test]
async fn lines_inside_a_string_are_not_indented() {
    let same = ("f($A)", "g(\n    $A\n)");
    let rows = [
        (
            "a.py",
            "def a():\n    f(\"\"\"one\n  two\n\"\"\")\n",
            "def a():\n    g(\n        \"\"\"one\n  two\n\"\"\"\n    )\n",
        ),
        (
            "a.js",
            "{\n  f(`one\n  ${x}\n   ${y}\n`)\n}\n",
            "{\n  g(\n      `one\n  ${x}\n   ${y}\n`\n  )\n}\n",
        ),
        (
            "a.rs",
            "fn a() {\n    f(r#\"one\n  two\n\"#);\n}\n",
            "fn a() {\n    g(\n        r#\"one\n  two\n\"#\n    );\n}\n",
        ),
        (
            "a.go",
            "package a\n\nfunc a() {\n\tf(`one\n  two\n`)\n}\n",
            "package a\n\nfunc a() {\n\tg(\n\t    `one\n  two\n`\n\t)\n}\n",
        ),
        (
            "a.rb",
            "def a\n  f(\"one\n  two\n\")\nend\n",
            "def a\n  g(\n      \"one\n  two\n\"\n  )\nend\n",
        ),
        (
            "a.cs",
            "class A {\n  void M() {\n    f(@\"one\n  two\n\");\n  }\n}\n",
            "class A {\n  void M() {\n    g(\n        @\"one\n  two\n\"\n    );\n  }\n}\n",
        ),
    ];
    for (file, before, after) in rows {
        check(file, before, same, after).await;
    }
}

#[tokio::test]
async fn what_is_replaced_by_itself_is_not_touched() {
    let call = ("$F($$$A)", "$F($$$A)");
    let rows = [
        (
            "a.py",
            "class A:\n    def a(self):\n        f(1,\n    2, \"\"\"\n  x\n\"\"\")\n",
        ),
        ("a.js", "if (a) {\n\tf(1,\n  2,\n\t\t`\n x`)\n}\n"),
        ("a.rs", "fn a() {\n    f(1,\n  2, \"\n x\")\n}\n"),
    ];
    for (file, text) in rows {
        check(file, text, call, text).await;
    }
}

#[tokio::test]
async fn lines_of_a_template_are_indented_as_the_place_is_with_tabs_too() {
    check(
        "a.py",
        "def f():\n\tif q:\n\t\trun(1)\n\t\tx = 1\n",
        ("run($A)", "try:\n    go($A)\nfinally:\n    done()"),
        "def f():\n\tif q:\n\t\ttry:\n\t\t    go(1)\n\t\tfinally:\n\t\t    done()\n\t\tx = 1\n",
    )
    .await;
    check(
        "a.js",
        "function f() {\n\tfoo(\n\t\t2,\n\t\t{\n\t\t\ta\n\t\t})\n}\n",
        ("foo($A, $B)", "bar({\n  a: $A,\n  b: $B,\n})"),
        "function f() {\n\tbar({\n\t  a: 2,\n\t  b: {\n\t  \ta\n\t  },\n\t})\n}\n",
    )
    .await;
}
