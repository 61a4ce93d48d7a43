//! The selection of files.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use airlock_host::Error;
use airlock_host::native::folder::{EntryKind, ReadableFolder};
use globset::{GlobBuilder, GlobMatcher};

use crate::code::language::Language;
use crate::params::invalid;
use crate::walk::WalkRoot;

/// The files that the params select.
pub(crate) struct Selection {
    /// Files that are named individually.
    files: BTreeSet<PathBuf>,
    /// Folders that are named, some with a glob.
    folders: Vec<Folder>,
    language: Option<Language>,
}

struct Folder {
    /// The index in `paths`.
    index: usize,
    path: PathBuf,
    glob: Option<GlobMatcher>,
    /// True if the glob names hidden files or folders by their dot.
    hidden: bool,
}

impl Selection {
    /// Reads paths, and checks what is at each.
    pub fn read(
        paths: Option<&[String]>,
        language: Option<Language>,
        folder: &ReadableFolder,
    ) -> Result<Self, Error> {
        let mut selection = Self {
            files: BTreeSet::new(),
            folders: Vec::new(),
            language,
        };
        let Some(paths) = paths else {
            selection.folders.push(Folder {
                index: 0,
                path: PathBuf::new(),
                glob: None,
                hidden: false,
            });
            return Ok(selection);
        };
        for (index, text) in paths.iter().enumerate() {
            selection
                .add(index, text, folder)
                .map_err(|problem| invalid(&format!("/paths/{index}"), problem))?;
        }
        Ok(selection)
    }

    fn add(&mut self, index: usize, text: &str, folder: &ReadableFolder) -> Result<(), String> {
        let path = inside(text, folder.path())?;
        if let Some(link) = first_link(&path, folder)? {
            return Err(format!(
                "{text:?} goes through the symbolic link {link:?}, and links are not followed; name the path that it points to, if that is in the workspace"
            ));
        }
        let kind = folder
            .kind(&path)
            .map_err(|error| format!("can't access {text:?}: {error}"))?;
        match kind {
            Some(EntryKind::File) => {
                if self.language.is_none() && Language::of_file(&path).is_none() {
                    return Err(format!(
                        "can't tell the language of {text:?} from its name; give it with `lang`"
                    ));
                }
                self.files.insert(path);
            }
            Some(EntryKind::Folder) => self.folders.push(Folder {
                index,
                path,
                glob: None,
                hidden: false,
            }),
            Some(_) => {
                return Err(format!("{text:?} is neither a file nor a folder"));
            }
            None if text.contains(['*', '?', '[', '{']) => {
                self.folders.push(glob(index, &path, text)?);
            }
            None => return Err(format!("there is no {text:?} in the workspace")),
        }
        Ok(())
    }

    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(PathBuf::as_path)
    }

    /// Returns whether the file itself was named.
    pub fn names(&self, path: &Path) -> bool {
        self.files.contains(path)
    }

    /// Returns the folders to walk.
    pub fn starts(&self) -> Vec<WalkRoot> {
        let starts = self.folders.iter().map(|folder| WalkRoot {
            path: folder.path.clone(),
            hidden: folder.hidden,
        });
        let plain = self.folders.iter().filter(|folder| folder.hidden);
        let plain = plain.map(|folder| WalkRoot {
            path: folder.path.clone(),
            hidden: false,
        });
        starts.chain(plain).collect()
    }

    /// Returns the language in which to search a file that was found in one of the folders. Returns
    /// `None` if it is not selected, or is not code in a known language.
    pub fn language(&self, path: &Path) -> Option<Language> {
        let means = self.folders.iter().filter(|folder| folder.means(path));
        self.language_where(path, means)
    }

    /// Returns the same for a file that is hidden, or in a hidden folder. Only a glob that names
    /// hidden entries selects it.
    pub fn language_of_hidden(&self, path: &Path) -> Option<Language> {
        let globs = self.folders.iter().filter(|folder| folder.hidden);
        self.language_where(path, globs.filter(|folder| folder.means(path)))
    }

    fn language_where<'a>(
        &'a self,
        path: &Path,
        mut means: impl Iterator<Item = &'a Folder>,
    ) -> Option<Language> {
        let first = means.next()?;
        let by_glob = first.glob.is_some() || means.any(|folder| folder.glob.is_some());
        let language = match self.language {
            Some(language) if by_glob => return Some(language),
            _ => Language::of_file(path)?,
        };
        (self.language.is_none_or(|named| named == language)).then_some(language)
    }

    /// Returns the index in `paths` that selects this path.
    pub fn meaning(&self, path: &Path) -> Option<usize> {
        let mut folders = self.folders.iter();
        let means = folders.find(|folder| folder.means(path));
        means.map(|folder| folder.index)
    }

    /// Returns whether this entry of `paths` is a glob.
    pub fn is_glob(&self, index: usize) -> bool {
        let mut folders = self.folders.iter();
        folders.any(|folder| folder.index == index && folder.glob.is_some())
    }

    /// Returns the named language.
    pub fn named_language(&self) -> Option<Language> {
        self.language
    }

    /// Returns the language in which to search a file that was named itself.
    pub fn language_of_named(&self, path: &Path) -> Option<Language> {
        self.language.or_else(|| Language::of_file(path))
    }

    /// Returns the language in which to search a file that was selected before.
    pub fn language_of_selected(&self, path: &Path) -> Option<Language> {
        if self.names(path) {
            self.language_of_named(path)
        } else {
            self.language(path)
        }
    }
}

