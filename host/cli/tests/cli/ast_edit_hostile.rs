//! Generated sources of every language: whatever they are, the process neither is ended by them nor goes on for long.
//!
//! Each language is searched by a process of its own, so that one that ends is seen and not shared. `AIRLOCK_HOSTILE_ROUNDS` makes more of them.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use crate::airlock::Store;

/// A language: the name of its files, patterns that recurse where they can, and what its sources are made of.
struct Tongue {
    file: &'static str,
    patterns: &'static [&'static str],
    /// What comes first, so that the patterns' words are there.
    start: &'static str,
    pieces: &'static [&'static str],
}

/// What is repeated in sources of any language.
const COMMON: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "\"",
    "'",
    "`",
    ".a()",
    "a.",
    "a(",
    "a[",
    "{a:",
    "\n",
    " ",
    "\t",
    "\n  ",
    ";",
    ",",
    ":",
    "=",
    "a+",
    "-",
    "!",
    "&&",
    "a && ",
    "|| ",
    "a ? b : ",
    "//",
    "/*",
    "*/",
    "#",
    "\\",
    "\\\n",
    "é",
    "\u{10000}",
    "0",
    "a b ",
    "@",
];

const TONGUES: &[Tongue] = &[
    Tongue {
        file: "sh",
        patterns: &["$A && $A", "f $A $A"],
        start: "f x x && f x x\n",
        pieces: &[
            "$(",
            "`",
            "${a:-",
            "$((",
            "if a; then ",
            "else ",
            "fi\n",
            "case a in a) ",
            "esac\n",
            "<<A\n",
            "A\n",
            "<<-'B'\n",
            "[[ ",
            " ]] ",
            "| ",
            "\"$(",
            "${",
            "f() { ",
        ],
    },
    Tongue {
        file: "c",
        patterns: &["$A && $A", "f($A, $A)"],
        start: "int f(void) { f(x, x); return x && x; }\n",
        pieces: &[
            "(int)",
            "*",
            "if (a) ",
            "else ",
            "#if A\n",
            "#endif\n",
            "#define A \\\n",
            "struct {",
            "a->",
            "sizeof ",
            "?:",
            "{{",
            "'\\",
            "R\"(",
            "&",
        ],
    },
    Tongue {
        file: "cc",
        patterns: &["$A && $A", "f($A, $A)"],
        start: "auto f() { f(x, x); return x && x; }\n",
        pieces: &[
            "a<",
            "template<",
            "a::",
            "R\"x(",
            "[=](",
            "]{",
            "operator",
            "<<",
            "class A { ",
            "if (a) ",
            "else ",
            "new ",
            "(A)",
            "...",
            "#if A\n",
            "decltype(",
        ],
    },
    Tongue {
        file: "cs",
        patterns: &["F($A, $A)"],
        start: "class C { bool G() { F(x, x); return x && x; } }\n",
        pieces: &[
            "a<",
            "$\"{",
            "$@\"",
            "\"\"\"",
            "#if A\n",
            "#endif\n",
            "class A { ",
            "a => ",
            "from a in ",
            "new() { ",
            "if (a) ",
            "else ",
            "a?.",
            "switch { ",
            "(a, ",
        ],
    },
    Tongue {
        file: "css",
        patterns: &["a { color: $A }", "b { $$$A }"],
        start: "a { color: red } b { color: red }\n",
        pieces: &[
            "a { ",
            "a:not(",
            "@media a { ",
            "calc(",
            "a > ",
            "url(",
            ":is(",
            "--a: ",
            "!important",
            "&:hover { ",
            "[a=",
        ],
    },
    Tongue {
        file: "go",
        patterns: &["$A && $A", "f($A, $A)"],
        start: "package p\nfunc g() { f(x, x); _ = x && x }\n",
        pieces: &[
            "func() { ",
            "[]",
            "map[a]",
            "if a { ",
            "} else ",
            "<-",
            "struct{",
            "interface{",
            "a.(",
            "go ",
            "switch { case a: ",
            "*",
            "&a{",
            "`",
            "[a any](",
        ],
    },
    Tongue {
        file: "html",
        patterns: &["<b>$$$A</b>", "<$T>$$$A</$T>"],
        start: "<b>x</b>\n",
        pieces: &[
            "<div>",
            "</div>",
            "<p>",
            "<script>",
            "<style>",
            "<!--",
            "<a b=\"",
            "</",
            "<x-y>",
            "<br/>",
            "<li>",
            "<td>",
            "&amp;",
            "<![CDATA[",
            "<svg>",
            "<",
            "<longtagnamelongtagname>",
        ],
    },
    Tongue {
        file: "java",
        patterns: &["$A && $A", "f($A, $A)"],
        start: "class C { boolean g() { f(x, x); return x && x; } }\n",
        pieces: &[
            "a<",
            "(A) ",
            "new A() { ",
            "class A { ",
            "() -> ",
            "\"\"\"\n",
            "@A(",
            "if (a) ",
            "else ",
            "a::",
            "switch (a) { case b -> ",
            "try { ",
            "a[]",
            "? super ",
        ],
    },
    Tongue {
        file: "js",
        patterns: &["$A && $A()", "f($A, $A)", "f($$$A, $B, $$$C, $B)"],
        start: "f(x, x); x && x();\n",
        pieces: &[
            "`${",
            "}`",
            "(a) => ",
            "async ",
            "function() { ",
            "class { ",
            "<a>",
            "</a>",
            "<a b={",
            "/a",
            "/[",
            "if (a) ",
            "else ",
            "...",
            "a?.",
            "new ",
            "`${`",
            "a ? (b) : c => ",
        ],
    },
    Tongue {
        file: "json",
        patterns: &["[1, 1]", "\"a\": 1"],
        start: "[[1, 1], {\"a\": 1},\n",
        pieces: &[
            "{\"a\":", "[[", "\"\\", "\\u", "null,", "1e", "-", "[1,", "}]",
        ],
    },
    Tongue {
        file: "php",
        patterns: &["$A && $A", "f($A, $A)"],
        start: "<?php f($x, $x); $x && $x;\n",
        pieces: &[
            "$a->",
            "$$",
            "<<<A\n",
            "A;\n",
            "\"{$",
            "fn() => ",
            "function() { ",
            "array(",
            "?>",
            "<?php ",
            "if (a): ",
            "else ",
            "match(a) { ",
            "new class { ",
            "#[",
            "a::",
            "<<<'B'\n",
        ],
    },
    Tongue {
        file: "py",
        patterns: &["$A and $A", "f($A, $A)"],
        start: "f(x, x)\nx and x\n",
        pieces: &[
            "f\"{",
            "\"\"\"",
            "'''",
            "lambda: ",
            "if a:\n",
            "    ",
            "else:\n",
            "not ",
            "a if b else ",
            "[a for a in ",
            "def f():\n",
            "class A:\n",
            "**",
            "@a\n",
            "match a:\n",
            "rb'",
            "f'{f\"{",
        ],
    },
    Tongue {
        file: "rb",
        patterns: &["$A && $A", "f($A, $A)"],
        start: "f(x, x)\nx && x\n",
        pieces: &[
            "<<~A\n",
            "A\n",
            "#{",
            "\"#{",
            "%w(",
            "%q<",
            "do |a| ",
            "end\n",
            "if a\n",
            "-> { ",
            "def a\n",
            "/a",
            ":\"",
            "a.b ",
            "unless ",
            "begin ",
            "<<-'B'\n",
            "%i[",
            "class A\n",
        ],
    },
    Tongue {
        file: "rs",
        patterns: &["$A && $A", "f($A, $A)"],
        start: "fn g() { f(x, x); x && x; }\n",
        pieces: &[
            "r#\"",
            "r##",
            "a::<",
            "/*/*",
            "|a| ",
            "match a { a => ",
            "if a { ",
            "} else ",
            "&mut ",
            "m![",
            "#[a]",
            "impl<'a> ",
            "fn f() { ",
            "'a",
            "b'",
            "..",
            "?",
            "a as ",
        ],
    },
    Tongue {
        file: "tsx",
        patterns: &["$A && $A()", "f($A, $A)"],
        start: "f(x, x); x && x();\n",
        pieces: &[
            "<A<",
            "<a>",
            "</a>",
            "{<b>",
            "a<",
            "as ",
            "`${",
            "(a: ",
            "): b => ",
            "type A = ",
            "extends { infer ",
            "keyof ",
            "{...",
            "<></>",
        ],
    },
    Tongue {
        file: "ts",
        patterns: &["$A && $A()", "f($A, $A)", "f($$$A, $B, $$$C, $B)"],
        start: "f(x, x); x && x();\n",
        pieces: &[
            "a<",
            "a<b>(",
            "<a>",
            "as ",
            "`${",
            "(a: ",
            "): b => ",
            "type A = ",
            "extends a ? ",
            "keyof ",
            "async <T>(",
            "abstract class { ",
            "a ? (b) : c => ",
            "@a(",
            "satisfies ",
            "(a, b) => ",
        ],
    },
    Tongue {
        file: "yaml",
        patterns: &["a: $A", "[$A, $A]"],
        start: "a: 1\nb: [1, 1]\n",
        pieces: &[
            "- ", "a: ", "? ", "&a ", "*a ", "!!a ", "|\n", ">-\n", "- - ", "  ", "---\n", "...\n",
            "{a: ", "[a, ", "\"\\", "%YAML ", "# ", "<<: ",
        ],
    },
];

