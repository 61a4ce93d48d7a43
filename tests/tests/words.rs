//! Documents are short, and in plain English, as measured by words that are frequent in translated
//! text. Limits may only fall.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::{Regex, RegexSet};

/// Words that plain English seldom needs. The READMEs of uv, axum, ripgrep and Spin have none or
/// one in a thousand.
const MARKERS: [&str; 20] = [
    r"\bwhoever\b",
    r"\b(some|any|no)body\b",
    r"(^|[.;,:] )where (it|that|there|they|this|nobody|somebody|nothing|one|a|an|the|no|what|several|its|he|she)\b",
    r"\bfor ever\b",
    r"\bmend(ed|s|ing)?\b",
    r"\bdear\b",
    r"\banew\b",
    r"\bmeanwhile\b",
    r"\b(is|are|was|were|be) told\b|\btold of\b",
    r"\bwhat (is|was|has|had|it|they|the|a|an|somebody|nobody|else)\b",
    r"\bof (its|their|our|your|his) own\b",
    r"\bneed(n't| not)\b",
    r"\ball the same\b",
    r", say( |,)|\(say\b",
    r"\bof which\b",
    r"\blikewise\b",
    r"\b(stands|stood)\b",
    r"\bcomes? to\b",
    r"\bthe very\b",
    r"\bthan (that|those)\b",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Tracked and new files whose path ends so.
fn files(end: &str) -> Vec<String> {
    let listed = Command::new("git")
        .args(["ls-files", "-co", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git runs");
    let names = String::from_utf8(listed.stdout).unwrap();
    let is_meant = |name: &&str| name.ends_with(end) && root().join(name).is_file();
    names.lines().filter(is_meant).map(str::to_owned).collect()
}

fn text(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap()
}

/// Markers in a thousand words of these lines.
#[derive(Default)]
struct Rate {
    words: usize,
    markers: usize,
}

impl Rate {
    fn of(lines: impl IntoIterator<Item = String>) -> f64 {
        let cased = MARKERS.map(|it| format!("(?i){it}"));
        let any = RegexSet::new(&cased).unwrap();
        let each = cased.map(|it| Regex::new(&it).unwrap());
        let mut rate = Self::default();
        for line in lines {
            rate.words += line.split_whitespace().count();
            for index in any.matches(&line) {
                rate.markers += each[index].find_iter(&line).count();
            }
        }
        assert!(rate.words > 500);
        rate.markers as f64 * 1000.0 / rate.words as f64
    }
}

fn lines(files: &[&str]) -> Vec<String> {
    let texts = files.iter().map(|file| text(file));
    let lines = texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
    lines.collect()
}

#[test]
fn the_first_documents_are_short() {
    for (file, most) in [
        ("README.md", 8 << 10),
        ("ARCHITECTURE.md", 15 << 10),
        ("CHANGELOG.md", 4 << 10),
    ] {
        let bytes = text(file).len();
        assert!(bytes <= most, "{file}: {bytes} bytes, at most {most}");
    }
}

#[test]
fn documents_and_sources_are_in_plain_english() {
    let pages = files(".md");
    let pages: Vec<_> = pages.iter().map(String::as_str).collect();
    let sources = files(".rs");
    let sources: Vec<_> = (sources.iter())
        .filter(|it| !format!("/{it}").contains("/tests/"))
        .filter(|it| !it.starts_with("host/author/sdk"))
        .map(String::as_str)
        .collect();
    let code = lines(&sources);
    let comment = Regex::new("//[/!]? ?(.*)$").unwrap();
    let literal = Regex::new(r#""((?:[^"\\]|\\.){12,})""#).unwrap();
    let comments = code.iter().filter_map(|it| comment.captures(it));
    let strings = (code.iter()).filter(|it| !it.trim_start().starts_with("//"));
    let strings = strings.flat_map(|it| literal.captures_iter(it).map(|it| it[1].to_owned()));
    for (group, lines, most) in [
        ("README.md", lines(&["README.md"]), 2.0),
        ("pages", lines(&pages), 1.5),
        ("strings", strings.collect(), 3.6),
        (
            "comments",
            comments.map(|it| it[1].to_owned()).collect(),
            2.0,
        ),
    ] {
        let rate = Rate::of(lines);
        assert!(rate <= most, "{group}: {rate:.1} in 1,000, at most {most}");
    }
}
