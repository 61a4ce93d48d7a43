//! Files that say what other programs do.

use std::sync::LazyLock;

use globset::{GlobSet, GlobSetBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::{Pattern, glob};

/// What an operator says of control files.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Control {
    /// What else is a control file, beside those that always are
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Pattern>,
}

/// What always is a control file: what a rule calls it, and the names and paths that it has, at any
/// depth, with all that is below them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ControlFile {
    /// As a rule names it in `control`.
    pub name: &'static str,
    /// Patterns of names and paths, at any depth. Upper and lower case don't differ.
    pub patterns: &'static [&'static str],
    /// What it can do, as a clause that begins with "which".
    pub does: &'static str,
}

const fn file(
    name: &'static str,
    patterns: &'static [&'static str],
    does: &'static str,
) -> ControlFile {
    ControlFile {
        name,
        patterns,
        does,
    }
}

/// What a link is called that leads out of the workspace: it is no file in there, and counts as a
/// control file.
pub const OUTSIDE: &str = "outside";

const RUNS: &str = "has programs run commands";
const INSTRUCTS: &str = "tells agents what to do, and which programs to start";
const OURS: &str = "is Airlock's own";

/// All that always are control files.
pub const BUILT_IN: &[ControlFile] = &[
    // Hooks, and settings that name programs: also those of submodules and worktrees, which are
    // below it, and the file that says where it is.
    file(".git", &[".git"], RUNS),
    file(
        "git-settings",
        &[".gitconfig", ".gitmodules", ".config/git"],
        RUNS,
    ),
    file("version-control", &[".hg", ".jj", ".svn"], RUNS),
    file(
        "git-hooks",
        &[
            ".husky",
            ".pre-commit-config.yaml",
            ".pre-commit-hooks.yaml",
            "lefthook.{yml,yaml,toml,json}",
            ".lefthook.{yml,yaml,toml,json}",
        ],
        RUNS,
    ),
    file(".vscode", &[".vscode", "*.code-workspace"], RUNS),
    file(
        "editors",
        &[
            ".idea",
            ".zed",
            ".fleet",
            ".exrc",
            ".vimrc",
            ".nvimrc",
            ".nvim.lua",
            ".dir-locals.el",
            ".emacs",
            ".emacs.d",
            ".config/nvim",
            ".vim",
        ],
        RUNS,
    ),
    file(
        ".devcontainer",
        &[".devcontainer", ".devcontainer.json"],
        RUNS,
    ),
    file(
        ".claude",
        &[".claude", ".claude.json", "claude.md", "claude.local.md"],
        INSTRUCTS,
    ),
    file(
        ".mcp.json",
        &[".mcp.json", "mcp.json", "mcp_config.json"],
        INSTRUCTS,
    ),
    file(
        "agents",
        &[
            "agents.md",
            "agent.md",
            "agents.override.md",
            "gemini.md",
            ".gemini",
            ".codex",
            ".cursor",
            ".cursorrules",
            ".windsurf",
            ".windsurfrules",
            ".clinerules",
            ".roo",
            ".roorules",
            ".continue",
            ".aider*",
            ".goosehints",
            ".config/goose",
            ".opencode",
            "opencode.{json,jsonc}",
            ".kiro",
            ".amazonq",
            ".junie",
            ".github/copilot-instructions.md",
            ".github/{instructions,prompts,agents,chatmodes}",
            ".agents",
            ".omp",
        ],
        INSTRUCTS,
    ),
    file(".github/workflows", &[".github/{workflows,actions}"], RUNS),
    file(
        "continuous-integration",
        &[
            ".gitlab-ci.{yml,yaml}",
            ".gitlab/ci",
            ".circleci",
            ".travis.yml",
            "jenkinsfile",
            "azure-pipelines.{yml,yaml}",
            "bitbucket-pipelines.yml",
            ".buildkite",
            ".drone.{yml,yaml,star}",
            ".woodpecker.{yml,yaml}",
            ".woodpecker",
            ".cirrus.{yml,star}",
            ".appveyor.yml",
            "appveyor.yml",
            ".{gitea,forgejo}/{workflows,actions}",
            ".builds",
            ".build.yml",
        ],
        RUNS,
    ),
    file(
        "shell-profiles",
        &[
            ".bashrc",
            ".bash_{profile,login,logout,aliases}",
            ".profile",
            ".{zshrc,zshenv,zprofile,zlogin,zlogout}",
            ".{cshrc,tcshrc,kshrc,mkshrc,shrc,login,logout}",
            ".config/{fish,nushell,powershell,bash,zsh,xonsh}",
            ".xonshrc",
            "*profile.ps1",
            ".inputrc",
            ".{xprofile,xinitrc,xsession,xsessionrc,pam_environment}",
            ".{tmux.conf,screenrc}",
        ],
        RUNS,
    ),
    file(
        "login",
        &[
            ".config/{systemd,autostart,environment.d}",
            "launchagents",
            ".ssh",
            ".gnupg",
        ],
        RUNS,
    ),
    file(
        ".envrc",
        &[
            ".envrc",
            ".direnvrc",
            "{,.}mise{,.local}.toml",
            ".mise",
            ".config/{direnv,mise}",
        ],
        RUNS,
    ),
    file(
        ".env",
        &[".env", ".env.*", "*.env"],
        "holds secrets, and settings of programs",
    ),
    file(
        "package-managers",
        &[
            ".npmrc",
            ".yarnrc",
            ".yarnrc.yml",
            ".pnpmfile.cjs",
            ".pypirc",
            "pip.conf",
            ".netrc",
            ".cargo",
            ".gem",
            ".bundle",
            ".m2",
            ".docker",
        ],
        "has secrets, or programs that package managers run",
    ),
    file(
        "airlock",
        &[
            ".airlock",
            "airlock-host.toml",
            ".config/airlock",
            ".local/state/airlock",
            ".cache/airlock",
        ],
        OURS,
    ),
];

