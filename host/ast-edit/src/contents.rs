//! Files as the search reads them: which are text, and why others are left out.

use airlock_host::native::folder::Unread;

/// The largest file that is searched. Larger files are rarely written by hand, and parsing one
/// takes seconds and a hundred times its size in memory.
pub(crate) const MAX_FILE_BYTES: u64 = 4 << 20;

/// Returns the reason why a file can't be searched.
pub(crate) fn reason(unread: &Unread) -> String {
    match unread {
        Unread::TooLarge(size) => format!("it is {size} bytes; the limit is {MAX_FILE_BYTES}"),
        Unread::NotAFile => "it is not a file".to_owned(),
        other => other.to_string(),
    }
}

pub(crate) const NOT_TEXT: &str = "it is not text in UTF-8";

pub(crate) const UTF_16: &str = "it is text in UTF-16; convert it to UTF-8 to search it";

/// Returns whether a file is marked as UTF-16 by its first two bytes.
pub(crate) fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff])
}

/// Returns the source, if it is text.
pub(crate) fn text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    (!bytes.contains(&0)).then_some(text)
}
