//! Runs a script, and tells what each call answered.

use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{
    Advice, Descriptor, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntryStream,
    ErrorCode, NewTimestamp, OpenFlags, PathFlags, filesystem_error_code,
};
use wasip2::io::streams::{InputStream, OutputStream, StreamError};

use crate::script::{Bytes, Flag, Op, Script, Time};

/// How much a stream is given at once: more is refused by `blocking-write-and-flush`.
const CHUNK_BYTES: usize = 4096;

/// In this order: what belongs to a descriptor goes before it.
struct Open {
    input: Option<InputStream>,
    output: Option<OutputStream>,
    listing: Option<DirectoryEntryStream>,
    descriptor: Descriptor,
}

impl Open {
    fn new(descriptor: Descriptor) -> Self {
        Self {
            input: None,
            output: None,
            listing: None,
            descriptor,
        }
    }
}

/// A line for each call: `ok`, with what was found, or the name of the error code.
pub fn run(script: &Script) -> String {
    let mut open = match folder(&script.folder) {
        Ok(folder) => vec![Open::new(folder)],
        Err(error) => return error,
    };
    let mut answers = String::new();
    for op in &script.ops {
        let answer = answer(&mut open, op);
        match &answer {
            Ok(found) if found.is_empty() => answers.push_str("ok"),
            Ok(found) => {
                answers.push_str("ok ");
                answers.push_str(found);
            }
            Err(error) => answers.push_str(error),
        }
        answers.push('\n');
    }
    answers
}

/// The workspace's folder of that name, or itself.
pub fn folder(name: &str) -> Result<Descriptor, String> {
    let mut directories = get_directories().into_iter();
    let workspace = directories.find(|(_, name)| name == "/workspace");
    let (workspace, _) = workspace.ok_or("there is no workspace")?;
    if name.is_empty() {
        return Ok(workspace);
    }
    let rights = DescriptorFlags::READ | DescriptorFlags::MUTATE_DIRECTORY;
    let folder = workspace.open_at(PathFlags::empty(), name, OpenFlags::DIRECTORY, rights);
    folder.map_err(named)
}

fn answer(all: &mut Vec<Open>, op: &Op) -> Result<String, String> {
    let count = all.len();
    let directory = |at: &usize| &all[at % count].descriptor;
    match op {
        Op::Open { at, path, with } => {
            let opened = open_at(directory(at), path, with).map_err(named)?;
            let kind = opened.get_type().map_err(named)?;
            all.push(Open::new(opened));
            Ok(kind_name(kind).to_owned())
        }
        Op::Close { of } => {
            // The folder stays.
            if of % count > 0 {
                drop(all.remove(of % count));
            }
            Ok(String::new())
        }
        Op::StatAt { at, path, follow } => {
            let found = directory(at).stat_at(path_flags(*follow), path);
            Ok(told(&found.map_err(named)?))
        }
        Op::SetTimesAt {
            at,
            path,
            follow,
            time,
        } => {
            let (directory, flags) = (directory(at), path_flags(*follow));
            done(directory.set_times_at(flags, path, timestamp(*time), timestamp(*time)))
        }
        Op::MakeDirectory { at, path } => done(directory(at).create_directory_at(path)),
        Op::RemoveDirectory { at, path } => done(directory(at).remove_directory_at(path)),
        Op::RemoveFile { at, path } => done(directory(at).unlink_file_at(path)),
        Op::Rename {
            at,
            path,
            to,
            new_path,
        } => done(directory(at).rename_at(path, directory(to), new_path)),
        Op::MakeLink { at, path, target } => done(directory(at).symlink_at(target, path)),
        Op::ReadLink { at, path } => directory(at).readlink_at(path).map_err(named),
        Op::IsSame { of, to } => {
            let (one, other) = (directory(of), directory(to));
            let same_hash = hash(one)? == hash(other)?;
            Ok(format!("{} {same_hash}", one.is_same_object(other)))
        }
        Op::HasHash {
            of,
            at,
            path,
            follow,
        } => {
            let found = directory(at).metadata_hash_at(path_flags(*follow), path);
            let found = found.map_err(named)?;
            Ok((hash(directory(of))? == (found.upper, found.lower)).to_string())
        }
        Op::Put { at, path, bytes } => {
            let with = [Flag::Follow, Flag::Create, Flag::Truncate, Flag::Write];
            let file = Open::new(open_at(directory(at), path, &with).map_err(named)?);
            let stream = file.descriptor.write_via_stream(0).map_err(named)?;
            write(&stream, *bytes)
        }
        Op::Kind { of }
        | Op::Stat { of }
        | Op::Read { of, .. }
        | Op::Write { of, .. }
        | Op::SetSize { of, .. }
        | Op::SetTimes { of, .. }
        | Op::Sync { of, .. }
        | Op::Advise { of }
        | Op::ReadStream { of, .. }
        | Op::NextRead { of, .. }
        | Op::WriteStream { of, .. }
        | Op::NextWrite { of, .. }
        | Op::List { of }
        | Op::HoldList { of }
        | Op::RestOfList { of } => answer_of(&mut all[of % count], op),
    }
}

