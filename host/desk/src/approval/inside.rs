//! What is in the directories that an action moves: a change names the directory alone.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use airlock_host::effects::{Effects, ObjectKind};
use airlock_rules::Inside;
use tokio::task::spawn_blocking;

/// How many objects are looked at, in all directories that one action moves.
const MOST: usize = 20_000;

/// By the directory's path before.
pub async fn of_all(
    workspace: Option<Arc<Path>>,
    effects: Option<&Effects>,
) -> HashMap<String, Inside> {
    let changes = effects.iter().flat_map(|effects| &effects.changes);
    let moved: Vec<String> = changes
        .filter(|change| {
            let after = change.after.as_ref();
            after.is_some_and(|it| it.object == ObjectKind::Directory)
        })
        .filter_map(|change| change.from.clone())
        .collect();
    let Some(workspace) = workspace.filter(|_| !moved.is_empty()) else {
        return HashMap::new();
    };
    let looking = spawn_blocking(move || {
        let mut room = MOST;
        let look = |directory: String| {
            let inside = look(&workspace.join(&directory), &mut room);
            (directory, inside)
        };
        moved.into_iter().map(look).collect()
    });
    looking.await.unwrap_or_default()
}

/// What can't be read may hold anything.
fn look(directory: &Path, room: &mut usize) -> Inside {
    let mut inside = Inside {
        paths: Vec::new(),
        is_all: true,
    };
    let mut ahead = vec![String::new()];
    while let Some(below) = ahead.pop() {
        let Ok(entries) = directory.join(&below).read_dir() else {
            inside.is_all = false;
            continue;
        };
        for entry in entries {
            let (Ok(entry), true) = (entry, *room > 0) else {
                inside.is_all = false;
                return inside;
            };
            *room -= 1;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let path = match below.as_str() {
                "" => name.into_owned(),
                below => format!("{below}/{name}"),
            };
            // A link is not followed: what it leads to is not moved.
            if entry.file_type().is_ok_and(|it| it.is_dir()) {
                ahead.push(path.clone());
            }
            inside.paths.push(path);
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use std::fs;

    use airlock_host::effects::{Change, ChangeKind, Facts};

    use super::*;

    #[test]
    fn all_that_is_in_a_directory_is_found_and_no_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("x/y/.git/hooks")).unwrap();
        fs::write(at("x/y/.git/hooks/pre-commit"), "").unwrap();
        fs::create_dir(at("elsewhere")).unwrap();
        fs::write(at("elsewhere/a"), "").unwrap();
        std::os::unix::fs::symlink(at("elsewhere"), at("x/link")).unwrap();
        let mut room = MOST;
        let mut inside = look(&at("x"), &mut room);
        inside.paths.sort();
        let expected = [
            "link",
            "y",
            "y/.git",
            "y/.git/hooks",
            "y/.git/hooks/pre-commit",
        ];
        assert_eq!(inside.paths, expected);
        assert!(inside.is_all);
        let cut = look(&at("x"), &mut 3);
        assert!(!cut.is_all && cut.paths.len() == 3);
        assert!(!look(&at("gone"), &mut room).is_all);
    }

    #[tokio::test]
    async fn only_directories_that_are_moved_are_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("old/sub")).unwrap();
        let change = |from: Option<&str>, object| {
            let mut change = Change::new(ChangeKind::Renamed, "new");
            change.from = from.map(str::to_owned);
            change.after = Some(Facts::new(object));
            change
        };
        let effects = Effects::verified(vec![
            change(Some("old"), ObjectKind::Directory),
            change(None, ObjectKind::Directory),
            change(Some("a"), ObjectKind::File),
        ]);
        let found = of_all(Some(folder.path().into()), Some(&effects)).await;
        assert_eq!(found.len(), 1);
        assert_eq!(found["old"].paths, ["sub"]);
        assert!(of_all(None, Some(&effects)).await.is_empty());
    }
}
