//! Watches a project and rebuilds it after changes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::anyhow;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher, recommended_watcher};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::project;
use super::sources::holds_sources;
use crate::error::Error;

/// Quiet period before a build begins. Editors write several files, or one file in several steps.
const SETTLED: Duration = Duration::from_millis(200);

/// Lock files that builders write next to the sources.
const LOCKS: [&str; 4] = ["Cargo.lock", "go.sum", "package-lock.json", "uv.lock"];

/// Watches the sources of a project.
pub struct SourceWatcher {
    root: PathBuf,
    watcher: RecommendedWatcher,
    events: UnboundedReceiver<notify::Result<Event>>,
}

impl SourceWatcher {
    /// Creates a watcher for a project's folder.
    ///
    /// # Errors
    /// If the folder can't be opened, or the system can't watch it.
    pub fn of(folder: &Path) -> Result<Self, Error> {
        let root = project::open(folder).map_err(Error::usage)?;
        let (send, events) = unbounded_channel();
        let watcher = recommended_watcher(move |event| {
            // The receiver is gone when the program exits.
            let _ = send.send(event);
        })
        .map_err(cannot_watch)?;
        Ok(Self {
            root,
            watcher,
            events,
        })
    }

    /// Starts watching the folder and its subfolders that may contain sources. Call it before each
    /// build: a build may create folders, and changes during the build must count.
    ///
    /// # Errors
    /// If the system can't watch a folder.
    pub fn watch(&mut self) -> Result<(), Error> {
        self.watcher
            .watch(&self.root, RecursiveMode::NonRecursive)
            .map_err(cannot_watch)?;
        let entries = std::fs::read_dir(&self.root)
            .into_iter()
            .flatten()
            .flatten();
        for entry in entries {
            if entry.path().is_dir() && holds_sources(Path::new(&entry.file_name())) {
                self.watcher
                    .watch(&entry.path(), RecursiveMode::Recursive)
                    .map_err(cannot_watch)?;
            }
        }
        Ok(())
    }

    /// Waits until the sources change and then settle.
    ///
    /// # Errors
    /// If the folders can't be watched any more.
    pub async fn next(&mut self) -> Result<(), Error> {
        loop {
            match self.events.recv().await {
                Some(Ok(event)) if matters(&event, &self.root) => break,
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(cannot_watch(error)),
                None => {
                    return Err(Error::machine(anyhow!(
                        "the watch on the project's files ended"
                    )));
                }
            }
        }
        while tokio::time::timeout(SETTLED, self.events.recv())
            .await
            .is_ok_and(|event| event.is_some())
        {}
        Ok(())
    }
}

fn matters(event: &Event, root: &Path) -> bool {
    let is_source = |path: &Path| {
        let below = path.strip_prefix(root).unwrap_or(path);
        let is_lock = below
            .file_name()
            .is_some_and(|name| LOCKS.iter().any(|lock| name == *lock));
        !is_lock && holds_sources(below)
    };
    !matches!(event.kind, EventKind::Access(_)) && event.paths.iter().any(|path| is_source(path))
}

fn cannot_watch(error: notify::Error) -> Error {
    Error::machine(anyhow::Error::new(error).context("can't watch the project's files"))
}

#[cfg(test)]
mod tests {
    use notify::event::{AccessKind, CreateKind, ModifyKind};

    use super::*;

    #[test]
    fn a_build_begins_where_sources_change() {
        let check = |kind: EventKind, path: &str, expected: bool| {
            let event = Event::new(kind).add_path(Path::new("/project").join(path));
            assert_eq!(matters(&event, Path::new("/project")), expected, "{path}");
        };
        let modified = EventKind::Modify(ModifyKind::Any);
        check(modified, "src/tool.c", true);
        check(modified, "airlock.toml", true);
        check(EventKind::Create(CreateKind::Any), "src/new/part.go", true);
        check(EventKind::Access(AccessKind::Any), "src/tool.c", false);
        check(modified, "build/generated/core.wasm", false);
        check(modified, "target/release/x", false);
        check(modified, "src/.tool.c.swp", false);
        check(modified, "Cargo.lock", false);
    }
}
