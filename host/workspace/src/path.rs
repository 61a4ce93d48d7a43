//! Paths below a folder: names joined by `/`, without `.` and `..`. The folder itself is the empty
//! path.

use std::borrow::Cow;
use std::io;

use rustix::io::Errno;
use unicode_normalization::UnicodeNormalization;

/// The folder that holds a workspace's commit data. It is hidden at any depth, because a workspace
/// may be inside another one.
pub const PRIVATE: &str = ".airlock";

/// Returns whether a name refers to the folder [`PRIVATE`], which no view shows. Names that some
/// file system or operating system treats as the same name count too.
pub fn is_private(name: &str) -> bool {
    folded(name) == PRIVATE
}

/// Folds a name as the most lenient file system would: compatible characters are equal (NFKC), and
/// case and zero-width characters are ignored. So are the parts that Windows drops: trailing dots
/// and spaces, and a stream name after a colon.
///
/// Names that fold differently never refer to the same file, except short names such as `GIT~1`.
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

/// Returns whether a character has no width, and is ignored when ext4 and f2fs fold cases
/// (`Default_Ignorable_Code_Point`).
fn is_ignored(it: char) -> bool {
    matches!(it,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Maximum length of a path below a folder, in bytes: the limit of Linux, minus the name of the
/// slot in which a commit creates the path's first directory.
const MAX_PATH: usize = 4096 - 32;

/// Checks the length of a path in bytes.
pub(crate) fn check_length(length: usize) -> io::Result<()> {
    if length <= MAX_PATH {
        Ok(())
    } else {
        Err(Errno::NAMETOOLONG.into())
    }
}

pub(crate) fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() {
        name.to_owned()
    } else {
        format!("{directory}/{name}")
    }
}

/// Splits a path into its parent directory and its name there.
pub(crate) fn parent_and_name(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

pub(crate) fn depth(path: &str) -> usize {
    if path.is_empty() {
        0
    } else {
        1 + path.bytes().filter(|byte| *byte == b'/').count()
    }
}
