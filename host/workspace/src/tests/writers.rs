//! Another program writes to a file through a descriptor that it has had open all the while: what
//! it writes is where the user finds it, at whichever step of a commit that happens.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use tempfile::TempDir;

use super::model::{open, scratch, ticket};
use crate::fault::{another_at, while_another, with};
use crate::{CommitError, LayerOptions, OpenOptions, Opened, View, Workspace};

const THEIRS: &str = "theirs\n";

struct Fixture(TempDir);

impl Fixture {
    fn new() -> Self {
        let folders = TempDir::new_in(scratch()).unwrap();
        let folder = folders.path().join("folder");
        fs::create_dir(&folder).unwrap();
        fs::create_dir(folders.path().join("spill")).unwrap();
        for name in ["replaced", "removed", "moved"] {
            fs::write(folder.join(name), "before\n").unwrap();
        }
        Self(folders)
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join("folder")
    }

    /// Replaces one file, removes one, and moves one.
    fn changed(&self) -> (Workspace, View) {
        let workspace = open(&self.folder());
        let view = workspace.view(0).unwrap();
        view.begin(&LayerOptions::new(self.0.path().join("spill")))
            .unwrap();
        let root = view.root();
        let options = OpenOptions {
            write: true,
            truncate: true,
            ..OpenOptions::default()
        };
        match root.open("replaced", options).unwrap() {
            Opened::File(file) => file.write_at(b"ours\n", 0).unwrap(),
            Opened::Directory(_) => panic!("it is a file"),
        };
        root.remove_file("removed").unwrap();
        root.rename("moved", &root, "to").unwrap();
        (workspace, view)
    }
}

fn opened(path: &Path) -> Option<File> {
    File::options().append(true).open(path).ok()
}

/// The texts of all files below a folder.
fn texts(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let texts = entries.flat_map(|entry| {
        if entry.file_type().unwrap().is_dir() {
            texts(&entry.path())
        } else {
            vec![fs::read_to_string(entry.path()).unwrap()]
        }
    });
    texts.collect()
}

#[test]
fn a_file_that_another_program_has_open_for_writing_is_not_replaced() {
    let place = Fixture::new();
    let (workspace, view) = place.changed();
    let mut writer = opened(&place.folder().join("replaced")).unwrap();
    // Who only reads is in nobody's way.
    let _reader = File::open(place.folder().join("replaced")).unwrap();
    let refused = view.commit(&workspace, &ticket("it"));
    assert!(
        matches!(&refused, Err(CommitError::InUse(path)) if path == "replaced"),
        "{refused:?}"
    );
    writer.write_all(THEIRS.as_bytes()).unwrap();
    drop(writer);
    let refused = view.commit(&workspace, &ticket("it"));
    assert!(matches!(refused, Err(CommitError::Conflict(_))));
    let text = fs::read_to_string(place.folder().join("replaced"));
    assert_eq!(text.unwrap(), "before\ntheirs\n");

    let place = Fixture::new();
    let (workspace, view) = place.changed();
    let committed = view.commit(&workspace, &ticket("it")).unwrap();
    assert_eq!(committed.kept, [""; 0]);
    assert!(!place.folder().join(".airlock/kept").exists());
}

#[test]
fn what_is_written_through_an_open_descriptor_during_a_commit_is_kept_or_the_commit_goes_back() {
    let steps = {
        let place = Fixture::new();
        let (workspace, view) = place.changed();
        with(None, || view.commit(&workspace, &ticket("it")).unwrap()).1
    };
    let (mut kept, mut refused, mut committed) = (0, 0, 0);
    for target in ["replaced", "removed", "moved"] {
        for at in 1..=steps {
            for later in (0..=steps - at).step_by(7) {
                let place = Fixture::new();
                let (workspace, view) = place.changed();
                let path = place.folder().join(target);
                let has_word = Rc::new(Cell::new(false));
                let word = Rc::clone(&has_word);
                let opening = move || {
                    let Some(mut writer) = opened(&path) else {
                        return;
                    };
                    let mut writing = move || {
                        writer.write_all(THEIRS.as_bytes()).unwrap();
                        word.set(true);
                    };
                    match later {
                        0 => writing(),
                        later => another_at(at + later, writing),
                    }
                };
                let result = while_another(at, opening, || view.commit(&workspace, &ticket("it")));
                let place_of = format!("{target}, opened at {at}, written to {later} steps later");
                let texts = texts(&place.folder());
                let has_theirs = texts.iter().any(|text| text.ends_with(THEIRS));
                match &result {
                    Ok(done) => {
                        committed += 1;
                        kept += done.kept.len();
                        for path in &done.kept {
                            let text = fs::read_to_string(place.folder().join(path));
                            assert_eq!(text.unwrap(), "before\ntheirs\n", "{place_of}");
                        }
                        let ours = fs::read_to_string(place.folder().join("replaced"));
                        assert!(ours.unwrap().starts_with("ours\n"), "{place_of}");
                    }
                    Err(CommitError::Conflict(_) | CommitError::InUse(_)) => refused += 1,
                    Err(error) => panic!("{place_of}: {error}"),
                }
                assert!(!has_word.get() || has_theirs, "{place_of}: {texts:?}");
            }
        }
    }
    assert!(
        kept > 0 && refused > 0 && committed > 0,
        "{kept} {refused} {committed}"
    );
}
