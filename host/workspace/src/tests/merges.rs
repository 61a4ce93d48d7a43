//! A merge equals that of `git merge-file`, or is a conflict wherever git has one.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::from_environment;
use super::model::scratch;
use super::script::Random;
use crate::merge::{hunks, merge, patch};

/// A base, and two texts that come from it.
type Case = [String; 3];

/// How many cases are tried; more by `AIRLOCK_MERGES`.
fn cases() -> u64 {
    from_environment("AIRLOCK_MERGES").unwrap_or(2_400)
}

/// Returns what git makes of a case; `None` if that is a conflict.
pub(super) fn git_merge(folder: &Path, [base, ours, theirs]: [&str; 3]) -> Option<String> {
    for (name, text) in [("base", base), ("ours", ours), ("theirs", theirs)] {
        fs::write(folder.join(name), text).unwrap();
    }
    let merged = Command::new("git")
        .args(["merge-file", "-p", "-q", "ours", "base", "theirs"])
        .current_dir(folder)
        .envs([
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_SYSTEM", "/dev/null"),
        ])
        .stderr(Stdio::null())
        .output()
        .expect("git is installed");
    let code = merged.status.code().expect("git was not killed");
    assert!(code < 128, "git can't merge this");
    (code == 0).then(|| String::from_utf8(merged.stdout).unwrap())
}

/// The words of a text's lines: few make many equal lines.
pub(super) struct Words {
    pub number: usize,
    pub end: &'static str,
}

impl Words {
    fn line(&self, random: &mut Random) -> String {
        format!("{}{}", random.below(self.number), self.end)
    }

    /// Makes some random edits of lines: new, removed, other, moved and repeated ones.
    pub(super) fn edit(&self, random: &mut Random, lines: &mut Vec<String>) {
        for _ in 0..=random.below(4) {
            let at = random.below(lines.len() + 1);
            let some = at + random.below(3.min(lines.len() - at) + 1);
            match random.below(10) {
                0..=2 => lines.insert(at, self.line(random)),
                3 | 4 => drop(lines.drain(at..some)),
                5..=7 => {
                    let line = format!("new {}", self.line(random));
                    lines.splice(at..some, [line]);
                }
                8 => {
                    let moved: Vec<_> = lines.drain(at..some).collect();
                    let to = random.below(lines.len() + 1);
                    lines.splice(to..to, moved);
                }
                _ => {
                    let repeated = lines[at..some].to_vec();
                    let to = random.below(lines.len() + 1);
                    lines.splice(to..to, repeated);
                }
            }
        }
    }
}

fn text(random: &mut Random, lines: &[String]) -> String {
    let text = lines.concat();
    match random.below(5) {
        0 => text.trim_end().to_owned(),
        _ => text,
    }
}

/// Returns the sources of this crate.
fn sources() -> Vec<String> {
    let mut left = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut paths = Vec::new();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(path).unwrap().map(|it| it.unwrap().path()));
        } else {
            paths.push(path);
        }
    }
    paths.sort();
    let texts = paths.iter().map(|path| fs::read_to_string(path).unwrap());
    texts.collect()
}

fn case(seed: u64, sources: &[String]) -> Case {
    let random = &mut Random::new(seed);
    let words = Words {
        number: [2, 6, 30, 1000][random.below(4)],
        end: ["\n", "\n", "\n", "\r\n"][random.below(4)],
    };
    let base: Vec<String> = if seed.is_multiple_of(4) {
        let source = &sources[random.below(sources.len())];
        source.split_inclusive('\n').map(str::to_owned).collect()
    } else {
        let length = [0, 1, 5, 20, 60][random.below(5)];
        (0..length).map(|_| words.line(random)).collect()
    };
    let (mut ours, mut theirs) = (base.clone(), base.clone());
    if random.below(12) > 0 {
        words.edit(random, &mut ours);
    }
    match random.below(12) {
        0 => {}
        // Both have some edits in common.
        1 => {
            theirs.clone_from(&ours);
            words.edit(random, &mut theirs);
        }
        _ => words.edit(random, &mut theirs),
    }
    [base, ours, theirs].map(|lines| text(random, &lines))
}

#[test]
fn a_merge_equals_that_of_git() {
    let sources = sources();
    let folder = TempDir::new_in(scratch()).unwrap();
    let mut clean = 0;
    for seed in 1..=cases() {
        let case = case(seed, &sources);
        let [base, ours, theirs] = case.each_ref().map(String::as_str);
        let expected = git_merge(folder.path(), [base, ours, theirs]);
        clean += u64::from(expected.is_some());
        assert_eq!(
            merge(base, ours, theirs).ok(),
            expected,
            "seed {seed}: {case:?}"
        );
    }
    let conflicts = cases() - clean;
    println!("{clean} merges, {conflicts} conflicts");
    assert!(clean > cases() / 4 && conflicts > cases() / 4, "{clean}");
}

#[test]
fn the_hunks_between_two_texts_turn_one_into_the_other() {
    let sources = sources();
    for seed in 1..=2_000 {
        let [before, after, _] = case(seed, &sources);
        let hunks = hunks(&before, &after);
        assert_eq!(patch(&before, &hunks).as_ref(), Some(&after), "seed {seed}");
        assert!(before != after || hunks.is_empty(), "seed {seed}");
    }
}

#[test]
fn a_conflict_has_the_lines_of_the_changed_text() {
    let base = "1\n2\n3\n4\n5\n";
    let check = |ours: &str, theirs: &str, expected| {
        assert_eq!(merge(base, ours, theirs), Err(expected), "{ours:?}");
    };
    check("1\n2\nour\n4\n5\n", "1\n2\ntheir\n4\n5\n", (3, 3));
    check("0\n1\n2\nour\nlines\n4\n5\n", "1\n2\n4\n5\n", (4, 5));
    check("1\n2\n4\n5\n", "1\n2\ntheir\n4\n5\n", (3, 3));
    check("1\n2\nour\n4\n5\n", "1\n2\n3\ntheir\n5\n", (3, 3));
}

#[test]
fn hunks_of_another_text_are_refused() {
    let hunks = hunks("one\ntwo\nthree\n", "one\ntwo\nfour\n");
    for other in ["one\n", "one\ntwoöööö\n"] {
        assert_eq!(patch(other, &hunks), None, "{other}");
    }
}