impl Folder {
    fn means(&self, path: &Path) -> bool {
        match &self.glob {
            None => path.starts_with(&self.path),
            Some(glob) => glob.is_match(path),
        }
    }
}

/// Returns the path relative to the workspace.
fn inside(text: &str, workspace: &Path) -> Result<PathBuf, String> {
    let outside = || {
        format!(
            "{text:?} is outside the workspace {}; name paths relative to it",
            workspace.display()
        )
    };
    if text.contains('\0') {
        return Err("it contains a NUL character".to_owned());
    }
    let path = Path::new(text);
    let relative = if path.is_absolute() {
        path.strip_prefix(workspace).map_err(|_| outside())?
    } else {
        path
    };
    let mut inside = PathBuf::new();
    for component in relative.components() {
        match component {
            Component::Normal(name) => inside.push(name),
            Component::CurDir => {}
            // After a link, `..` is not the folder that it seems to be.
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(outside());
            }
        }
    }
    Ok(inside)
}

/// Returns the first link in a path, including its last component.
fn first_link(path: &Path, folder: &ReadableFolder) -> Result<Option<PathBuf>, String> {
    let mut way: Vec<&Path> = path.ancestors().collect();
    way.reverse();
    for step in way {
        let kind = folder
            .kind(step)
            .map_err(|error| format!("can't access {:?}: {error}", step.display()))?;
        match kind {
            Some(EntryKind::Link) => return Ok(Some(step.to_owned())),
            Some(_) => {}
            None => return Ok(None),
        }
    }
    Ok(None)
}

fn glob(index: usize, path: &Path, text: &str) -> Result<Folder, String> {
    let pattern = path.to_string_lossy();
    let glob = GlobBuilder::new(&pattern)
        .literal_separator(true)
        .build()
        .map_err(|error| format!("{text:?} is not a glob: {}", error.kind()))?;
    let is_literal = |component: &Component<'_>| {
        let name = component.as_os_str().to_string_lossy();
        !name.contains(['*', '?', '[', ']', '{', '}', '\\'])
    };
    let start: PathBuf = path.components().take_while(is_literal).collect();
    let mut rest = path.components().skip_while(is_literal);
    Ok(Folder {
        index,
        hidden: rest.any(|part| part.as_os_str().to_string_lossy().starts_with('.')),
        path: start,
        glob: Some(glob.compile_matcher()),
    })
}
