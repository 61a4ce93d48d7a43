//! What a script comes to in a view, and in the folder after the commit, is what it comes to in a
//! plain folder.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use super::from_environment;
use super::script::{Bytes, Op, Plain, Subject, Viewed, fill, script, tree};
use crate::{Key, LayerOptions, OpenOptions, Retention, Ticket, Workspace};

/// How many scripts are tried; more by `AIRLOCK_SCRIPTS`.
fn scripts() -> u64 {
    from_environment("AIRLOCK_SCRIPTS").unwrap_or(2_000)
}

fn first_seed() -> u64 {
    from_environment("AIRLOCK_SEED").unwrap_or(1)
}

pub fn open(folder: &Path) -> Workspace {
    Workspace::open(folder, &Key::new([7; 32])).unwrap()
}

pub fn ticket(id: &str) -> Ticket {
    Ticket {
        id: id.to_owned(),
        note: format!("note of {id}"),
        title: format!("title of {id}"),
        others: Vec::new(),
        originals: None,
    }
}

/// Keeps what the commit replaces, so that it can be undone.
pub fn kept(id: &str) -> Ticket {
    Ticket {
        originals: Some(KEEP),
        ..ticket(id)
    }
}

pub const KEEP: Retention = Retention {
    time: Duration::from_secs(600),
    bytes: 1 << 30,
};

/// What differs, if anything does.
pub fn difference(ops: &[Op]) -> Option<String> {
    let folders = TempDir::new_in(scratch()).unwrap();
    let [plain, layered, spill] = ["plain", "layered", "spill"].map(|name| {
        let folder = folders.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        folder
    });
    fill(&plain);
    fill(&layered);
    let before = tree(&layered);
    let workspace = open(&layered);
    let view = workspace.view(1000).unwrap();
    let mut options = LayerOptions::new(&spill);
    options.memory_bytes = 100_000;
    view.begin(&options).unwrap();
    let mut one = Plain::at(&plain);
    let mut other = Viewed::of(&view);
    for (number, op) in ops.iter().enumerate() {
        if is_a_quirk(op) {
            continue;
        }
        let (expected, got) = (one.run(op), other.run(op));
        if expected != got {
            return Some(format!("{number}: {op:?}: plain {expected}, view {got}"));
        }
    }
    if tree(&layered) != before {
        return Some("the folder was touched before the commit".to_owned());
    }
    if std::fs::read_dir(&layered)
        .unwrap()
        .any(|entry| entry.unwrap().file_name() == ".airlock")
    {
        return Some("the private folder was made before the commit".to_owned());
    }
    let committed = match view.commit(&workspace, &ticket("it")) {
        Ok(committed) => committed,
        Err(error) => return Some(format!("the commit failed: {error}")),
    };
    if let Some(error) = committed.not_cleaned_up {
        return Some(format!("not cleaned up: {error}"));
    }
    let (expected, got) = (tree(&plain), tree(&layered));
    if expected != got {
        return Some(format!("plain {expected:#?}\nlayered {got:#?}"));
    }
    if committed.changes.is_empty() != (before == got) {
        return Some(format!(
            "{:#?} for {before:#?} to {got:#?}",
            committed.changes
        ));
    }
    // What is open stays open, on the same files.
    for op in ops
        .iter()
        .filter(|op| matches!(op, Op::Read { .. } | Op::Size { .. }))
    {
        let (expected, got) = (one.run(op), other.run(op));
        // What was removed is gone with the layer, also for who has it open.
        let (Op::Read { file, .. } | Op::Size { file }) = op else {
            continue;
        };
        if expected != got && !other.is_gone(*file) {
            return Some(format!(
                "after the commit, {op:?}: plain {expected}, view {got}"
            ));
        }
    }
    drop(other);
    drop(view);
    match std::fs::read_dir(&spill).unwrap().count() {
        0 => None,
        left => Some(format!("{left} folders are left where contents were kept")),
    }
}

/// `cap-std` looks at a path of one name itself, whatever comes behind the name: `file/` is a file
/// there, and `link/.` a link. And it has a file renamed to `name/`. The system does neither, nor
/// do we.
fn is_a_quirk(op: &Op) -> bool {
    let path = match op {
        Op::Stat {
            path,
            follow: false,
            ..
        } => path,
        Op::Rename { new_path, .. } => return new_path.ends_with('/'),
        _ => return false,
    };
    let mut names = Path::new(path).components();
    let is_one_name = matches!(names.next(), Some(Component::Normal(_))) && names.next().is_none();
    is_one_name && (path.ends_with('/') || path.ends_with("/."))
}

