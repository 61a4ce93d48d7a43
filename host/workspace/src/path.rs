//! Paths below a folder: names joined by `/`, none of them `.` or `..`, and empty for the folder
//! itself.

use std::io;

use rustix::io::Errno;

/// The folder in which a workspace keeps what commits need. Hidden at any depth, since a workspace
/// may lie inside of another.
pub const PRIVATE: &str = ".airlock";

/// Whether a name is that of the folder in which a workspace keeps what commits need, which no view
/// shows, also where a file system sees no difference between cases.
pub fn is_private(name: &str) -> bool {
    if name.is_ascii() {
        return name.eq_ignore_ascii_case(PRIVATE);
    }
    let seen = name.chars().filter(|it| !is_ignored(*it));
    // Of all characters that are no ASCII, this one alone is the same as a letter of the name.
    let seen = seen.map(|it| if it == '\u{212a}' { 'k' } else { it });
    seen.map(|it| it.to_ascii_lowercase()).eq(PRIVATE.chars())
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
