//! Measures calls, one kind at a time, with the guest's own clock: neither how an instance begins
//! nor what becomes of its changes counts.

use serde::{Deserialize, Serialize};
use wasip2::clocks::monotonic_clock;
use wasip2::filesystem::types::{Descriptor, DescriptorFlags, OpenFlags, PathFlags};

use crate::run::folder;

/// What is measured, and how often it is done.
#[derive(Serialize, Deserialize)]
pub struct Measure {
    pub call: Call,
    pub times: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Call {
    /// Opens a file to read it, and closes it.
    Open(String),
    StatAt(String),
    /// Of a handle.
    Stat(String),
    /// The whole of a file of 64 KiB, so many bytes at once.
    Read(String, u64),
    /// The same through a stream.
    ReadStream(String, u64),
    /// All entries of a directory.
    List(String),
    /// Makes an empty file.
    Create,
    /// Writes 4 KiB over a file's bytes, through a stream.
    Write(String),
    /// Makes a file of so many bytes, through a stream.
    WriteFile(usize),
}

const FILE: u64 = 64 * 1024;

/// The most that a stream takes at once.
const PIECE: usize = 4096;

/// Nanoseconds for each time.
pub fn measure(measure: &Measure) -> Result<u64, String> {
    let root = folder("")?;
    // What is done for the first time is not what it costs.
    let warming_up = measure.times / 10 + 1;
    let run = Run { root };
    run.times(&measure.call, 0, warming_up)?;
    let began = monotonic_clock::now();
    run.times(&measure.call, warming_up, measure.times)?;
    Ok((monotonic_clock::now() - began) / u64::from(measure.times))
}

struct Run {
    root: Descriptor,
}

impl Run {
    fn times(&self, call: &Call, first: u32, times: u32) -> Result<(), String> {
        match call {
            Call::Open(path) => (0..times).try_for_each(|_| self.open(path).map(drop)),
            Call::StatAt(path) => (0..times).try_for_each(|_| {
                let found = self.root.stat_at(PathFlags::empty(), path);
                found.map(drop).map_err(named)
            }),
            Call::Stat(path) => {
                let file = self.open(path)?;
                (0..times).try_for_each(|_| file.stat().map(drop).map_err(named))
            }
            Call::Read(path, at_once) => {
                let file = self.open(path)?;
                (0..times).try_for_each(|_| read(&file, *at_once))
            }
            Call::ReadStream(path, at_once) => {
                let file = self.open(path)?;
                (0..times).try_for_each(|_| read_stream(&file, *at_once))
            }
            Call::List(path) => {
                let directory = self.open(path)?;
                (0..times).try_for_each(|_| list(&directory))
            }
            Call::Create => (first..first + times)
                .try_for_each(|number| self.create(&format!("new-{number}")).map(drop)),
            Call::Write(path) => {
                let rights = DescriptorFlags::WRITE;
                let none = OpenFlags::empty();
                let file = self.root.open_at(PathFlags::empty(), path, none, rights);
                let file = file.map_err(named)?;
                let bytes = [1; PIECE];
                (0..times).try_for_each(|number| {
                    let offset = u64::from(number) * PIECE as u64 % FILE;
                    let stream = file.write_via_stream(offset).map_err(named)?;
                    stream.blocking_write_and_flush(&bytes).map_err(failed)
                })
            }
            Call::WriteFile(bytes) => (first..first + times).try_for_each(|number| {
                let file = self.create(&format!("new-{number}"))?;
                let stream = file.write_via_stream(0).map_err(named)?;
                let piece = [1; PIECE];
                (0..bytes / PIECE)
                    .try_for_each(|_| stream.blocking_write_and_flush(&piece).map_err(failed))
            }),
        }
    }

    fn open(&self, path: &str) -> Result<Descriptor, String> {
        let (how, rights) = (OpenFlags::empty(), DescriptorFlags::READ);
        let opened = self.root.open_at(PathFlags::empty(), path, how, rights);
        opened.map_err(named)
    }

    fn create(&self, path: &str) -> Result<Descriptor, String> {
        let (how, rights) = (
            OpenFlags::CREATE | OpenFlags::EXCLUSIVE,
            DescriptorFlags::WRITE,
        );
        let made = self.root.open_at(PathFlags::empty(), path, how, rights);
        made.map_err(named)
    }
}

fn read(file: &Descriptor, at_once: u64) -> Result<(), String> {
    let mut offset = 0;
    while offset < FILE {
        let (bytes, _) = file.read(at_once, offset).map_err(named)?;
        offset += bytes.len() as u64;
    }
    Ok(())
}

fn read_stream(file: &Descriptor, at_once: u64) -> Result<(), String> {
    let stream = file.read_via_stream(0).map_err(named)?;
    let mut read = 0;
    while read < FILE {
        read += stream.blocking_read(at_once).map_err(failed)?.len() as u64;
    }
    Ok(())
}

fn list(directory: &Descriptor) -> Result<(), String> {
    let listing = directory.read_directory().map_err(named)?;
    while listing.read_directory_entry().map_err(named)?.is_some() {}
    Ok(())
}

fn named(code: wasip2::filesystem::types::ErrorCode) -> String {
    code.name().to_owned()
}

fn failed(error: wasip2::io::streams::StreamError) -> String {
    format!("{error:?}")
}
