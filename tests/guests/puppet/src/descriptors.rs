//! Steps that use `wasi:filesystem` without the standard library in between.
//!
//! Which of its functions the standard library calls depends on the toolchain's C library, so
//! whoever wants to test `descriptor.write` and the streams one by one has to call them one by one.

use std::cell::RefCell;

use serde::{Deserialize, Serialize};
use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{
    Descriptor, DescriptorFlags, ErrorCode, NewTimestamp, OpenFlags, PathFlags,
};
use wasip2::io::streams::{OutputStream, StreamError};

/// One operation: `{"do": "raw", "op": "<name in kebab-case>", …}`. All but the first three use
/// what `hold` opened.
#[derive(Clone, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RawStep {
    /// Opens and closes again.
    Open {
        path: String,
        #[serde(default)]
        with: Vec<Flag>,
    },
    /// Opens, and keeps the descriptor when the call ends.
    Hold {
        path: String,
        #[serde(default)]
        with: Vec<Flag>,
    },
    SettimesAt {
        path: String,
    },
    /// `descriptor.write`, which no stream is part of.
    Write {
        text: String,
        #[serde(default)]
        offset: u64,
    },
    /// `descriptor.write-via-stream` or `append-via-stream`, and one write to what it returns.
    Stream {
        text: String,
        #[serde(default)]
        append: bool,
    },
    Setlen {
        len: u64,
    },
    Settimes,
    /// Makes a directory in the directory that is held.
    Mkdir {
        path: String,
    },
    /// Opens a file in the directory that is held, and closes it again.
    OpenIn {
        path: String,
        #[serde(default)]
        with: Vec<Flag>,
    },
    // Each with its paths as they are, from the workspace on, or where `scratch` is said, from the
    // scratch directory.
    Stat {
        path: String,
    },
    Unlink {
        path: String,
    },
    Rmdir {
        path: String,
    },
    MkdirAt {
        path: String,
    },
    Readlink {
        path: String,
    },
    SymlinkAt {
        path: String,
        target: String,
    },
    RenameAt {
        path: String,
        to: String,
        #[serde(default)]
        into_scratch: bool,
        #[serde(default)]
        from_scratch: bool,
    },
    LinkAt {
        path: String,
        to: String,
        #[serde(default)]
        into_scratch: bool,
        #[serde(default)]
        from_scratch: bool,
        #[serde(default)]
        follow: bool,
    },
    /// Opens it exactly so in the workspace, and closes it again.
    OpenExactly {
        path: String,
        #[serde(default)]
        with: Vec<Flag>,
    },
    /// `descriptor.read` of what is held.
    Read {
        len: u64,
        #[serde(default)]
        offset: u64,
    },
}

/// How to open: the flags of `descriptor.open-at`, of both kinds.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flag {
    Create,
    Directory,
    Exclusive,
    Truncate,
    Read,
    Write,
    MutateDirectory,
}

/// A stream is a child of its descriptor in the component model, so it has to go first.
struct HeldStream {
    stream: OutputStream,
    _descriptor: Descriptor,
}

thread_local! {
    static HELD: RefCell<Option<Descriptor>> = const { RefCell::new(None) };
    static STREAM: RefCell<Option<HeldStream>> = const { RefCell::new(None) };
}

/// `ok`, or `error: <the name of the WASI error code>`.
pub fn run(step: &RawStep) -> String {
    report(perform(step))
}

pub fn hold_stream(path: &str, append: bool) -> String {
    let held = open(path, &[Flag::Create, Flag::Write]).and_then(|descriptor| {
        let stream = stream_of(&descriptor, append)?;
        Ok(HeldStream {
            stream,
            _descriptor: descriptor,
        })
    });
    report(held.map(|held| STREAM.set(Some(held))))
}

pub fn stream_write(text: &str) -> String {
    with_stream(|stream| stream.blocking_write_and_flush(text.as_bytes()))
}

pub fn stream_zeroes(bytes: u64) -> String {
    with_stream(|stream| stream.blocking_write_zeroes_and_flush(bytes))
}

