//! The guides for authors, done as they say: what they list is written and compiled, what they type
//! is typed, and what they show is what comes.
//!
//! In a guide, a listing names its file behind its language (````
//! ```c src/tool.c ````; with `above` behind it, it is put above what is there), and a block
//! ```` ```console ```` is commands behind `$ ` with all that they print. An `…` stands for
//! anything in a line, and alone in a line for any lines. What is only to be read or needs the
//! network, like an installation, is in a block `sh` or `text`.
//!
//! A listing that no command looks at would be right whatever it says: each is followed by one that
//! builds or tests it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::toolchain::{command, python_tools, root};

#[test]
fn the_guide_for_c_is_true() {
    follow("c", 6);
}

#[test]
fn the_guide_for_go_is_true() {
    follow("go", 5);
}

#[test]
fn the_guide_for_rust_is_true() {
    follow("rust", 7);
}

#[test]
fn the_guide_for_typescript_is_true() {
    follow("ts", 7);
}

#[test]
fn the_guide_for_python_is_true() {
    follow("python", 8);
}

#[test]
fn each_sdk_has_a_guide_that_is_followed() {
    let sdks = fs::read_dir(root().join("sdk")).unwrap();
    let mut guides: Vec<_> = sdks
        .map(|sdk| sdk.unwrap().path())
        .filter(|sdk| sdk.join("README.md").is_file())
        .map(|sdk| sdk.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    guides.sort();
    assert_eq!(guides, ["c", "go", "python", "rust", "ts"]);
}

/// Of what every guide has built so, [`COMMON`] tells what it does.
const BUILT: &str = "tools.wasm";
const COMMON: &str = "sdk/README.md";

/// Does what a language's guide says, from an empty folder, and what is said of all languages of
/// what it has built. It has at least so many listings.
#[track_caller]
fn follow(language: &'static str, listings: usize) {
    let guide = format!("sdk/{language}/README.md");
    let mut reader = Reader::new(language);
    reader.follow(&guide);
    assert!(reader.has_read_common, "{guide} builds no {BUILT}");
    let written = reader.written;
    assert!(written >= listings, "{guide} has {written} listings");
}

/// A fenced block.
struct Block {
    /// What stands behind the fence.
    info: String,
    text: String,
    /// Where it begins, counted from 1.
    line: usize,
}

fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in markdown.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(info), None) => {
                open = Some(Block {
                    info: info.to_owned(),
                    text: String::new(),
                    line: index + 1,
                });
            }
            (None, Some(block)) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block has no end");
    blocks
}

/// Who follows a guide.
struct Reader {
    language: &'static str,
    home: TempDir,
    /// Where `cd` went.
    folder: PathBuf,
    /// How many listings were written, without those of [`COMMON`].
    written: usize,
    /// The listings that no command has looked at yet: each file, and where it is listed.
    unseen: BTreeMap<String, String>,
    has_read_common: bool,
}

impl Reader {
    fn new(language: &'static str) -> Self {
        let home = TempDir::new().unwrap();
        let folder = home.path().join("empty");
        fs::create_dir(&folder).unwrap();
        Self {
            language,
            home,
            folder,
            written: 0,
            unseen: BTreeMap::new(),
            has_read_common: false,
        }
    }

    #[track_caller]
    fn follow(&mut self, guide: &str) {
        let text = fs::read_to_string(root().join(guide)).unwrap();
        for block in blocks(&text) {
            let at = format!("{guide}:{}", block.line);
            match block.info.split_once(' ') {
                Some((_, listing)) => self.write(listing, &block.text, at),
                None if block.info == "console" => self.type_in(&block.text, &at),
                None => assert!(
                    ["sh", "text"].contains(&block.info.as_str()),
                    "{at}: a listing names its file, so that it is compiled: ```{} FILE",
                    block.info
                ),
            }
            if !self.has_read_common && self.folder.join(BUILT).exists() {
                self.has_read_common = true;
                let written = self.written;
                self.follow(COMMON);
                self.written = written;
            }
        }
        let unseen: Vec<&String> = self.unseen.values().collect();
        assert!(unseen.is_empty(), "no command looks at {unseen:?}");
    }

    #[track_caller]
    fn write(&mut self, listing: &str, text: &str, at: String) {
        let (file, below) = match listing.split_once(' ') {
            None => (listing, String::new()),
            Some((file, "above")) => {
                let below = fs::read_to_string(self.folder.join(file));
                (
                    file,
                    below.unwrap_or_else(|error| panic!("{at}: {file}: {error}")),
                )
            }
            Some((_, how)) => panic!("{at}: what is `{how}`?"),
        };
        fs::write(self.folder.join(file), format!("{text}{below}"))
            .unwrap_or_else(|error| panic!("{at}: {file}: {error}"));
        self.written += 1;
        let before = self.unseen.insert(file.to_owned(), at);
        assert_eq!(
            before, None,
            "no command looks at {file} before it is another"
        );
    }

