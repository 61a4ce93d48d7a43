//! JSON from the command line, a file or standard input.

#[cfg(not(unix))]
use std::fs::File;
use std::io::{self, Read};

use airlock_host::tool::Params;
use serde_json::{Map, Value};

use crate::failure::{Exit, Failure};

/// The largest input, far more than any tool accepts as params.
const MAX_BYTES: u64 = 256 << 20;

/// Reads the params that `word` means: JSON, `@FILE`, or `-`. A plugin gets their original text.
pub fn params(word: &str) -> Result<Params<'static>, Failure> {
    Params::from_text(&text("params", word)?).map_err(|error| {
        if error.is_data() {
            // The text is JSON, but has a duplicate member.
            Failure::new(
                Exit::Usage,
                "invalid-params",
                format!("the params can't be used: {error}"),
            )
            .with_hint("leave one of the two out")
        } else {
            not_json("params", &error)
        }
    })
}

/// Reads the JSON that `word` means: JSON, `@FILE`, or `-`. `what` names it in errors, in the
/// plural.
pub fn json(what: &str, word: &str) -> Result<Value, Failure> {
    serde_json::from_str(&text(what, word)?).map_err(|error| not_json(what, &error))
}

fn text(what: &str, word: &str) -> Result<String, Failure> {
    match (word, word.strip_prefix('@')) {
        ("-", _) => read_stdin(what),
        (_, Some(path)) => read_file(what, path),
        (text, None) => Ok(text.to_owned()),
    }
}

fn not_json(what: &str, error: &serde_json::Error) -> Failure {
    let message = format!("the {what} are not valid JSON: {error}");
    Failure::new(Exit::Usage, "invalid-params", message)
        .with_hint("in a shell, put them between single quotes: '{\"key\": \"value\"}'")
}

/// Reads the value of `--extra`, which goes to the tool with a decision.
pub fn extra(word: &str) -> Result<Map<String, Value>, Failure> {
    match json("extras", word)? {
        Value::Object(extra) => Ok(extra),
        _ => Err(Failure::usage("the value of `--extra` is not an object")
            .with_hint("for example: --extra '{\"ticket\": 17}'")),
    }
}

fn read_stdin(what: &str) -> Result<String, Failure> {
    to_end(io::stdin())
        .map_err(|error| Failure::usage(format!("can't read {what} from standard input: {error}")))
}

fn read_file(what: &str, path: &str) -> Result<String, Failure> {
    open(path).and_then(to_end).map_err(|error| {
        Failure::usage(format!("can't read {what} from {path}: {error}"))
            .with_hint("`@FILE` is relative to the current directory, not to the workspace")
    })
}

fn to_end(input: impl Read) -> io::Result<String> {
    let mut text = String::new();
    input.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        Err(io::Error::other(format!(
            "more than {} MiB",
            MAX_BYTES >> 20
        )))
    } else {
        Ok(text)
    }
}

#[cfg(not(unix))]
fn open(path: &str) -> io::Result<File> {
    File::open(path)
}

/// Opens a file, or a pipe that has a writer, as shells create for `<(…)`. Other pipes could block
/// forever.
#[cfg(unix)]
fn open(path: &str) -> io::Result<impl Read> {
    use std::fs::OpenOptions;
    use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};

    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    let kind = file.metadata()?.file_type();
    let mut begin = Vec::new();
    if kind.is_fifo() {
        let mut first = [0; 4096];
        match file.read(&mut first) {
            Ok(0) => return Err(io::Error::other("it is a pipe that no program writes to")),
            Ok(count) => begin.extend_from_slice(&first[..count]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    } else if !kind.is_file() {
        return Err(io::Error::other("it is neither a file nor a pipe"));
    }
    fcntl_setfl(&file, fcntl_getfl(&file)?.difference(OFlags::NONBLOCK))?;
    Ok(io::Cursor::new(begin).chain(file))
}
