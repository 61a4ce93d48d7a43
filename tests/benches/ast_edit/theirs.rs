//! The command line of ast-grep.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::corpus::Corpus;

/// The version of the crates that the host uses.
const VERSION: &str = "0.51.1";

pub struct AstGrep {
    program: PathBuf,
}

impl AstGrep {
    /// Installs it from npm where it is missing.
    pub fn installed_in(folder: &Path) -> Self {
        let folder = folder.join("ast-grep");
        // Not the script beside it, which would start another runtime first.
        let program = folder.join("node_modules/@ast-grep/cli/ast-grep");
        let version = Command::new(&program).arg("--version").output();
        let installed = version.is_ok_and(|output| {
            String::from_utf8_lossy(&output.stdout).trim_end() == format!("ast-grep {VERSION}")
        });
        if !installed {
            let done = Command::new("npm")
                .args(["install", "--silent", "--no-save", "--prefix"])
                .arg(&folder)
                .arg(format!("@ast-grep/cli@{VERSION}"))
                .status();
            let done = done.expect("npm can be run");
            assert!(done.success(), "npm could not install ast-grep");
        }
        Self { program }
    }

    pub fn preview(&self, corpus: &Corpus, op: (&str, &str)) {
        self.run(corpus, op, &[]);
    }

    pub fn apply(&self, corpus: &Corpus, op: (&str, &str)) {
        self.run(corpus, op, &["--update-all"]);
    }

    fn run(&self, corpus: &Corpus, (pattern, rewrite): (&str, &str), options: &[&str]) {
        let done = Command::new(&self.program)
            .args(["run", "--lang", "rust", "--pattern", pattern])
            .args(["--rewrite", rewrite])
            .args(options)
            .arg(corpus.folder())
            .stdout(Stdio::null())
            .status();
        assert!(done.unwrap().success(), "ast-grep could not do its part");
    }
}
