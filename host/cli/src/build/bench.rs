//! How a language's tools are run.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use airlock_render::Block;
use tokio::process::Command;

use crate::failure::{Exit, Failure};
use crate::interrupt::Interrupt;
use crate::output::say;
use crate::progress::Progress;

/// Where work is done that takes its time: it is shown, and Ctrl-C ends it.
pub struct Bench<'a> {
    interrupt: &'a Interrupt,
    progress: &'a Progress,
}

impl<'a> Bench<'a> {
    pub fn new(interrupt: &'a Interrupt, progress: &'a Progress) -> Self {
        Self {
            interrupt,
            progress,
        }
    }

    /// Does `work`, and shows `what` it is.
    pub async fn during<T>(
        &self,
        what: String,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let work = self.progress.during(what, work);
        let done = self.interrupt.token().run_until_cancelled(work).await;
        done.unwrap_or_else(|| Err(Failure::interrupted()))
    }

    /// Waits for Ctrl-C.
    pub async fn interrupted(&self) {
        self.interrupt.token().cancelled().await;
    }

    /// Runs a program that should be quiet, and gives what it wrote to standard output. What it says on standard error is passed on.
    ///
    /// # Errors
    /// If it can't be run, or if it fails.
    pub async fn run(&self, what: &str, command: &mut Command) -> Result<Vec<u8>, Failure> {
        self.run_to_its_end(what, command).await?.succeeded()
    }

    /// The same for one whose standard output tells why it failed.
    ///
    /// # Errors
    /// If it can't be run.
    pub async fn run_to_its_end(
        &self,
        what: &str,
        command: &mut Command,
    ) -> Result<Ended, Failure> {
        let program = Path::new(command.as_std().get_program());
        let name = program.file_name().unwrap_or(program.as_os_str());
        let name = name.to_string_lossy().into_owned();
        let running = async {
            let output = command
                .stdin(Stdio::null())
                .kill_on_drop(true)
                .output()
                .await;
            let output = output.map_err(|error| cannot_run(&name, &error))?;
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.trim_end().to_owned();
            Ok((output.status, output.stdout, said))
        };
        let (status, stdout, said) = self.during(format!("{what}…"), running).await?;
        if !said.is_empty() {
            say(&Block::new().text(&said));
        }
        Ok(Ended {
            name,
            status,
            stdout,
            has_said_why: !said.is_empty(),
        })
    }
}

/// A program that ended.
pub struct Ended {
    name: String,
    status: ExitStatus,
    pub stdout: Vec<u8>,
    has_said_why: bool,
}

impl Ended {
    /// What it wrote to standard output.
    ///
    /// # Errors
    /// If it failed.
    pub fn succeeded(self) -> Result<Vec<u8>, Failure> {
        if self.status.success() {
            return Ok(self.stdout);
        }
        let message = format!("`{}` failed ({})", self.name, self.status);
        let hint = match self.has_said_why {
            true => "what it said stands above",
            false => "run it by hand in the project's folder to see why",
        };
        Err(failed(message).with_hint(hint))
    }
}

fn cannot_run(name: &str, error: &io::Error) -> Failure {
    failed(format!("could not run `{name}`: {error}"))
}

/// A tool of the language's did not make what it should.
pub fn failed(message: impl Into<String>) -> Failure {
    Failure::new(Exit::Failed, "build-failed", message)
}

/// Something has to be installed first, which `command` does.
pub fn missing(what: &str, command: &str) -> Failure {
    Failure::new(
        Exit::Failed,
        "missing-tool",
        format!("{what} is missing on this machine"),
    )
    .with_hint(format!("to install it: {command}"))
}

/// The command that installs a language where it has packages for this system, and where else it comes from.
pub fn packaged(debian: &str, homebrew: &str, site: &str) -> String {
    match cfg!(target_os = "macos") {
        true => format!("brew install {homebrew} (or see {site})"),
        false => format!("apt-get install {debian} (or see {site})"),
    }
}

/// The program of this name on the PATH.
pub fn find(program: &str) -> Option<PathBuf> {
    find_in(program, &std::env::var_os("PATH")?)
}

fn find_in(program: &str, path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path)
        // An empty entry means the current folder, from which nothing is run unasked.
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(format!("{program}{}", std::env::consts::EXE_SUFFIX)))
        .find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_the_folders_of_the_path() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("compiler"), "").unwrap();
        std::fs::create_dir(folder.path().join("folder")).unwrap();
        let check = |program, path: &OsStr, expected: Option<PathBuf>| {
            assert_eq!(find_in(program, path), expected, "{program} in {path:?}");
        };
        let path = std::env::join_paths([Path::new("/nowhere"), folder.path()]).unwrap();
        check("compiler", &path, Some(folder.path().join("compiler")));
        check("folder", &path, None);
        check("linker", &path, None);
        check("Cargo.toml", OsStr::new(""), None);
    }
}
