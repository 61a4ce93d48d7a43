//! An identity rewrite changes no token, in any language.

use std::sync::Arc;
use std::time::Duration;

use airlock_host::native::Stop;
use proptest::prelude::*;
use proptest::sample::select;

use super::Op;
use super::compare::has_code;
use super::document::{Document, visit};
use super::grammar::Grammar;
use super::language::{self, Language};
use super::pattern::Ops;
use super::rewrite::{MemoryBudget, find, replace};

/// Test sources of a language: the code around the items, the items, and patterns that match in
/// them.
struct Kit {
    language: &'static str,
    frame: (&'static str, &'static str),
    items: &'static [&'static str],
    patterns: &'static [&'static str],
}

/// The test sources. Items have multi-line strings, comments, tabs, and lists with trailing commas.
/// Each line after the first is indented further.
const KITS: &[Kit] = &[
    Kit {
        language: "bash",
        frame: ("f() {\n", "\n}\n"),
        items: &[
            "run a \"b\n c\" 'd\n\te'",
            "run x \\\n  y",
            "run <<EOF\n a\n\tb\nEOF\n",
            "if a; then\n  run b # c\nfi",
        ],
        patterns: &["run $$$A", "if $A; then\n  $$$B\nfi"],
    },
    Kit {
        language: "c",
        frame: ("void f(void) {\n", "\n}\n"),
        items: &[
            "run(a, \"b\\\n  c\");",
            "run(\n  a, // one\n\tb /* two\n three */\n);",
            "if (a) {\n  run(b);\n}",
        ],
        patterns: &["run($$$A)", "if ($C) { $$$B }"],
    },
    Kit {
        language: "cpp",
        frame: ("void f() {\n", "\n}\n"),
        items: &[
            "run(a, R\"(b\n  c\n\td)\");",
            "run([&] {\n  run(b); // c\n}, 1);",
            "if (a) {\n  run(b);\n}",
        ],
        patterns: &["run($$$A)", "if ($C) { $$$B }"],
    },
    Kit {
        language: "csharp",
        frame: ("class C { void F() {\n", "\n} }\n"),
        items: &[
            "Run(a, @\"b\n  c\n\td\");",
            "Run(\n  a, // one\n  b);",
            "Run(\"\"\"\n    a\n      b\n    \"\"\");",
        ],
        patterns: &["Run($$$A)", "$F($$$A)"],
    },
    Kit {
        language: "css",
        frame: ("", "\n"),
        items: &[
            "a {\n  color: red; /* b\n c */\n}",
            "a { content: \"b\"; /* c\n\td */ }",
        ],
        patterns: &["a { $$$B }"],
    },
    Kit {
        language: "go",
        frame: ("package p\n\nfunc f() {\n", "\n}\n"),
        items: &[
            "run(a, `b\n  c\n\td`)",
            "run(\n\ta, // one\n\tb,\n)",
            "if a {\n\trun(b)\n}",
        ],
        patterns: &["run($$$A)", "if $C { $$$B }"],
    },
    Kit {
        language: "html",
        frame: ("<body>\n", "\n</body>\n"),
        items: &[
            "<p>a\n  b <b>c</b></p>",
            "<p><!-- a\n b --><i\n  id=\"c\n d\">e</i></p>",
        ],
        patterns: &["<p>$$$A</p>"],
    },
    Kit {
        language: "java",
        frame: ("class C { void f() {\n", "\n} }\n"),
        items: &[
            "run(a, \"\"\"\n    b\n      c\n    \"\"\");",
            "run(\n  a, // one\n  b);",
            "if (a) {\n  run(b);\n}",
        ],
        patterns: &["run($$$A)", "if ($C) { $$$B }"],
    },
    Kit {
        language: "javascript",
        frame: ("function f() {\n", "\n}\n"),
        items: &[
            "run(a, `b\n  c ${run(`d\n\te`)}\n\tf`);",
            "run(\n  a, // one\n  b, /* two\n three */\n);",
            "if (a) {\n  run('b\\\n  c');\n}",
        ],
        patterns: &["run($$$A)", "if ($C) { $$$B }"],
    },
    Kit {
        language: "json",
        frame: ("[\n", "\n]\n"),
        items: &["{\"a\": [\n  1,\n\t{\"b\": \"c\"}\n]}"],
        patterns: &["{$$$A}"],
    },
    Kit {
        language: "php",
        frame: ("<?php\nfunction f() {\n", "\n}\n"),
        items: &[
            "run($a, 'b\n  c');",
            "run(<<<EOF\n  a\n    b\n  EOF);",
            "run(\n  $a, // one\n  $b,\n);",
        ],
        patterns: &["run($$$A)", "$F($$$A)"],
    },
    Kit {
        language: "python",
        frame: ("def f():\n", "\n"),
        items: &[
            "run(a, \"\"\"b\n  c\n\td\"\"\")",
            "run(\n  a,  # one\n  b,\n)",
            "if a:\n  run(f'''b {run(\"\"\"c\n d\"\"\")}\n   e''')\n  run(b)",
        ],
        patterns: &["run($$$A)", "if $C:\n    $$$B", "if $C: $$$B"],
    },
    Kit {
        language: "ruby",
        frame: ("def f\n", "\nend\n"),
        items: &[
            "run(a, \"b\n  c\")",
            "run(<<~EOF)\n  a\n    b\nEOF",
            "run(\n  a, # one\n  b\n)",
            "run %w[a\n  b]",
        ],
        patterns: &["run($$$A)"],
    },
    Kit {
        language: "rust",
        frame: ("fn f() {\n", "\n}\n"),
        items: &[
            "run(a, \"b\n  c\\\n    d\");",
            "run(r#\"a\n\tb\"#, // one\n  b,\n);",
            "if a {\n    run(b)\n}",
        ],
        patterns: &["run($$$A)", "if $C { $$$B }"],
    },
    Kit {
        language: "tsx",
        frame: ("const f = () => {\n", "\n}\n"),
        items: &[
            "run(<a b=\"c\n d\">e\n  {run(`f\n  g`)}\n</a>);",
            "run(a, `b\n  c`);",
        ],
        patterns: &["run($$$A)", "<a $$$A>$$$B</a>"],
    },
    Kit {
        language: "typescript",
        frame: ("function f(): void {\n", "\n}\n"),
        items: &["run<T>(a, `b\n  c`);", "run(\n  a as T, // one\n  b,\n);"],
        patterns: &["run($$$A)", "run<T>($$$A)"],
    },
    Kit {
        language: "yaml",
        frame: ("a:\n", "\n"),
        items: &[
            "- b: |\n    c\n      d",
            "- b: \"c\n    d\"",
            "- b: >-\n    c\n\n    d",
        ],
        patterns: &["b: $V"],
    },
    #[cfg(feature = "more-languages")]
    Kit {
        language: "dart",
        frame: ("void f() {\n", "\n}\n"),
        items: &["run(a, '''b\n  c''');", "run(\n  a, // one\n  b,\n);"],
        patterns: &["run($$$A)"],
    },
    #[cfg(feature = "more-languages")]
    Kit {
        language: "elixir",
        frame: ("def f do\n", "\nend\n"),
        items: &[
            "run(a, \"\"\"\n  b\n    c\n  \"\"\")",
            "run(\n  a, # one\n  b\n)",
        ],
        patterns: &["run($$$A)"],
    },
    #[cfg(feature = "more-languages")]
    Kit {
        language: "haskell",
        frame: ("f = do\n", "\n"),
        items: &["  run a b", "  run a\n    b"],
        patterns: &["run $$$A"],
    },
    #[cfg(feature = "more-languages")]
    Kit {
        language: "hcl",
        frame: ("a {\n", "\n}\n"),
        items: &["b = run(1, <<EOF\n  c\n d\nEOF\n)", "b = run(1,\n  2)"],
        patterns: &["b = run($$$A)"],
    },
    #[cfg(feature = "more-languages")]
    Kit {
        language: "kotlin",
        frame: ("fun f() {\n", "\n}\n"),
        items: &["run(a, \"\"\"b\n  c\"\"\")", "run(\n  a, // one\n  b,\n)"],
        patterns: &["run($$$A)"],
    },
    #[cfg(feature = "more-languages")]
    Kit {
        language: "lua",
        frame: ("function f()\n", "\nend\n"),
        items: &["run(a, [[b\n  c]])", "run(\n  a, -- one\n  b\n)"],
        patterns: &["run($$$A)"],
    },
    #[cfg(feature = "more-languages")]
    Kit {
        language: "markdown",
        frame: ("", "\n"),
        items: &["# a\n\n- b\n  c\n", "```\n a\n  b\n```\n"],
        patterns: &["# $A"],
    },
    #[cfg(feature = "more-languages")]
    Kit {
        language: "nix",
        frame: ("{\n", "\n}\n"),
        items: &[
            "a = run { b = ''\n  c\n    d\n''; };",
            "b = run { c = 1; };",
        ],
        patterns: &["run { $$$A }"],
    },
    #[cfg(feature = "more-languages")]
    Kit {
        language: "scala",
        frame: ("object A {\n", "\n}\n"),
        items: &["run(a, \"\"\"b\n  c\"\"\")", "run(\n  a, // one\n  b\n)"],
        patterns: &["run($$$A)"],
    },
    #[cfg(feature = "more-languages")]
    Kit {
        language: "solidity",
        frame: ("contract C { function f() public {\n", "\n} }\n"),
        items: &["run(a, \"b\");", "run(\n  a, // one\n  b\n);"],
        patterns: &["run($$$A)"],
    },
    #[cfg(feature = "more-languages")]
    Kit {
        language: "swift",
        frame: ("func f() {\n", "\n}\n"),
        items: &[
            "run(a, \"\"\"\n  b\n    c\n  \"\"\")",
            "run(\n  a, // one\n  b\n)",
        ],
        patterns: &["run($$$A)"],
    },
    #[cfg(feature = "more-languages")]
    Kit {
        language: "zig",
        frame: ("fn f() void {\n", "\n}\n"),
        items: &["run(a, b);", "run(\n  a, // one\n  b,\n);"],
        patterns: &["run($$$A)"],
    },
];

