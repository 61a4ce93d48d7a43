//! Running a language's build tools.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use airlock_host::Engine;
use airlock_host::cancel::CancellationToken;
use anyhow::{Context, anyhow};
use tokio::process::Command;

use crate::error::{Error, ErrorKind};

/// Receives the progress of a build.
pub trait Reporter: Sync {
    /// A long-running step begins. No other begins before it has ended.
    fn began(&self, what: &str) {
        let _ = what;
    }

    /// The step has ended, whether it succeeded or not.
    fn ended(&self) {}

    /// A build tool printed something, perhaps in several lines.
    fn said(&self, text: &str) {
        let _ = text;
    }

    /// Whether all that a build tool prints is to be reported, also where what is wrong was found
    /// in it: stacks and command lines of linkers too.
    fn wants_traces(&self) -> bool {
        false
    }
}

/// Nobody.
impl Reporter for () {}

/// Runs the programs of a build: reports what they do, and can be cancelled.
pub struct Toolchain<'a> {
    reporter: &'a dyn Reporter,
    cancelled: &'a CancellationToken,
    engine: EngineFactory<'a>,
}

/// Makes the engine on which a component is checked, as a host would.
type EngineFactory<'a> = &'a (dyn Fn() -> Result<Engine, airlock_host::Error> + Sync);

/// Reports the end of a step, even if its future is dropped.
struct ProgressGuard<'a>(&'a dyn Reporter);

impl Drop for ProgressGuard<'_> {
    fn drop(&mut self) {
        self.0.ended();
    }
}

impl<'a> Toolchain<'a> {
    /// `engine` is called once for each component that is checked.
    pub fn new(
        reporter: &'a dyn Reporter,
        cancelled: &'a CancellationToken,
        engine: EngineFactory<'a>,
    ) -> Self {
        Self {
            reporter,
            cancelled,
            engine,
        }
    }

    pub(super) fn engine(&self) -> Result<Engine, Error> {
        Ok((self.engine)()?)
    }

    /// Does `work`, reported as `what`.
    pub(super) async fn during<T>(
        &self,
        what: String,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        self.reporter.began(&what);
        let _begun = ProgressGuard(self.reporter);
        let done = self.cancelled.run_until_cancelled(work).await;
        done.unwrap_or(Err(Error::Cancelled))
    }

    /// Reports what a build tool printed, if it printed something.
    pub(super) fn pass_on(&self, said: &str) {
        if !said.is_empty() {
            self.reporter.said(said);
        }
    }

    /// Whether all of it is to be reported.
    pub(super) fn wants_traces(&self) -> bool {
        self.reporter.wants_traces()
    }

    /// Runs a program that should be quiet, and gives what it wrote to standard output. What it
    /// says on standard error is passed on.
    ///
    /// # Errors
    /// If it can't be run, or if it fails.
    pub(super) async fn run(&self, what: &str, command: &mut Command) -> Result<Vec<u8>, Error> {
        let ended = self.run_to_its_end(what, command).await?;
        self.pass_on(&ended.said);
        match ended.succeeded() {
            true => Ok(ended.stdout),
            false => Err(ended.error(!ended.said.is_empty())),
        }
    }

    /// The same for a program whose output says why it failed: nothing of it is passed on.
    ///
    /// # Errors
    /// If it can't be run.
    pub(super) async fn run_to_its_end(
        &self,
        what: &str,
        command: &mut Command,
    ) -> Result<ProgramOutput, Error> {
        let program = Path::new(command.as_std().get_program());
        let name = program.file_name().unwrap_or(program.as_os_str());
        let name = name.to_string_lossy().into_owned();
        let running = async {
            let output = command
                .stdin(Stdio::null())
                .kill_on_drop(true)
                .output()
                .await;
            let output = output
                .with_context(|| format!("could not run `{name}`"))
                .map_err(failed)?;
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.trim_end().to_owned();
            Ok((output.status, output.stdout, said))
        };
        let (status, stdout, said) = self.during(format!("{what}…"), running).await?;
        Ok(ProgramOutput {
            name,
            status,
            stdout,
            said,
        })
    }
}

/// The output of a program that has exited.
pub struct ProgramOutput {
    name: String,
    status: ExitStatus,
    pub stdout: Vec<u8>,
    /// What it wrote to standard error, without the blank lines at its end.
    pub said: String,
}

impl ProgramOutput {
    pub fn succeeded(&self) -> bool {
        self.status.success()
    }

    /// That it failed, for a reason that may have been shown already.
    pub fn error(&self, was_shown: bool) -> Error {
        let error = anyhow!("`{}` failed ({})", self.name, self.status);
        failed(error).with_advice(match was_shown {
            true => "see its output above",
            false => "run it by hand in the project's folder to see why",
        })
    }
}

/// A build tool failed.
pub fn failed(error: anyhow::Error) -> Error {
    Error::new(ErrorKind::BuildFailed, error)
}

/// Something has to be installed first, which `command` does.
pub fn missing(what: &str, command: &str) -> Error {
    let error = anyhow!("{what} is missing on this machine");
    Error::new(ErrorKind::MissingTool, error).with_advice(format!("to install it: {command}"))
}

/// The command that installs a language where it has packages for this system, and where else it
/// comes from.
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
