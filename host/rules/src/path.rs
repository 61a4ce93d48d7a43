//! Paths of a workspace: names joined by `/`.

/// Returns the offsets at which a path's names end.
pub(crate) fn ends(path: &str) -> impl DoubleEndedIterator<Item = usize> {
    let slashes = path.match_indices('/').map(|(end, _)| end);
    slashes.chain([path.len()])
}

/// Joins a directory and a path below it. Either may be empty.
pub(crate) fn join(directory: &str, below: &str) -> String {
    match (directory, below) {
        ("", path) | (path, "") => path.to_owned(),
        (directory, below) => format!("{directory}/{below}"),
    }
}