/// Returns the tokens. The whitespace between them has no meaning.
fn tokens(source: &str, language: Language) -> Vec<String> {
    let document = Document::parse(source, Grammar::new(language, &stop())).unwrap();
    let mut found = Vec::new();
    let root = document.tree().root_node();
    visit(&root, document.steps(), |cursor, _| {
        let node = cursor.node();
        if node.child_count() == 0 && has_code(&document, &node) {
            let text = source[node.byte_range()].trim();
            // Line breaks in text have no meaning, and a block scalar's indentation is relative.
            found.push(match node.kind() {
                "jsx_text" | "text" | "block_scalar" => {
                    text.split_whitespace().collect::<Vec<_>>().join(" ")
                }
                _ => text.to_owned(),
            });
        }
        std::ops::ControlFlow::Continue(())
    });
    found
}

fn stop() -> Arc<Stop> {
    Arc::new(Stop::after(Duration::from_secs(3600)))
}

/// Returns items at one indentation, in the language's frame.
fn source(kit: &Kit, items: &[&str], indent: &str) -> String {
    let items: Vec<String> = items.iter().map(|item| format!("{indent}{item}")).collect();
    format!("{}{}{}", kit.frame.0, items.join("\n"), kit.frame.1)
}

proptest! {
    #[test]
    fn an_identity_rewrite_changes_no_token(
        language in 0..language::COUNT,
        chosen in proptest::collection::vec(0..4_usize, 1..5),
        indent in select(vec!["", "  ", "    ", "\t", "\t\t"]),
        pattern in 0..3_usize,
        is_windows in any::<bool>(),
    ) {
        let kit = &KITS[language];
        // YAML forbids tabs, and Python's function needs some indentation.
        let indent = match (kit.language, indent) {
            ("yaml", "\t" | "\t\t") => "  ",
            ("python", "") => " ",
            _ => indent,
        };
        let items: Vec<&str> = chosen.iter().map(|at| kit.items[at % kit.items.len()]).collect();
        let mut source = source(kit, &items, indent);
        if is_windows {
            source = source.replace('\n', "\r\n");
        }
        let pat = kit.patterns[pattern % kit.patterns.len()];
        let language = Language::named(kit.language).unwrap();
        let op = Op { pat: pat.to_owned(), out: pat.to_owned(), selector: None, context: None };
        let ops = Ops::read(&[op], language, &stop());
        prop_assert!(ops.refused.is_empty(), "{}: {pat}: {:?}", kit.language, ops.refused);
        let room = MemoryBudget::new(1 << 30);
        let found = find(&source, &ops, &room, true, &stop()).unwrap();
        let new = replace(&source, &found.edits);
        prop_assert_eq!(tokens(&source, language), tokens(&new, language), "{}: {}\n{}", kit.language, &source, &new);
    }
}

#[test]
fn each_pattern_matches_an_item() {
    assert_eq!(KITS.len(), language::COUNT);
    let mut wrong: Vec<String> = Vec::new();
    for kit in KITS {
        let language = Language::named(kit.language).unwrap();
        let indent = if kit.language == "python" { " " } else { "" };
        let source = source(kit, kit.items, indent);
        for pat in kit.patterns {
            let op = Op {
                pat: (*pat).to_owned(),
                out: (*pat).to_owned(),
                selector: None,
                context: None,
            };
            let ops = Ops::read(&[op], language, &stop());
            let room = MemoryBudget::new(1 << 30);
            wrong.extend(
                ops.refused
                    .iter()
                    .map(|(_, why)| format!("{}: {pat}: {why:?}", kit.language)),
            );
            let found = find(&source, &ops, &room, true, &stop()).unwrap();
            wrong.extend(
                found
                    .errors
                    .map(|errors| format!("{}: {errors:?}\n{source}", kit.language)),
            );
            let matches = found.matches.get(&0).copied().unwrap_or_default();
            wrong.extend((matches == 0).then(|| format!("{}: {pat}", kit.language)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
