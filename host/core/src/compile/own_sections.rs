//! The custom sections of a component that the host reads.

use airlock_model::tool::command::CommandTools;
use airlock_model::wants::{About, Wants};
use wasmparser::{ComponentName, CustomSectionReader, KnownCustom};

use super::outline::{Outline, Unreadable, too_complex};

/// The maximum size of a section of Airlock's own, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// Reads a section of the outermost component.
pub(super) fn read(
    section: &CustomSectionReader<'_>,
    outline: &mut Outline,
) -> Result<(), Unreadable> {
    let (name, data) = (section.name(), section.data());
    match name {
        CommandTools::SECTION => take(name, data, &mut outline.command_tools),
        Wants::SECTION => take(name, data, &mut outline.wants),
        _ => {
            note(section, &mut outline.about);
            Ok(())
        }
    }
}

/// Keeps a section of Airlock's own, unless it is too large or there was one before.
fn take(name: &str, data: &[u8], kept: &mut Option<String>) -> Result<(), Unreadable> {
    if data.len() > MAX_BYTES {
        return Err(too_complex(format!(
            "its section `{name}` has {} bytes; the limit is {MAX_BYTES}",
            data.len()
        )));
    }
    let malformed = |problem: &str| Unreadable::Malformed(format!("{problem} `{name}`"));
    let text = std::str::from_utf8(data);
    let text = text.map_err(|_| malformed("it has a section that is not UTF-8:"))?;
    match kept.replace(text.to_owned()) {
        None => Ok(()),
        Some(_) if name == CommandTools::SECTION => Err(malformed(
            "its program already had tools: it has two sections",
        )),
        Some(_) => Err(malformed("it has two sections")),
    }
}

/// Notes the metadata in a section that other programs know, too.
fn note(section: &CustomSectionReader<'_>, about: &mut About) {
    if about.set(section.name(), section.data()) {
        return;
    }
    let KnownCustom::ComponentName(names) = section.as_known() else {
        return;
    };
    for name in names {
        // The names of its parts may be malformed; no host reads them.
        if let Ok(ComponentName::Component { name, .. }) = name
            && name.len() <= About::MAX
        {
            about.name = Some(name.to_owned());
        }
    }
}
