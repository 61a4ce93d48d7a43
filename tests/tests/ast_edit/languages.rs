//! A row for each language: what a file holds, what is rewritten, and what it holds then.

use serde_json::json;

use crate::tree::Tree;

async fn check(file: &str, before: &str, op: (&str, &str), after: &str) {
    let tree = Tree::with(&[(file, before)]);
    let (pat, out) = op;
    let previewed = tree
        .edit(pat, out)
        .await
        .unwrap_or_else(|error| panic!("{file}: {error}"));
    assert_eq!(tree.pending().await, 1, "{file}: {}", previewed.text());
    assert_eq!(tree.read(file), before, "{file}");
    tree.apply().await.unwrap();
    assert_eq!(tree.read(file), after, "{file}");
}

#[tokio::test]
async fn rust() {
    check(
        "src/lib.rs",
        "fn f() -> u8 {\n    // kept\n    a.b( c ).unwrap()\n}\n",
        ("$A.unwrap()", "$A?"),
        "fn f() -> u8 {\n    // kept\n    a.b( c )?\n}\n",
    )
    .await;
}

#[tokio::test]
async fn typescript() {
    check(
        "a.ts",
        "const x: number = a && a();\ntype T = string;\n",
        ("$A && $A()", "$A?.()"),
        "const x: number = a?.();\ntype T = string;\n",
    )
    .await;
}

#[tokio::test]
async fn tsx() {
    check(
        "a.tsx",
        "const e = <Old a={1}>text {x as any}</Old>;\n",
        (
            "<Old $$$ATTRIBUTES>$$$INNER</Old>",
            "<New $$$ATTRIBUTES>$$$INNER</New>",
        ),
        "const e = <New a={1}>text {x as any}</New>;\n",
    )
    .await;
}

#[tokio::test]
async fn javascript() {
    check(
        "a.mjs",
        "console.log('a', b);\nlog('c')\n",
        ("console.log($$$ARGS)", "logger.info($$$ARGS)"),
        "logger.info('a', b);\nlog('c')\n",
    )
    .await;
}

#[tokio::test]
async fn python() {
    check(
        "a.py",
        "def f():\n    if x == None:\n        print(x)\n",
        ("$A == None", "$A is None"),
        "def f():\n    if x is None:\n        print(x)\n",
    )
    .await;
}

#[tokio::test]
async fn go() {
    let before = "package main\n\nfunc main() {\n\tfmt.Print(1)\n\tx := fmt.Print(y)\n}\n";
    let after = "package main\n\nfunc main() {\n\tlog.Print(1)\n\tx := log.Print(y)\n}\n";
    check("main.go", before, ("fmt.Print($A)", "log.Print($A)"), after).await;
    let op = ("fmt.Print($$$A)", "log.Print($$$A)");
    check("main.go", before, op, after).await;
}

#[tokio::test]
async fn java() {
    let before =
        "class A {\n  private int x = 1;\n  void f() {\n    int y = old.call(2, z);\n  }\n}\n";
    check(
        "A.java",
        before,
        ("old.call($A, $B)", "fresh.call($B, $A)"),
        "class A {\n  private int x = 1;\n  void f() {\n    int y = fresh.call(z, 2);\n  }\n}\n",
    )
    .await;
    check(
        "A.java",
        before,
        ("private int $X = $Y;", "int $X = $Y;"),
        "class A {\n  int x = 1;\n  void f() {\n    int y = old.call(2, z);\n  }\n}\n",
    )
    .await;
}

#[tokio::test]
async fn c() {
    let before = "int f(void) {\n  int x = g(1);\n  g(x);\n  return x;\n}\n";
    let after = "int f(void) {\n  int x = h(0, 1);\n  h(0, x);\n  return x;\n}\n";
    check("a.c", before, ("g($A)", "h(0, $A)"), after).await;
    let statement = "int f(void) {\n  int x = g(1);\n  h(0, x);\n  return x;\n}\n";
    check("a.c", before, ("g($A);", "h(0, $A);"), statement).await;
}

#[tokio::test]
async fn cpp() {
    check(
        "a.cc",
        "auto f() {\n  auto p = std::auto_ptr<T>(x);\n  return p->get(1);\n}\n",
        ("$P->get($A)", "$P->at($A)"),
        "auto f() {\n  auto p = std::auto_ptr<T>(x);\n  return p->at(1);\n}\n",
    )
    .await;
}

