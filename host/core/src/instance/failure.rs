//! The reason why a call was not completed, by its cause.

use airlock_model::error::Error;
use airlock_model::limits::LimitKind;
use wasmtime::Trap;
use wasmtime::component::ResourceTableError;
use wasmtime_wasi::I32Exit;

use super::state::State;
use super::usage::Refused;
use crate::workspace::{TooManyOpen, UnusableWorkspace};

/// Text of the error, because wasmtime keeps its type private.
const HOSTCALL_FUEL: &str = "fuel allocated for hostcalls has been exhausted";

/// Converts an error of wasmtime to the limit, trap or host failure that caused it.
pub(super) fn classify(error: wasmtime::Error, state: &State, tool: &str) -> Error {
    let limits = &state.context.limits;
    let limit = |kind, message| Error::Limit {
        tool: tool.to_owned(),
        kind,
        message,
    };
    if let Some(I32Exit(status)) = error.downcast_ref() {
        let last_words = state.last_words();
        let message = match (last_words.as_str(), said_of(&last_words, tool)) {
            ("", _) => format!("it exited with status {status}"),
            // An SDK that reports a panic exits afterwards.
            (_, Some(said)) => said.to_owned(),
            (words, None) => format!("it exited with status {status}; it last wrote: {words}"),
        };
        return Error::Trap {
            tool: tool.to_owned(),
            message,
        };
    }
    if let Some(Trap::StackOverflow) = error.downcast_ref() {
        return limit(
            LimitKind::Stack,
            "used up its stack; it may recurse endlessly".to_owned(),
        );
    }
    if let Some(ResourceTableError::Full) = error.downcast_ref() {
        let message = format!(
            "held more than {} handles at one time",
            super::state::handles(limits)
        );
        return limit(LimitKind::Handles, message);
    }
    if let Some(too_many @ TooManyOpen { .. }) = error.downcast_ref() {
        return limit(LimitKind::Handles, too_many.to_string());
    }
    let error = match error.downcast() {
        Ok(UnusableWorkspace { path, source }) => return Error::Workspace { path, source },
        Err(error) => error,
    };
    let cause = error.root_cause().to_string();
    if cause.contains(HOSTCALL_FUEL) {
        let message = format!(
            "passed more than {} bytes in one call",
            limits.hostcall_bytes
        );
        return limit(LimitKind::HostcallBytes, message);
    }
    match state.usage.refused {
        Some(Refused::Memory) => {
            let message = format!("needs more than its {} of memory", mib(limits.memory));
            return limit(LimitKind::Memory, message);
        }
        Some(Refused::TenantMemory) => {
            let message =
                "needs memory that other calls have at this moment: try again when they have ended";
            return limit(LimitKind::Memory, message.to_owned());
        }
        Some(Refused::TableElements) => {
            let message = format!(
                "needs more than its {} table elements",
                limits.table_elements
            );
            return limit(LimitKind::TableElements, message);
        }
        None => {}
    }
    let last_words = state.last_words();
    let last_words = without_speaker(&last_words, tool);
    let message = match (error.downcast_ref::<Trap>(), last_words) {
        (_, "") => cause,
        (Some(Trap::UnreachableCodeReached), words) => words.to_owned(),
        (_, words) => format!("{cause}; it last wrote: {words}"),
    };
    Error::Trap {
        tool: tool.to_owned(),
        message,
    }
}

/// Removes the speaker: a Rust guest names the tool itself, or its only thread.
fn without_speaker<'a>(words: &'a str, tool: &str) -> &'a str {
    match (said_of(words, tool), words.find("panicked at ")) {
        (Some(said), _) => said,
        (None, Some(at)) if words.starts_with("thread '") => &words[at..],
        _ => words,
    }
}

/// Returns the message after the tool's name.
fn said_of<'a>(words: &'a str, tool: &str) -> Option<&'a str> {
    words.strip_prefix(&format!("tool `{tool}` "))
}

fn mib(bytes: usize) -> String {
    match bytes % (1 << 20) {
        0 => format!("{} MiB", bytes >> 20),
        _ => format!("{bytes} bytes"),
    }
}