/// What is asked of something that is open.
fn answer_of(open: &mut Open, op: &Op) -> Result<String, String> {
    let descriptor = &open.descriptor;
    match op {
        Op::Kind { .. } => {
            let kind = kind_name(descriptor.get_type().map_err(named)?);
            let flags = descriptor.get_flags().map_err(named)?;
            Ok(format!("{kind} {flags:?}"))
        }
        Op::Stat { .. } => Ok(told(&descriptor.stat().map_err(named)?)),
        Op::Read { length, offset, .. } => {
            let (bytes, end) = descriptor.read(*length, *offset).map_err(named)?;
            Ok(format!("{} end: {end}", digest(&bytes)))
        }
        Op::Write { bytes, offset, .. } => {
            let written = descriptor.write(&vec![bytes.byte; bytes.count], *offset);
            written.map(|count| count.to_string()).map_err(named)
        }
        Op::SetSize { size, .. } => done(descriptor.set_size(*size)),
        Op::SetTimes { time, .. } => done(descriptor.set_times(timestamp(*time), timestamp(*time))),
        Op::Sync { data_only, .. } => done(match data_only {
            true => descriptor.sync_data(),
            false => descriptor.sync(),
        }),
        Op::Advise { .. } => done(descriptor.advise(0, 100, Advice::Sequential)),
        Op::ReadStream { offset, .. } => {
            open.input = Some(descriptor.read_via_stream(*offset).map_err(named)?);
            Ok(String::new())
        }
        Op::NextRead { length, .. } => match &open.input {
            Some(stream) => {
                let bytes = stream.blocking_read(*length);
                bytes.map(|bytes| digest(&bytes)).map_err(failed)
            }
            None => Ok("no stream".to_owned()),
        },
        Op::WriteStream { offset, .. } => {
            let stream = match offset {
                Some(offset) => descriptor.write_via_stream(*offset),
                None => descriptor.append_via_stream(),
            };
            open.output = Some(stream.map_err(named)?);
            Ok(String::new())
        }
        Op::NextWrite { bytes, .. } => match &open.output {
            Some(stream) => write(stream, *bytes),
            None => Ok("no stream".to_owned()),
        },
        Op::List { .. } => entries(&descriptor.read_directory().map_err(named)?),
        Op::HoldList { .. } => {
            open.listing = Some(descriptor.read_directory().map_err(named)?);
            Ok(String::new())
        }
        Op::RestOfList { .. } => match open.listing.take() {
            Some(listing) => entries(&listing),
            None => Ok("no listing".to_owned()),
        },
        _ => Err("not asked of something that is open".to_owned()),
    }
}

