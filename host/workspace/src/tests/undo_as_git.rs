//! After random edits by others, an undo equals the merges of git, or is refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::from_environment;
use super::merges::{Words, git_merge};
use super::model::{kept, scratch};
use super::script::{Op, Random, tree};
use super::undo::{Folder, put, remove, rename};
use super::undo_merged::chmod;

/// A file of a random case: what it was before the commit, after it, and when it is undone.
struct Course {
    original_path: String,
    path: String,
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
    now: Option<Vec<u8>>,
    has_other_mode: bool,
}

impl Course {
    /// Changes a file as a tool does.
    fn commit(&mut self, random: &mut Random, ops: &mut Vec<Op>) {
        match random.below(8) {
            0 => {}
            1 => self.after = None,
            2 => self.after = Some(vec![0, 1, 2]),
            3 => self.path = format!("moved-{}", self.path),
            kind => {
                self.after = Some(edited(random, self.before.as_deref().unwrap_or_default()));
                if kind == 4 {
                    self.path = format!("moved-{}", self.path);
                }
            }
        }
        if self.after.is_none() {
            self.path.clone_from(&self.original_path);
        }
        let path = &self.original_path;
        match &self.after {
            None if self.before.is_some() => ops.push(remove(path)),
            None => {}
            Some(after) => {
                if self.before.as_ref() != Some(after) {
                    ops.push(put(path, after));
                }
                if self.path != *path {
                    ops.push(rename(path, &self.path));
                }
            }
        }
    }

    /// Changes a file as another program does.
    fn edit(&mut self, random: &mut Random, folder: &Path) {
        let at = folder.join(&self.path);
        self.now.clone_from(&self.after);
        match (random.below(24), &self.after) {
            (0, _) => self.now = Some(vec![0, 7]),
            (1, Some(_)) => self.now = None,
            (2, Some(_)) => {
                chmod(&at, 0o640);
                self.has_other_mode = true;
            }
            (3..10, Some(after)) => self.now = Some(edited(random, after)),
            _ => {}
        }
        match &self.now {
            Some(now) if self.now != self.after => fs::write(at, now).unwrap(),
            None if self.after.is_some() => fs::remove_file(at).unwrap(),
            _ => {}
        }
    }

    /// Returns what the undo makes of the file; `None` if that is a conflict.
    fn undone(&self, folder: &Path) -> Option<Option<Vec<u8>>> {
        if self.before == self.after && self.path == self.original_path {
            return Some(self.now.clone());
        }
        if self.has_other_mode {
            return None;
        }
        if self.now == self.after {
            return Some(self.before.clone());
        }
        let text = |bytes: &Option<Vec<u8>>| String::from_utf8(bytes.clone()?).ok();
        let texts = [&self.after, &self.now, &self.before].map(text);
        let [Some(after), Some(now), Some(before)] = &texts else {
            return None;
        };
        if texts.iter().flatten().any(|text| text.contains('\0')) {
            return None;
        }
        git_merge(folder, [after, now, before]).map(|text| Some(text.into_bytes()))
    }
}

fn edited(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let words = Words {
        number: 1000,
        end: "\n",
    };
    let text = String::from_utf8(bytes.to_vec()).unwrap_or_default();
    let mut lines = text.split_inclusive('\n').map(str::to_owned).collect();
    words.edit(random, &mut lines);
    lines.concat().into_bytes()
}

/// How many random cases are tried; more by `AIRLOCK_UNDOS`.
fn rounds() -> u64 {
    from_environment("AIRLOCK_UNDOS").unwrap_or(300)
}

#[test]
fn an_undo_after_any_edits_equals_the_merge_of_git_or_is_refused() {
    let merging = TempDir::new_in(scratch()).unwrap();
    let (mut merged, mut refused) = (0, 0);
    for seed in 1..=rounds() {
        let random = &mut Random::new(seed);
        let folder = Folder::new();
        let mut ops = vec![put("a", b"undone"), remove("link")];
        let mut courses: Vec<Course> = (0..3)
            .map(|number| {
                let has_before = random.below(5) > 0;
                let lines = (0..20).map(|line| format!("{line} of {number}\n"));
                let before = has_before.then(|| lines.collect::<String>().into_bytes());
                let path = format!("f{number}");
                if let Some(before) = &before {
                    fs::write(folder.path.join(&path), before).unwrap();
                }
                Course {
                    original_path: path.clone(),
                    path,
                    after: before.clone(),
                    before,
                    now: None,
                    has_other_mode: false,
                }
            })
            .collect();
        for course in &mut courses {
            course.commit(random, &mut ops);
        }
        let before = tree(&folder.path);
        folder.run(&ops, &kept("one"));
        for course in &mut courses {
            course.edit(random, &folder.path);
        }
        let untracked = folder.path.join("untracked");
        fs::write(&untracked, "theirs").unwrap();
        let undone: Vec<_> = courses.iter().map(|it| it.undone(merging.path())).collect();
        let has_conflict = undone.contains(&None);
        let now = tree(&folder.path);
        let result = folder.undo("one", &kept("undo"));
        assert_eq!(result.is_err(), has_conflict, "seed {seed}: {result:?}");
        merged += result.map_or(0, |restored| restored.merged.len());
        if has_conflict {
            assert_eq!(tree(&folder.path), now, "seed {seed}");
            folder.undo_or_skip("one", &kept("undo"), true).unwrap();
            refused += 1;
        }
        let mut expected = BTreeMap::new();
        for (course, undone) in courses.iter().zip(undone) {
            let (path, bytes) = match undone {
                Some(undone) => (&course.original_path, undone),
                None => (&course.path, course.now.clone()),
            };
            expected.extend(bytes.map(|bytes| (path.clone(), bytes)));
        }
        for path in tree(&folder.path).keys().filter(|it| it.contains('f')) {
            let found = fs::read(folder.path.join(path)).unwrap();
            assert_eq!(expected.remove(path), Some(found), "seed {seed}: {path}");
        }
        assert!(expected.is_empty(), "seed {seed}: {expected:?}");
        assert_eq!(fs::read(&untracked).unwrap(), b"theirs");
        let after = tree(&folder.path);
        for path in ["a", "b", "d/e/a", "link", "d/link"] {
            assert_eq!(after[path], before[path], "seed {seed}: {path}");
        }
    }
    let rounds = rounds() as usize;
    assert!(
        refused > rounds / 5 && rounds - refused > rounds / 5,
        "{refused}"
    );
    assert!(merged > rounds / 10, "{merged}");
}
