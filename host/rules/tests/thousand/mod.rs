//! A thousand change sets, each with the verdict that it must have. They are made by a rule, so
//! that each is another one, and are the same in each run.

use airlock_model::effects::{Change, ChangeKind, Effects};
use airlock_rules::{Class, ControlFile, Verdict, built_in};

use super::{Workspace, change, executable, judged_with, link, moved_directory, renamed, rules};

/// A change set, and what must become of it.
#[derive(Debug)]
struct Labelled {
    changes: Vec<Change>,
    /// What is in each directory that is moved.
    inside: Vec<String>,
    is_seen: bool,
    expected: Verdict,
}

/// Of every hundred: 60 small edits and renames, 10 that are too large for a rule, 5 programs and
/// links, 7 deletions, 3 keys, 12 control files, 3 that nobody has seen.
fn all() -> Vec<Labelled> {
    let mut random = Random(0x5eed);
    (0..1000)
        .map(|at| labelled(at % 100, &mut random))
        .collect()
}

fn labelled(at: u64, random: &mut Random) -> Labelled {
    let mut changes = edits(random, 1, 12);
    let mut inside = Vec::new();
    let mut is_seen = true;
    let expected = match at {
        0..60 => Verdict::Allow,
        60..70 => {
            changes = edits(random, 31, 60);
            Verdict::Ask
        }
        70..75 => {
            let odd = match random.below(2) {
                0 => executable("src/run.sh"),
                _ => link("docs/latest", "v2"),
            };
            put(odd, &mut changes, random);
            Verdict::Ask
        }
        75..82 => {
            let count = 1 + random.below(9);
            changes.truncate(5);
            for at in 0..count {
                changes.push(change(ChangeKind::Deleted, &format!("src/old/{at}.rs")));
            }
            match count {
                0..=5 => Verdict::Ask,
                _ => Verdict::AskAtTerminal,
            }
        }
        82..85 => {
            let key = ["src/server.pem", "docs/id.key"][random.below(2) as usize];
            let kind = [
                ChangeKind::Created,
                ChangeKind::Modified,
                ChangeKind::Deleted,
            ];
            put(
                change(kind[random.below(3) as usize], key),
                &mut changes,
                random,
            );
            Verdict::Refuse
        }
        85..97 => {
            let control = control_path(random);
            let hidden = match random.below(8) {
                0 => change(ChangeKind::Created, &control),
                1 => change(ChangeKind::Modified, &control),
                2 => change(ChangeKind::Deleted, &control),
                3 => renamed(&control, "docs/x.md"),
                4 => renamed("docs/x.md", &control),
                5 => executable(&control),
                6 => link("docs/latest", &format!("../{control}")),
                _ => {
                    inside = vec!["a.md".to_owned(), control];
                    moved_directory("docs/old", "docs/older")
                }
            };
            put(hidden, &mut changes, random);
            Verdict::AskAtTerminal
        }
        _ => {
            is_seen = false;
            // The rule about keys could be about it.
            Verdict::Refuse
        }
    };
    Labelled {
        changes,
        inside,
        is_seen,
        expected,
    }
}

fn edits(random: &mut Random, least: u64, most: u64) -> Vec<Change> {
    let count = least + random.below(most - least + 1);
    let edit = |at: u64, random: &mut Random| {
        let directory = ["src", "src/deep/er", "docs", "tests/unit"][random.below(4) as usize];
        let path = format!("{directory}/file-{at}.rs");
        match random.below(4) {
            0 => change(ChangeKind::Created, &path),
            1 => renamed(&path, &format!("{directory}/other-{at}.rs")),
            _ => change(ChangeKind::Modified, &path),
        }
    };
    (0..count).map(|at| edit(at, random)).collect()
}

/// One of the table, at some depth and in some case, perhaps with something below it.
fn control_path(random: &mut Random) -> String {
    let all: Vec<&ControlFile> = built_in()
        .iter()
        .filter(|file| file.class != Class::Build)
        .collect();
    let file = all[random.below(all.len() as u64) as usize];
    let pattern = &file.patterns[random.below(file.patterns.len() as u64) as usize];
    let mut path = of_pattern(pattern);
    if random.below(3) == 0 {
        path = path.to_uppercase();
    }
    let above = ["", "sub/", "vendor/a/b/"][random.below(3) as usize];
    let below = ["", "/hooks/x"][random.below(2) as usize];
    format!("{above}{path}{below}")
}

/// A path that a pattern of the table means.
fn of_pattern(pattern: &str) -> String {
    let mut path = pattern.replace('*', "x");
    while let (Some(open), Some(close)) = (path.find('{'), path.find('}')) {
        let first = path[open + 1..close]
            .split(',')
            .next_back()
            .unwrap_or_default();
        path = format!("{}{first}{}", &path[..open], &path[close + 1..]);
    }
    path
}

fn put(odd: Change, changes: &mut Vec<Change>, random: &mut Random) {
    let at = random.below(changes.len() as u64 + 1) as usize;
    changes.insert(at, odd);
}

/// Numbers that are the same in each run: xorshift64.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

#[test]
fn of_a_thousand_change_sets_none_with_a_control_file_goes_through() {
    let rules = rules(include_str!("../thousand.toml"), "");
    let mut counts = [0_u32; 4];
    for label in all() {
        let inside = label.inside.iter().map(|path| format!("docs/old/{path}"));
        let workspace = Workspace::of(inside);
        let effects = if label.is_seen {
            Effects::verified(label.changes.clone())
        } else {
            Effects::unverified("it hung")
        };
        let judgement = judged_with(&rules, Some(&effects), Verdict::Ask, &workspace);
        assert_eq!(
            judgement.verdict, label.expected,
            "{label:?}\n{judgement:?}"
        );
        counts[judgement.verdict as usize] += 1;
    }
    // The table of the README.
    assert_eq!(counts, [600, 187, 153, 60]);
}
