//! A parallel walk over the files below a folder that version control would not ignore.

use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::{WalkBuilder, WalkState};

use crate::ignore_files::IgnoreFiles;
use airlock_host::native::folder::ReadableFolder;

/// Names of folders with third-party or generated files, wherever they are.
const DEPENDENCIES: [&str; 3] = ["node_modules", "bower_components", "__pycache__"];

/// Names of such folders that other folders may have too. They only count at the top of the
/// workspace and next to a manifest.
const PERHAPS_MADE: [&str; 6] = ["vendor", "target", "build", "dist", "out", "venv"];

/// Files that mark a folder as the top of a project.
const MANIFESTS: [&str; 14] = [
    "Cargo.toml",
    "package.json",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "CMakeLists.txt",
    "Makefile",
    "meson.build",
    "pyproject.toml",
    "setup.py",
    "composer.json",
    "Gemfile",
    "mix.exs",
];

/// The most excluded folders that are recorded.
const LEFT_OUT_NAMED: usize = 1000;

/// An entry found by a walk.
pub(crate) enum WalkEntry<'a> {
    /// A regular file, by its path relative to the workspace.
    File(&'a Path),
    /// A file that is hidden, or in a hidden folder, below a root that includes hidden files. Other
    /// files may be reported as hidden as well.
    Hidden(&'a Path),
    /// Any other entry.
    Other,
    /// An entry that could not be examined.
    Unreadable(String),
}

/// The root of a walk.
#[derive(Debug, Clone)]
pub(crate) struct WalkRoot {
    /// The path relative to the workspace. Empty for the workspace itself.
    pub path: PathBuf,
    /// True to visit hidden files too, each as [`WalkEntry::Hidden`].
    pub hidden: bool,
}

/// Visits the files below some folders. Returns the excluded folders of dependencies and builds.
///
/// The walk excludes everything that `.gitignore`, `.ignore` and `.git/info/exclude` files of the
/// workspace exclude, hidden files, and folders of dependencies and builds. If a named folder is
/// itself excluded, these rules don't apply to it. Links are not followed. Files outside of the
/// workspace, such as the user's own ignore file, have no effect.
pub(crate) fn walk<F>(folder: &ReadableFolder, starts: &[WalkRoot], visit: F) -> BTreeSet<PathBuf>
where
    F: Fn(WalkEntry<'_>) -> ControlFlow<()> + Sync,
{
    let plain = starts.iter().filter(|start| !start.hidden);
    let wanted: Arc<Vec<SelectedFolder>> = Arc::new(
        plain
            .map(|start| SelectedFolder::new(&start.path))
            .collect(),
    );
    let run = Walker {
        folder,
        stopped: AtomicBool::new(false),
        left_out: Arc::default(),
        visit: &visit,
    };
    if !wanted.is_empty() {
        run.from(Path::new(""), Some(&wanted), false);
    }
    for start in wanted.iter() {
        if !start.reached.load(Ordering::Relaxed) {
            run.from(&start.path, None, false);
        }
    }
    for start in starts.iter().filter(|start| start.hidden) {
        run.from(&start.path, None, true);
    }
    let left_out = run.left_out.lock().unwrap_or_else(PoisonError::into_inner);
    left_out.clone()
}

/// Visits everything below some folders, including excluded entries, until `visit` breaks. It gets
/// each path and whether it is a folder.
pub(crate) fn walk_all(
    folder: &ReadableFolder,
    starts: &[WalkRoot],
    mut visit: impl FnMut(&Path, bool) -> ControlFlow<()>,
) {
    for start in starts {
        let mut builder = WalkBuilder::new(below(folder.path(), &start.path));
        builder.standard_filters(false).follow_links(false);
        for entry in builder.build().flatten() {
            let Ok(path) = entry.path().strip_prefix(folder.path()) else {
                continue;
            };
            let kind = entry.file_type();
            let is_folder = kind.is_some_and(|kind| kind.is_dir());
            let is_file = kind.is_some_and(|kind| kind.is_file());
            if !(is_folder || is_file) || path.as_os_str().is_empty() {
                continue;
            }
            if visit(path, is_folder).is_break() {
                return;
            }
        }
    }
}

/// A walk with several roots.
struct Walker<'a, F> {
    folder: &'a ReadableFolder,
    stopped: AtomicBool,
    left_out: Arc<Mutex<BTreeSet<PathBuf>>>,
    visit: &'a F,
}

impl<F: Fn(WalkEntry<'_>) -> ControlFlow<()> + Sync> Walker<'_, F> {
    /// Visits the files below one folder. With `wanted`, only those below one of these folders.
    fn from(&self, start: &Path, wanted: Option<&Arc<Vec<SelectedFolder>>>, hidden: bool) {
        if self.stopped.load(Ordering::Relaxed) {
            return;
        }
        let workspace = self.folder.path();
        let top = below(workspace, start);
        if top
            .symlink_metadata()
            .is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        {
            // A glob starts with a folder that doesn't exist, so it selects nothing.
            return;
        }
        let ignored = Arc::new(IgnoreFiles::below(self.folder.clone(), start));
        let mut builder = WalkBuilder::new(top);
        // The filter decides what to exclude.
        builder.standard_filters(false).follow_links(false);
        let is_in_left_out = start.components().any(|part| {
            let name = part.as_os_str().to_str().unwrap_or_default();
            DEPENDENCIES.contains(&name) || PERHAPS_MADE.contains(&name)
        });
        let filter = Filter {
            workspace: workspace.to_owned(),
            ignored: Arc::clone(&ignored),
            hidden,
            wanted: wanted.cloned(),
            leaves_out: (!is_in_left_out).then(|| Arc::clone(&self.left_out)),
        };
        builder.filter_entry(move |entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            filter.lets_pass(entry.path(), is_folder, entry.depth())
        });
        builder.build_parallel().run(|| {
            Box::new(|entry| {
                let flow = match &entry {
                    Ok(entry) if !entry.file_type().is_some_and(|kind| kind.is_file()) => {
                        (self.visit)(WalkEntry::Other)
                    }
                    Ok(entry) => match entry.path().strip_prefix(workspace) {
                        Ok(path) if hidden && !is_hidden(path) => ControlFlow::Continue(()),
                        Ok(path) if hidden => (self.visit)(WalkEntry::Hidden(path)),
                        Ok(path) => (self.visit)(WalkEntry::File(path)),
                        Err(_) => ControlFlow::Continue(()),
                    },
                    Err(error) => (self.visit)(WalkEntry::Unreadable(error.to_string())),
                };
                match flow {
                    ControlFlow::Continue(()) => WalkState::Continue,
                    ControlFlow::Break(()) => {
                        self.stopped.store(true, Ordering::Relaxed);
                        WalkState::Quit
                    }
                }
            })
        });
        for problem in ignored.problems() {
            if (self.visit)(WalkEntry::Unreadable(problem)).is_break() {
                self.stopped.store(true, Ordering::Relaxed);
            }
        }
    }
}

fn is_hidden(path: &Path) -> bool {
    let mut parts = path.components();
    parts.any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."))
}

/// Joins paths. Joining an empty path would add a slash.
fn below(workspace: &Path, start: &Path) -> PathBuf {
    if start.as_os_str().is_empty() {
        workspace.to_owned()
    } else {
        workspace.join(start)
    }
}

/// The filter that decides which entries a walk enters.
struct Filter {
    workspace: PathBuf,
    ignored: Arc<IgnoreFiles>,
    /// True to include hidden files.
    hidden: bool,
    wanted: Option<Arc<Vec<SelectedFolder>>>,
    /// `None` if folders of dependencies and builds are included.
    leaves_out: Option<Arc<Mutex<BTreeSet<PathBuf>>>>,
}

impl Filter {
    fn lets_pass(&self, absolute: &Path, is_folder: bool, depth: usize) -> bool {
        let Ok(path) = absolute.strip_prefix(&self.workspace) else {
            return false;
        };
        if is_folder && path.file_name().is_some_and(|name| name == ".git") {
            return false;
        }
        if depth > 0 {
            let is_hidden = || {
                path.file_name()
                    .is_some_and(|name| is_hidden(Path::new(name)))
            };
            match self.ignored.leaves_out(path, is_folder) {
                Some(true) => return false,
                None if !self.hidden && is_hidden() => return false,
                _ => {}
            }
        }
        if depth > 0
            && is_folder
            && let Some(left_out) = &self.leaves_out
            && is_made(absolute, path)
        {
            let mut left_out = left_out.lock().unwrap_or_else(PoisonError::into_inner);
            let is_wanted = self.wanted.iter().flat_map(|wanted| wanted.iter());
            // Named folders are walked separately.
            let is_named = is_wanted
                .into_iter()
                .any(|wanted| wanted.path.starts_with(path));
            if !is_named && left_out.len() < LEFT_OUT_NAMED {
                left_out.insert(path.to_owned());
            }
            return false;
        }
        let Some(wanted) = &self.wanted else {
            return true;
        };
        if !is_folder {
            return wanted.iter().any(|folder| path.starts_with(&folder.path));
        }
        // Check all of them, so that each one that is reached is marked.
        wanted.iter().filter(|folder| folder.leads_by(path)).count() > 0
    }
}

/// Returns whether a folder holds dependencies or build output, by its name and place.
fn is_made(absolute: &Path, path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return false;
    };
    if DEPENDENCIES.contains(&name) {
        return true;
    }
    let is_at_top = path.components().count() == 1;
    let has_manifest = || {
        let parent = absolute.parent().unwrap_or(absolute);
        MANIFESTS.iter().any(|name| parent.join(name).is_file())
    };
    PERHAPS_MADE.contains(&name) && (is_at_top || has_manifest())
}

/// A folder whose files are to be visited.
struct SelectedFolder {
    path: PathBuf,
    /// True if the walk from the top reached it. If not, it is excluded for another reason.
    reached: AtomicBool,
}

impl SelectedFolder {
    fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            reached: AtomicBool::new(path.as_os_str().is_empty()),
        }
    }

    /// Returns whether the walk must enter `folder` to find a wanted one.
    fn leads_by(&self, folder: &Path) -> bool {
        if self.path == folder {
            self.reached.store(true, Ordering::Relaxed);
        }
        folder.starts_with(&self.path) || self.path.starts_with(folder)
    }
}
