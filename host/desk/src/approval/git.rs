//! The files of a workspace that git runs or reads as its configuration, according to git itself.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use airlock_rules::OfGit;

/// The maximum number of repositories that git is asked about.
const MOST_REPOSITORIES: usize = 256;

/// The time limit for all answers together.
const TIME: Duration = Duration::from_secs(5);

/// The maximum size of an answer, in bytes.
const MAX_OUTPUT_BYTES: u64 = 4 << 20;

/// Environment variables that would make git answer for another repository.
const ELSEWHERE: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_CEILING_DIRECTORIES",
];

/// Returns the files that git uses below `root`, which may be in a repository itself and contains
/// `repositories`. There are none if git isn't installed, or takes none of these for a repository.
pub(super) fn of_git(root: &Path, repositories: &[PathBuf]) -> OfGit {
    let Ok(root) = root.canonicalize() else {
        return OfGit {
            is_all: true,
            ..OfGit::default()
        };
    };
    let mut used = Used {
        until: Instant::now() + TIME,
        of_git: OfGit {
            is_all: repositories.len() < MOST_REPOSITORIES,
            ..OfGit::default()
        },
        root: &root,
    };
    used.look(&root);
    // The workspace's own `.git` is among them, and was looked at.
    let below = repositories.iter().filter(|it| !it.as_os_str().is_empty());
    for repository in below.take(MOST_REPOSITORIES) {
        used.look(&root.join(repository));
    }
    used.of_git
}

struct Used<'a> {
    root: &'a Path,
    until: Instant,
    of_git: OfGit,
}

enum Answer {
    Said(Vec<u8>),
    /// There is no git, or git sees no repository.
    Nothing,
    Late,
}

impl Used<'_> {
    fn look(&mut self, repository: &Path) {
        let places = ["--git-dir", "--git-common-dir", "--git-path", "hooks"];
        let Some(places) = self.ask(repository, "rev-parse", &places) else {
            return;
        };
        for place in places
            .split(|byte| *byte == b'\n')
            .filter(|it| !it.is_empty())
        {
            self.add(&repository.join(OsStr::from_bytes(place)));
        }
        let list = ["--list", "--includes", "--show-origin", "--null"];
        let Some(list) = self.ask(repository, "config", &list) else {
            return;
        };
        let mut parts = list.split(|byte| *byte == 0);
        while let (Some(origin), Some(setting)) = (parts.next(), parts.next()) {
            let origin = origin.strip_prefix(b"file:").map(OsStr::from_bytes);
            let origin = origin.map(|it| repository.join(it));
            if let Some(origin) = &origin {
                self.add(origin);
            }
            self.add_named(
                repository,
                origin.as_deref(),
                &String::from_utf8_lossy(setting),
            );
        }
    }

    /// Adds the files that a setting names: its key, a line break, its value.
    fn add_named(&mut self, repository: &Path, origin: Option<&Path>, setting: &str) {
        let Some((key, value)) = setting.split_once('\n') else {
            return;
        };
        let is_include = key == "include.path" || key.starts_with("includeif.");
        if is_include {
            let folder = origin.and_then(Path::parent).unwrap_or(repository);
            return self.add(&folder.join(expanded(value)));
        }
        for word in value.split(|it: char| it.is_whitespace() || SHELL.contains(it)) {
            let file = repository.join(expanded(word));
            // A file that doesn't exist yet may be created.
            if file.is_file() || (word.contains('/') && !file.exists()) {
                self.add(&file);
            }
        }
    }

    fn add(&mut self, path: &Path) {
        let path = real(path);
        if self.root.starts_with(&path) {
            self.of_git.paths.insert(String::new());
        } else if let Ok(below) = path.strip_prefix(self.root) {
            self.of_git
                .paths
                .insert(below.to_string_lossy().into_owned());
        }
    }

    fn ask(&mut self, repository: &Path, command: &str, args: &[&str]) -> Option<Vec<u8>> {
        match ask(repository, command, args, self.until) {
            Answer::Said(said) => Some(said),
            Answer::Nothing => None,
            Answer::Late => {
                self.of_git.is_all = false;
                None
            }
        }
    }
}

/// The characters that end a word in a shell.
const SHELL: &str = "!\"'`;&|<>(){}=";

