//! Steps that take as much as they can of one thing, and keep it as long as the instance lives.

use std::cell::RefCell;

use serde::{Deserialize, Serialize};
use wasip2::cli::stderr::get_stderr;
use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{
    Descriptor, DescriptorFlags, DirectoryEntryStream, OpenFlags, PathFlags,
};
use wasip2::io::streams::InputStream;

/// One thing: `{"do": "greedy", "op": "<name in kebab-case>", …}`. Each tells `kept <n>`, and
/// behind `; error: ` what stopped it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case", deny_unknown_fields)]
pub enum GreedyStep {
    /// Asks for the directories again and again.
    Directories { count: usize },
    /// Opens a file for each stream of it, and closes the file.
    Streams { path: String, count: usize },
    /// Lists a directory, one entry of each listing.
    Listings { path: String, count: usize },
    /// Makes files of that size in the scratch directory and removes them, but has them open.
    Removed { bytes: u64, count: usize },
    /// Makes symbolic links in a directory, each to a target of 4,000 letters.
    Links { path: String, count: usize },
    /// Writes so many lines of one letter to standard error: all at once, or as many at a time as
    /// it may.
    Lines { count: usize, at_once: bool },
}

#[expect(dead_code, reason = "kept for what the host keeps beside it")]
enum Kept {
    Directories(Vec<(Descriptor, String)>),
    Stream(InputStream),
    Listing(DirectoryEntryStream),
    File(Descriptor),
}

thread_local! {
    static KEPT: RefCell<Vec<Kept>> = const { RefCell::new(Vec::new()) };
}

pub fn run(step: &GreedyStep) -> String {
    match step {
        GreedyStep::Directories { count } => {
            keep(*count, |_| Ok(Kept::Directories(get_directories())))
        }
        GreedyStep::Streams { path, count } => keep(*count, |_| {
            let file = open(path, OpenFlags::empty(), DescriptorFlags::READ)?;
            file.read_via_stream(0).map(Kept::Stream).map_err(named)
        }),
        GreedyStep::Listings { path, count } => keep(*count, |_| {
            let directory = open(path, OpenFlags::DIRECTORY, DescriptorFlags::READ)?;
            let listing = directory.read_directory().map_err(named)?;
            listing.read_directory_entry().map_err(named)?;
            Ok(Kept::Listing(listing))
        }),
        GreedyStep::Removed { bytes, count } => keep(*count, |index| {
            let path = format!("/scratch/removed-{index}");
            let file = open(&path, OpenFlags::CREATE, DescriptorFlags::WRITE)?;
            let sized = file.set_size(*bytes).map_err(named);
            let (directory, path) = locate(&path)?;
            directory.unlink_file_at(path).map_err(named)?;
            sized.map(|()| Kept::File(file))
        }),
        GreedyStep::Links { path, count } => links(path, *count),
        GreedyStep::Lines { count, at_once } => lines(*count, *at_once),
    }
}

fn keep(count: usize, one: impl Fn(usize) -> Result<Kept, String>) -> String {
    for index in 0..count {
        match one(index) {
            Ok(kept) => KEPT.with_borrow_mut(|all| all.push(kept)),
            Err(error) => return format!("kept {index}; error: {error}"),
        }
    }
    format!("kept {count}")
}

fn links(path: &str, count: usize) -> String {
    let target = "x".repeat(4000);
    for index in 0..count {
        let made = locate(path).and_then(|(directory, path)| {
            let path = format!("{path}/{index}");
            directory.symlink_at(&target, &path).map_err(named)
        });
        if let Err(error) = made {
            return format!("made {index}; error: {error}");
        }
    }
    format!("made {count}")
}

fn lines(count: usize, at_once: bool) -> String {
    let stderr = get_stderr();
    let bytes = b"x\n".repeat(count);
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let permitted = match at_once {
            true => rest.len(),
            false => match stderr.check_write() {
                Ok(permitted) => rest.len().min(permitted as usize),
                Err(error) => return format!("error: {error}"),
            },
        };
        if let Err(error) = stderr.write(&rest[..permitted]) {
            return format!("error: {error}");
        }
        rest = &rest[permitted..];
    }
    format!("kept {count}")
}

fn open(path: &str, open: OpenFlags, flags: DescriptorFlags) -> Result<Descriptor, String> {
    let (directory, path) = locate(path)?;
    directory
        .open_at(PathFlags::SYMLINK_FOLLOW, path, open, flags)
        .map_err(named)
}

type Root = (Descriptor, String);

thread_local! {
    // Asked for once, since each time counts.
    static ROOTS: &'static [Root] = Box::leak(get_directories().into_boxed_slice());
}

/// The directory that a path begins with, and the rest.
fn locate(path: &str) -> Result<(&'static Descriptor, &str), String> {
    let name = match path.starts_with("/scratch") {
        true => "/scratch",
        false => "/workspace",
    };
    let rest = path.strip_prefix(name).unwrap_or(path);
    let rest = match rest.trim_start_matches('/') {
        "" => ".",
        rest => rest,
    };
    let roots = ROOTS.with(|roots| *roots);
    let root = roots.iter().find(|(_, root)| root == name);
    let (directory, _) = root.ok_or_else(|| format!("there is no {name}"))?;
    Ok((directory, rest))
}

fn named(code: wasip2::filesystem::types::ErrorCode) -> String {
    code.name().to_owned()
}