#[tokio::test]
async fn csharp() {
    check(
        "A.cs",
        "class A {\n  void F() {\n    Console.WriteLine(\"a\");\n    var x = Old(1, y);\n  }\n}\n",
        ("Old($A, $B)", "Fresh($B, $A)"),
        "class A {\n  void F() {\n    Console.WriteLine(\"a\");\n    var x = Fresh(y, 1);\n  }\n}\n",
    )
    .await;
}

#[tokio::test]
async fn ruby() {
    check(
        "a.rb",
        "def f\n  foo.bar(1, :a)\nend\n",
        ("foo.bar($A, $B)", "foo.baz($B, $A)"),
        "def f\n  foo.baz(:a, 1)\nend\n",
    )
    .await;
}

#[tokio::test]
async fn php() {
    check(
        "a.php",
        "<?php\nfunction f($x) {\n  return array_push($x, 1);\n}\n",
        ("array_push($A, $B)", "push($B, $A)"),
        "<?php\nfunction f($x) {\n  return push(1, $x);\n}\n",
    )
    .await;
}

#[tokio::test]
async fn bash() {
    check(
        "a.sh",
        "if true; then\n  echo hello world\nfi\n",
        ("echo $A world", "printf '%s' $A"),
        "if true; then\n  printf '%s' hello\nfi\n",
    )
    .await;
}

#[tokio::test]
async fn json() {
    let before = "{\n  \"a\": [1, 2],\n  \"b\": {\"old\": \"x\"}\n}\n";
    let after = "{\n  \"a\": [1, 2],\n  \"b\": {\"new\": \"x\"}\n}\n";
    let op = ("{\"old\": \"$A\"}", "{\"new\": \"$A\"}");
    check("a.json", before, op, after).await;
    let op = ("\"old\": \"$A\"", "\"new\": \"$A\"");
    check("a.json", before, op, after).await;
    let after = "{\n  \"a\": [2],\n  \"b\": {\"old\": \"x\"}\n}\n";
    check("a.json", before, ("[1, 2]", "[2]"), after).await;
}

#[tokio::test]
async fn yaml() {
    check(
        "a.yaml",
        "# kept\njobs:\n  - runs: old\n    name: a\n",
        ("runs: $A", "runs-on: $A"),
        "# kept\njobs:\n  - runs-on: old\n    name: a\n",
    )
    .await;
}

#[tokio::test]
async fn html() {
    check(
        "a.html",
        "<!doctype html>\n<body><b>text</b></body>\n",
        ("<b>$$$INNER</b>", "<strong>$$$INNER</strong>"),
        "<!doctype html>\n<body><strong>text</strong></body>\n",
    )
    .await;
}

#[tokio::test]
async fn css() {
    let before = "a { color: red; margin: 0 }\nb { color: red }\n";
    check(
        "a.css",
        before,
        ("a { $$$RULES }", ".a { $$$RULES }"),
        ".a { color: red; margin: 0 }\nb { color: red }\n",
    )
    .await;
    let after = "a { color: blue; margin: 0 }\nb { color: blue }\n";
    check("a.css", before, ("color: red", "color: blue"), after).await;
}

#[tokio::test]
async fn an_op_is_done_in_every_language_in_which_it_can_be_read() {
    let tree = Tree::with(&[
        ("a.js", "f(1)\n"),
        ("b.py", "f(1)\n"),
        ("c.json", "{\"f\": 1}\n"),
        ("d.txt", "f(1)\n"),
    ]);
    tree.edit("f($A)", "g($A)").await.unwrap();
    tree.apply().await.unwrap();
    assert_eq!(tree.read("a.js"), "g(1)\n");
    assert_eq!(tree.read("b.py"), "g(1)\n");
    assert_eq!(tree.read("c.json"), "{\"f\": 1}\n");
    assert_eq!(tree.read("d.txt"), "f(1)\n");
}

#[tokio::test]
async fn with_a_language_only_files_in_it_are_searched_and_those_that_are_named() {
    let tree = Tree::with(&[
        ("a.js", "f(1)\n"),
        ("b.py", "f(1)\n"),
        ("c.inc", "f(1)\n"),
        ("d.inc", "f(1)\n"),
        ("e.inc", "f(1)\n"),
    ]);
    let params = json!({
        "ops": [{"pat": "f($A)", "out": "g($A)"}],
        "lang": "javascript",
        "paths": [".", "c.inc", "d*.inc"],
    });
    tree.call(params).await.unwrap();
    tree.apply().await.unwrap();
    let held = ["a.js", "b.py", "c.inc", "d.inc", "e.inc"].map(|name| tree.read(name));
    assert_eq!(held, ["g(1)\n", "f(1)\n", "g(1)\n", "g(1)\n", "f(1)\n"]);
}

