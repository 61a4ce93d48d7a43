//! A replacement means what the op says, or the match is left.

use serde_json::Value;

use crate::tree::Tree;

async fn check(file: &str, before: &str, op: (&str, &str), after: &str) {
    let tree = Tree::with(&[(file, before)]);
    let (pat, out) = op;
    let previewed = tree.edit(pat, out).await;
    let previewed = previewed.unwrap_or_else(|error| panic!("{before}: {error}"));
    let text = previewed.text();
    if before == after {
        assert_eq!(tree.pending().await, 0, "{text}");
        let told = [
            "since the replacement would change the meaning of that code: 1 match, at ",
            "since the replacement would be a syntax error there: 1 match, at ",
            "having code that `pat` doesn't have, such as ",
        ];
        assert!(
            told.iter().any(|told| text.contains(told)),
            "{before}: {text}"
        );
    } else {
        drop(
            tree.apply()
                .await
                .unwrap_or_else(|error| panic!("{text}: {error}")),
        )
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
        "def f(a):\n    one()\n    if a:\n        two()\n",
        op,
        "def f(a, dry=False):\n    one()\n    if a:\n        two()\n",
    )
    .await;
    check(
        "a.py",
        "def f(a):\n    one()\n",
        op,
        "def f(a, dry=False):\n    one()\n",
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
    let told = "Inside replaced code, and removed with it: 2 comments, at a.js:2, a.js:4.";
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

/// Grammars take some code that their languages don't.
#[tokio::test]
async fn what_binds_less_than_its_place_gets_parentheses_whatever_the_grammar_takes() {
    let unwrap = ("w($A)", "$A");
    for (file, before, op, after) in [
        (
            "a.js",
            "g = o => w({ok: 1})\n",
            unwrap,
            "g = o => ({ok: 1})\n",
        ),
        ("a.js", "w({a: 1})\n", unwrap, "({a: 1})\n"),
        (
            "a.rs",
            "fn f() -> i32 { less(match a { _ => 1 }) }\n",
            ("less($A)", "$A - 1"),
            "fn f() -> i32 { (match a { _ => 1 }) - 1 }\n",
        ),
        (
            "a.rs",
            "fn f() { less(if a { b } else { c }); }\n",
            ("less($A)", "$A & d"),
            "fn f() { (if a { b } else { c }) & d; }\n",
        ),
        (
            "a.rs",
            "fn f() { let x = less(loop { break 2 }); }\n",
            ("less($A)", "$A - 1"),
            "fn f() { let x = loop { break 2 } - 1; }\n",
        ),
        (
            "a.rb",
            "foo(w(1), 2)\n",
            ("w($A)", "(a or $A)"),
            "foo((a or 1), 2)\n",
        ),
        (
            "a.rb",
            "x = [w(1), 2]\n",
            ("w($A)", "a or $A"),
            "x = [(a or 1), 2]\n",
        ),
        ("a.rb", "w(1)\n", ("w($A)", "a or $A"), "a or 1\n"),
        (
            "a.py",
            "f\"{w(1)}\" + f'{w(2)}'\n",
            ("w($A)", "d['a']"),
            "f\"{d['a']}\" + f'{w(2)}'\n",
        ),
        (
            "a.ts",
            "let y = w(2)!\n",
            ("w($A)", "$A ?? d"),
            "let y = (2 ?? d)!\n",
        ),
        ("a.ts", "let y = w(a + b)!\n", unwrap, "let y = (a + b)!\n"),
        (
            "a.ts",
            "let y = w(a as T)!.x\n",
            unwrap,
            "let y = (a as T)!.x\n",
        ),
        ("a.js", "x = w(a?.b).c\n", unwrap, "x = (a?.b).c\n"),
        (
            "a.js",
            "if (a && w(1)) {}\n",
            ("w($A)", "p = $A"),
            "if (a && (p = 1)) {}\n",
        ),
        (
            "a.js",
            "a && w(1)\n",
            ("w($A)", "() => $A"),
            "a && (() => 1)\n",
        ),
        (
            "a.js",
            "x = pow(-a, b)\n",
            ("pow($A, $B)", "$A ** $B"),
            "x = (-a) ** b\n",
        ),
        (
            "a.js",
            "x = a ?? w(1)\n",
            ("w($A)", "$A || 1"),
            "x = a ?? (1 || 1)\n",
        ),
        (
            "a.c",
            "int f(void) { return a && w(1); }\n",
            ("w($A)", "p = $A"),
            "int f(void) { return a && (p = 1); }\n",
        ),
        (
            "a.rs",
            "fn f() { w(5).pow(2) }\n",
            ("w($A)", "$A as u8"),
            "fn f() { (5 as u8).pow(2) }\n",
        ),
        (
            "a.rs",
            "fn f() { w(3) < 4 }\n",
            ("w($A)", "$A as u8"),
            "fn f() { (3 as u8) < 4 }\n",
        ),
        (
            "a.rs",
            "fn f() { c(x < y, 2) }\n",
            ("c($A, $B)", "$A == $B"),
            "fn f() { (x < y) == 2 }\n",
        ),
        (
            "a.py",
            "x = w(1) if K else 1\n",
            ("K", "a if b else c"),
            "x = w(1) if (a if b else c) else 1\n",
        ),
        ("a.py", "assert K\n", ("K", "a, 'b'"), "assert (a, 'b')\n"),
        (
            "a.cs",
            "class C { void F() { x = (T)w(3); } }\n",
            ("w($A)", "-$A"),
            "class C { void F() { x = (T)(-3); } }\n",
        ),
        (
            "a.js",
            "function f() { throw w(3) }\n",
            ("w($A)", "// c\n$A"),
            "function f() { throw (// c\n3) }\n",
        ),
        // These need none.
        ("a.js", "x = a + w(b * c)\n", unwrap, "x = a + b * c\n"),
        (
            "a.js",
            "x = a.b.c(1)\n",
            ("$A.c(1)", "$A.d()"),
            "x = a.b.d()\n",
        ),
        ("a.js", "x = w(a.b)\n", ("w($A)", "$A.c"), "x = a.b.c\n"),
        (
            "a.py",
            "x = a == None\n",
            ("$A == None", "$A is None"),
            "x = a is None\n",
        ),
        (
            "a.js",
            "x = await w(1)\n",
            ("w($A)", "v($A)"),
            "x = await v(1)\n",
        ),
    ] {
        check(file, before, op, after).await;
    }
}

#[tokio::test]
async fn what_can_not_be_mended_is_left() {
    let nothing = ("w($A)", "");
    for (file, before, op) in [
        ("a.js", "x = [a, w(1), c]\n", nothing),
        ("a.js", "f(w(3), a)\n", nothing),
        ("a.js", "x.then(() => w(3))\n", nothing),
        ("a.json", "{\"a\": \"old\"}\n", ("\"old\"", "")),
        ("a.py", "def f():\n    w(5)\n\nx = 1\n", nothing),
        ("a.py", "w(3); bar()\n", nothing),
        ("a.py", "x = w(1)\n", nothing),
        ("a.py", "x = (w(4),)\n", nothing),
        ("a.sh", "rm -rf $d\n", ("rm $A", "rm -- $A")),
        ("a.sh", "w b > f\n", ("w $A", "p $A && q")),
        ("a.sh", "w d < i\n", ("w $A", "p $A | q")),
        ("a.sh", "w a &\n", ("w $A", "p; q $A")),
        (
            "a.tsx",
            "const y = c && <B>t</B>;\n",
            ("<B>$$$C</B>", "$$$C"),
        ),
        ("a.tsx", "const y = w(x);\n", ("w($C)", "<B>$C</B>")),
        (
            "a.js",
            "if (x) var q = 3;\n",
            ("var $A = $B", "const $A = $B"),
        ),
        (
            "a.js",
            "if (x) e.f = bar;\n",
            ("e.f = $A;", "export default $A;"),
        ),
    ] {
        check(file, before, op, before).await;
    }
}

#[tokio::test]
async fn code_that_begins_a_line_behind_a_colon_still_does() {
    let op = ("b: $V", "bb: $V");
    for (before, after) in [
        (
            "a:\n  b:\n    q: 1\n    r: 2\nc: 1\n",
            "a:\n  bb:\n    q: 1\n    r: 2\nc: 1\n",
        ),
        ("b: 1\n", "bb: 1\n"),
    ] {
        check("a.yaml", before, op, after).await;
    }
    check(
        "a.json",
        "{\"a\": [1, {\"b\": 2}], \"c\": 1}\n",
        ("\"a\": $V", "\"d\": $V"),
        "{\"d\": [1, {\"b\": 2}], \"c\": 1}\n",
    )
    .await;
}
