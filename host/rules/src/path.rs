//! Paths of a workspace: names joined by `/`.

/// The offsets at which a path's names end.
pub(crate) fn ends(path: &str) -> impl DoubleEndedIterator<Item = usize> {
    let slashes = path.match_indices('/').map(|(end, _)| end);
    slashes.chain([path.len()])
}

/// A path below a directory. Either may be empty.
pub(crate) fn join(directory: &str, below: &str) -> String {
    match (directory, below) {
        ("", path) | (path, "") => path.to_owned(),
        (directory, below) => format!("{directory}/{below}"),
    }
}