fn ask(repository: &Path, command: &str, args: &[&str], until: Instant) -> Answer {
    let mut git = Command::new("git");
    git.arg("-C").arg(repository).arg(command).args(args);
    for name in ELSEWHERE {
        git.env_remove(name);
    }
    let git = git.stdin(Stdio::null()).stdout(Stdio::piped());
    let Ok(mut child) = git.stderr(Stdio::null()).spawn() else {
        return Answer::Nothing;
    };
    let Some(output) = child.stdout.take() else {
        return Answer::Late;
    };
    let (sender, said) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = output.take(MAX_OUTPUT_BYTES + 1).read_to_end(&mut bytes);
        let _ = sender.send(read.map(|_| bytes));
    });
    let said = said.recv_timeout(until.saturating_duration_since(Instant::now()));
    let Ok(Ok(said)) = said else {
        let _ = child.kill();
        let _ = child.wait();
        return Answer::Late;
    };
    if said.len() as u64 > MAX_OUTPUT_BYTES {
        let _ = child.kill();
        let _ = child.wait();
        return Answer::Late;
    }
    match child.wait() {
        Ok(status) if status.success() => Answer::Said(said),
        _ => Answer::Nothing,
    }
}

/// Replaces `~/` with the user's home.
fn expanded(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), env::var_os("HOME")) {
        (Some(below), Some(home)) => Path::new(&home).join(below),
        _ => path.into(),
    }
}

/// Returns the path without `.` and `..`, and without links as far as it exists.
pub(super) fn real(path: &Path) -> PathBuf {
    let mut real = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                real.pop();
            }
            part => {
                real.push(part);
                if let Ok(led) = fs::canonicalize(&real) {
                    real = led;
                }
            }
        }
    }
    real
}

/// Returns the directory of a repository if the path is its `.git`, or a `HEAD` outside of any
/// `.git`, for which git may take the directory for a repository.
pub(super) fn repository(path: &str) -> Option<&str> {
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_one = match name {
        ".git" => true,
        "HEAD" => !above.split('/').any(|it| it == ".git"),
        _ => false,
    };
    is_one.then_some(above)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn git(folder: &Path, args: &[&str]) {
        let mut git = Command::new("git");
        git.arg("-C").arg(folder).args(args);
        for name in ELSEWHERE {
            git.env_remove(name);
        }
        let done = git.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
        assert!(done.status.success(), "{args:?}: {done:?}");
    }

    #[track_caller]
    fn check(root: &Path, repositories: &[&str], expected: &[&str]) {
        let repositories: Vec<_> = repositories.iter().map(PathBuf::from).collect();
        let found = of_git(root, &repositories);
        assert!(found.is_all);
        let paths: BTreeSet<_> = found.paths.iter().map(String::as_str).collect();
        for path in expected {
            assert!(paths.contains(path), "{path}: {paths:?}");
        }
        let others: Vec<_> = paths.iter().filter(|it| !expected.contains(*it)).collect();
        assert!(others.iter().all(|it| it.starts_with(".git")), "{others:?}");
    }

    #[test]
    fn git_tells_what_it_reads_and_runs() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        git(root, &["init", "-q"]);
        for (key, value) in [
            ("core.hooksPath", "tools/hooks"),
            ("include.path", "../team.gitconfig"),
            ("core.fsmonitor", "./watch.sh"),
            ("alias.st", "!tools/st --short"),
            ("branch.main.remote", "."),
        ] {
            git(root, &["config", "--add", key, value]);
        }
        fs::write(
            root.join("team.gitconfig"),
            "[include]\npath = more/config\n",
        )
        .unwrap();
        let expected = [
            "tools/hooks",
            "team.gitconfig",
            "watch.sh",
            "tools/st",
            "more/config",
        ];
        check(root, &[], &expected);
    }

    #[test]
    fn directories_that_git_keeps_elsewhere_are_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("ws/one")).unwrap();
        git(
            &at("ws/one"),
            &["init", "-q", "--separate-git-dir", "../kept"],
        );
        check(&at("ws"), &["one"], &["kept", "kept/config", "kept/hooks"]);

        fs::create_dir(at("bare")).unwrap();
        git(&at("bare"), &["init", "-q", "--bare"]);
        check(&at("bare/hooks"), &[], &[""]);

        fs::create_dir_all(at("top/ws/hooks")).unwrap();
        git(&at("top"), &["init", "-q"]);
        fs::remove_dir_all(at("top/.git/hooks")).unwrap();
        std::os::unix::fs::symlink("../ws/hooks", at("top/.git/hooks")).unwrap();
        check(&at("top/ws"), &[], &["hooks"]);

        fs::create_dir(at("none")).unwrap();
        check(&at("none"), &["x"], &[]);
    }

    #[test]
    fn repositories_are_found_by_what_is_in_them() {
        for (path, expected) in [
            (".git", Some("")),
            ("a/b/.git", Some("a/b")),
            ("a/HEAD", Some("a")),
            ("a/.git/logs/HEAD", None),
            ("a/b", None),
        ] {
            assert_eq!(repository(path), expected, "{path}");
        }
    }
}