fn perform(step: &RawStep) -> Result<(), String> {
    match step {
        RawStep::Open { path, with } => open(path, with).map(drop),
        RawStep::Hold { path, with } => {
            open(path, with).map(|descriptor| HELD.set(Some(descriptor)))
        }
        RawStep::SettimesAt { path } => {
            let (directory, path) = locate(path)?;
            directory
                .set_times_at(
                    PathFlags::empty(),
                    &path,
                    NewTimestamp::Now,
                    NewTimestamp::Now,
                )
                .map_err(named)
        }
        RawStep::Write { text, offset } => with_held(|descriptor| {
            descriptor
                .write(text.as_bytes(), *offset)
                .map(drop)
                .map_err(named)
        }),
        RawStep::Stream { text, append } => with_held(|descriptor| {
            stream_of(descriptor, *append)?
                .blocking_write_and_flush(text.as_bytes())
                .map_err(stream_error)
        }),
        RawStep::Setlen { len } => with_held(|descriptor| descriptor.set_size(*len).map_err(named)),
        RawStep::Settimes => with_held(|descriptor| {
            descriptor
                .set_times(NewTimestamp::Now, NewTimestamp::Now)
                .map_err(named)
        }),
        RawStep::Mkdir { path } => {
            with_held(|descriptor| descriptor.create_directory_at(path).map_err(named))
        }
        RawStep::OpenIn { path, with } => {
            with_held(|descriptor| open_at(descriptor, path, with).map(drop))
        }
        RawStep::Stat { path } => root("/workspace")?
            .stat_at(PathFlags::empty(), path)
            .map(drop)
            .map_err(named),
        RawStep::Unlink { path } => root("/workspace")?.unlink_file_at(path).map_err(named),
        RawStep::Rmdir { path } => root("/workspace")?.remove_directory_at(path).map_err(named),
        RawStep::MkdirAt { path } => root("/workspace")?.create_directory_at(path).map_err(named),
        RawStep::Readlink { path } => root("/workspace")?
            .readlink_at(path)
            .map(drop)
            .map_err(named),
        RawStep::SymlinkAt { path, target } => {
            root("/workspace")?.symlink_at(target, path).map_err(named)
        }
        RawStep::RenameAt {
            path,
            to,
            into_scratch,
            from_scratch,
        } => root(place(*from_scratch))?
            .rename_at(path, &root(place(*into_scratch))?, to)
            .map_err(named),
        RawStep::LinkAt {
            path,
            to,
            into_scratch,
            from_scratch,
            follow,
        } => {
            let flags = match follow {
                true => PathFlags::SYMLINK_FOLLOW,
                false => PathFlags::empty(),
            };
            root(place(*from_scratch))?
                .link_at(flags, path, &root(place(*into_scratch))?, to)
                .map_err(named)
        }
        RawStep::OpenExactly { path, with } => open_at(&root("/workspace")?, path, with).map(drop),
        RawStep::Read { len, offset } => {
            with_held(|descriptor| descriptor.read(*len, *offset).map(drop).map_err(named))
        }
    }
}

fn place(is_scratch: bool) -> &'static str {
    match is_scratch {
        true => "/scratch",
        false => "/workspace",
    }
}

/// The preopened directory of this name.
fn root(name: &str) -> Result<Descriptor, String> {
    locate(name).map(|(directory, _)| directory)
}

/// Opens a file or a directory of the workspace to read it.
pub fn try_open(path: &str) -> Result<Descriptor, String> {
    open(path, &[Flag::Read])
}

fn open(path: &str, with: &[Flag]) -> Result<Descriptor, String> {
    let (directory, path) = locate(path)?;
    open_at(&directory, &path, with)
}

fn open_at(directory: &Descriptor, path: &str, with: &[Flag]) -> Result<Descriptor, String> {
    let mut how = OpenFlags::empty();
    let mut rights = DescriptorFlags::empty();
    for flag in with {
        match flag {
            Flag::Create => how |= OpenFlags::CREATE,
            Flag::Directory => how |= OpenFlags::DIRECTORY,
            Flag::Exclusive => how |= OpenFlags::EXCLUSIVE,
            Flag::Truncate => how |= OpenFlags::TRUNCATE,
            Flag::Read => rights |= DescriptorFlags::READ,
            Flag::Write => rights |= DescriptorFlags::WRITE,
            Flag::MutateDirectory => rights |= DescriptorFlags::MUTATE_DIRECTORY,
        }
    }
    directory
        .open_at(PathFlags::SYMLINK_FOLLOW, path, how, rights)
        .map_err(named)
}

/// The preopened directory that a path is in, and the path from there on.
///
/// A relative path is the workspace's, whichever of its names the host gave that.
fn locate(path: &str) -> Result<(Descriptor, String), String> {
    let absolute = if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("/workspace/{path}")
    };
    let inside = |name: &str| -> Option<String> {
        let name = if name == "." {
            "/workspace"
        } else {
            name.trim_end_matches('/')
        };
        let rest = absolute.strip_prefix(name)?;
        match rest.strip_prefix('/') {
            Some("") => Some(".".into()),
            Some(rest) => Some(rest.into()),
            None => rest.is_empty().then(|| ".".into()),
        }
    };
    get_directories()
        .into_iter()
        .filter_map(|(directory, name)| Some((directory, inside(&name)?)))
        .min_by_key(|(_, rest)| rest.len())
        .ok_or_else(|| format!("no preopened directory holds {path}"))
}

fn stream_of(descriptor: &Descriptor, append: bool) -> Result<OutputStream, String> {
    let stream = if append {
        descriptor.append_via_stream()
    } else {
        descriptor.write_via_stream(0)
    };
    stream.map_err(named)
}

fn with_held(action: impl FnOnce(&Descriptor) -> Result<(), String>) -> Result<(), String> {
    HELD.with_borrow(|held| action(held.as_ref().ok_or("nothing is held")?))
}

fn with_stream(action: impl FnOnce(&OutputStream) -> Result<(), StreamError>) -> String {
    report(STREAM.with_borrow(|held| {
        let held = held.as_ref().ok_or("no stream is held")?;
        action(&held.stream).map_err(stream_error)
    }))
}

fn report(result: Result<(), String>) -> String {
    match result {
        Ok(()) => "ok".into(),
        Err(error) => format!("error: {error}"),
    }
}

fn named(code: ErrorCode) -> String {
    code.name().into()
}

fn stream_error(error: StreamError) -> String {
    match error {
        StreamError::Closed => "closed".into(),
        StreamError::LastOperationFailed(error) => error.to_debug_string(),
    }
}
