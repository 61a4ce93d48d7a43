//! Files that determine what other programs do.

mod table;

use std::sync::LazyLock;

use airlock_model::pattern::{Pattern, glob};
use airlock_workspace::folded;
use globset::{GlobSet, GlobSetBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::path::ends;

pub use table::{Class, ControlFile, built_in};

/// An operator's additions to the control files.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Control {
    /// More control files, in addition to those in the table
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Pattern>,
}

/// The control file's name for a link that leads out of the workspace.
pub const OUTSIDE: &str = "outside";

/// The control file's name for `GIT~1` and the like: on Windows, such a name may mean any file.
pub const SHORT_NAME: &str = "short-name";

/// Names of control files that the table doesn't have.
pub const UNLISTED: [&str; 2] = [OUTSIDE, SHORT_NAME];

/// The control files of a workspace.
#[derive(Debug, Clone)]
pub struct ControlFiles {
    /// Patterns of the configuration, in the order of `names`.
    also: GlobSet,
    names: Vec<String>,
    /// True if one of these patterns has a slash.
    has_paths: bool,
}

/// A part of the table.
struct Always {
    set: GlobSet,
    files: Vec<&'static ControlFile>,
}

/// The control files of the table, compiled when the first path is judged. Patterns and folded
/// paths are both in small letters, so most patterns are looked up in a hash table. Patterns that
/// ignore case would be a thousand regular expressions.
static ALWAYS: LazyLock<Always> = LazyLock::new(|| Always::of(|class| class != Class::Build));
static BUILD: LazyLock<Always> = LazyLock::new(|| Always::of(|class| class == Class::Build));

/// The names in the table's patterns that come before a slash.
static JOINTS: LazyLock<GlobSet> = LazyLock::new(|| {
    let mut set = GlobSetBuilder::new();
    for pattern in built_in().iter().flat_map(|it| &it.patterns) {
        let names: Vec<_> = pattern.split('/').collect();
        for name in &names[..names.len() - 1] {
            set.add(glob(name, false).expect("each part is a pattern"));
        }
    }
    set.build().expect("each is a pattern")
});

impl Always {
    fn of(is_meant: impl Fn(Class) -> bool) -> Self {
        let mut set = GlobSetBuilder::new();
        let mut files = Vec::new();
        for file in built_in().iter().filter(|file| is_meant(file.class)) {
            for pattern in &file.patterns {
                let glob = glob(&at_any_depth(pattern), false);
                // A test compiles each pattern.
                set.add(glob.expect("the table has patterns"));
                files.push(file);
            }
        }
        let set = set.build().expect("each is a pattern");
        Self { set, files }
    }

    fn find(&self, small: &str) -> Option<&'static ControlFile> {
        self.set.matches(small).first().map(|at| self.files[*at])
    }
}

impl ControlFiles {
    /// Combines the table, the additions of `also`, and exactly these `paths`.
    pub fn new<'a>(also: &[Control], paths: impl IntoIterator<Item = &'a str>) -> Self {
        let mut set = GlobSetBuilder::new();
        let mut names = Vec::new();
        let mut has_paths = false;
        let mut add = |pattern: &str, name: &str| {
            // Each pattern was compiled when its file was read.
            if let Ok(glob) = glob(pattern, true) {
                set.add(glob);
                names.push(name.to_owned());
            }
        };
        for pattern in also.iter().flat_map(|it| &it.also) {
            has_paths |= pattern.as_str().trim_end_matches('/').contains('/');
            add(pattern.as_str(), pattern.as_str());
        }
        for path in paths {
            add(&format!("./{}", globset::escape(path)), "airlock");
        }
        let also = set.build().unwrap_or_else(|_| GlobSet::empty());
        Self {
            also,
            names,
            has_paths,
        }
    }

    /// Returns the name of the control file at this path or above it.
    ///
    /// `above` is the workspace's own location, such as `project/.github`, or empty: the workspace
    /// itself may be in a control file.
    pub fn name_of(&self, above: &str, path: &str) -> Option<&str> {
        let small = small(above, path);
        let own = ends(path).find_map(|end| {
            let also = self.also.matches(&path[..end]);
            also.first().map(|at| &*self.names[*at])
        });
        own.or_else(|| ends(&small).find_map(|end| self.find_file(&small[..end])))
            .or_else(|| path.split('/').any(is_short).then_some(SHORT_NAME))
    }

    /// Checks if a pattern with a slash has this name before a slash, as `.github/workflows` does.
    pub(crate) fn is_joint(&self, name: &str) -> bool {
        self.has_paths || JOINTS.is_match(&*folded(name))
    }

    fn find_file(&self, small: &str) -> Option<&str> {
        if let Some(file) = ALWAYS.find(small) {
            return Some(&file.name);
        }
        let also = self.also.matches(small);
        also.first().map(|at| &*self.names[*at])
    }
}

/// Checks if builds or tests run this path, or a directory above it.
pub fn is_for_builds(path: &str) -> bool {
    let small = small("", path);
    ends(&small).any(|end| BUILD.find(&small[..end]).is_some())
}