/// In memory where that can be, since scripts are many; elsewhere by `AIRLOCK_SCRATCH`.
pub fn scratch() -> PathBuf {
    let asked = std::env::var_os("AIRLOCK_SCRATCH").map(PathBuf::from);
    let memory = Path::new("/dev/shm");
    asked.unwrap_or_else(|| {
        if memory.is_dir() {
            memory.to_owned()
        } else {
            std::env::temp_dir()
        }
    })
}

/// The same with as few operations as still show it.
fn shrunk(mut ops: Vec<Op>, differs: &dyn Fn(&[Op]) -> Option<String>) -> Vec<Op> {
    let mut at = ops.len();
    while at > 0 {
        at -= 1;
        let mut fewer = ops.clone();
        fewer.remove(at);
        if differs(&fewer).is_some() {
            ops = fewer;
        }
    }
    ops
}

#[test]
fn scripts_come_to_the_same_as_in_a_plain_folder() {
    let mut failed = 0;
    for seed in first_seed()..first_seed() + scripts() {
        let ops = script(seed, 40);
        if difference(&ops).is_some() {
            let ops = shrunk(ops, &difference);
            println!("seed {seed}: {}", difference(&ops).unwrap());
            ops.iter().for_each(|op| println!("    {op:?}"));
            failed += 1;
            if failed == 8 {
                break;
            }
        }
    }
    assert_eq!(failed, 0);
}

/// Each operation alone, with a path that says more or less clearly that it is a directory.
fn with_slashes() -> Vec<Op> {
    let paths = [
        "a", "d", "d/a", "d/e", "link", "d/link", "e/link", "missing", "a/x",
    ];
    let ends = ["", "/", "//", "/.", "/./", "/.."];
    let flags = 0..1 << 6;
    let options = flags.map(|bits| {
        let is_set = |bit: u32| bits & (1 << bit) != 0;
        OpenOptions {
            write: is_set(0),
            create: is_set(1),
            exclusive: is_set(2),
            truncate: is_set(3),
            directory: is_set(4),
            follow: is_set(5),
        }
    });
    let options: Vec<OpenOptions> = options.collect();
    let mut ops = Vec::new();
    for path in paths
        .iter()
        .flat_map(|path| ends.map(|end| format!("{path}{end}")))
    {
        let (start, to) = (0, 0);
        let all = || path.clone();
        ops.extend(options.iter().map(|options| Op::Open {
            start,
            path: all(),
            options: *options,
        }));
        ops.extend([true, false].map(|follow| Op::Stat {
            start,
            path: all(),
            follow,
        }));
        for other in [
            "a",
            "d",
            "e",
            "link",
            "new",
            "new/",
            "e/",
            "a/",
            "link/",
            "d/e/new//",
        ] {
            let other = other.to_owned();
            ops.push(Op::Rename {
                start,
                path: all(),
                to,
                new_path: other.clone(),
            });
            ops.push(Op::Rename {
                start,
                path: other,
                to,
                new_path: all(),
            });
        }
        ops.extend([
            Op::List { start, path: all() },
            Op::ReadLink { start, path: all() },
            Op::CreateDirectory { start, path: all() },
            Op::CreateLink {
                start,
                path: all(),
                target: "a".to_owned(),
            },
            Op::RemoveDirectory { start, path: all() },
            Op::RemoveFile { start, path: all() },
            Op::Put {
                start,
                path: all(),
                bytes: Bytes(b"put".to_vec()),
            },
        ]);
    }
    ops
}

#[test]
fn a_slash_at_a_paths_end_means_the_same_in_each_operation_as_in_a_plain_folder() {
    let ops = with_slashes();
    // All of them, where no fewer scripts are asked for than otherwise.
    let every = (2_000 / scripts().max(1)).max(1) as usize;
    let differences = ops.iter().step_by(every).filter_map(|op| {
        let differs = difference(std::slice::from_ref(op))?;
        Some(format!("{op:?}: {differs}"))
    });
    let differences: Vec<_> = differences.collect();
    println!("{} operations", ops.len());
    assert!(
        differences.is_empty(),
        "{} differ: {differences:#?}",
        differences.len()
    );
}
