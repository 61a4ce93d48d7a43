//! Reasons why a process ended without an answer.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::process::Signal;

/// The reason why a process ended without an answer, by its exit status and its last output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExitReason {
    /// The process ran out of memory.
    Memory,
    /// The process used up its processor time.
    Time,
    /// Any other reason, as a continuation of a sentence. Empty if there is nothing to report.
    Otherwise(String),
}

/// The messages of allocators before they abort: Rust's and tree-sitter's.
const OUT_OF_MEMORY: [&str; 2] = ["memory allocation of", "failed to allocate"];

impl ExitReason {
    pub(crate) fn new(status: io::Result<ExitStatus>, words: &[u8]) -> Self {
        let words = String::from_utf8_lossy(words);
        if OUT_OF_MEMORY.iter().any(|said| words.contains(said)) {
            return ExitReason::Memory;
        }
        let signal = status.as_ref().ok().and_then(ExitStatus::signal);
        if signal == Some(Signal::XCPU.as_raw()) {
            return ExitReason::Time;
        }
        let ended = match (signal, &status) {
            // The host kills it after its answer in any case, so this signal says nothing.
            (Some(9), _) => String::new(),
            (Some(signal), _) => format!("; it was killed by signal {signal}"),
            (None, Ok(status)) => match status.code() {
                Some(0) | None => String::new(),
                Some(code) => format!("; it exited with code {code}"),
            },
            (None, Err(error)) => format!("; {error}"),
        };
        let said = match words.lines().find(|line| !line.trim().is_empty()) {
            Some(line) => format!("; it said: {}", line.trim()),
            None => String::new(),
        };
        ExitReason::Otherwise(format!("{ended}{said}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_it_ended_is_told_by_its_status_and_its_last_words() {
        let check = |status: i32, words: &str, expected: ExitReason| {
            let ended = ExitReason::new(Ok(ExitStatus::from_raw(status)), words.as_bytes());
            assert_eq!(ended, expected, "{status} {words:?}");
        };
        let other = |text: &str| ExitReason::Otherwise(text.to_owned());
        check(0, "", other(""));
        check(9, "", other(""));
        check(
            1 << 8,
            "\n no \n",
            other("; it exited with code 1; it said: no"),
        );
        check(11, "", other("; it was killed by signal 11"));
        check(Signal::XCPU.as_raw(), "", ExitReason::Time);
        check(6, "memory allocation of 5 bytes failed", ExitReason::Memory);
        check(
            6,
            "tree-sitter failed to allocate 5 bytes",
            ExitReason::Memory,
        );
    }
}
