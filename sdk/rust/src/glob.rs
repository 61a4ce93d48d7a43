//! Finds files by a pattern, following the rules that all SDKs share (see
//! `tests/conformance/cases/files.json`).

use std::fs;
use std::path::Path;

use crate::{Context, Error};

/// Returns the files of the workspace whose paths match `pattern`, sorted.
///
/// - `*` matches any characters of one name, and `?` exactly one.
/// - `**` as a whole name matches any number of folders, also none. At the end it matches
///   everything below.
/// - `{rs,toml}` matches either alternative.
///
/// No other character is special, and upper and lower case differ. A name that begins with a dot
/// matches only a pattern with that dot, so `.git` is not entered unless the pattern names it.
///
/// The paths are relative to the workspace, with `/` between names. Only files are listed, each
/// once. Symbolic links are neither followed nor listed. Names that are not Unicode are left out.
///
/// # Errors
///
/// Returns an error if a folder can't be read. If nothing matches, the result is empty.
pub fn glob(pattern: &str) -> Result<Vec<String>, Error> {
    // A relative path that begins with `workspace` or `scratch` would start in the guest's own
    // root.
    let workspace = if cfg!(target_family = "wasm") {
        "/workspace"
    } else {
        "."
    };
    glob_below(Path::new(workspace), pattern)
}

/// Checks if a path matches a pattern of [`glob`], without looking at any files.
#[must_use]
pub fn matches_glob(pattern: &str, path: &str) -> bool {
    Pattern::new(pattern).matches(path.strip_prefix("./").unwrap_or(path))
}

