//! Reads, stats, listings and opens through a view without a layer and with an empty one, beside
//! plain system calls on the same files; creates and writes in a layer beside plain ones.
//!
//! The bare side stays inside of the folder as well: `openat2` (beneath, no links) with `fstat` for
//! an open, with `O_PATH` for a stat, and with `getdents` for a listing, whose names become
//! strings. A read is one `pread` of 4 KiB, a write one `pwrite` of as much, and a create is an
//! `openat` that is exclusive, with `fstat`. None of them syncs.

use std::cell::RefCell;
use std::fs::{self, File};
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use airlock_workspace::{OpenFile, OpenOptions, View};
use rustix::fs::{Dir, Mode, OFlags, ResolveFlags};

use crate::folder::{Fixture, Folder, IN_ONE, open, timed, to_make, to_write};
use crate::rounds::Report;

const FILES: usize = 1_000;

const SIZE: usize = 4096;

/// Short ones, since what slows a machine down comes and goes within milliseconds.
const ROUNDS: usize = 201;

/// Listings are few in a round, since there are fewer directories.
const LISTINGS: usize = 3;

/// At the guest's level, where a call costs more on both sides.
const PROMISED_READS: f64 = 1.1;

const PROMISED_WRITES: f64 = 1.3;

const BENEATH: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS);

pub fn measure(place: &Fixture, report: &mut Report) {
    let folder = place.folder();
    folder.fill(FILES, SIZE);
    let workspace = folder.workspace();
    let paths: Vec<_> = (0..FILES).map(|number| Folder::file("f", number)).collect();
    let plain = workspace.view(crate::folder::READS).unwrap();
    reads(report, "no layer", &folder, &plain, &paths);
    let layered = folder.layer(&workspace);
    reads(report, "an empty layer", &folder, &layered, &paths);
    open(&layered, "elsewhere", to_make());
    reads(report, "a change elsewhere", &folder, &layered, &paths);
    writes(place, report);
}

fn reads(report: &mut Report, above: &str, folder: &Folder, view: &View, paths: &[String]) {
    let root = view.root();
    let mut compare = |what: &str, bare: &dyn Fn(&str), ours: &dyn Fn(&str)| {
        report.compare(
            &format!("{what}, {above}"),
            (ROUNDS, paths.len()),
            Some(PROMISED_READS),
            |_| each(paths, bare),
            |_| each(paths, ours),
        );
    };
    compare(
        "open",
        &|path| {
            let file = beneath(&folder.root, path, OFlags::RDONLY);
            black_box(rustix::fs::fstat(&file).unwrap());
        },
        &|path| {
            black_box(open(view, path, OpenOptions::default()));
        },
    );
    compare(
        "stat by path",
        &|path| {
            let file = beneath(&folder.root, path, OFlags::PATH);
            black_box(rustix::fs::fstat(&file).unwrap());
        },
        &|path| {
            black_box(root.metadata_at(path, false).unwrap());
        },
    );
    let bare_file = beneath(&folder.root, &paths[0], OFlags::RDONLY);
    let our_file = open(view, &paths[0], OpenOptions::default());
    compare(
        "stat of an open file",
        &|_| {
            black_box(rustix::fs::fstat(&bare_file).unwrap());
        },
        &|_| {
            black_box(our_file.metadata().unwrap());
        },
    );
    let buffer = RefCell::new(vec![0; SIZE]);
    compare(
        "read of 4 KiB",
        &|_| {
            let read = bare_file.read_at(&mut buffer.borrow_mut(), 0).unwrap();
            assert_eq!(read, SIZE);
        },
        &|_| {
            let read = our_file.read_at(&mut buffer.borrow_mut(), 0).unwrap();
            assert_eq!(read, SIZE);
        },
    );
    report.compare(
        &format!("listing of {IN_ONE} names, {above}"),
        (ROUNDS, LISTINGS * FILES / IN_ONE),
        Some(PROMISED_READS),
        |_| {
            each_directory(|path| {
                let directory = beneath(&folder.root, path, OFlags::RDONLY | OFlags::DIRECTORY);
                let names = Dir::new(directory).unwrap().map(|entry| {
                    let entry = entry.unwrap();
                    let name = entry.file_name().to_str().unwrap().to_owned();
                    (name, entry.file_type())
                });
                black_box(names.collect::<Vec<_>>());
            })
        },
        |_| {
            each_directory(|path| {
                let directory = match root.open(path, OpenOptions::default()).unwrap() {
                    airlock_workspace::Opened::Directory(directory) => directory,
                    airlock_workspace::Opened::File(_) => panic!("{path} is a file"),
                };
                assert_eq!(black_box(directory.list().unwrap()).entries.len(), IN_ONE);
            })
        },
    );
}

