//! Scripts of calls to `wasi:filesystem`, as the guest reads them and tests write them.

use serde::{Deserialize, Serialize};

/// What is done below one folder.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Script {
    /// The workspace's own where it is empty. It is what the script has open first.
    pub folder: String,
    pub ops: Vec<Op>,
}

/// A call, or a few that belong together.
///
/// `at`, `of` and `to` number what the script has opened and not closed, in that order; numbers
/// behind the last begin again at the first, which is the folder.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
pub enum Op {
    Open {
        at: usize,
        path: String,
        with: Vec<Flag>,
    },
    /// Also its streams and listings.
    Close {
        of: usize,
    },
    /// What it is, and what it was opened for.
    Kind {
        of: usize,
    },
    Stat {
        of: usize,
    },
    StatAt {
        at: usize,
        path: String,
        follow: bool,
    },
    Read {
        of: usize,
        length: u64,
        offset: u64,
    },
    Write {
        of: usize,
        bytes: Bytes,
        offset: u64,
    },
    SetSize {
        of: usize,
        size: u64,
    },
    SetTimes {
        of: usize,
        time: Time,
    },
    SetTimesAt {
        at: usize,
        path: String,
        follow: bool,
        time: Time,
    },
    Sync {
        of: usize,
        data_only: bool,
    },
    Advise {
        of: usize,
    },
    /// Opens a stream that the next ones read from.
    ReadStream {
        of: usize,
        offset: u64,
    },
    NextRead {
        of: usize,
        length: u64,
    },
    /// Opens a stream that the next ones write to; without an offset at the file's end.
    WriteStream {
        of: usize,
        offset: Option<u64>,
    },
    NextWrite {
        of: usize,
        bytes: Bytes,
    },
    List {
        of: usize,
    },
    /// Begins a listing, which is read to its end by `rest-of-list`.
    HoldList {
        of: usize,
    },
    RestOfList {
        of: usize,
    },
    MakeDirectory {
        at: usize,
        path: String,
    },
    RemoveDirectory {
        at: usize,
        path: String,
    },
    RemoveFile {
        at: usize,
        path: String,
    },
    Rename {
        at: usize,
        path: String,
        to: usize,
        new_path: String,
    },
    MakeLink {
        at: usize,
        path: String,
        target: String,
    },
    ReadLink {
        at: usize,
        path: String,
    },
    /// Whether both are the same, by what the host says and by their hashes.
    IsSame {
        of: usize,
        to: usize,
    },
    /// Whether what is there has the hash of what is open.
    HasHash {
        of: usize,
        at: usize,
        path: String,
        follow: bool,
    },
    /// Writes a file whole, as most tools do.
    Put {
        at: usize,
        path: String,
        bytes: Bytes,
    },
}

/// The flags of `open-at`, of all three kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flag {
    Follow,
    Create,
    Directory,
    Exclusive,
    Truncate,
    Read,
    Write,
    MutateDirectory,
    SyncData,
}

/// So many bytes, all the same.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Bytes {
    pub byte: u8,
    pub count: usize,
}

/// What times are set to.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Time {
    Unchanged,
    Now,
    /// A second that is some years ago.
    Past,
    /// One that no clock can tell.
    Impossible,
}
