//! Which files are meant.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::language::Language;
use super::params::invalid;
use crate::error::Error;
use crate::workspace::{EntryKind, ReadableFolder};

/// The files that params name.
pub(super) struct Selection {
    /// Named one by one.
    files: BTreeSet<PathBuf>,
    /// Named by a folder that they lie in, and perhaps a glob.
    folders: Vec<Folder>,
    language: Option<Language>,
}

struct Folder {
    path: PathBuf,
    glob: Option<GlobMatcher>,
}

impl Selection {
    /// Reads paths, and looks what there is at each.
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
                path: PathBuf::new(),
                glob: None,
            });
            return Ok(selection);
        };
        for (index, text) in paths.iter().enumerate() {
            selection
                .add(text, folder)
                .map_err(|problem| invalid(&format!("/paths/{index}"), problem))?;
        }
        Ok(selection)
    }

    fn add(&mut self, text: &str, folder: &ReadableFolder) -> Result<(), String> {
        let path = inside(text, folder.path())?;
        if let Some(link) = first_link(&path, folder)? {
            return Err(format!(
                "{text:?} leads through the link {link:?}, and links are not followed; name the path that it leads to, if that lies in the workspace"
            ));
        }
        let kind = folder
            .kind(&path)
            .map_err(|error| format!("can't look at {text:?}: {error}"))?;
        match kind {
            Some(EntryKind::File) => {
                if self.language.is_none() && Language::of_file(&path).is_none() {
                    return Err(format!(
                        "can't tell from its name what {text:?} is written in; say it with `lang`"
                    ));
                }
                self.files.insert(path);
            }
            Some(EntryKind::Folder) => self.folders.push(Folder { path, glob: None }),
            Some(EntryKind::Link | EntryKind::Special) => {
                return Err(format!("{text:?} is neither a file nor a folder"));
            }
            None if text.contains(['*', '?', '[', '{']) => {
                self.folders.push(glob(&path, text)?);
            }
            None => return Err(format!("there is no {text:?} in the workspace")),
        }
        Ok(())
    }

    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(PathBuf::as_path)
    }

    /// Whether the file was named itself.
    pub fn names(&self, path: &Path) -> bool {
        self.files.contains(path)
    }

    /// Where to look for more.
    pub fn folders(&self) -> Vec<PathBuf> {
        let folders = self.folders.iter();
        folders.map(|folder| folder.path.clone()).collect()
    }

    /// As what a file is to be searched, which was found in one of the folders; none where it is not meant, or is no code that we know.
    pub fn language(&self, path: &Path) -> Option<Language> {
        let mut by_folder = false;
        let mut by_glob = false;
        for folder in &self.folders {
            match &folder.glob {
                None => by_folder |= path.starts_with(&folder.path),
                Some(glob) => by_glob |= glob.is_match(path),
            }
        }
        let language = match (self.language, by_glob, by_folder) {
            (_, false, false) => return None,
            (Some(language), true, _) => return Some(language),
            _ => Language::of_file(path)?,
        };
        (self.language.is_none_or(|named| named == language)).then_some(language)
    }

    /// As what a file is to be searched that was named itself.
    pub fn language_of_named(&self, path: &Path) -> Option<Language> {
        self.language.or_else(|| Language::of_file(path))
    }

    /// As what a file is to be searched that was selected before.
    pub fn language_of_selected(&self, path: &Path) -> Option<Language> {
        match self.names(path) {
            true => self.language_of_named(path),
            false => self.language(path),
        }
    }
}

/// The path from the workspace down.
fn inside(text: &str, workspace: &Path) -> Result<PathBuf, String> {
    let outside = || {
        format!(
            "{text:?} leads out of the workspace {}; name paths from there down",
            workspace.display()
        )
    };
    if text.contains('\0') {
        return Err("there is a null character in it".to_owned());
    }
    let path = Path::new(text);
    let relative = match path.is_absolute() {
        true => path.strip_prefix(workspace).map_err(|_| outside())?,
        false => path,
    };
    let mut inside = PathBuf::new();
    for component in relative.components() {
        match component {
            Component::Normal(name) => inside.push(name),
            Component::CurDir => {}
            // What lies behind a link has another parent than it seems.
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(outside());
            }
        }
    }
    Ok(inside)
}

/// The first link on the way, the end included.
fn first_link(path: &Path, folder: &ReadableFolder) -> Result<Option<PathBuf>, String> {
    let mut way: Vec<&Path> = path.ancestors().collect();
    way.reverse();
    for step in way {
        let kind = folder
            .kind(step)
            .map_err(|error| format!("can't look at {:?}: {error}", step.display()))?;
        match kind {
            Some(EntryKind::Link) => return Ok(Some(step.to_owned())),
            Some(_) => {}
            None => return Ok(None),
        }
    }
    Ok(None)
}

fn glob(path: &Path, text: &str) -> Result<Folder, String> {
    let pattern = path.to_string_lossy();
    let glob = GlobBuilder::new(&pattern)
        .literal_separator(true)
        .build()
        .map_err(|error| format!("{text:?} is no glob: {}", error.kind()))?;
    let is_literal = |component: &Component<'_>| {
        let name = component.as_os_str().to_string_lossy();
        !name.contains(['*', '?', '[', ']', '{', '}', '\\'])
    };
    let path = path.components().take_while(is_literal).collect();
    Ok(Folder {
        path,
        glob: Some(glob.compile_matcher()),
    })
}
