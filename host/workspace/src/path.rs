//! Paths below a folder: names joined by `/`, none of them `.` or `..`, and empty for the folder
//! itself.

use std::borrow::Cow;
use std::io;

use rustix::io::Errno;
use unicode_normalization::UnicodeNormalization;

/// The folder in which a workspace keeps what commits need. Hidden at any depth, since a workspace
/// may lie inside of another.
pub const PRIVATE: &str = ".airlock";

/// Whether a name is that of the folder in which a workspace keeps what commits need, which no view
/// shows, also where a file system or another system takes it for the same.
pub fn is_private(name: &str) -> bool {
    folded(name) == PRIVATE
}

/// A name as the most forgiving file system reads it: compatible characters are equal (NFKC), case
/// and characters without width are ignored, and so are the parts that Windows drops (dots and
/// spaces at the end, and a stream's name after a colon).
///
/// Names that fold differently never name the same file, except short names such as `GIT~1`.
pub fn folded(name: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase() && byte != b':';
    if name.bytes().all(is_plain) {
        return Cow::Borrowed(name.trim_end_matches(['.', ' ']));
    }
    let compatible = name.nfkc().filter(|it| !is_ignored(*it));
    let small: String = compatible.flat_map(char::to_lowercase).nfkc().collect();
    let file = small.split(':').next().unwrap_or_default();
    Cow::Owned(file.trim_end_matches(['.', ' ']).to_owned())
}

/// What has no width, and is passed over where ext4 and f2fs fold cases
/// (`Default_Ignorable_Code_Point`).
fn is_ignored(it: char) -> bool {
    matches!(it,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The longest path below a folder, in bytes: what Linux takes, with room for the name of the slot
/// in which a commit makes the first directory of it.
const MAX_PATH: usize = 4096 - 32;

/// Whether a path can be that of something in a folder, by its length in bytes.
pub(crate) fn check_length(length: usize) -> io::Result<()> {
    match length <= MAX_PATH {
        true => Ok(()),
        false => Err(Errno::NAMETOOLONG.into()),
    }
}

pub(crate) fn join(directory: &str, name: &str) -> String {
    match directory.is_empty() {
        true => name.to_owned(),
        false => format!("{directory}/{name}"),
    }
}

/// The directory that something lies in, and its name there.
pub(crate) fn parent_and_name(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

pub(crate) fn depth(path: &str) -> usize {
    match path.is_empty() {
        true => 0,
        false => 1 + path.bytes().filter(|byte| *byte == b'/').count(),
    }
}