    /// Runs the commands of a transcript, and compares what they print.
    #[track_caller]
    fn type_in(&mut self, transcript: &str, at: &str) {
        let mut steps: Vec<(&str, Vec<&str>)> = Vec::new();
        for line in transcript.lines() {
            match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => steps.push((command, Vec::new())),
                (None, Some((_, printed))) => printed.push(line),
                (None, None) => panic!("{at}: no command comes before {line:?}"),
            }
        }
        for (command, expected) in steps {
            let came = self.run(command);
            self.unseen.retain(|file, _| !looks_at(command, file));
            let came: Vec<&str> = came.lines().collect();
            assert!(
                is_like(&came, &expected),
                "{at}: $ {command}\n--- the guide shows\n{}\n--- what came\n{}",
                expected.join("\n"),
                came.join("\n")
            );
        }
    }

    /// What a command prints on both of its streams.
    fn run(&mut self, command_line: &str) -> String {
        self.have_environment();
        let (said, place) = (self.home.path().join("said"), self.home.path().join("pwd"));
        // Where a command fails, a reader goes on.
        let script = format!(
            "set +eu; exec >'{}' 2>&1\n{command_line}\npwd >'{}'",
            said.display(),
            place.display()
        );
        let mut shell = command(self.language, &self.folder, &script);
        shell
            .env("AIRLOCK_STORE", self.home.path().join("pending.db"))
            .env("CARGO_TERM_COLOR", "never");
        shell.status().unwrap();
        self.folder = PathBuf::from(fs::read_to_string(place).unwrap().trim_end());
        fs::read_to_string(said).unwrap()
    }

    /// The environment of tests/toolchain/install-python-tools stands for the project's own, so
    /// that nothing is downloaded.
    fn have_environment(&self) {
        let environment = self.folder.join(".venv");
        if self.folder.join("pyproject.toml").exists() && !environment.exists() {
            let tools = python_tools();
            std::os::unix::fs::symlink(tools.parent().unwrap(), environment).unwrap();
        }
    }
}

/// Whether a command fails where this file is wrong.
fn looks_at(command: &str, file: &str) -> bool {
    let is_test = file.starts_with("tests/") || file.ends_with("tests.rs");
    let looking: &[&str] = match file {
        "airlock-test.toml" => &["airlock test"],
        _ if is_test => &["pytest", "cargo test"],
        _ => &["airlock build", "cargo test"],
    };
    looking.iter().any(|begin| command.contains(begin))
}

/// Whether lines came as they are shown.
fn is_like(came: &[&str], shown: &[&str]) -> bool {
    match (came, shown) {
        ([], []) => true,
        (_, ["…", rest @ ..]) => {
            is_like(came, rest)
                || came
                    .split_first()
                    .is_some_and(|(_, came)| is_like(came, shown))
        }
        ([line, came @ ..], [pattern, shown @ ..]) => {
            is_line_like(line, pattern) && is_like(came, shown)
        }
        _ => false,
    }
}

fn is_line_like(line: &str, pattern: &str) -> bool {
    match pattern.split_once('…') {
        None => line == pattern,
        Some((before, after)) => line.strip_prefix(before).is_some_and(|rest| {
            let mut ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            ends.any(|at| is_line_like(&rest[at..], after))
        }),
    }
}

#[test]
fn an_ellipsis_stands_for_anything() {
    let check = |came: &[&str], shown: &[&str], expected| {
        assert_eq!(is_like(came, shown), expected, "{came:?} {shown:?}");
    };
    check(&["a", "b"], &["a", "b"], true);
    check(&["a", "b"], &["a"], false);
    check(&["a"], &["a", "b"], false);
    check(&["id 17 of 3"], &["id … of 3"], true);
    check(&["id 17 of 4"], &["id … of 3"], false);
    check(&["a", "b", "c"], &["a", "…"], true);
    check(&["a", "b", "c"], &["…", "c"], true);
    check(&["a", "b", "c"], &["…", "b"], false);
}

#[test]
fn a_listing_is_looked_at_by_what_would_fail() {
    let check = |command: &str, file: &str, expected| {
        assert_eq!(looks_at(command, file), expected, "{command} {file}");
    };
    check("airlock build --output tools.wasm", "src/tool.c", true);
    check("airlock run build/tool.wasm", "src/tool.c", false);
    check("airlock build", "airlock-test.toml", false);
    check("airlock test", "airlock-test.toml", true);
    check("airlock test", "src/tests.rs", false);
    check("cargo test --quiet", "src/tests.rs", true);
    check(".venv/bin/python -m pytest", "tests/test_tool.py", true);
}

#[test]
fn a_block_is_found_with_its_kind() {
    let blocks = blocks("Text\n```c src/tool.c\nint a;\n\nint b;\n```\n```console\n$ ls\n```\n");
    let found: Vec<_> = blocks
        .iter()
        .map(|block| (block.info.as_str(), block.text.as_str(), block.line))
        .collect();
    assert_eq!(
        found,
        [
            ("c src/tool.c", "int a;\n\nint b;\n", 2),
            ("console", "$ ls\n", 7)
        ]
    );
}
