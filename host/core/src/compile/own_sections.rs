//! The custom sections of a component that the host reads.

use airlock_model::tool::command::CommandTools;
use airlock_model::wants::About;
use wasmparser::{ComponentName, CustomSectionReader, KnownCustom};

use super::outline::{Unreadable, too_complex};

/// The maximum size of a section of Airlock's own, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// Keeps a section of Airlock's own, unless it is too large or there was one before.
pub(super) fn take(name: &str, data: &[u8], kept: &mut Option<String>) -> Result<(), Unreadable> {
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

/// Notes what a section that other programs know says about the component.
pub(super) fn note(section: &CustomSectionReader<'_>, about: &mut About) {
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
