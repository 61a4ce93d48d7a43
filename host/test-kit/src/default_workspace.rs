//! The default files of a try.

use super::files::Files;

/// Size of the large file. It needs more than one read but is still cheap to copy for each try.
const LARGE: usize = 64 << 10;

/// Returns a few folders, and the kinds of files that tools look for or fail on.
pub fn default_workspace() -> Files {
    let mut files = Files::default();
    for (path, contents) in [
        (".settings", "colour = blue\n"),
        (
            "README.md",
            "# Title\n\nSome *text*, and a [link](docs/guide.md).\n",
        ),
        ("a.txt", "one\ntwo\nthree\n"),
        (
            "config.toml",
            "name = \"value\"\n\n[list]\nitems = [1, 2, 3]\n",
        ),
        ("data.json", "{\"name\": \"value\", \"list\": [1, 2, 3]}\n"),
        ("docs/guide.md", "# Guide\n\n- one\n- two\n"),
        ("docs/old/notes.txt", "one\n"),
        ("empty.txt", ""),
        ("meeting メモ.txt", "a\tb\r\nc"),
        ("src/main.rs", "fn main() {\n    let hello = 1;\n}\n"),
        ("src/tool.py", "def hello(name):\n    return name\n"),
        ("table.csv", "name,count\none,1\n\"two, three\",2\n"),
    ] {
        files.add_file(path, contents);
    }
    files.add_file("images/dot.png", DOT);
    files.add_folder("drafts");
    let line = "2026-11-22T09:15:00Z one more line of a long file\n";
    files.add_file("log/large.log", line.repeat(LARGE / line.len() + 1));
    files
}

/// A PNG image of one pixel.
const DOT: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\
\0\0\0\x1f\x15\xc4\x89\0\0\0\x0bIDATx\x9cc\xf8\x0f\x04\0\x09\xfb\x03\xfd\xfb^k+\0\0\0\0IEND\xaeB`\x82";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Entry;

    #[test]
    fn it_has_folders_and_the_kinds_of_files_that_tools_look_for() {
        let files = default_workspace();
        let has = |what: &str, test: &dyn Fn(&str, &[u8]) -> bool| {
            let found = files.iter().any(|(path, entry)| match entry {
                Entry::File(contents) => test(path, contents),
                Entry::Folder | Entry::Link(_) => false,
            });
            assert!(found, "{what}");
        };
        for ending in [".txt", ".md", ".json", ".csv", ".rs"] {
            has(ending, &|path, _| path.ends_with(ending));
        }
        has("in a folder's folder", &|path, _| {
            path.matches('/').count() == 2
        });
        has("empty", &|_, contents| contents.is_empty());
        has("binary", &|_, contents| {
            std::str::from_utf8(contents).is_err()
        });
        has("hidden", &|path, _| path.starts_with('.'));
        has("a blank", &|path, _| path.contains(' '));
        has("not ASCII", &|path, _| !path.is_ascii());
        has("large", &|_, contents| contents.len() >= LARGE);
        let bytes = files.iter().map(|(_, entry)| match entry {
            Entry::File(contents) => contents.len(),
            Entry::Folder | Entry::Link(_) => 0,
        });
        assert!(bytes.sum::<usize>() < 2 * LARGE, "each try copies it");
        assert!(files.iter().any(|(path, _)| path == "drafts"));
        assert!(!files.paths().any(|path| path.starts_with("drafts/")));
    }
}