/// The control files of a workspace.
#[derive(Debug, Clone)]
pub struct ControlFiles {
    /// Beside those that always are, in the order of `names`.
    also: GlobSet,
    names: Vec<String>,
}

/// Those that always are.
struct Always {
    set: GlobSet,
    names: Vec<&'static str>,
}

/// Compiled once, when the first path is judged. The patterns have small letters, and so has what
/// they are compared with: for most of them that is a look into a table of names, where patterns
/// that ignore case would be 150 regular expressions.
static ALWAYS: LazyLock<Always> = LazyLock::new(|| {
    let mut set = GlobSetBuilder::new();
    let mut names = Vec::new();
    for file in BUILT_IN {
        for pattern in file.patterns {
            let glob = glob(&at_any_depth(pattern), false);
            // A test compiles each.
            set.add(glob.expect("the table has patterns"));
            names.push(file.name);
        }
    }
    let set = set.build().expect("each is a pattern");
    Always { set, names }
});

impl ControlFiles {
    /// Those that always are, with what these say, and these very paths.
    pub fn new<'a>(also: &[Control], paths: impl IntoIterator<Item = &'a str>) -> Self {
        let mut set = GlobSetBuilder::new();
        let mut names = Vec::new();
        let mut add = |pattern: &str, name: &str| {
            // Each was compiled before, by itself.
            if let Ok(glob) = glob(pattern, true) {
                set.add(glob);
                names.push(name.to_owned());
            }
        };
        for pattern in also.iter().flat_map(|it| &it.also) {
            add(pattern.as_str(), pattern.as_str());
        }
        for path in paths {
            add(&format!("./{}", globset::escape(path)), "airlock");
        }
        let also = set.build().unwrap_or_else(|_| GlobSet::empty());
        Self { also, names }
    }

    /// What the control file is called that this path is, or is below, if it is any.
    pub fn name_of(&self, path: &str) -> Option<&str> {
        let small = path.to_ascii_lowercase();
        let ends = path.match_indices('/').map(|(end, _)| end);
        ends.chain([path.len()]).find_map(|end| {
            let first = |set: &GlobSet, path: &str| set.matches(path).into_iter().next();
            match first(&ALWAYS.set, &small[..end]) {
                Some(index) => Some(ALWAYS.names[index]),
                None => first(&self.also, &path[..end]).map(|index| &*self.names[index]),
            }
        })
    }
}

fn at_any_depth(pattern: &str) -> String {
    match pattern.contains('/') {
        true => format!("**/{pattern}"),
        false => pattern.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_of_the_table_is_compiled_and_every_name_is_there_once() {
        for file in BUILT_IN {
            for pattern in file.patterns {
                glob(&at_any_depth(pattern), false).unwrap();
                assert_eq!(*pattern, pattern.to_lowercase());
            }
        }
        let mut names: Vec<_> = BUILT_IN.iter().map(|it| it.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
        let patterns = BUILT_IN.iter().map(|it| it.patterns.len()).sum::<usize>();
        assert_eq!((ALWAYS.set.len(), ALWAYS.names.len()), (patterns, patterns));
    }

    #[test]
    fn a_control_file_is_one_at_any_depth_in_any_case_and_with_all_below_it() {
        let also = Control {
            also: vec![
                Pattern::new("deploy/").unwrap(),
                Pattern::new("*.tf").unwrap(),
            ],
        };
        let files = ControlFiles::new(&[also], ["state/[1]/pending.db"]);
        let check = |path: &str, expected: Option<&str>| {
            assert_eq!(files.name_of(path), expected, "{path}");
        };
        check(".git/hooks/pre-commit", Some(".git"));
        check("a/b/.GIT/config", Some(".git"));
        check("vendor/x/.git", Some(".git"));
        check(".gitignore", None);
        check("git/hooks/x", None);
        check(".github/workflows/ci.yml", Some(".github/workflows"));
        check("sub/.github/workflows", Some(".github/workflows"));
        check(".github/dependabot.yml", None);
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
        check("deploy/prod.yml", Some("deploy/"));
        check("infra/main.tf", Some("*.tf"));
        check("state/[1]/pending.db", Some("airlock"));
        check("state/1/pending.db", None);
        check("src/main.rs", None);
        check("README.md", None);
    }
}
