//! Test sources of each language.

/// Test sources of a language: the code around the items, the items, and patterns that match in
/// them.
pub(super) struct Kit {
    pub language: &'static str,
    pub frame: (&'static str, &'static str),
    pub items: &'static [&'static str],
    pub patterns: &'static [&'static str],
}

/// The test sources. Items have multi-line strings, comments, tabs, and lists with trailing commas.
/// Each line after the first is indented further.
pub(super) const KITS: &[Kit] = &[
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
    #[cfg(feature = "more-languages")]
    Kit {
        language: "dart",
        frame: ("void f() {\n", "\n}\n"),
        items: &["run(a, '''b\n  c''');", "run(\n  a, // one\n  b,\n);"],
        patterns: &["run($$$A)"],
    },
    #[cfg(feature = "more-languages")]
    Kit {
        language: "dockerfile",
        frame: ("", "\n"),
        items: &[
            "FROM a:1",
            "RUN a \\\n  b",
            "COPY a \\\n  b",
            "RUN <<EOF\n a\n\tb\nEOF",
        ],
        patterns: &["RUN $A", "COPY $A $B", "FROM $A"],
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
    #[cfg(feature = "more-languages")]
    Kit {
        language: "julia",
        frame: ("function f()\n", "\nend\n"),
        items: &[
            "run(a, \"\"\"b\n  c\"\"\")",
            "run(\n  a, # one\n  b,\n)",
            "run(a, #= b\n c =# d)",
        ],
        patterns: &["run($$$A)"],
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
        language: "ocaml",
        frame: ("let f () = [\n", "\n]\n"),
        items: &[
            "run a {|b\n  c|};",
            "run a (* b\n c *)\n  d;",
            "run \"b\n  c\";",
        ],
        patterns: &["run $$$A"],
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
    #[cfg(feature = "more-languages")]
    Kit {
        language: "protobuf",
        frame: ("syntax = \"proto3\";\n", "\n"),
        items: &[
            "message A {\n  string a = 1; // b\n\tB c = 2;\n}",
            "message A { /* b\n c */ string d = 1; }",
        ],
        patterns: &["message A { $$$B }"],
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
        language: "sql",
        frame: ("", "\n"),
        items: &[
            "SELECT run(a, 'b\n  c') FROM t;",
            "SELECT run(\n  a, -- one\n\tb\n) FROM t;",
            "UPDATE t SET a = run(b, /* c\n d */ 1);",
        ],
        patterns: &["SELECT $$$A FROM t", "SELECT run($$$A) FROM t"],
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
        language: "toml",
        frame: ("", "\n"),
        items: &[
            "[[a]]\nb = \"\"\"\n c\n\td\"\"\"",
            "[[a]]\nb = [\n  1, # one\n\t2,\n]",
        ],
        patterns: &["b = $V"],
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
        language: "zig",
        frame: ("fn f() void {\n", "\n}\n"),
        items: &["run(a, b);", "run(\n  a, // one\n  b,\n);"],
        patterns: &["run($$$A)"],
    },
];
