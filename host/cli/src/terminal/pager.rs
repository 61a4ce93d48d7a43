//! The program in which long texts are read: `AIRLOCK_PAGER`, else `PAGER`, else `less`.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use tokio::signal::unix::{SignalKind, signal};

/// Where it is missing, nobody asked for it, and there is nothing to complain about.
///
/// All rows fit the terminal. If less measures one as wider, `-S` keeps it from continuing in a new
/// row, which would have no margin.
const LESS: &str = "command -v less >/dev/null 2>&1 || exit 127; exec less -S";

/// A pager that is running, and reads what it is to show.
pub struct Pager {
    program: Child,
    input: Option<ChildStdin>,
}

impl Pager {
    /// Where standard output is a terminal, and there is such a program. What is empty or `cat`
    /// means none, as for other programs.
    pub fn start() -> Option<Self> {
        if !io::stdout().is_terminal() {
            return None;
        }
        let named = ["AIRLOCK_PAGER", "PAGER"].into_iter().find_map(env::var_os);
        let command = named.unwrap_or_else(|| OsString::from(LESS));
        if command.is_empty() || command == "cat" {
            return None;
        }
        // Ctrl-C is for the pager: who ended before it would leave it alone with the terminal.
        let _ = signal(SignalKind::interrupt());
        // It may have arguments, so a shell reads it.
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command).stdin(Stdio::piped());
        if env::var_os("LESS").is_none() {
            // Quits at once where all fits, shows colours, and leaves the text on the screen.
            shell.env("LESS", "FRX");
        }
        let mut program = shell.spawn().ok()?;
        let input = program.stdin.take();
        Some(Self { program, input })
    }

    /// Waits until it has been read. Whether there was such a program: a shell ends with 126 or 127
    /// where it can't run one.
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