fn open_at(directory: &Descriptor, path: &str, with: &[Flag]) -> Result<Descriptor, ErrorCode> {
    let mut path_flags = PathFlags::empty();
    let mut how = OpenFlags::empty();
    let mut rights = DescriptorFlags::empty();
    for flag in with {
        match flag {
            Flag::Follow => path_flags |= PathFlags::SYMLINK_FOLLOW,
            Flag::Create => how |= OpenFlags::CREATE,
            Flag::Directory => how |= OpenFlags::DIRECTORY,
            Flag::Exclusive => how |= OpenFlags::EXCLUSIVE,
            Flag::Truncate => how |= OpenFlags::TRUNCATE,
            Flag::Read => rights |= DescriptorFlags::READ,
            Flag::Write => rights |= DescriptorFlags::WRITE,
            Flag::MutateDirectory => rights |= DescriptorFlags::MUTATE_DIRECTORY,
            Flag::SyncData => rights |= DescriptorFlags::DATA_INTEGRITY_SYNC,
        }
    }
    directory.open_at(path_flags, path, how, rights)
}

/// The whole, in pieces.
fn write(stream: &OutputStream, bytes: Bytes) -> Result<String, String> {
    let piece = [bytes.byte; CHUNK_BYTES];
    let mut left = bytes.count;
    while left > 0 {
        let count = left.min(CHUNK_BYTES);
        stream
            .blocking_write_and_flush(&piece[..count])
            .map_err(failed)?;
        left -= count;
    }
    Ok(String::new())
}

fn entries(listing: &DirectoryEntryStream) -> Result<String, String> {
    let mut entries = Vec::new();
    while let Some(entry) = listing.read_directory_entry().map_err(named)? {
        entries.push(format!("{}: {}", entry.name, kind_name(entry.type_)));
    }
    entries.sort();
    Ok(entries.join(", "))
}

/// Without times; and of a directory without its size and how many directories it has, which each
/// file system counts in its own way.
fn told(stat: &DescriptorStat) -> String {
    let kind = kind_name(stat.type_);
    match stat.type_ {
        DescriptorType::Directory => kind.to_owned(),
        _ => format!("{kind} of {} bytes, {} names", stat.size, stat.link_count),
    }
}

fn kind_name(kind: DescriptorType) -> &'static str {
    match kind {
        DescriptorType::RegularFile => "file",
        DescriptorType::Directory => "directory",
        DescriptorType::SymbolicLink => "link",
        _ => "something else",
    }
}

fn path_flags(follow: bool) -> PathFlags {
    match follow {
        true => PathFlags::SYMLINK_FOLLOW,
        false => PathFlags::empty(),
    }
}

fn timestamp(time: Time) -> NewTimestamp {
    use wasip2::clocks::wall_clock::Datetime;
    let at = |seconds| {
        NewTimestamp::Timestamp(Datetime {
            seconds,
            nanoseconds: 0,
        })
    };
    match time {
        Time::Unchanged => NewTimestamp::NoChange,
        Time::Now => NewTimestamp::Now,
        Time::Past => at(1_000_000_000),
        Time::Impossible => at(u64::MAX),
    }
}

fn hash(descriptor: &Descriptor) -> Result<(u64, u64), String> {
    let hash = descriptor.metadata_hash().map_err(named)?;
    Ok((hash.upper, hash.lower))
}

/// FNV-1a, and how many there are.
fn digest(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{} bytes {hash:016x}", bytes.len())
}

fn done(result: Result<(), ErrorCode>) -> Result<String, String> {
    result.map(|()| String::new()).map_err(named)
}

fn named(code: ErrorCode) -> String {
    code.name().to_owned()
}

fn failed(error: StreamError) -> String {
    match error {
        StreamError::Closed => "closed".to_owned(),
        StreamError::LastOperationFailed(error) => match filesystem_error_code(&error) {
            Some(code) => named(code),
            None => error.to_debug_string(),
        },
    }
}
