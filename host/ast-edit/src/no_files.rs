//! The reason why no file was searched, which is a mistake and not a search without matches.

use std::ops::ControlFlow;
use std::path::Path;

use airlock_host::Error;

use crate::code::language::{self, Language};
use crate::params::invalid;
use crate::search::Search;
use crate::walk::walk_all;

/// The most entries that are examined for a reason.
const ENTRIES: usize = 100_000;

/// Entries that were not searched: an example of each kind.
#[derive(Default)]
struct SkippedExamples {
    /// An entry that is excluded, and would be searched otherwise.
    left_out: Option<String>,
    /// An entry in another language than the named one.
    other_language: Option<String>,
    /// An entry in no known language.
    unknown: Option<String>,
    /// A folder that a glob matches, with the glob's index in `paths`.
    folder: Option<(usize, String)>,
}

/// Returns the error of a call that searched no file.
pub(crate) fn searched(search: &Search<'_>) -> Error {
    let selection = &search.selection;
    let mut there = SkippedExamples::default();
    let mut looked_at = 0;
    walk_all(search.folder, &selection.starts(), |path, is_folder| {
        looked_at += 1;
        if looked_at > ENTRIES || search.call.check().is_err() {
            return ControlFlow::Break(());
        }
        there.see(path, is_folder, search);
        match there.left_out {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    });
    if let Err(error) = search.call.check() {
        return error;
    }
    let no_file = "no file was searched";
    if let Some(path) = there.left_out {
        let message = format!(
            "{no_file}: all that `paths` selects is left out, being ignored, hidden, or in a folder of dependencies or builds, such as {path:?}; name it in `paths` to search it"
        );
        return invalid("/paths", message);
    }
    if let (Some(path), Some(language)) = (there.other_language, selection.named_language()) {
        let message = format!(
            "{no_file}: by their names none is {}, for example {path:?}; to search them as that language all the same, name them in `paths`, each or with a glob, or leave `lang` out",
            language.name()
        );
        return invalid("/lang", message);
    }
    if let Some((index, path)) = there.folder {
        let message = format!(
            "{no_file}: only folders fit, such as {path:?}; name the folder itself, or add `/**` for all files in it"
        );
        return invalid(&format!("/paths/{index}"), message);
    }
    if let Some(path) = there.unknown {
        let message = format!(
            "{no_file}: by their names none is in a known language, for example {path:?}; give its language with `lang`, one of {}, and name it in `paths`",
            language::names()
        );
        return invalid("/paths", message);
    }
    match search.params.paths {
        None => Error::Tool {
            message: format!("{no_file}: the workspace has none"),
        },
        Some(_) => invalid("/paths", format!("{no_file}: nothing matches")),
    }
}

impl SkippedExamples {
    fn see(&mut self, path: &Path, is_folder: bool, search: &Search<'_>) {
        let selection = &search.selection;
        let Some(index) = selection.meaning(path) else {
            return;
        };
        // Git's files are not code.
        if path.components().any(|part| part.as_os_str() == ".git") {
            return;
        }
        let example = || path.display().to_string();
        if is_folder {
            if selection.is_glob(index) {
                self.folder.get_or_insert_with(|| (index, example()));
            }
        } else if selection.language(path).is_some() {
            self.left_out.get_or_insert_with(example);
        } else if Language::of_file(path).is_some() || selection.named_language().is_some() {
            self.other_language.get_or_insert_with(example);
        } else {
            self.unknown.get_or_insert_with(example);
        }
    }
}
