//! The files below a folder that version control would not ignore, visited by several threads.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ignore::{WalkBuilder, WalkState};

use super::folder::ReadableFolder;

/// What a walk comes by.
pub(crate) enum Visited<'a> {
    /// A regular file, by its path from the workspace down.
    File(&'a Path),
    /// Something could not be looked at.
    Unreadable(String),
}

impl ReadableFolder {
    /// Visits the files of some folders, each given by its path from the workspace down; of the workspace itself where that is empty.
    ///
    /// Left out is what `.gitignore`, `.ignore` and `.git/info/exclude` files of the workspace leave out, and hidden files, unless a folder is
    /// named that is itself ignored or hidden: that counts as meant. Links are not followed. What lies outside of the workspace,
    /// such as the user's own ignore file, plays no part.
    pub fn walk<F>(&self, folders: &[PathBuf], visit: F)
    where
        F: Fn(Visited<'_>) -> ControlFlow<()> + Sync,
    {
        let wanted: Arc<Vec<Wanted>> =
            Arc::new(folders.iter().map(|path| Wanted::new(path)).collect());
        let stopped = AtomicBool::new(false);
        self.walk_from(Path::new(""), Some(&wanted), &stopped, &visit);
        for folder in wanted.iter() {
            if !folder.reached.load(Ordering::Relaxed) && !stopped.load(Ordering::Relaxed) {
                self.walk_from(&folder.path, None, &stopped, &visit);
            }
        }
    }

    /// Visits the files below one folder; with `wanted`, those that are below one of these.
    fn walk_from<F>(
        &self,
        start: &Path,
        wanted: Option<&Arc<Vec<Wanted>>>,
        stopped: &AtomicBool,
        visit: &F,
    ) where
        F: Fn(Visited<'_>) -> ControlFlow<()> + Sync,
    {
        // Joining nothing would add a slash.
        let root = match start.as_os_str().is_empty() {
            true => self.path.clone(),
            false => self.path.join(start),
        };
        let mut builder = WalkBuilder::new(root);
        builder
            .parents(false)
            .git_global(false)
            .require_git(false)
            .follow_links(false);
        if let Some(wanted) = wanted {
            let (wanted, workspace) = (Arc::clone(wanted), self.path.clone());
            builder.filter_entry(move |entry| {
                let Ok(path) = entry.path().strip_prefix(&workspace) else {
                    return false;
                };
                if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
                    return wanted.iter().any(|folder| path.starts_with(&folder.path));
                }
                // All of them are asked, so that each that is reached knows.
                let leading = wanted.iter().filter(|folder| folder.leads_by(path));
                leading.count() > 0
            });
        }
        builder.build_parallel().run(|| {
            Box::new(|entry| {
                let flow = match &entry {
                    Ok(entry) if !entry.file_type().is_some_and(|kind| kind.is_file()) => {
                        ControlFlow::Continue(())
                    }
                    Ok(entry) => match entry.path().strip_prefix(&self.path) {
                        Ok(path) => visit(Visited::File(path)),
                        Err(_) => ControlFlow::Continue(()),
                    },
                    Err(error) => visit(Visited::Unreadable(error.to_string())),
                };
                match flow {
                    ControlFlow::Continue(()) => WalkState::Continue,
                    ControlFlow::Break(()) => {
                        stopped.store(true, Ordering::Relaxed);
                        WalkState::Quit
                    }
                }
            })
        });
    }
}

/// A folder whose files are to be visited.
struct Wanted {
    path: PathBuf,
    /// Whether the walk from the top came by; if not, it is ignored or hidden.
    reached: AtomicBool,
}

impl Wanted {
    fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            reached: AtomicBool::new(path.as_os_str().is_empty()),
        }
    }

    /// Whether the walk must enter `folder` to find what is wanted.
    fn leads_by(&self, folder: &Path) -> bool {
        if self.path == folder {
            self.reached.store(true, Ordering::Relaxed);
        }
        folder.starts_with(&self.path) || self.path.starts_with(folder)
    }
}
