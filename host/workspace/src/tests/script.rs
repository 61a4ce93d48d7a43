//! Random scripts of file operations, done to a plain folder and to a view.

mod subject;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::OpenOptions;

pub use subject::{Plain, Subject, Viewed};

/// Numbers that follow from a seed (SplitMix64), or are given.
pub enum Random {
    Seeded(u64),
    /// The rest of what was given, as much as a number takes each; 0 behind its end.
    Given(std::vec::IntoIter<u8>),
}

impl Random {
    pub fn new(seed: u64) -> Self {
        Self::Seeded(seed)
    }

    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self::Given(Vec::from(bytes).into_iter())
    }

    /// Whether anything is left of what was given.
    pub fn has_more(&self) -> bool {
        match self {
            Self::Seeded(_) => true,
            Self::Given(bytes) => bytes.len() > 0,
        }
    }

    pub fn below(&mut self, limit: usize) -> usize {
        let state = match self {
            Self::Seeded(state) => state,
            Self::Given(bytes) => {
                let mut number = 0;
                let mut room = limit - 1;
                while room > 0 {
                    number = number << 8 | usize::from(bytes.next().unwrap_or(0));
                    room >>= 8;
                }
                return number % limit;
            }
        };
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = *state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

/// Some bytes, all the same.
#[derive(Clone)]
pub struct Bytes(pub Vec<u8>);

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&subject::digest(&self.0))
    }
}

/// `start` numbers the open directories, 0 is the folder's; `file` numbers the open files.
#[derive(Debug, Clone)]
pub enum Op {
    Open {
        start: usize,
        path: String,
        options: OpenOptions,
    },
    Close {
        file: usize,
    },
    Read {
        file: usize,
        offset: u64,
    },
    Write {
        file: usize,
        offset: u64,
        bytes: Bytes,
    },
    SetLen {
        file: usize,
        length: u64,
    },
    Size {
        file: usize,
    },
    List {
        start: usize,
        path: String,
    },
    Stat {
        start: usize,
        path: String,
        follow: bool,
    },
    ReadLink {
        start: usize,
        path: String,
    },
    CreateDirectory {
        start: usize,
        path: String,
    },
    CreateLink {
        start: usize,
        path: String,
        target: String,
    },
    RemoveDirectory {
        start: usize,
        path: String,
    },
    RemoveFile {
        start: usize,
        path: String,
    },
    Rename {
        start: usize,
        path: String,
        to: usize,
        new_path: String,
    },
    /// Writes a file whole, as most tools do.
    Put {
        start: usize,
        path: String,
        bytes: Bytes,
    },
}

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "link"];

fn path(random: &mut Random) -> String {
    let mut path = String::new();
    for part in 0..1 + random.below(3) {
        if part > 0 {
            path.push('/');
        }
        path.push_str(match random.below(24) {
            0 => "..",
            1 => ".",
            _ => random.of(&NAMES),
        });
    }
    match random.below(24) {
        0 => path + "/",
        1 => format!("/{path}"),
        _ => path,
    }
}

pub fn script(seed: u64, length: usize) -> Vec<Op> {
    let random = &mut Random::new(seed);
    (0..length).map(|_| op(random)).collect()
}

pub fn op(random: &mut Random) -> Op {
    let start = if random.below(4) == 0 {
        random.below(4)
    } else {
        0
    };
    let file = random.below(4);
    let path = path(random);
    let bytes = {
        let length = match random.below(8) {
            0 => 70_000 + random.below(70_000),
            1 => 0,
            _ => random.below(200),
        };
        let byte = b'a' + random.below(26) as u8;
        Bytes(vec![byte; length])
    };
    match random.below(26) {
        0..=4 => {
            let mut coin = || random.below(2) == 0;
            let options = OpenOptions {
                write: coin(),
                create: coin(),
                exclusive: coin() && coin(),
                truncate: coin() && coin(),
                directory: coin() && coin(),
                follow: coin(),
            };
            Op::Open {
                start,
                path,
                options,
            }
        }
        5 => Op::Close { file },
        6 | 7 => Op::Read {
            file,
            offset: random.below(80_000) as u64,
        },
        8 | 9 => {
            let offset = random.below(90_000) as u64;
            Op::Write {
                file,
                offset,
                bytes,
            }
        }
        10 => Op::SetLen {
            file,
            length: random.below(100_000) as u64,
        },
        11 => Op::Size { file },
        12 => Op::List { start, path },
        13 => Op::Stat {
            start,
            path,
            follow: random.below(2) == 0,
        },
        14 => Op::ReadLink { start, path },
        15 | 16 => Op::CreateDirectory { start, path },
        17 => {
            let target = self::path(random);
            Op::CreateLink {
                start,
                path,
                target,
            }
        }
        18 => Op::RemoveDirectory { start, path },
        19 | 20 => Op::RemoveFile { start, path },
        21..=23 => {
            let (to, new_path) = (
                if random.below(6) == 0 {
                    random.below(4)
                } else {
                    0
                },
                self::path(random),
            );
            Op::Rename {
                start,
                path,
                to,
                new_path,
            }
        }
        _ => Op::Put { start, path, bytes },
    }
}

/// What scripts begin with.
pub fn fill(folder: &Path) {
    for name in ["a", "d/a", "d/b", "d/e/a", "d/e/b"] {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("contents of {name}")).unwrap();
    }
    fs::create_dir(folder.join("e")).unwrap();
    fs::write(folder.join("b"), vec![b'B'; 100_000]).unwrap();
    fs::set_permissions(folder.join("b"), fs::Permissions::from_mode(0o750)).unwrap();
    std::os::unix::fs::symlink("d/e", folder.join("link")).unwrap();
    std::os::unix::fs::symlink("../a", folder.join("d/link")).unwrap();
    std::os::unix::fs::symlink("missing", folder.join("e/link")).unwrap();
}

/// All that is in a folder but the private one: each path with its kind, permissions and contents.
pub fn tree(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    collect(folder, "", &mut found);
    found
}

/// The same, the paths alone; of pipes and sockets too.
pub fn paths(folder: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    let mut left = vec![String::new()];
    while let Some(below) = left.pop() {
        for entry in fs::read_dir(folder.join(&below)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            if name == crate::path::PRIVATE {
                continue;
            }
            let path = crate::path::join(&below, &name);
            if entry.file_type().unwrap().is_dir() {
                left.push(path.clone());
            }
            paths.push(path);
        }
    }
    paths
}

fn collect(folder: &Path, below: &str, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder.join(below)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if name == crate::path::PRIVATE {
            continue;
        }
        let path = crate::path::join(below, &name);
        let metadata = entry.metadata().unwrap();
        let what = if metadata.is_symlink() {
            format!("link to {:?}", fs::read_link(entry.path()).unwrap())
        } else if metadata.is_dir() {
            collect(folder, &path, found);
            "directory".to_owned()
        } else {
            let bytes = fs::read(entry.path()).unwrap();
            let note = fs::File::open(entry.path());
            let note = note.and_then(|file| crate::kept::attribute(&file, "user.note"));
            let note = note.unwrap().map(|note| hash(&note));
            format!("{} {:x} {note:x?}", bytes.len(), hash(&bytes))
        };
        found.insert(path, format!("{what}, {:o}", metadata.mode() & 0o7777));
    }
}

fn hash(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(blake3::hash(bytes).as_bytes()[..8].try_into().unwrap())
}
