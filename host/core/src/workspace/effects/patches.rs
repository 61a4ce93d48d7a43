//! `git apply` makes the changes of a layer, whatever they are.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use airlock_model::effects::{Effects, NoPatch};
use airlock_workspace::{
    Directory, Key, Kind, LayerOptions, OpenOptions, Opened, Ticket, View, Workspace,
};
use tempfile::TempDir;

use super::changes_of;

const NAMES: [&str; 12] = [
    "a", "b", "c d", "é", "q\"", "t\tab", "n\nl", "back\\", " x ", "x b", "-i", "日本",
];

const TEXTS: [&[u8]; 10] = [
    b"",
    b"one\n",
    b"one",
    b"one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n",
    b"one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nTEN",
    b"1\r\n2\r\n3\r\n",
    b"1\r2\r3\n\r\n\n",
    b"-- a\n++ b\n@@ -1 +1 @@\n\\ No\ndiff --git a/a b/a\n",
    b"\0\x01\x02binary",
    b"latin \xe9\n\xff",
];

/// Random numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }

    fn path(&mut self) -> String {
        let mut name = || NAMES[self.below(NAMES.len())];
        let (first, second, third) = (name(), name(), name());
        match self.below(4) {
            0 | 1 => first.to_owned(),
            2 => format!("{first}/{second}"),
            _ => format!("{first}/{second}/{third}"),
        }
    }

    /// Returns the target of a link that is in no circle: git doesn't replace those by directories.
    fn target(&mut self) -> String {
        match self.below(2) {
            0 => ".".to_owned(),
            _ => format!("none/{}", self.path()),
        }
    }

    fn contents(&mut self) -> Vec<u8> {
        let mut contents = TEXTS[self.below(TEXTS.len())].to_vec();
        if self.below(4) == 0 {
            contents.extend(TEXTS[self.below(TEXTS.len())]);
        }
        if self.below(8) == 0 {
            contents.extend((0..self.below(3000)).map(|_| self.below(256) as u8));
        }
        contents
    }
}

/// Fills a real folder. Failures are fine: then there is less in it.
fn fill(folder: &Path, random: &mut Random) {
    for _ in 0..25 {
        let path = folder.join(random.path());
        let _ = fs::create_dir_all(path.parent().unwrap_or(folder));
        match random.below(8) {
            0 => drop(symlink(random.target(), &path)),
            1 => drop(fs::create_dir(&path)),
            _ if path.symlink_metadata().is_ok() => {}
            kind => {
                if fs::write(&path, random.contents()).is_ok() {
                    let mode = [0o644, 0o755, 0o600][kind % 3];
                    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
                }
            }
        }
    }
}

/// Makes changes through a view. Those that fail are none.
fn change(root: &Directory, random: &mut Random) {
    for _ in 0..15 {
        let (path, other) = (random.path(), random.path());
        match random.below(16) {
            0..3 => drop(write(root, &path, &random.contents(), true)),
            3..5 => drop(write(root, &path, &random.contents(), false)),
            5 | 6 => drop(root.remove_file(&path)),
            7 => drop(root.remove_directory(&path)),
            8 => drop(root.create_directory(&path)),
            9 => {
                let _ = root.remove_file(&path);
                let _ = root.create_link(&random.target(), &path);
            }
            10 => {
                // Those of directories can't be changed.
                if root
                    .metadata_at(&path, false)
                    .is_ok_and(|it| it.kind == Kind::File)
                {
                    let mode = [0o644, 0o755, 0o600][random.below(3)];
                    root.set_mode_at(&path, mode).unwrap();
                }
            }
            _ => drop(root.rename(&path, root, &other)),
        }
    }
}

fn write(root: &Directory, path: &str, contents: &[u8], truncate: bool) -> std::io::Result<()> {
    let options = OpenOptions {
        write: true,
        create: true,
        truncate,
        ..OpenOptions::default()
    };
    if let Opened::File(file) = root.open(path, options)? {
        file.append(contents)?;
    }
    Ok(())
}

/// Returns what git knows of a folder: files with whether they are executable, and links.
fn known_to_git(folder: &Path) -> BTreeMap<String, (char, Vec<u8>)> {
    let files = files_in(folder, "").unwrap().into_iter();
    let known = files.map(|path| {
        let real = folder.join(&path);
        let found = real.symlink_metadata().unwrap();
        let seen = if found.is_symlink() {
            let target = fs::read_link(&real).unwrap();
            ('l', target.into_os_string().into_encoded_bytes())
        } else if found.permissions().mode() & 0o100 != 0 {
            ('x', fs::read(&real).unwrap())
        } else {
            ('-', fs::read(&real).unwrap())
        };
        (path, seen)
    });
    known.collect()
}

fn files_in(folder: &Path, below: &str) -> std::io::Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder.join(below))? {
        let entry = entry?;
        let name = entry.file_name().into_string().unwrap();
        let path = if below.is_empty() {
            name
        } else {
            format!("{below}/{name}")
        };
        if path == ".airlock" {
        } else if entry.file_type()?.is_dir() {
            files.extend(files_in(folder, &path)?);
        } else {
            files.push(path);
        }
    }
    Ok(files)
}

