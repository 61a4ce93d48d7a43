//! The draft of a preview: the same writes as in its apply, on a throwaway layer, for the host to
//! see.

use airlock_host::Error;
use airlock_host::digest::Digest;
use airlock_host::native::folder::{ReadableFolder, WritableFolder};

use crate::code::rewrite;
use crate::contents::{self, MAX_FILE_BYTES};
use crate::parallel::in_parallel;
use crate::search::{Matched, Search};

/// Writes the new contents of each file to the draft.
pub(crate) fn write_draft(
    matched: &[Matched],
    search: &Search<'_>,
    draft: &WritableFolder,
) -> Result<(), Error> {
    in_parallel(matched, |file| {
        search.call.check()?;
        let old = source(file, search.folder)?;
        let new = rewrite::replace(&old, &file.edits);
        let written = draft.write(&file.path, new.as_bytes());
        written.map_err(|error| Error::Tool {
            message: format!(
                "can't keep what {} would become: {error}",
                file.path.display()
            ),
        })
    })
}

/// Reads the text of a searched file again.
pub(crate) fn source(matched: &Matched, folder: &ReadableFolder) -> Result<String, Error> {
    let read = folder.read(&matched.path, MAX_FILE_BYTES).ok();
    let same = read.filter(|file| Digest::of(&file.bytes) == matched.before);
    let text = same.and_then(|file| contents::text(&file.bytes).map(str::to_owned));
    text.ok_or_else(|| Error::Tool {
        message: format!(
            "{} changed while it was being searched; call again",
            matched.path.display()
        ),
    })
}
