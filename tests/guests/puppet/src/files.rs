//! Steps that do what any program does with files, through the standard library.

use std::fs::{self, File, FileTimes, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::airlock::tool::types::ToolError;
use crate::exports::airlock::tool::resolver::Resolution;
use crate::failed;

/// One operation: `{"do": "fs", "op": "<name in kebab-case>", "path": …}`. Paths are passed on as
/// they are.
#[derive(Clone, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case", deny_unknown_fields)]
pub enum FileStep {
    Read {
        path: String,
    },
    /// Creates the file, or empties it first.
    Write {
        path: String,
        text: String,
    },
    Append {
        path: String,
        text: String,
    },
    /// Replaces each `find` in the file by `text`.
    Replace {
        path: String,
        find: String,
        text: String,
    },
    /// Overwrites from `offset` on.
    Patch {
        path: String,
        offset: u64,
        text: String,
    },
    Truncate {
        path: String,
        len: u64,
    },
    CreateNew {
        path: String,
    },
    Rename {
        path: String,
        to: String,
    },
    Unlink {
        path: String,
    },
    Mkdir {
        path: String,
    },
    Rmdir {
        path: String,
    },
    Rmtree {
        path: String,
    },
    /// Makes the link `path`, which leads to `target`.
    Symlink {
        path: String,
        target: String,
    },
    /// Makes the hard link `to` to the file `path`.
    Link {
        path: String,
        to: String,
    },
    /// Sets both times to the second 1,000,000,000, through a handle that is open for reading only.
    Settimes {
        path: String,
    },
    Ls {
        path: String,
    },
    Stat {
        path: String,
    },
    Lstat {
        path: String,
    },
    Readlink {
        path: String,
    },
    Copy {
        path: String,
        to: String,
    },
    Exists {
        path: String,
    },
}

/// `ok`, `ok <what was found>`, or `error: <the system's text>`.
pub fn run(step: &FileStep) -> String {
    report(perform(step))
}

pub fn report(result: io::Result<String>) -> String {
    match result {
        Ok(found) if found.is_empty() => "ok".into(),
        Ok(found) => format!("ok {found}"),
        Err(error) => format!("error: {error}"),
    }
}

/// The time that `settimes` sets: one that no file has by chance.
pub fn told_times() -> FileTimes {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    FileTimes::new().set_accessed(time).set_modified(time)
}

/// `made <n>`, and behind `; error: ` what stopped it.
pub fn make_many(path: &str, count: usize, nested: bool) -> String {
    let mut folder = path.to_owned();
    for index in 0..count {
        let made = match nested {
            true => {
                folder.push_str("/d");
                fs::create_dir(&folder)
            }
            false => File::create(format!("{path}/{index}")).map(drop),
        };
        if let Err(error) = made {
            return format!("made {index}; error: {error}");
        }
    }
    format!("made {count}")
}

fn perform(step: &FileStep) -> io::Result<String> {
    let done = match step {
        FileStep::Read { path } => {
            return Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned());
        }
        FileStep::Ls { path } => return list(path),
        FileStep::Stat { path } => return Ok(describe(&fs::metadata(path)?)),
        FileStep::Lstat { path } => return Ok(describe(&fs::symlink_metadata(path)?)),
        FileStep::Readlink { path } => return Ok(fs::read_link(path)?.display().to_string()),
        FileStep::Copy { path, to } => return Ok(fs::copy(path, to)?.to_string()),
        FileStep::Exists { path } => return Ok(fs::exists(path)?.to_string()),

        FileStep::Write { path, text } => fs::write(path, text),
        FileStep::Replace { path, find, text } => {
            fs::read_to_string(path).and_then(|old| fs::write(path, old.replace(&**find, text)))
        }
        FileStep::Append { path, text } => OpenOptions::new()
            .append(true)
            .open(path)?
            .write_all(text.as_bytes()),
        FileStep::Patch { path, offset, text } => patch(path, *offset, text),
        FileStep::Truncate { path, len } => {
            OpenOptions::new().write(true).open(path)?.set_len(*len)
        }
        FileStep::CreateNew { path } => File::create_new(path).map(drop),
        FileStep::Rename { path, to } => fs::rename(path, to),
        FileStep::Unlink { path } => fs::remove_file(path),
        FileStep::Mkdir { path } => fs::create_dir(path),
        FileStep::Rmdir { path } => fs::remove_dir(path),
        FileStep::Rmtree { path } => fs::remove_dir_all(path),
        // Deprecated for a difference that WASI doesn't make; what replaces it is not stable for
        // WASI.
        #[allow(deprecated)]
        FileStep::Symlink { path, target } => fs::soft_link(target, path),
        FileStep::Link { path, to } => fs::hard_link(path, to),
        FileStep::Settimes { path } => File::open(path)?.set_times(told_times()),
    };
    done.map(|()| String::new())
}

/// Says in a file that this attempt has taken effect.
pub fn to_ledger(resolution: Option<&Resolution>) -> Result<(), ToolError> {
    let resolution = resolution.ok_or_else(|| failed("there is a ledger only in a resolution"))?;
    let extra = resolution.extra.as_deref().unwrap_or("null");
    let extra: Value = serde_json::from_str(extra).map_err(failed)?;
    let path = extra["ledger"].as_str();
    let path = path.ok_or_else(|| failed("the decision names no ledger"))?;
    let line = format!("{} {}\n", resolution.action_id, resolution.attempt);
    let file = OpenOptions::new().append(true).open(path);
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    written.map_err(failed)
}

fn patch(path: &str, offset: u64, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(text.as_bytes())
}

/// A sorted JSON array of names: a directory's ends with `/`, a symbolic link's with `@`.
fn list(path: &str) -> io::Result<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let mark = if kind.is_dir() {
            "/"
        } else if kind.is_symlink() {
            "@"
        } else {
            ""
        };
        names.push(format!("{}{mark}", entry.file_name().display()));
    }
    names.sort();
    Ok(json!(names).to_string())
}

fn describe(metadata: &fs::Metadata) -> String {
    let kind = if metadata.is_dir() {
        "directory"
    } else if metadata.is_symlink() {
        "link"
    } else {
        "file"
    };
    let since_epoch = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).ok();
    let modified = metadata
        .modified()
        .ok()
        .and_then(since_epoch)
        .map(|time| time.as_secs());
    json!({"kind": kind, "len": metadata.len(), "modified": modified}).to_string()
}
