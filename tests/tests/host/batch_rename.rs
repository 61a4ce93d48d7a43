//! The bundled plugin `batch-rename`, as committed, on real files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use airlock_host::policy::Rehearse;
use airlock_host::{Error, Plugin, Resolution, Session};
use airlock_tests::{Tester, engine};
use serde_json::{Value, json};
use tempfile::TempDir;

struct Folder {
    session: Session,
    folder: TempDir,
}

impl Folder {
    /// A workspace whose files each hold their first name.
    async fn with(files: &[&str]) -> Self {
        Self::rehearsed(Rehearse::Auto, files).await
    }

    async fn rehearsed(mode: Rehearse, files: &[&str]) -> Self {
        let component = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../host/cli/bundled/batch_rename.wasm"
        );
        let plugin = Plugin::load(engine(), component).await.unwrap();
        let folder = TempDir::new().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        let session = Session::builder()
            .model_decides()
            .workspace(folder.path())
            .rehearse(mode)
            .bind(&plugin)
            .open()
            .unwrap();
        Self { session, folder }
    }

    async fn preview(&self, files: &str, find: &str, replace: &str) -> Result<String, Error> {
        let params = json!({"files": [files], "find": find, "replace": replace});
        Ok(self
            .session
            .call("batch_rename_preview", &params)
            .await?
            .text())
    }

    /// The names of all files, each with what it holds.
    fn files(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        visit(self.folder.path(), "", &mut found);
        found
    }
}

fn visit(folder: &Path, below: &str, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}{}", entry.file_name().display());
        // The host's own, for what it commits.
        if name == ".airlock" {
            continue;
        }
        if entry.path().is_dir() {
            visit(&entry.path(), &format!("{name}/"), found)
        } else {
            drop(found.insert(name, fs::read_to_string(entry.path()).unwrap()))
        }
    }
}

fn held(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(name, text)| (name.to_string(), text.to_string()))
        .collect()
}

#[tokio::test]
async fn the_preview_lists_each_rename_and_changes_nothing_until_it_is_applied() {
    let folder = Folder::with(&["IMG_2.jpeg", "IMG_10.jpeg", "sub/IMG_3.jpeg", "notes.txt"]).await;
    let before = folder.files();
    let text = folder
        .preview("**/*.jpeg", r"^IMG_(\d+)\.jpeg$", "beach-{n:3}-$1.jpg")
        .await
        .unwrap();
    assert!(
        text.starts_with("Prepared rename plan for 3 files."),
        "{text}"
    );
    for line in [
        "IMG_2.jpeg -> beach-001-2.jpg",
        "IMG_10.jpeg -> beach-002-10.jpg",
        "sub/IMG_3.jpeg -> sub/beach-003-3.jpg",
    ] {
        assert!(text.lines().any(|it| it == line), "{line} in {text}");
    }
    assert_eq!(folder.files(), before);
    let pending = folder.session.pending().await.unwrap();
    assert_eq!(pending[0].action.label, "Batch rename: 3 files");
    assert_eq!(pending[0].action.source_tool_name, "batch_rename_preview");
    let applied = folder
        .session
        .resolve(Resolution::apply("nicer"), Tester)
        .await
        .unwrap();
    assert!(
        applied
            .text()
            .starts_with("Applied batch rename. Reason: nicer"),
        "{}",
        applied.text()
    );
    let after = held(&[
        ("beach-001-2.jpg", "IMG_2.jpeg"),
        ("beach-002-10.jpg", "IMG_10.jpeg"),
        ("notes.txt", "notes.txt"),
        ("sub/beach-003-3.jpg", "sub/IMG_3.jpeg"),
    ]);
    assert_eq!(folder.files(), after);
}

#[tokio::test]
async fn a_discard_says_so_and_leaves_everything() {
    let folder = Folder::with(&["a.txt"]).await;
    folder.preview("*", "a", "b").await.unwrap();
    let discarded = folder
        .session
        .resolve(Resolution::discard("not now"), Tester)
        .await
        .unwrap();
    assert_eq!(discarded.text(), "Discarded batch rename. Reason: not now");
    assert_eq!(folder.files(), held(&[("a.txt", "a.txt")]));
}

#[tokio::test]
async fn swaps_cycles_and_chains_lose_no_file() {
    // Each digit moves on by one, through a name that only the plan knows.
    let folder = Folder::with(&["1", "2", "3"]).await;
    let params = |files: Value, find: &str, replace: &str| json!({"files": files, "find": find, "replace": replace});
    // A chain: 3 -> 4, 2 -> 3 and 1 -> 2, in one plan, by a counter that starts at 2.
    let mut chain = params(json!(["[123]"]), "^.$", "{n}");
    chain["start"] = json!(2);
    folder
        .session
        .call("batch_rename_preview", &chain)
        .await
        .unwrap();
    folder
        .session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap();
    assert_eq!(folder.files(), held(&[("2", "1"), ("3", "2"), ("4", "3")]));

    // A swap: ab and ba change places.
    let folder = Folder::with(&["ab", "ba", "c-ab-ba"]).await;
    let swap = params(json!(["ab", "ba"]), "^(.)(.)$", "$2$1");
    folder
        .session
        .call("batch_rename_preview", &swap)
        .await
        .unwrap();
    folder
        .session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap();
    assert_eq!(
        folder.files(),
        held(&[("ab", "ba"), ("ba", "ab"), ("c-ab-ba", "c-ab-ba")])
    );

    // A cycle of three: abc -> bca -> cab -> abc.
    let folder = Folder::with(&["abc", "bca", "cab"]).await;
    folder.preview("*", "^(.)(.)(.)$", "$2$3$1").await.unwrap();
    folder
        .session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap();
    assert_eq!(
        folder.files(),
        held(&[("abc", "cab"), ("bca", "abc"), ("cab", "bca")])
    );
}

