//! A replacement means what the op says, or the match is left.

use serde_json::Value;

use crate::tree::Tree;

async fn check(file: &str, before: &str, op: (&str, &str), after: &str) {
    let tree = Tree::with(&[(file, before)]);
    let (pat, out) = op;
    let previewed = tree.edit(pat, out).await;
    let previewed = previewed.unwrap_or_else(|error| panic!("{before}: {error}"));
    let text = previewed.text();
    match before == after {
        true => {
            assert_eq!(tree.pending().await, 0, "{text}");
            let told = "Left as they are, since the replacement would change what the code there means: 1 match, at ";
            assert!(text.contains(told), "{text}");
        }
        false => drop(
            tree.apply()
                .await
                .unwrap_or_else(|error| panic!("{text}: {error}")),
        ),
    }
    assert_eq!(tree.read(file), after);
}

#[tokio::test]
async fn captured_code_gets_the_parentheses_that_it_needs() {
    let not_empty = ("len($X) == 0", "not $X");
    let power = ("pow($A, 2)", "$A ** 2");
    let minus = ("neg($A)", "-$A");
    let wait = ("get($A)", "await $A");
    for (file, before, op, after) in [
        (
            "a.py",
            "x = len(a or b) == 0\n",
            not_empty,
            "x = not (a or b)\n",
        ),
        ("a.py", "x = len(a) == 0\n", not_empty, "x = not a\n"),
        ("a.py", "x = pow(a + b, 2)\n", power, "x = (a + b) ** 2\n"),
        ("a.py", "x = pow(a(1), 2)\n", power, "x = a(1) ** 2\n"),
        ("a.js", "f(neg(a - b))\n", minus, "f(-(a - b))\n"),
        (
            "a.rs",
            "fn f() { g(neg(a - b)) }\n",
            minus,
            "fn f() { g(-(a - b)) }\n",
        ),
        (
            "a.js",
            "async () => get(a).then(b)\n",
            wait,
            "async () => (await a).then(b)\n",
        ),
        (
            "a.js",
            "async () => get(a)\n",
            wait,
            "async () => await a\n",
        ),
    ] {
        check(file, before, op, after).await;
    }
}

#[tokio::test]
async fn a_body_never_leaves_its_function() {
    let op = ("def $F($$$A): $$$B", "def $F($$$A, dry=False): $$$B");
    check(
        "a.py",
        "def f(a):\n    one()\n    two()\n",
        op,
        "def f(a):\n    one()\n    two()\n",
    )
    .await;
    check(
        "a.py",
        "def f(a):\n    one()\n",
        op,
        "def f(a, dry=False): one()\n",
    )
    .await;
    let op = ("def $F($$$A): $$$B", "def $F($$$A, dry=False):\n    $$$B");
    check(
        "a.py",
        "def f(a):\n    one()\n    two()\n",
        op,
        "def f(a, dry=False):\n    one()\n    two()\n",
    )
    .await;
}

#[tokio::test]
async fn what_means_the_same_is_replaced() {
    for (file, before, op, after) in [
        (
            "a.js",
            "log(a.b)\n",
            ("log($A)", "log('$A', $A)"),
            "log('a.b', a.b)\n",
        ),
        (
            "a.js",
            "foo(1);\n",
            ("foo($A)", "if (a) { foo($A) }"),
            "if (a) { foo(1) };\n",
        ),
        ("a.js", "f(a, b)\n", ("f($$$A)", "[$$$A]"), "[a, b]\n"),
        (
            "a.ts",
            "const a = b as C\n",
            ("$A as $B", "<$B>$A"),
            "const a = <C>b\n",
        ),
        (
            "a.py",
            "print(a, b)\n",
            ("print($$$A)", "log.info($$$A)"),
            "log.info(a, b)\n",
        ),
        (
            "a.rs",
            "fn f() { a.b(c).unwrap() }\n",
            ("$A.unwrap()", "$A?"),
            "fn f() { a.b(c)? }\n",
        ),
        (
            "a.go",
            "package a\n\nfunc f() {\n\tx := old(1)\n}\n",
            ("old($A)", "fresh($A)"),
            "package a\n\nfunc f() {\n\tx := fresh(1)\n}\n",
        ),
    ] {
        check(file, before, op, after).await;
    }
}