#[tokio::test]
async fn php_with_html_around_it() {
    check(
        "a.php",
        "<html>\n<?php foo($a); ?>\n<p><?= foo($b) ?></p>\n<?php if (foo($c)): ?>\n  <b>x</b>\n<?php endif; ?>\n</html>\n",
        ("foo($A)", "bar($A)"),
        "<html>\n<?php bar($a); ?>\n<p><?= bar($b) ?></p>\n<?php if (bar($c)): ?>\n  <b>x</b>\n<?php endif; ?>\n</html>\n",
    )
    .await;
    check(
        "b.php",
        "<?php\nclass A { function f() { return 1; } }\n",
        ("function f() { $$$B }", "function g() { $$$B }"),
        "<?php\nclass A { function g() { return 1; } }\n",
    )
    .await;
}

#[tokio::test]
async fn a_metavariable_may_stand_for_a_string_where_there_is_nothing_else() {
    check(
        "a.ts",
        "import {a, b} from \"one\";\nimport {c} from 'two';\nimport d from 'three';\n",
        ("import {$$$N} from $M", "import {$$$N, e} from $M"),
        "import {a, b, e} from \"one\";\nimport {c, e} from 'two';\nimport d from 'three';\n",
    )
    .await;
    check(
        "a.tsx",
        "const a = [<A b=\"x\"/>, <A b='y'/>, <A b={z}/>];\n",
        ("<A b=$X/>", "<B c=$X/>"),
        "const a = [<B c=\"x\"/>, <B c='y'/>, <B c={z}/>];\n",
    )
    .await;
}

#[tokio::test]
async fn a_method_needs_no_context() {
    check(
        "a.ts",
        "class A {\n  run(a: string) { one() }\n  stop() { two() }\n}\n",
        ("run($$$A) { $$$B }", "start($$$A) { $$$B }"),
        "class A {\n  start(a: string) { one() }\n  stop() { two() }\n}\n",
    )
    .await;
}

#[tokio::test]
async fn scripts_and_styles_in_html_vue_and_svelte() {
    check(
        "a.html",
        "<p>old(1)</p>\n<script>\n  old(1);\n</script>\n<script type=\"text/template\">old(1)</script>\n",
        ("old($A)", "fresh($A)"),
        "<p>old(1)</p>\n<script>\n  fresh(1);\n</script>\n<script type=\"text/template\">old(1)</script>\n",
    )
    .await;
    check(
        "a.vue",
        "<template><p :a=\"b\">{{ c }}</p></template>\n<script lang=\"ts\">\nconst a = b as C;\n</script>\n<style>\np { color: red; }\n</style>\n",
        ("$A as $T", "<$T>$A"),
        "<template><p :a=\"b\">{{ c }}</p></template>\n<script lang=\"ts\">\nconst a = <C>b;\n</script>\n<style>\np { color: red; }\n</style>\n",
    )
    .await;
    check(
        "a.svelte",
        "<script>\n  let a = old(1);\n</script>\n\n<p>{a}</p>\n<style>\n  p { color: red; }\n</style>\n",
        ("color: $C", "background: $C"),
        "<script>\n  let a = old(1);\n</script>\n\n<p>{a}</p>\n<style>\n  p { background: red; }\n</style>\n",
    )
    .await;
    let tree = Tree::with(&[(
        "a.html",
        "<body>\n<script>\nold('a');\n</script>\n<script>\nold(1, ;\nf();\n</script>\n</body>\n",
    )]);
    let previewed = tree
        .edit("old($A)", "fresh('</script>', $A)")
        .await
        .unwrap();
    let text = previewed.text();
    let left = "Left as they are, since the replacement would change the meaning of that code: 1 match, at a.html:3.";
    assert!(text.contains(left), "{text}");
    assert!(
        text.contains("Syntax errors in 1 file, the first of each at a.html:6."),
        "{text}"
    );
    assert_eq!(tree.pending().await, 0);
}
