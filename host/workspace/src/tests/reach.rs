//! Nothing out of bounds is reached, whatever is tried.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;
use tempfile::TempDir;

use super::model::{open, scratch};
use super::script::{Subject, Viewed, fill, script};
use crate::{Access, Bounds, LayerOptions, OpenOptions, View};

/// Files and directories, with everything below them; and names at any depth.
#[derive(Debug, Clone, Copy)]
struct Within {
    read: &'static [&'static str],
    change: &'static [&'static str],
    named: Option<&'static str>,
}

const BOUNDS: [Within; 4] = [
    Within {
        read: &["a", "d/e"],
        change: &["d/e"],
        named: None,
    },
    Within {
        read: &["a", "c", "d/e", "link"],
        change: &["c", "d/e/a", "link"],
        named: None,
    },
    Within {
        read: &["e"],
        change: &[],
        named: None,
    },
    Within {
        read: &[],
        change: &[],
        named: Some("a"),
    },
];

fn is_below(path: &str, above: &str) -> bool {
    let rest = path.strip_prefix(above);
    rest.is_some_and(|rest| above.is_empty() || rest.is_empty() || rest.starts_with('/'))
}

impl Within {
    fn of(&self, access: Access) -> &[&'static str] {
        match access {
            Access::Read => self.read,
            Access::Change => self.change,
        }
    }
}

impl Bounds for Within {
    fn allows(&self, access: Access, path: &str) -> bool {
        let name = path.rsplit('/').next();
        self.of(access).iter().any(|it| is_below(path, it))
            || self.named.is_some_and(|named| name == Some(named))
    }

    fn leads_from(&self, directory: &str) -> bool {
        self.named.is_some() || self.read.iter().any(|it| is_below(it, directory))
    }

    fn covers(&self, access: Access, directory: &str) -> bool {
        self.of(access).iter().any(|it| is_below(directory, it))
    }

    fn denied(&self, _: Access, _: &str) {}
}

fn view_of(folder: &Path, spill: &Path) -> View {
    let view = open(folder).view(1000).unwrap();
    view.begin(&LayerOptions::new(spill)).unwrap();
    view
}

/// Changes everything that can't be read.
fn disturb(folder: &Path, bounds: &Within) {
    let is_read = |path: &str| bounds.allows(Access::Read, path);
    for path in super::script::paths(folder) {
        let real = folder.join(&path);
        if is_read(&path) || !real.symlink_metadata().is_ok_and(|it| !it.is_dir()) {
            continue;
        }
        fs::remove_file(&real).unwrap();
        if path.len() % 2 == 0 {
            fs::write(&real, "something else").unwrap();
        }
    }
    for path in ["b", "c", "d/c", "d/e/c", "e/d"] {
        let is_there = folder.join(path).symlink_metadata().is_ok();
        if !is_read(path) && !is_there {
            fs::write(folder.join(path), "new").unwrap();
        }
    }
}

#[test]
fn what_is_out_of_bounds_makes_no_difference_to_any_answer() {
    for seed in 0..1200 {
        let bounds = &BOUNDS[seed as usize % BOUNDS.len()];
        let folders = TempDir::new_in(scratch()).unwrap();
        let [one, other] = ["one", "other"].map(|name| {
            let folder = folders.path().join(name);
            fs::create_dir(&folder).unwrap();
            fill(&folder);
            folder
        });
        disturb(&other, bounds);
        let views = [one, other].map(|folder| view_of(&folder, folders.path()));
        let [mut one, mut other] = views
            .each_ref()
            .map(|view| Viewed::at(view.root_within(Arc::new(*bounds))));
        for (index, op) in script(seed, 60).iter().enumerate() {
            let (one, other) = (one.run(op), other.run(op));
            assert_eq!(one, other, "seed {seed}, step {index}: {op:?}");
        }
        for change in views[0].changes().unwrap() {
            for path in change.from.iter().chain([&change.path]) {
                let is_within = bounds.allows(Access::Change, path);
                assert!(is_within, "seed {seed}: {path} was changed");
            }
        }
    }
}

