//! `ast_edit`, the host's own tool, on sources that are hard work: they are as hostile as a plugin.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::Ends::{Error, Result, ResultOrTime};
use super::{Attack, Ends, Row};

pub fn rows() -> Vec<Row> {
    let time = Error("limit", "was stopped after 2");
    vec![
        edit(
            "a-chain-of-calls",
            "compares a chain of 4,000 calls with itself",
            |workspace| {
                let chain = format!("q{}", ".a()".repeat(4000));
                write(workspace, "a.ts", format!("{chain} && {chain}()\n"));
            },
            || op("$A && $A()", "$A?.()"),
            Result("1 replacement in 1 file"),
        ),
        edit(
            "a-chain-of-operators",
            "compares a sum of 4,000 parts with itself",
            |workspace| {
                let sum = format!("q{}", " + q".repeat(4000));
                write(workspace, "a.js", format!("({sum}) && ({sum})()\n"));
            },
            || op("$A && $A()", "$A?.()"),
            Result("1 replacement in 1 file"),
        ),
        edit(
            "nested-brackets",
            "compares 6,000 nested brackets with themselves",
            |workspace| {
                let brackets = format!("{}{}", "[".repeat(6000), "]".repeat(6000));
                write(
                    workspace,
                    "a.ts",
                    format!("x = {brackets} && {brackets}()\n"),
                );
            },
            || op("$A && $A()", "$A?.()"),
            Result("1 replacement in 1 file"),
        ),
        edit(
            "more-nested-brackets",
            "searches 100,000 nested brackets",
            |workspace| {
                let brackets = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
                write(workspace, "a.js", format!("old(1);\nx = {brackets};\n"));
            },
            || op("old($A)", "new($A)"),
            Result("nested more than 10000 deep"),
        ),
        edit(
            "open-brackets",
            "searches 400,000 brackets that are never closed",
            |workspace| {
                write(
                    workspace,
                    "a.js",
                    "old(1);\n".to_owned() + &"[".repeat(400_000),
                )
            },
            || op("old($A)", "new($A)"),
            Result("a.js"),
        ),
        edit(
            "open-tags",
            "searches 750 KB of HTML with tags that are never closed",
            |workspace| {
                write(
                    workspace,
                    "a.html",
                    format!("<b>x</b>{}", "<div>".repeat(150_000)),
                )
            },
            || op("<b>$$$A</b>", "<i>$$$A</i>"),
            time,
        ),
        edit(
            "a-quarter-of-nested-type-arguments",
            "searches 12 KB of TypeScript in which every bracket is ambiguous",
            |workspace| {
                write(
                    workspace,
                    "a.ts",
                    format!("old(1);\n{}", "a<b,".repeat(3000)),
                )
            },
            || op("old($A)", "new($A)"),
            ResultOrTime("Syntax errors in 1 file"),
        ),
        edit(
            "nested-type-arguments",
            "searches 48 KB of TypeScript in which every bracket is ambiguous",
            |workspace| {
                write(
                    workspace,
                    "a.ts",
                    format!("old(1);\n{}", "a<b,".repeat(12_000)),
                )
            },
            || op("old($A)", "new($A)"),
            Result("the parser needs more than 1024 MiB of memory for it"),
        )
        .call_seconds(30),
        edit(
            "nested-arrows",
            "searches 48 KB of TypeScript in which every parenthesis may begin a function",
            |workspace| {
                write(
                    workspace,
                    "a.ts",
                    format!("old(1);\n{}", "(a,b=".repeat(9600)),
                )
            },
            || op("old($A)", "new($A)"),
            Result("Syntax errors in 1 file"),
        ),
        edit(
            "many-ways-to-match",
            "searches for a pattern with too many ways to match",
            |workspace| write(workspace, "a.js", nest("f(1, ", ", 2)")),
            || op(&nest("f($$$, ", ", $$$)"), "x"),
            time,
        ),
        edit(
            "a-template-of-gigabytes",
            "replaces a match of 1 MB by 60,000 copies of it",
            |workspace| {
                write(
                    workspace,
                    "a.js",
                    format!("old([{}]);\n", "1,\n".repeat(300_000)),
                )
            },
            || op("old($A)", &"$A".repeat(60_000)),
            Error("tool", "there is too much to replace: more than 256 MiB"),
        )
        .call_seconds(30),
        edit(
            "a-hundred-thousand-matches",
            "replaces 400,000 matches in 4 MB",
            |workspace| write(workspace, "a.js", "old(1234);".repeat(400_000)),
            || op("old($A)", "something($A, $A)"),
            ResultOrTime("400000 replacements"),
        )
        .memory(640),
        edit(
            "a-pattern-as-large-as-a-file",
            "searches for a pattern of 1 MB",
            |workspace| write(workspace, "a.js", "old(1);"),
            || op(&"f(".repeat(500_000), "x"),
            Error("invalid-params", "/ops/0/pat"),
        ),
        edit(
            "many-operations",
            "passes 20,000 operations at once",
            |workspace| write(workspace, "a.js", "old(1);\n".repeat(1000)),
            || {
                let ops = (0..20_000)
                    .map(|number| json!({"pat": format!("old{number}($A)"), "out": "x"}));
                json!({"ops": ops.collect::<Vec<_>>()})
            },
            Error("invalid-params", "don't fit its schema"),
        ),
        edit(
            "many-files",
            "searches 5,000 files",
            |workspace| {
                for number in 0..5000 {
                    write(workspace, &format!("{number}.js"), "old(1);\n");
                }
            },
            || op("old($A)", "new($A)"),
            ResultOrTime("5000 replacements"),
        ),
        edit(
            "a-pipe-as-a-source",
            "searches a folder with a named pipe in it",
            |workspace| {
                super::paths::pipe(workspace);
                fs::rename(workspace.join("pipe"), workspace.join("pipe.js")).expect("a name");
                write(workspace, "a.js", "old(1);\n");
            },
            || op("old($A)", "new($A)"),
            Result("1 replacement in 1 file"),
        ),
        edit(
            "a-link-out-as-a-source",
            "asks to search a link to the outside",
            |workspace| {
                std::os::unix::fs::symlink("../secret.txt", workspace.join("out.js"))
                    .expect("a link");
            },
            || json!({"ops": [{"pat": "$A", "out": "x"}], "paths": ["out.js"]}),
            Error("invalid-params", "links are not followed"),
        ),
        edit(
            "a-path-above-as-a-source",
            "asks to search a path above the workspace",
            |_| {},
            || json!({"ops": [{"pat": "$A", "out": "x"}], "paths": ["../**"]}),
            Error("invalid-params", "is outside the workspace"),
        ),
        edit(
            "a-glob-of-stars",
            "asks to search a pattern of 10,000 stars",
            |workspace| write(workspace, &"a".repeat(200), ""),
            || json!({"ops": [{"pat": "$A", "out": "x"}], "paths": ["*a".repeat(10_000) + "b"]}),
            Error("invalid-params", "/paths/0"),
        ),
    ]
}

fn edit(
    name: &'static str,
    does: &'static str,
    fill: fn(&Path),
    params: fn() -> Value,
    ends: Ends,
) -> Row {
    let mut row = Row::new(name, does, Attack::Edit(params), ends).filled(fill);
    // What a parser may have, and what the program itself takes.
    row.bounds.helpers_mib = 1024 + 64;
    row
}

impl Row {
    fn call_seconds(mut self, seconds: u64) -> Self {
        self.call_time = Duration::from_secs(seconds);
        self.seconds(seconds + 10)
    }
}

fn op(pattern: &str, template: &str) -> Value {
    json!({"ops": [{"pat": pattern, "out": template}]})
}

fn write(workspace: &Path, name: &str, text: impl AsRef<[u8]>) {
    fs::write(workspace.join(name), text).expect("a file");
}

fn nest(open: &str, close: &str) -> String {
    format!("{}zz{}", open.repeat(40), close.repeat(40))
}
