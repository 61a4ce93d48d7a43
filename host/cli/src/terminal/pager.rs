//! The pager for long texts: `AIRLOCK_PAGER`, or else `PAGER`, or else `less`.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use tokio::signal::unix::{SignalKind, signal};

/// The default pager. If it is missing, there is no error, because it was not configured.
///
/// All rows fit the terminal. If less measures one as wider, `-S` keeps it from continuing in a new
/// row, which would have no margin.
const LESS: &str = "command -v less >/dev/null 2>&1 || exit 127; exec less -S";

/// A running pager, which reads the text to show.
pub struct Pager {
    program: Child,
    input: Option<ChildStdin>,
}

impl Pager {
    /// Starts the pager if standard output is a terminal. An empty name or `cat` means no pager, as
    /// in other programs.
    pub fn start() -> Option<Self> {
        if !io::stdout().is_terminal() {
            return None;
        }
        let named = ["AIRLOCK_PAGER", "PAGER"].into_iter().find_map(env::var_os);
        let command = named.unwrap_or_else(|| OsString::from(LESS));
        if command.is_empty() || command == "cat" {
            return None;
        }
        // Ctrl-C is for the pager: if this program ended first, it would leave the pager alone with
        // the terminal.
        let _ = signal(SignalKind::interrupt());
        // The command may have arguments, so run it in a shell.
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command).stdin(Stdio::piped());
        if env::var_os("LESS").is_none() {
            // Exit at once if everything fits, show colors, and leave the text on the screen.
            shell.env("LESS", "FRX");
        }
        let mut program = shell.spawn().ok()?;
        let input = program.stdin.take();
        Some(Self { program, input })
    }

    /// Waits until the pager ends. Returns whether it could be run: a shell exits with 126 or 127
    /// if not.
    pub fn finish(mut self) -> io::Result<bool> {
        drop(self.input.take());
        let status = self.program.wait()?;
        Ok(!matches!(status.code(), Some(126 | 127)))
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.input {
            Some(input) => input.write(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.input {
            Some(input) => input.flush(),
            None => Ok(()),
        }
    }
}
