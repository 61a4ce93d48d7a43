//! The changes that a commit makes to texts, kept in its record. If a text has changed since, an
//! undo needs the version that the commit left, and gets it from the original and these changes.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::change::Deadline;
use crate::content::Content;
use crate::facts::Change;
use crate::lower::{Kind, Lower};
use crate::merge::{Hunk, TEXT, hunks, read_text, text};

/// Maximum size of the new lines that are kept for one text, in bytes.
const DELTA: usize = 64 << 10;

/// Maximum size of the new lines that are kept for a commit, in bytes.
const DELTAS: usize = 16 << 20;

/// The size in a record of a hunk without its text, in bytes.
const HUNK: usize = 32;

/// Maximum time for comparing all texts, since the folder is locked meanwhile.
const TIME: Duration = Duration::from_secs(1);

/// The hunks between texts and their originals, by the paths of the texts.
pub(crate) type Deltas = BTreeMap<String, Vec<Hunk>>;

/// Returns the changes to texts, as far as the limits allow. `contents` has the new contents of
/// files by their paths.
pub(super) fn deltas(
    changes: &[Change],
    contents: &BTreeMap<String, Content>,
    lower: &Lower,
) -> Deltas {
    let until = Deadline::within(Some(TIME));
    let mut deltas = Deltas::new();
    let mut kept = 0;
    for change in changes {
        if until.check().is_err() {
            break;
        }
        let Some(delta) = contents
            .get(&change.path)
            .and_then(|content| delta(change, content, lower))
        else {
            continue;
        };
        let size: usize = delta.iter().map(|hunk| hunk.text.len() + HUNK).sum();
        if size <= DELTA && size <= DELTAS - kept {
            kept += size;
            deltas.insert(change.path.clone(), delta);
        }
    }
    deltas
}

/// Returns the change to a text; `None` if the file is no text, or was none.
fn delta(change: &Change, content: &Content, lower: &Lower) -> Option<Vec<Hunk>> {
    let (before, after) = (change.before.as_ref()?, change.after.as_ref()?);
    let is_large = before.size > TEXT || content.len() > TEXT;
    if before.kind != Kind::File || before.digest == after.digest || is_large {
        return None;
    }
    // If the original can't be read, or is another file by now, the commit fails anyway.
    let (original, _) = lower.open_file(change.original_path()).ok()?;
    let original = read_text(&original).ok()??;
    let mut new = vec![0; usize::try_from(content.len()).ok()?];
    let length = content.read_at(&mut new, 0).ok()?;
    new.truncate(length);
    Some(hunks(&original, &text(new)?))
}