/// Returns a path below the workspace's location, with all names folded. A backslash counts as `/`,
/// as it does on Windows.
fn small(above: &str, path: &str) -> String {
    let names = above.split('/').chain(path.split(['/', '\\']));
    let names = names.filter(|name| !name.is_empty()).map(folded);
    let names: Vec<_> = names.collect();
    names.join("/")
}

/// Checks if a name has the form of a short one: at most eight characters that end in `~` and a
/// number, and an extension of at most three.
fn is_short(name: &str) -> bool {
    let (stem, extension) = name.split_once('.').unwrap_or((name, ""));
    let Some((start, number)) = stem.rsplit_once('~') else {
        return false;
    };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number && !start.is_empty() && stem.len() <= 8 && extension.len() <= 3
}

fn at_any_depth(pattern: &str) -> String {
    if pattern.contains('/') {
        format!("**/{pattern}")
    } else {
        pattern.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_of_the_table_is_compiled_and_is_in_small_letters() {
        for file in built_in() {
            for pattern in &file.patterns {
                glob(&at_any_depth(pattern), false).unwrap();
                assert_eq!(*pattern, pattern.to_lowercase());
            }
        }
        let patterns = built_in().iter().map(|it| it.patterns.len());
        assert_eq!(
            ALWAYS.files.len() + BUILD.files.len(),
            patterns.sum::<usize>()
        );
    }

    #[test]
    fn a_control_file_is_one_at_any_depth_under_any_name_and_with_all_below_it() {
        let also = Control {
            also: vec![
                Pattern::new("deploy/").unwrap(),
                Pattern::new("*.tf").unwrap(),
            ],
        };
        let files = ControlFiles::new(&[also], ["state/[1]/pending.db"]);
        let check = |path: &str, expected: Option<&str>| {
            assert_eq!(files.name_of("", path), expected, "{path}");
        };
        check(".git/hooks/pre-commit", Some(".git"));
        check("a/b/.GIT/config", Some(".git"));
        check("vendor/x/.git", Some(".git"));
        check("mirror.git/config", Some(".git"));
        for name in [
            ".git.",
            ".git ",
            ".git. .",
            ".gi\u{200c}t",
            ".g\u{ad}it",
            ".\u{ff47}it",
            ".git::$INDEX_ALLOCATION",
            ".gi\u{1d42d}",
        ] {
            check(&format!("a/{name}/config"), Some(".git"));
        }
        check(".v\u{17f}code/tasks.json", Some(".vscode"));
        check("a\\.git\\config", Some(".git"));
        check("GIT~1/config", Some(SHORT_NAME));
        check("a/gi7eba~1.txt", Some(SHORT_NAME));
        check("notes~1.markdown", None);
        check("backup.txt~", None);
        check("~1", None);
        check(".gitignore", None);
        check("git/hooks/x", None);
        check(".github/workflows/ci.yml", Some(".github/workflows"));
        check("sub/.github/workflows", Some(".github/workflows"));
        check(".github/dependabot.yml", Some("hosting-sites"));
        check(".github/ISSUE_TEMPLATE/bug.md", None);
        check(".vscode/settings.json", Some(".vscode"));
        check(".claude/settings.json", Some(".claude"));
        check("CLAUDE.md", Some(".claude"));
        check(".mcp.json", Some(".mcp.json"));
        check(".env", Some(".env"));
        check("api/.env.local", Some(".env"));
        check("environment.md", None);
        check("home/.bashrc", Some("shell-profiles"));
        check("Microsoft.PowerShell_profile.ps1", Some("shell-profiles"));
        check("airlock-host.toml", Some("airlock"));
        check(".airlock/journal", Some("airlock"));
        // An alternative may be empty, as in `{,.}lefthook`.
        check("lefthook.yml", Some("git-hooks"));
        check(".lefthook.yml", Some("git-hooks"));
        check("azure-pipelines.yml", Some("continuous-integration"));
        check("deploy/prod.yml", Some("deploy/"));
        check("infra/main.tf", Some("*.tf"));
        check("state/[1]/pending.db", Some("airlock"));
        check("state/1/pending.db", None);
        check("src/main.rs", None);
        check("README.md", None);
        check("Makefile", None);
    }

    #[test]
    fn where_the_workspace_lies_counts_too() {
        let files = ControlFiles::new(&[], []);
        let check = |above: &str, path: &str, expected: Option<&str>| {
            assert_eq!(files.name_of(above, path), expected, "{above} {path}");
        };
        check(
            "project/.github",
            "workflows/ci.yml",
            Some(".github/workflows"),
        );
        check(".config", "systemd/user/x.service", Some("login"));
        check(".ssh", "authorized_keys", Some("keys"));
        check("a/.VSCODE", "tasks.json", Some(".vscode"));
        check("project/.github", "ISSUE_TEMPLATE/bug.md", None);
        check("project", "src/main.rs", None);
    }

    #[test]
    fn what_builds_run_is_a_class_of_its_own() {
        for path in [
            "Makefile",
            "a/package.json",
            "build.rs",
            "GNUmakefile",
            "x/vite.config.ts",
        ] {
            assert!(is_for_builds(path), "{path}");
        }
        for path in ["src/main.rs", "README.md", ".git/config"] {
            assert!(!is_for_builds(path), "{path}");
        }
    }
}
