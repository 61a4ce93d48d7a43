//! The guides for authors, done as they say: what they list is written and compiled, what they type
//! is typed, and what they show is what comes.
//!
//! In a guide, a listing names its file behind its language (````
//! ```c src/tool.c ````), and a block ```` ```console ```` is commands behind `$ ` with all that
//! they print. An `…` stands for anything in a line, and alone in a line for any lines. What is
//! only to be read or needs the network, like an installation, is in a block of another kind.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::toolchain::{command, root};

#[test]
fn the_guide_for_c_is_true() {
    follow("c", 3);
}

#[test]
fn the_guide_for_go_is_true() {
    follow("go", 2);
}

#[test]
fn the_guide_for_rust_is_true() {
    follow("rust", 4);
}

/// Does what a language's guide says, from an empty folder. It has at least so many listings.
#[track_caller]
fn follow(language: &'static str, listings: usize) {
    let guide = format!("sdk/{language}/README.md");
    let text = fs::read_to_string(root().join(&guide)).unwrap();
    let mut reader = Reader::new(language);
    let mut written = 0;
    for block in blocks(&text) {
        let at = format!("{guide}:{}", block.line);
        match block.info.split_once(' ') {
            Some((_, file)) => {
                fs::write(reader.folder.join(file), &block.text)
                    .unwrap_or_else(|error| panic!("{at}: {file}: {error}"));
                written += 1;
            }
            None if block.info == "console" => reader.type_in(&block.text, &at),
            None => assert!(
                ["sh", "text"].contains(&block.info.as_str()),
                "{at}: a listing names its file, so that it is compiled: ```{} FILE",
                block.info
            ),
        }
    }
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
        }
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