fn glob_below(root: &Path, pattern: &str) -> Result<Vec<String>, Error> {
    let pattern = Pattern::new(pattern);
    let mut found = Vec::new();
    // Each path but the workspace's own ends with `/`.
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let reading = || format!("reading the folder `./{folder}`");
        for entry in fs::read_dir(root.join(&folder)).with_context(reading)? {
            let entry = entry.with_context(reading)?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let kind = entry.file_type().with_context(reading)?;
            let mut path = format!("{folder}{name}");
            if kind.is_dir() {
                path.push('/');
                if pattern.reaches(&path) {
                    folders.push(path);
                }
            } else if kind.is_file() && pattern.matches(&path) {
                found.push(path);
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// A compiled pattern, as steps. A path is matched against all alternatives at once, so matching
/// never takes longer than the pattern's length times the path's.
struct Pattern(Vec<Step>);

#[derive(Clone, Copy)]
enum Step {
    Character(char),
    /// `?`
    One,
    /// `*`
    Many,
    /// `**/`, between two names. The next step is `Inside`.
    Folders,
    /// `**/`, within a name.
    Inside,
    /// The start of an alternative. The next alternative starts at the given step.
    Either(usize),
    /// The end of an alternative. The braces end at the given step, which is 0 until they are
    /// closed.
    Jump(usize),
}

impl Pattern {
    fn new(pattern: &str) -> Self {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        let characters: Vec<char> = pattern.chars().collect();
        let mut steps = Vec::new();
        // For each open brace: its first step, and its latest alternative.
        let mut open: Vec<(usize, usize)> = Vec::new();
        let mut at = 0;
        while let Some(&character) = characters.get(at) {
            at += 1;
            match (character, open.last().copied()) {
                ('?', _) => steps.push(Step::One),
                ('*', within) => match alone(&characters, at - 1, within.is_some()) {
                    Some(next) => {
                        steps.extend([Step::Folders, Step::Inside]);
                        if next == at + 1 {
                            steps.push(Step::Many);
                        }
                        at = next;
                    }
                    None => steps.push(Step::Many),
                },
                ('{', _) if is_closed(&characters[at..]) => {
                    open.push((steps.len(), steps.len()));
                    steps.push(Step::Either(0));
                }
                (',', Some((first, alternative))) => {
                    steps.push(Step::Jump(0));
                    steps[alternative] = Step::Either(steps.len());
                    open.pop();
                    open.push((first, steps.len()));
                    steps.push(Step::Either(0));
                }
                ('}', Some((first, alternative))) => {
                    open.pop();
                    let end = steps.len();
                    steps[alternative] = Step::Either(alternative + 1);
                    for step in &mut steps[first..] {
                        if let Step::Jump(to @ 0) = step {
                            *to = end;
                        }
                    }
                }
                (character, _) => steps.push(Step::Character(character)),
            }
        }
        Self(steps)
    }

    fn matches(&self, path: &str) -> bool {
        let (mut reached, begins) = self.follow(path);
        self.skip(&mut reached, begins, None);
        reached[self.0.len()]
    }

    /// Checks if a path below a folder could match. The folder's path ends with `/`.
    fn reaches(&self, folder: &str) -> bool {
        self.follow(folder).0.contains(&true)
    }

    /// Returns the steps that are next after `path`, and whether a name begins there.
    fn follow(&self, path: &str) -> (Vec<bool>, bool) {
        let mut reached = vec![false; self.0.len() + 1];
        reached[0] = true;
        let mut begins = true;
        for character in path.chars() {
            self.skip(&mut reached, begins, Some(character));
            let is_name = character != '/';
            let is_shown = is_name && !(begins && character == '.');
            let mut next = vec![false; reached.len()];
            for (at, step) in self.0.iter().enumerate().filter(|(at, _)| reached[*at]) {
                match step {
                    Step::Character(wanted) if *wanted == character => next[at + 1] = true,
                    Step::One if is_shown => next[at + 1] = true,
                    Step::Many if is_shown => next[at] = true,
                    Step::Folders if begins && is_shown => next[at + 1] = true,
                    Step::Inside if is_name => next[at] = true,
                    Step::Inside => next[at - 1] = true,
                    _ => {}
                }
            }
            reached = next;
            begins = !is_name;
        }
        (reached, begins)
    }

    /// Adds the steps that are reached without a character. They all come later in the pattern.
    fn skip(&self, reached: &mut [bool], begins: bool, next: Option<char>) {
        for (at, step) in self.0.iter().enumerate() {
            if !reached[at] {
                continue;
            }
            match *step {
                // `*.md` is not `.md`.
                Step::Many if !(begins && next == Some('.')) => reached[at + 1] = true,
                Step::Folders if begins => reached[at + 2] = true,
                Step::Either(other) => {
                    reached[at + 1] = true;
                    reached[other] = true;
                }
                Step::Jump(to) => reached[to] = true,
                _ => {}
            }
        }
    }
}

/// Returns the position after a `**` that is a whole name, and after its `/`.
fn alone(characters: &[char], at: usize, is_within: bool) -> Option<usize> {
    let begins = match at.checked_sub(1).map(|before| characters[before]) {
        None | Some('/') => true,
        Some('{' | ',') => is_within,
        Some(_) => false,
    };
    if !begins || characters.get(at + 1) != Some(&'*') {
        return None;
    }
    match characters.get(at + 2) {
        Some('/') => Some(at + 3),
        None => Some(at + 2),
        Some(',' | '}') if is_within => Some(at + 2),
        Some(_) => None,
    }
}

/// Checks if the rest contains a `}` for the `{` before it.
fn is_closed(rest: &[char]) -> bool {
    let mut depth = 1_usize;
    for character in rest {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_matches_a_pattern_or_not() {
        let check = |pattern: &str, path: &str, expected: bool| {
            assert_eq!(matches_glob(pattern, path), expected, "{pattern} {path}");
        };
        check("**/*.{rs,toml}", "Cargo.toml", true);
        check("**/*.{rs,toml}", "src/deep/lib.rs", true);
        check("**/*.{rs,toml}", "src/lib.rsx", false);
        check("src/**", "src/a/b", true);
        check("*.md", ".md", false);
        check("**", ".git/config", false);
        check("{a,{b,c}d}?", "cd", false);
        check("{a,{b,c}d}?", "cdx", true);
        check("{a", "{a", true);
        check("[ab]", "a", false);
    }

    /// Following each way through the pattern separately would take far too long.
    #[test]
    fn no_pattern_takes_long() {
        let pattern = "{a,a}*".repeat(200) + "b";
        assert!(!matches_glob(&pattern, &"a".repeat(1000)));
    }

    #[test]
    fn files_are_found_sorted_and_without_links() {
        let root = std::env::temp_dir().join(format!("airlock-glob-{}", std::process::id()));
        for file in ["b/x.md", "b.md", "b/y.txt", ".git/z.md"] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink("b.md", root.join("a.md")).unwrap();
        let found = glob_below(&root, "**/*.md");
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(found.unwrap(), ["b.md", "b/x.md"]);
        assert!(
            glob_below(&root, "*").is_err(),
            "there is no such folder any more"
        );
    }
}