fn remove_empty_directories(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            remove_empty_directories(&entry.path());
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Two folders that are filled alike.
struct Folders {
    temporary: TempDir,
    ours: PathBuf,
    of_git: PathBuf,
}

impl Folders {
    fn new(seed: u64) -> Self {
        let memory = Path::new("/dev/shm");
        let temporary = if memory.is_dir() {
            TempDir::new_in(memory).unwrap()
        } else {
            TempDir::new().unwrap()
        };
        let folder = |name| {
            let folder = temporary.path().join(name);
            fs::create_dir(&folder).unwrap();
            folder
        };
        let (ours, of_git) = (folder("ours"), folder("of_git"));
        folder("spill");
        for folder in [&ours, &of_git] {
            fill(folder, &mut Random(seed));
        }
        // Git doesn't remove them to make room for a file.
        remove_empty_directories(&of_git);
        Self {
            temporary,
            ours,
            of_git,
        }
    }

    fn workspace(&self) -> (Workspace, View) {
        let workspace = Workspace::open(&self.ours, &Key::new([0; 32])).unwrap();
        let view = workspace.view(1000).unwrap();
        let spill = self.temporary.path().join("spill");
        view.begin(&LayerOptions::new(spill)).unwrap();
        (workspace, view)
    }

    fn apply(&self, patch: &str) -> Result<(), String> {
        let file = self.temporary.path().join("patch");
        fs::write(&file, patch).unwrap();
        let output = Command::new("git")
            .args(["apply", "--allow-empty"])
            .arg(&file)
            .current_dir(&self.of_git)
            .env("GIT_CEILING_DIRECTORIES", self.temporary.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }
}

/// How many change sets are tried; more by `AIRLOCK_PATCHES`.
fn rounds() -> u64 {
    let rounds = std::env::var("AIRLOCK_PATCHES").ok();
    rounds.map_or(300, |rounds| rounds.parse().unwrap())
}

#[test]
fn git_makes_the_changes_of_any_layer_from_their_patch() {
    let first = std::env::var("AIRLOCK_SEED").map_or(1, |seed| seed.parse().unwrap());
    for seed in first..first + rounds() {
        let folders = Folders::new(seed);
        let (workspace, view) = folders.workspace();
        change(&view.root(), &mut Random(seed ^ 0x5eed));
        let before = workspace.view(1000).unwrap();
        let effects = Effects::verified(changes_of(&view, &before).unwrap());
        let patch = effects.git_patch(|path| files_in(&folders.ours, path));
        let patch = patch.unwrap();
        let ticket = Ticket {
            others: Vec::new(),
            id: "one".to_owned(),
            note: String::new(),
            title: String::new(),
            originals: None,
        };
        view.commit(&workspace, &ticket).unwrap();
        let said = folders.apply(&patch);
        assert_eq!(said, Ok(()), "seed {seed}:\n{patch}");
        assert_eq!(
            known_to_git(&folders.of_git),
            known_to_git(&folders.ours),
            "seed {seed}:\n{patch}"
        );
    }
}

#[test]
fn a_patch_that_would_be_incomplete_is_refused_with_the_file() {
    let check = |path: &str, old: &[u8], new: Option<&[u8]>, expected: &str| {
        let folders = Folders::new(0);
        let file = folders.ours.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, old).unwrap();
        let (workspace, view) = folders.workspace();
        match new {
            Some(new) => write(&view.root(), path, new, true).unwrap(),
            None => view.root().remove_file(path).unwrap(),
        }
        let before = workspace.view(1000).unwrap();
        let effects = Effects::verified(changes_of(&view, &before).unwrap());
        let refused = effects.git_patch(|_| Ok(Vec::new())).unwrap_err();
        assert_eq!(refused.to_string(), expected);
    };
    let long = vec![b'x'; 300 << 10];
    let too_long = "the contents of z.txt were not kept, because they are too long";
    check("z.txt", b"short", Some(&long), too_long);
    check("z.txt", &long, None, too_long);
    check("z.txt", &vec![0; 2 << 20], None, too_long);
    check("z.txt", b"\0", Some(&vec![0; 300 << 10]), too_long);
    let secret = "the contents of z.key were not kept, because it is likely to hold a secret";
    check("z.key", b"1", Some(b"2"), secret);
    let of_git = "git does not change files such as z/.Git/config";
    check("z/.Git/config", b"1", Some(b"2"), of_git);
}

#[test]
fn a_renamed_directory_needs_the_names_of_its_files() {
    let folders = Folders::new(0);
    fs::create_dir_all(folders.ours.join("old/sub")).unwrap();
    fs::write(folders.ours.join("old/sub/z.txt"), "z").unwrap();
    let (workspace, view) = folders.workspace();
    view.root().rename("old", &view.root(), "new").unwrap();
    let before = workspace.view(1000).unwrap();
    let effects = Effects::verified(changes_of(&view, &before).unwrap());
    let refused = effects.git_patch(|_| Err(std::io::ErrorKind::NotFound.into()));
    assert!(matches!(refused, Err(NoPatch::Directory(path, _)) if path == "old"));
    let patch = effects.git_patch(|path| files_in(&folders.ours, path));
    assert_eq!(
        patch.unwrap(),
        "diff --git a/old/sub/z.txt b/new/sub/z.txt\nsimilarity index 100%\n\
         rename from old/sub/z.txt\nrename to new/sub/z.txt\n"
    );
}
