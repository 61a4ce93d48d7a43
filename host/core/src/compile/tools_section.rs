//! The section of a component with a program's tools.

use airlock_model::tool::command::CommandTools;

use super::outline::{Unreadable, too_complex};

/// The maximum size of the section, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// Keeps the section, unless it is too large or there was one before.
pub(super) fn take(section: &[u8], kept: &mut Option<String>) -> Result<(), Unreadable> {
    let name = CommandTools::SECTION;
    if section.len() > MAX_BYTES {
        return Err(too_complex(format!(
            "its section `{name}` has {} bytes; the limit is {MAX_BYTES}",
            section.len()
        )));
    }
    let malformed = |problem: &str| Unreadable::Malformed(format!("{problem} `{name}`"));
    let text = std::str::from_utf8(section);
    let text = text.map_err(|_| malformed("it has a section that is not UTF-8:"))?;
    match kept.replace(text.to_owned()) {
        None => Ok(()),
        Some(_) => Err(malformed(
            "its program already had tools: it has two sections",
        )),
    }
}
