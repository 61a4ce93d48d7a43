//! Patterns that are no code by themselves: `selector` and `context`, and variables that look like
//! metavariables.

use serde_json::{Value, json};

use crate::tree::Tree;

async fn check(file: &str, before: &str, op: Value, after: &str) {
    let tree = Tree::with(&[(file, before)]);
    let previewed = tree.call(json!({"ops": [op.clone()]})).await;
    let previewed = previewed.unwrap_or_else(|error| panic!("{op}: {error}"));
    assert_eq!(tree.pending().await, 1, "{op}: {}", previewed.text());
    tree.apply().await.unwrap();
    assert_eq!(tree.read(file), after, "{op}");
}

#[tokio::test]
async fn a_context_says_where_a_pattern_stands() {
    // A field, which by itself is an assignment.
    check(
        "a.ts",
        "class A {\n  x = 1;\n}\nx = 1;\n",
        json!({"pat": "$F = 1", "context": "class A { $F = 1 }", "out": "$F = 2"}),
        "class A {\n  x = 2;\n}\nx = 1;\n",
    )
    .await;
    // A method.
    check(
        "a.js",
        "class A {\n  old(a) { return a; }\n}\n",
        json!({"pat": "old($$$P) { $$$B }", "context": "class A { old($$$P) { $$$B } }", "out": "fresh($$$P) { $$$B }"}),
        "class A {\n  fresh(a) { return a; }\n}\n",
    )
    .await;
    // A member of an object, which by itself is a label.
    check(
        "a.js",
        "f({old: 1, b: 2});\n",
        json!({"pat": "old: $V", "context": "({old: $V})", "out": "fresh: $V"}),
        "f({fresh: 1, b: 2});\n",
    )
    .await;
    // A case.
    check(
        "a.go",
        "package p\n\nfunc f(x int) {\n\tswitch x {\n\tcase 1:\n\t\tg()\n\t}\n}\n",
        json!({"pat": "case 1:\n\t\t$$$B", "context": "package p\nfunc f() {\n\tswitch x {\n\tcase 1:\n\t\t$$$B\n\t}\n}", "out": "case 2:\n\t$$$B"}),
        "package p\n\nfunc f(x int) {\n\tswitch x {\n\tcase 2:\n\t\tg()\n\t}\n}\n",
    )
    .await;
    // An attribute.
    check(
        "a.tsx",
        "const e = <A old={1} b={2} />;\n",
        json!({"pat": "old={$V}", "context": "<A old={$V} />", "out": "fresh={$V}"}),
        "const e = <A fresh={1} b={2} />;\n",
    )
    .await;
}

#[tokio::test]
async fn a_selector_names_the_kind_of_node_that_is_meant() {
    check(
        "a.js",
        "class A {\n  x = 1;\n}\nx = 1;\n",
        json!({"pat": "class A { $F = 1 }", "selector": "field_definition", "out": "$F = 2"}),
        "class A {\n  x = 2;\n}\nx = 1;\n",
    )
    .await;
    check(
        "a.rs",
        "#[old]\nfn f() {}\n#[derive(Debug)]\nstruct S;\n",
        json!({"pat": "#[old]\nfn f() {}", "selector": "attribute_item", "out": "#[fresh]"}),
        "#[fresh]\nfn f() {}\n#[derive(Debug)]\nstruct S;\n",
    )
    .await;
    // In its context, any node of a kind.
    check(
        "a.ts",
        "class A {\n  one() {}\n}\nfunction two() {}\n",
        json!({"pat": "$M() { $$$ }", "context": "class A { $M() { $$$ } }", "selector": "property_identifier", "out": "m"}),
        "class A {\n  m() {}\n}\nfunction two() {}\n",
    )
    .await;
}

#[tokio::test]
async fn a_selector_or_a_context_that_means_nothing_is_refused_with_what_there_is() {
    let tree = Tree::with(&[("a.js", "class A { x = 1 }\n")]);
    let check = async |op: Value, why: &[&str]| {
        let error = tree.refused(json!({"ops": [op]})).await;
        for why in why {
            assert!(error.contains(why), "{error}");
        }
    };
    check(
        json!({"pat": "class A { $F = 1 }", "selector": "field", "out": ""}),
        &[
            "/ops/0/selector: javascript has no `field`",
            "`class_declaration`",
            "`field_definition`",
        ],
    )
    .await;
    check(
        json!({"pat": "class A { $F = 1 }", "selector": "call_expression", "out": ""}),
        &[
            "/ops/0/selector: there is no `call_expression` in `pat`",
            "`field_definition`",
        ],
    )
    .await;
    check(
        json!({"pat": "$F = 2", "context": "class A { $F = 1 }", "out": ""}),
        &["/ops/0/context: it doesn't contain `pat` exactly as written"],
    )
    .await;
    check(
        json!({"pat": "x", "context": "class x { x = 1 }", "out": ""}),
        &["/ops/0/context: it contains `pat` more than once"],
    )
    .await;
    check(
        json!({"pat": "{ $F", "context": "class A { $F = 1 }", "out": ""}),
        &["/ops/0/context: `pat` is not a single piece of code there as javascript"],
    )
    .await;
}

#[tokio::test]
async fn a_dollar_sign_behind_a_backslash_is_the_languages_own_in_bash_and_php() {
    check(
        "a.sh",
        "echo $HOME x\necho $USER x\n",
        json!({"pat": "echo \\$HOME $A", "out": "printf \\$HOME $A"}),
        "printf $HOME x\necho $USER x\n",
    )
    .await;
    check(
        "a.php",
        "<?php\nf($FOO, 1);\nf($BAR, 1);\n",
        json!({"pat": "f(\\$FOO, $A)", "out": "g(\\$FOO, $A)"}),
        "<?php\ng($FOO, 1);\nf($BAR, 1);\n",
    )
    .await;
    // Elsewhere a backslash is what the language makes of it.
    check(
        "a.js",
        "f(/\\$A/, 1);\nf(/$A/, 1);\n",
        json!({"pat": "f(/\\$A/, $B)", "out": "g($B)"}),
        "g(1);\nf(/$A/, 1);\n",
    )
    .await;
    let tree = Tree::with(&[("a.sh", "echo $HOME x\n")]);
    let error = tree
        .refused(json!({"ops": [{"pat": "echo \\$A $A", "out": ""}], "lang": "bash"}))
        .await;
    assert!(
        error.contains(
            "/ops/0/pat: it has `\\$A`, which is bash's own variable, and the metavariable `$A`"
        ),
        "{error}"
    );
}
