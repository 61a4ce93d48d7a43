//! Scripts that follow from a seed, and the folder that each begins with.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use airlock_host::digest::Digest;
use airlock_host::effects::{Facts, ObjectKind};
use airlock_tests::Random;

use crate::script::{Bytes, Flag, Op, Script, Time};

/// Few, so that scripts come by the same ones again.
const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "link", ".env", "raw"];

/// How many calls a script is of.
const CALLS: usize = 40;

const FLAGS: [Flag; 9] = [
    Flag::Follow,
    Flag::Create,
    Flag::Directory,
    Flag::Exclusive,
    Flag::Truncate,
    Flag::Read,
    Flag::Write,
    Flag::MutateDirectory,
    Flag::SyncData,
];

/// A script of all calls there are.
pub fn script(seed: u64, folder: &str) -> Script {
    let mut random = Random::new(seed);
    Script {
        folder: folder.to_owned(),
        ops: (0..CALLS).map(|_| op(&mut random)).collect(),
    }
}

/// What is open: the folder, or something that the script has opened.
fn opened(random: &mut Random) -> usize {
    random.below(6) as usize
}

fn start(random: &mut Random) -> usize {
    if random.percent(75) {
        0
    } else {
        opened(random)
    }
}

fn path(random: &mut Random) -> String {
    if random.percent(2) {
        return odd_path(random);
    }
    let mut path = String::new();
    for part in 0..1 + random.below(3) {
        if part > 0 {
            path.push('/');
        }
        path.push_str(match random.below(24) {
            0 => "..",
            1 => ".",
            _ => NAMES[random.below(8) as usize],
        });
    }
    match random.below(24) {
        0 => path + "/",
        1 => format!("/{path}"),
        2 => path + "/.",
        _ => path,
    }
}

fn odd_path(random: &mut Random) -> String {
    match random.below(8) {
        0 => String::new(),
        1 => "d//a".to_owned(),
        2 => "n".repeat(255),
        3 => "n".repeat(256),
        4 => "d/".repeat(2100),
        5 => "d/\u{fc} \u{2713}".to_owned(),
        6 => "d\\a".to_owned(),
        _ => "d/../a//".to_owned(),
    }
}

fn bytes(random: &mut Random) -> Bytes {
    Bytes {
        byte: match random.below(12) {
            0 => 0,
            letter => b'a' + letter as u8,
        },
        count: match random.below(10) {
            0 => 4096 + random.below(70_000) as usize,
            1 => 0,
            _ => random.below(200) as usize,
        },
    }
}

fn flags(random: &mut Random) -> Vec<Flag> {
    // Each as often as it takes for most to succeed and all to be combined.
    const OFTEN: [u64; 9] = [60, 40, 12, 15, 20, 60, 55, 15, 1];
    let with = FLAGS.into_iter().zip(OFTEN);
    with.filter(|(_, often)| random.percent(*often))
        .map(|(flag, _)| flag)
        .collect()
}

fn time(random: &mut Random) -> Time {
    match random.below(4) {
        0 => Time::Unchanged,
        1 => Time::Now,
        2 => Time::Past,
        _ => Time::Impossible,
    }
}