#[test]
fn a_link_or_a_rename_does_not_lead_out_of_bounds() {
    let folders = TempDir::new_in(scratch()).unwrap();
    let folder = folders.path().join("folder");
    fs::create_dir(&folder).unwrap();
    fill(&folder);
    let view = view_of(&folder, folders.path());
    let root = view.root_within(Arc::new(BOUNDS[0]));
    let fails = |result: io::Result<()>, expected: Errno| {
        let error = result.unwrap_err().raw_os_error();
        assert_eq!(error, Some(expected.raw_os_error()));
    };
    let read = |path| {
        let options = OpenOptions {
            follow: true,
            ..OpenOptions::default()
        };
        root.open(path, options).map(drop)
    };
    root.create_link("../../b", "d/e/link").unwrap();
    for path in [
        "d/e/link",
        "b",
        "d/../b",
        "d/e/../../b",
        "missing",
        "d/link",
    ] {
        fails(read(path), Errno::ACCESS);
    }
    fails(root.rename("b", &root, "d/e/c"), Errno::ACCESS);
    fails(root.rename("d/e/a", &root, "d/a"), Errno::ACCESS);
    fails(root.rename("d", &root, "d/e/d"), Errno::ACCESS);
    fails(root.remove_file("a"), Errno::ACCESS);
    fails(root.create_directory("e/new"), Errno::ACCESS);
    fails(root.set_mode_at("a", 0o777), Errno::ACCESS);
    let names = root.list().unwrap().entries.into_iter().map(|it| it.name);
    assert_eq!(names.collect::<Vec<_>>(), ["a", "d"]);
}

#[test]
fn a_directory_on_the_way_does_not_tell_how_much_is_in_it() {
    let folders = TempDir::new_in(scratch()).unwrap();
    let told = |name: &str, hidden: usize| {
        let folder = folders.path().join(name);
        fs::create_dir(&folder).unwrap();
        fill(&folder);
        for number in 0..hidden {
            fs::create_dir(folder.join(format!("hidden{number}"))).unwrap();
        }
        let view = view_of(&folder, folders.path());
        let root = view.root_within(Arc::new(BOUNDS[0]));
        let found = [
            root.metadata().unwrap(),
            root.metadata_at("d", true).unwrap(),
        ];
        found.map(|it| (it.size, it.links, it.modified, it.changed, it.accessed))
    };
    assert_eq!(told("one", 0), told("other", 300));
}

#[test]
fn a_directory_moves_as_a_whole_only_if_all_in_it_may_change() {
    let folders = TempDir::new_in(scratch()).unwrap();
    let folder = folders.path().join("folder");
    fs::create_dir(&folder).unwrap();
    fill(&folder);
    let view = view_of(&folder, folders.path());
    let whole = view.root_within(Arc::new(Within {
        read: &["d", "f"],
        change: &["d", "f"],
        named: None,
    }));
    /// Lets the directory be changed, but not all that is in it.
    #[derive(Debug)]
    struct Some;
    impl Bounds for Some {
        fn allows(&self, _: Access, path: &str) -> bool {
            path != "f/e/b"
        }
        fn leads_from(&self, _: &str) -> bool {
            true
        }
        fn covers(&self, _: Access, directory: &str) -> bool {
            directory != "f" && directory != "f/e"
        }
        fn denied(&self, _: Access, _: &str) {}
    }
    whole.rename("d", &whole, "f").unwrap();
    let some = view.root_within(Arc::new(Some));
    // For this error, programs move the files one by one.
    let error = some.rename("f", &some, "g").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::CrossesDevices);
    some.create_directory("g").unwrap();
    some.rename("f/e/a", &some, "g/a").unwrap();
    let error = some.rename("f/e/b", &some, "g/b").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}
