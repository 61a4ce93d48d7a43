//! Paths below a folder: names joined by `/`, none of them `.` or `..`, and empty for the folder
//! itself.

/// The folder in which a workspace keeps what commits need. Hidden at any depth, since a workspace
/// may lie inside of another.
pub const PRIVATE: &str = ".airlock";

/// Whether a name is that of the folder in which a workspace keeps what commits need, which no view
/// shows, also where a file system sees no difference
/// between cases.
pub fn is_private(name: &str) -> bool {
    name.eq_ignore_ascii_case(PRIVATE)
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