#[tokio::test]
async fn what_would_lose_or_misplace_a_file_is_refused_in_the_preview() {
    let folder = Folder::with(&["a1.txt", "a2.txt", "b.txt", "dir/x"]).await;
    let before = folder.files();
    for (files, find, replace, part) in [
        ("a*.txt", r"\d", "", "a.txt"),
        ("a1.txt", "a1", "b", "b.txt"),
        ("a1.txt", "^a1", "../a1", "a1.txt"),
        ("a1.txt", "^", "dir/", "a1.txt"),
        ("a1.txt", ".*", "", "a1.txt"),
        ("a1.txt", "^.*$", "..", "a1.txt"),
        ("a1.txt", "a(", "b", "a("),
        ("missing.txt", "a", "b", "missing.txt"),
        ("../*", "a", "b", ".."),
        ("/etc/*", "a", "b", "/etc"),
    ] {
        let error = folder.preview(files, find, replace).await.unwrap_err();
        assert!(
            matches!(error, Error::Tool { .. }),
            "{files} {find} {replace}: {error}"
        );
        assert!(
            error.to_string().contains(part),
            "{files} {find} {replace}: {error}"
        );
        assert!(!folder.session.has_pending().await.unwrap());
    }
    let nothing = folder.preview("*", "zzz", "y").await.unwrap();
    assert!(nothing.starts_with("Nothing to rename"), "{nothing}");
    assert!(!folder.session.has_pending().await.unwrap());
    assert_eq!(folder.files(), before);
}

#[tokio::test]
async fn an_apply_renames_nothing_where_a_target_appeared_or_a_source_has_gone() {
    type Tamper = fn(&Path);
    let disturb: [(&str, Tamper); 2] = [
        ("new-2", |folder| {
            fs::write(folder.join("new-2"), "in the way").unwrap()
        }),
        ("old-3", |folder| {
            fs::remove_file(folder.join("old-3")).unwrap()
        }),
    ];
    // The host finds out before the plugin runs, where it has seen what that would do; else the
    // plugin does.
    let modes = [(Rehearse::Auto, "stale"), (Rehearse::Never, "tool")];
    for ((named, disturb), (mode, kind)) in disturb
        .into_iter()
        .flat_map(|disturb| modes.map(|mode| (disturb, mode)))
    {
        let folder = Folder::rehearsed(mode, &["old-1", "old-2", "old-3"]).await;
        folder.preview("old-*", "old", "new").await.unwrap();
        disturb(folder.folder.path());
        let before = folder.files();
        let error = folder
            .session
            .resolve(Resolution::apply(""), Tester)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(named), "{error}");
        assert_eq!(folder.files(), before);
        // The action is still there, and a discard ends it.
        assert!(folder.session.has_pending().await.unwrap());
        folder
            .session
            .resolve(Resolution::discard(""), Tester)
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn folders_that_are_called_as_the_guests_own_are_reached() {
    let folder = Folder::with(&["scratch/a", "workspace/a"]).await;
    folder.preview("*/a", "a", "b").await.unwrap();
    folder
        .session
        .resolve(Resolution::apply(""), Tester)
        .await
        .unwrap();
    assert_eq!(
        folder.files(),
        held(&[("scratch/b", "scratch/a"), ("workspace/b", "workspace/a")])
    );
}

#[tokio::test]
async fn directories_move_with_what_is_in_them() {
    let folder = Folder::with(&["A1/x1.txt", "A1/keep/y", "A2/x2.txt"]).await;
    let params = json!({
        "files": ["**"],
        "find": r"^([A-Za-z])(\d)",
        "replace": "{1:lower}-{2:2}",
        "directories": true,
    });
    let session = &folder.session;
    let preview = session.call("batch_rename_preview", &params).await.unwrap();
    let text = preview.text();
    for line in ["A1/ -> a-01/", "A1/x1.txt -> a-01/x-01.txt"] {
        assert!(text.lines().any(|it| it == line), "{line} in {text}");
    }
    let fine = Resolution::apply("fine");
    session.resolve(fine, Tester).await.unwrap();
    let after = held(&[
        ("a-01/keep/y", "A1/keep/y"),
        ("a-01/x-01.txt", "A1/x1.txt"),
        ("a-02/x-02.txt", "A2/x2.txt"),
    ]);
    assert_eq!(folder.files(), after);
}