#[tokio::test]
async fn code_that_the_pattern_does_not_have_is_not_dropped() {
    for (file, before, op, word) in [
        (
            "a.py",
            "async def f(a):\n    one()\n",
            (
                "def $F($$$A):\n    $$$B",
                "def $F($$$A):\n    two()\n    $$$B",
            ),
            "async",
        ),
        (
            "a.py",
            "async def g():\n    async for x in y:\n        one()\n",
            ("for $X in $Y:\n    $$$B", "for $X in list($Y):\n    $$$B"),
            "async",
        ),
        (
            "a.py",
            "async def g():\n    async with x:\n        one()\n",
            ("with $X:\n    $$$B", "with f($X):\n    $$$B"),
            "async",
        ),
        (
            "a.js",
            "async function f(a) { one() }\n",
            (
                "function $F($$$A) { $$$B }",
                "const $F = ($$$A) => { $$$B }",
            ),
            "async",
        ),
        (
            "a.js",
            "async () => { for await (const x of y) { one() } }\n",
            (
                "for (const $X of $Y) { $$$B }",
                "$Y.forEach($X => { $$$B })",
            ),
            "await",
        ),
        (
            "a.ts",
            "const enum E { A, B }\n",
            ("enum $E { $$$M }", "enum $E { $$$M, C }"),
            "const",
        ),
        (
            "a.ts",
            "class C { static readonly a = f(1) }\n",
            ("class $C { a = $A }", "class $C { b = $A }"),
            "static",
        ),
    ] {
        let tree = Tree::with(&[(file, before)]);
        let (pat, out) = op;
        let previewed = tree.edit(pat, out).await.unwrap();
        let text = previewed.text();
        assert_eq!(tree.pending().await, 0, "{text}");
        assert!(!text.contains("matches nothing"), "{before}: {text}");
        let told =
            format!("having code that `pat` doesn't have, such as `{word}`: 1 match, at {file}:");
        assert!(text.contains(&told), "{before}: {text}");
        assert!(
            text.contains("1 match left: 1 with code that `pat` doesn't have."),
            "{text}"
        );
    }
}

#[tokio::test]
async fn comments_that_go_with_a_match_are_counted_and_named() {
    let tree = Tree::with(&[(
        "a.js",
        "one()\nbaz(1, /* first */ 2)\nbaz(\n  1, // second\n  2,\n)\nbaz(f(/* kept */ 1), 2)\n",
    )]);
    let previewed = tree.edit("baz($A, $B)", "qux($A, $B)").await.unwrap();
    let text = previewed.text();
    let first = "3 replacements in 1 file, of 1 file searched. 2 comments would be removed.\n";
    assert!(text.starts_with(first), "{text}");
    let told = "Inside what is replaced, and removed with it: 2 comments, at a.js:2, a.js:4.";
    assert!(text.contains(told), "{text}");
    let details: Value = previewed.details.unwrap().value().clone();
    assert_eq!(details["removedComments"], 2);
    tree.apply().await.unwrap();
    assert_eq!(
        tree.read("a.js"),
        "one()\nqux(1, 2)\nqux(1, 2)\nqux(f(/* kept */ 1), 2)\n"
    );
}

#[tokio::test]
async fn a_list_has_one_comma_between_what_it_had_and_what_is_added() {
    let op = ("post($$$A)", "post($$$A, b=True)");
    for (before, after) in [
        ("post(1, 2,)\n", "post(1, 2, b=True)\n"),
        ("post(1, 2)\n", "post(1, 2, b=True)\n"),
        ("post(\n    1,\n    2,\n)\n", "post(1,\n2, b=True)\n"),
        ("post()\n", "post(b=True)\n"),
        (
            "post(\n    1,  # one\n    2,  # two\n)\n",
            "post(1,  # one\n2,  # two\nb=True)\n",
        ),
    ] {
        check("a.py", before, op, after).await;
    }
}

#[tokio::test]
async fn a_line_comment_swallows_nothing() {
    check(
        "a.js",
        "foo(\n  1, // one\n  2 // two\n)\n",
        ("foo($$$A)", "bar($$$A)"),
        "bar(1, // one\n2 // two\n)\n",
    )
    .await;
    check(
        "a.js",
        "foo(\n  2 // two\n);\n",
        ("foo($$$A)", "[$$$A]"),
        "[2 // two\n];\n",
    )
    .await;
}