fn writes(place: &Fixture, report: &mut Report) {
    let [bare, ours] = [place.folder(), place.folder()];
    for folder in [&bare, &ours] {
        folder.make_directories(FILES);
    }
    let workspace = ours.workspace();
    let paths: Vec<_> = (0..FILES).map(|number| Folder::file("n", number)).collect();
    let bytes = vec![b'a'; SIZE];
    let bare_creates = |bytes: Option<&[u8]>| {
        let took = timed(|| {
            for path in &paths {
                let file = create(&bare, path);
                if let Some(bytes) = bytes {
                    file.write_all_at(bytes, 0).unwrap();
                }
            }
        });
        for path in &paths {
            fs::remove_file(bare.path.join(path)).unwrap();
        }
        took
    };
    let our_creates = |bytes: Option<&[u8]>| {
        let view = ours.layer(&workspace);
        timed(|| {
            for path in &paths {
                let file = open(&view, path, to_make());
                if let Some(bytes) = bytes {
                    file.write_at(bytes, 0).unwrap();
                }
            }
        })
    };
    let promised = Some(PROMISED_WRITES);
    report.compare(
        "create in a layer",
        (ROUNDS / 5, FILES),
        promised,
        |_| bare_creates(None),
        |_| our_creates(None),
    );
    report.compare(
        "create and write 4 KiB in a layer",
        (ROUNDS / 5, FILES),
        promised,
        |_| bare_creates(Some(&bytes)),
        |_| our_creates(Some(&bytes)),
    );
    for (name, size) in [
        ("write of 4 KiB to a file of 64 KiB", 64 * 1024),
        ("write of 4 KiB to a file of 1 MiB", 1 << 20),
    ] {
        let view = ours.layer(&workspace);
        let (bare_file, our_file) = open_both(&bare, &view, size);
        let offset = |number: usize| (number * SIZE % size) as u64;
        report.compare(
            name,
            (ROUNDS, FILES),
            promised,
            |_| {
                timed(|| {
                    for number in 0..FILES {
                        bare_file.write_all_at(&bytes, offset(number)).unwrap();
                    }
                })
            },
            |_| {
                timed(|| {
                    for number in 0..FILES {
                        our_file.write_at(&bytes, offset(number)).unwrap();
                    }
                })
            },
        );
    }
}

fn open_both(bare: &Folder, view: &View, size: usize) -> (File, OpenFile) {
    let path = format!("file-{size}");
    let bare_file = create(bare, &path);
    bare_file.write_all_at(&vec![b'a'; size], 0).unwrap();
    let our_file = open(view, &path, to_make());
    our_file.write_at(&vec![b'a'; size], 0).unwrap();
    // What is written to, not what was made with it.
    drop(our_file);
    (bare_file, open(view, &path, to_write()))
}

fn create(folder: &Folder, path: &str) -> File {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mode = Mode::from_raw_mode(0o644);
    let made = rustix::fs::openat2(&folder.root, path, flags, mode, BENEATH).unwrap();
    rustix::fs::fstat(&made).unwrap();
    File::from(made)
}

fn beneath(root: &File, path: &str, flags: OFlags) -> File {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat2(root, path, flags, Mode::empty(), BENEATH);
    File::from(opened.unwrap())
}

fn each(paths: &[String], run: &dyn Fn(&str)) -> Duration {
    timed(|| {
        for path in paths {
            run(path);
        }
    })
}

fn each_directory(run: impl Fn(&str)) -> Duration {
    timed(|| {
        for _ in 0..LISTINGS {
            for directory in 0..FILES / IN_ONE {
                run(&format!("d{directory:03}"));
            }
        }
    })
}
