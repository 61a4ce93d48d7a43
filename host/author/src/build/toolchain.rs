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
    /// Reports that a long-running step begins. Steps don't overlap.
    fn began(&self, what: &str) {
        let _ = what;
    }

    /// Reports that the step has ended, successfully or not.
    fn ended(&self) {}

    /// Reports output of a build tool, possibly several lines.
    fn print_output(&self, text: &str) {
        let _ = text;
    }

    /// Returns whether to report all output of build tools, such as stack traces and linker
    /// command lines, even if the problem was recognized.
    fn wants_traces(&self) -> bool {
        false
    }
}

/// Reports nothing.
impl Reporter for () {}

/// Runs the programs of a build, reports their progress, and supports cancellation.
pub struct Toolchain<'a> {
    reporter: &'a dyn Reporter,
    cancelled: &'a CancellationToken,
    engine: EngineFactory<'a>,
}

/// Creates the engine that checks a component, as a host would.
type EngineFactory<'a> = &'a (dyn Fn() -> Result<Engine, airlock_host::Error> + Sync);

/// Reports the end of a step, even if its future is dropped.
struct ProgressGuard<'a>(&'a dyn Reporter);

impl Drop for ProgressGuard<'_> {
    fn drop(&mut self) {
        self.0.ended();
    }
}

impl<'a> Toolchain<'a> {
    /// Creates a toolchain. `engine` is called once for each component that is checked.
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

    /// Runs `work` as a step with the name `what` in reports.
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

    /// Reports a build tool's output, unless it is empty.
    pub(super) fn pass_on(&self, said: &str) {
        if !said.is_empty() {
            self.reporter.print_output(said);
        }
    }

    /// Returns whether to report all output.
    pub(super) fn wants_traces(&self) -> bool {
        self.reporter.wants_traces()
    }

    /// Runs a program that should be quiet, and returns its standard output. Its standard error is
    /// reported.
    ///
    /// # Errors
    /// If the program can't be run, or fails.
    pub(super) async fn run(&self, what: &str, command: &mut Command) -> Result<Vec<u8>, Error> {
        let ended = self.run_to_its_end(what, command).await?;
        self.pass_on(&ended.said);
        if ended.succeeded() {
            Ok(ended.stdout)
        } else {
            Err(ended.error(!ended.said.is_empty()))
        }
    }

    /// Runs a program whose output explains its failure. The output is not reported.
    ///
    /// # Errors
    /// If the program can't be run.
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
    /// The standard error, without trailing blank lines.
    pub said: String,
}

impl ProgramOutput {
    pub fn succeeded(&self) -> bool {
        self.status.success()
    }

    /// Returns the error for a failed program. `was_shown` means that the reason was already
    /// shown.
    pub fn error(&self, was_shown: bool) -> Error {
        let error = anyhow!("`{}` failed ({})", self.name, self.status);
        failed(error).with_advice(if was_shown {
            "see its output above"
        } else {
            "run it by hand in the project's folder to see why"
        })
    }
}

/// Returns the error for a failed build tool.
pub fn failed(error: anyhow::Error) -> Error {
    Error::new(ErrorKind::BuildFailed, error)
}

/// Returns the error for a missing tool that `command` installs.
pub fn missing(what: &str, command: &str) -> Error {
    let error = anyhow!("{what} is missing on this machine");
    Error::new(ErrorKind::MissingTool, error).with_advice(format!("to install it: {command}"))
}

/// Returns the command that installs a language if this system has packages for it, and the site
/// to get it from otherwise.
pub fn packaged(debian: &str, homebrew: &str, site: &str) -> String {
    if cfg!(target_os = "macos") {
        format!("brew install {homebrew} (or see {site})")
    } else {
        format!("apt-get install {debian} (or see {site})")
    }
}

/// Finds a program on the PATH.
pub fn find(program: &str) -> Option<PathBuf> {
    find_in(program, &std::env::var_os("PATH")?)
}

fn find_in(program: &str, path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path)
        // An empty entry means the current folder. Programs there must not run implicitly.
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