fn op(random: &mut Random) -> Op {
    let (at, of, follow) = (start(random), opened(random), random.percent(50));
    let (path, offset) = (path(random), random.below(110_000));
    match random.below(40) {
        0..=6 => Op::Open {
            at,
            path,
            with: flags(random),
        },
        7 => Op::Close { of },
        8 => Op::Kind { of },
        9 => Op::Stat { of },
        10 | 11 => Op::StatAt { at, path, follow },
        12 => Op::Read {
            of,
            length: random.below(80_000),
            offset: offset * random.below(2),
        },
        13 | 14 => Op::Write {
            of,
            bytes: bytes(random),
            offset,
        },
        15 => Op::SetSize { of, size: offset },
        16 => Op::SetTimes {
            of,
            time: time(random),
        },
        17 => Op::SetTimesAt {
            at,
            path,
            follow,
            time: time(random),
        },
        18 if follow => Op::Advise { of },
        18 => Op::Sync {
            of,
            data_only: random.percent(50),
        },
        19 => Op::ReadStream {
            of,
            offset: offset * random.below(2),
        },
        20 | 21 => Op::NextRead {
            of,
            length: 1 + random.below(70_000),
        },
        22 => Op::WriteStream {
            of,
            offset: follow.then_some(offset),
        },
        23 | 24 => Op::NextWrite {
            of,
            bytes: bytes(random),
        },
        25 => Op::List { of },
        26 if follow => Op::HoldList { of },
        26 => Op::RestOfList { of },
        27 | 28 => Op::MakeDirectory { at, path },
        29 => Op::RemoveDirectory { at, path },
        30 | 31 => Op::RemoveFile { at, path },
        32..=34 => Op::Rename {
            at,
            path,
            to: start(random),
            new_path: self::path(random),
        },
        35 => Op::MakeLink {
            at,
            path,
            target: self::path(random),
        },
        36 => Op::ReadLink { at, path },
        37 if follow => Op::IsSame {
            of,
            to: opened(random),
        },
        37 => Op::HasHash {
            of,
            at,
            path,
            follow: random.percent(50),
        },
        _ => Op::Put {
            at,
            path,
            bytes: bytes(random),
        },
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
    fs::write(folder.join(".env"), "PASSWORD=x\n").unwrap();
    fs::write(folder.join("raw"), (0..=255).collect::<Vec<u8>>()).unwrap();
    std::os::unix::fs::symlink("d/e", folder.join("link")).unwrap();
    std::os::unix::fs::symlink("../a", folder.join("d/link")).unwrap();
    std::os::unix::fs::symlink("missing", folder.join("e/link")).unwrap();
}

/// All that is in a folder but the host's own: each path, and what is there.
pub type Tree = BTreeMap<String, String>;

/// Where two differ, by path; none for nothing there.
pub fn differing<'a>(
    one: &'a Tree,
    other: &'a Tree,
) -> BTreeMap<&'a String, [Option<&'a String>; 2]> {
    let paths = one.keys().chain(other.keys());
    paths
        .map(|path| (path, [one.get(path), other.get(path)]))
        .filter(|(_, [one, other])| one != other)
        .collect()
}

pub fn tree(folder: &Path) -> Tree {
    let mut found = BTreeMap::new();
    collect(folder, "", &mut found);
    found
}

fn collect(folder: &Path, below: &str, found: &mut Tree) {
    for entry in fs::read_dir(folder.join(below)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{below}{}", entry.file_name().to_str().unwrap());
        if path == airlock_host::PRIVATE_FOLDER {
            continue;
        }
        let metadata = entry.metadata().unwrap();
        let facts = if metadata.is_symlink() {
            let mut facts = Facts::new(ObjectKind::Link);
            let target = fs::read_link(entry.path()).unwrap();
            facts.target = Some(target.to_str().unwrap().to_owned());
            facts
        } else if metadata.is_dir() {
            collect(folder, &format!("{path}/"), found);
            Facts::new(ObjectKind::Directory)
        } else {
            let mut facts = Facts::new(ObjectKind::File);
            facts.size = metadata.len();
            facts.digest = Some(Digest::of(&fs::read(entry.path()).unwrap()).to_hex());
            facts
        };
        found.insert(path, described(&facts, metadata.mode() & 0o7777));
    }
}

/// What there is, in a line. A link has no permissions.
pub fn described(facts: &Facts, mode: u32) -> String {
    match facts.object {
        ObjectKind::Link => format!("link to {:?}", facts.target),
        ObjectKind::Directory => format!("directory, {mode:o}"),
        _ => format!("{} bytes {:?}, {mode:o}", facts.size, facts.digest),
    }
}