/// Numbers that look random and are the same in each run with the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        // Xorshift, with the constants of its author.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }

    fn piece(&mut self, tongue: &Tongue) -> &'static str {
        let own = tongue.pieces.len();
        match self.below(own * 2 + COMMON.len()) {
            at if at < own * 2 => tongue.pieces[at / 2],
            at => COMMON[at - own * 2],
        }
    }

    /// A few groups of pieces, each repeated up to thousands of times.
    fn source(&mut self, tongue: &Tongue) -> String {
        let mut source = tongue.start.to_owned();
        for _ in 0..=self.below(4) {
            let group: String = (0..=self.below(3)).map(|_| self.piece(tongue)).collect();
            let times = [1, 10, 500, 5_000, 40_000][self.below(5)];
            source.push_str(&group.repeat(times.min(200_000 / group.len())));
        }
        source
    }
}

/// A call that is not over by then goes on for minutes.
const SOON: Duration = Duration::from_secs(60);

fn check(tongue: &Tongue, seed: u64) {
    let store = Store::new();
    let folder = TempDir::new().unwrap();
    let mut dice = Dice(seed);
    // More than are done in the time.
    let sources: Vec<String> = (0..6).map(|_| dice.source(tongue)).collect();
    for (index, source) in sources.iter().enumerate() {
        let name = format!("{index}.{}", tongue.file);
        fs::write(folder.path().join(name), source).unwrap();
    }
    for pattern in tongue.patterns {
        let ops = json!({"ops": [{"pat": pattern, "out": "done"}]}).to_string();
        let args = ["run", "ast_edit", ops.as_str(), "--timeout", "2", "--json"];
        let started = Instant::now();
        let ran = store.airlock(folder.path(), &args).run();
        let about = || {
            let starts: Vec<String> = sources
                .iter()
                .map(|source| source.chars().take(300).collect())
                .collect();
            format!(
                "{} {pattern} seed {seed}: code {} {}\n{starts:#?}",
                tongue.file, ran.code, ran.stderr
            )
        };
        // Done, told by the tool, or out of time; not ended by a signal.
        assert!([0, 1, 4].contains(&ran.code), "{}", about());
        assert!(
            started.elapsed() < SOON,
            "{:?} {}",
            started.elapsed(),
            about()
        );
    }
}

#[test]
fn no_source_ends_the_process_or_holds_it_up() {
    let rounds = std::env::var("AIRLOCK_HOSTILE_ROUNDS").ok();
    let rounds: u64 = rounds.map_or(1, |rounds| rounds.parse().unwrap());
    for round in 0..rounds {
        for (index, tongue) in TONGUES.iter().enumerate() {
            check(
                tongue,
                0x9e37_79b9_7f4a_7c15 ^ (round * 1000 + index as u64 + 1),
            );
        }
    }
}
