//! What 100,000 entries of a layer take of a process's memory, each kind in a process of its own:
//! what is resident with the layer, less what was before.

use std::process::Command;

use airlock_workspace::{LayerOptions, OpenOptions, Workspace};

use crate::folder::{Fixture, Folder, open, to_make};
use crate::rounds::Report;

const ENTRIES: usize = 100_000;

const VARIABLE: &str = "AIRLOCK_BENCH_MEMORY";

#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Created,
    Renamed,
    Stat,
}

impl Kind {
    const ALL: [(Self, &str); 3] = [
        (Self::Created, "created files, empty"),
        (Self::Renamed, "renamed files"),
        (Self::Stat, "files looked at, and no layer"),
    ];
}

pub struct Asked {
    kind: Kind,
    path: String,
    spill: String,
}

/// What this process was started for, where another one of this benchmark did.
pub fn asked_for() -> Option<Asked> {
    let asked = std::env::var(VARIABLE).ok()?;
    let mut parts = asked.splitn(3, '\n');
    let kind: usize = parts.next()?.parse().ok()?;
    Some(Asked {
        kind: Kind::ALL[kind].0,
        path: parts.next()?.to_owned(),
        spill: parts.next()?.to_owned(),
    })
}

pub fn print_resident(asked: &Asked) {
    let key = airlock_workspace::Key::new([7; 32]);
    let workspace = Workspace::open(asked.path.as_ref(), &key).unwrap();
    let view = workspace.view(crate::folder::READS).unwrap();
    // What is made with the first use of anything.
    let mut options = LayerOptions::new(&asked.spill);
    options.entries = 2 * ENTRIES;
    let root = view.root();
    let before = resident();
    if asked.kind != Kind::Stat {
        view.begin(&options).unwrap();
    }
    for number in 0..ENTRIES {
        let path = Folder::file("f", number);
        match asked.kind {
            Kind::Created => drop(open(&view, &Folder::file("n", number), to_make())),
            Kind::Renamed => root
                .rename(&path, &root, &Folder::file("g", number))
                .unwrap(),
            Kind::Stat => drop(root.metadata_at(&path, OpenOptions::default().follow)),
        }
    }
    println!("{}", resident().saturating_sub(before));
}

pub fn measure(place: &Fixture, report: &mut Report) {
    let row = |what| format!("memory for each of 100,000 {what}");
    if !Kind::ALL.iter().any(|(_, what)| report.wants(&row(what))) {
        return;
    }
    let folder = place.folder();
    folder.fill(ENTRIES, 0);
    for (number, (_, what)) in Kind::ALL.iter().enumerate() {
        let (path, spill) = (folder.path.display(), folder.spill.display());
        let output = Command::new(std::env::current_exe().unwrap())
            .env(VARIABLE, format!("{number}\n{path}\n{spill}"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let printed = String::from_utf8(output.stdout).unwrap();
        let bytes: usize = printed.trim().parse().unwrap();
        report.alone(
            &row(what),
            &format!("{} bytes, {:.1} MB", bytes / ENTRIES, bytes as f64 / 1e6),
        );
    }
}

/// In bytes.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.unwrap().trim().trim_end_matches(" kB");
    1024 * kibibytes.parse::<usize>().unwrap()
}
