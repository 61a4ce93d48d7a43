//! The tool `read_file`.

use std::io::{BufRead, BufReader, Read};

use airlock_tool::{Call, Content, Context, Error, Output, check_cancelled};

use crate::params::ReadFile;
use crate::path::{self, shown};
use crate::text::Text;
use crate::workspace::{MAX_BYTES, Workspace};

/// The most bytes of text in an answer, unless one line has more. `airlock serve` cuts a result at
/// 50,000 bytes, and then the model wouldn't learn where to go on.
const MAX_TEXT: usize = 40_000;

/// The most bytes of a line in a file that is too large to be read as a whole.
const MAX_LINE: u64 = 256 << 10;

/// The largest picture in an answer.
const MAX_PICTURE: u64 = 5 << 20;

pub(crate) fn read_file(params: ReadFile, _call: &Call) -> Result<Output, Error> {
    read(&Workspace::of_session()?, &params)
}

fn read(workspace: &Workspace, params: &ReadFile) -> Result<Output, Error> {
    let path = path::file(&params.path)?;
    if let Some(mime_type) = picture(&path) {
        let data = workspace.read(&path, MAX_PICTURE)?;
        let mime_type = mime_type.to_owned();
        return Ok(Output::default().with(Content::Image { data, mime_type }));
    }
    let size = workspace.open(&path)?.metadata().map_or(0, |it| it.len());
    if size > MAX_BYTES {
        return read_part(workspace, &path, params);
    }
    let text = workspace.text(&path)?;
    let lines: Vec<&str> = text.body().split_inclusive('\n').collect();
    let first = usize::try_from(params.offset.unsigned_abs()).unwrap_or(usize::MAX);
    let start = if params.offset < 0 {
        lines.len().saturating_sub(first)
    } else {
        first.max(1) - 1
    };
    if start > 0 && start >= lines.len() {
        return Err(Error::tool(format!(
            "`{}` has only {} lines.",
            shown(&path),
            lines.len()
        )));
    }
    let end = start.saturating_add(params.limit).min(lines.len());
    let mut shown_text = String::new();
    let mut at = start;
    while at < end && (shown_text.len() + lines[at].len() <= MAX_TEXT || at == start) {
        push(&mut shown_text, lines[at], at + 1, params.line_numbers);
        at += 1;
    }
    Ok(answer(
        shown_text,
        notes(&text, start, at, Some(lines.len())),
    ))
}

/// Reads lines of a file that is too large to be read as a whole.
fn read_part(workspace: &Workspace, path: &str, params: &ReadFile) -> Result<Output, Error> {
    if params.offset < 0 {
        return Err(Error::tool(
            "The file is too large to be read from its end: give a line from its start.",
        ));
    }
    let context = || format!("reading `{}`", shown(path));
    let mut reader = BufReader::with_capacity(1 << 16, workspace.open(path)?);
    let start = usize::try_from(params.offset.max(1) - 1).unwrap_or(usize::MAX);
    let (mut text, mut at) = (String::new(), 0);
    while at < start.saturating_add(params.limit) {
        let mut line = Vec::new();
        let read = (&mut reader).take(MAX_LINE).read_until(b'\n', &mut line);
        let is_full = !text.is_empty() && text.len() + line.len() > MAX_TEXT;
        if read.with_context(context)? == 0 || is_full {
            break;
        }
        if line.contains(&0) {
            return Err(Error::tool(format!("`{}` is a binary file.", shown(path))));
        }
        if at >= start {
            push(
                &mut text,
                &String::from_utf8_lossy(&line),
                at + 1,
                params.line_numbers,
            );
        }
        at += 1;
        if at.is_multiple_of(10_000) {
            check_cancelled()?;
        }
    }
    if at <= start {
        return Err(Error::tool(format!(
            "`{}` has only {at} lines.",
            shown(path)
        )));
    }
    Ok(answer(
        text,
        vec![format!(
            "These are lines {}–{at} of a large file.",
            start + 1
        )],
    ))
}

fn push(text: &mut String, line: &str, number: usize, with_number: bool) {
    if with_number {
        text.push_str(&format!("{number}\t"));
    }
    text.push_str(line);
}

/// Returns the answer: the text alone, so that it can be copied, and then the notes about it.
fn answer(text: String, notes: Vec<String>) -> Output {
    let output = Output::text(text);
    if notes.is_empty() {
        output
    } else {
        output.with(notes.join(" "))
    }
}

fn notes(text: &Text, start: usize, end: usize, lines: Option<usize>) -> Vec<String> {
    let mut notes = Vec::new();
    match lines {
        Some(0) => notes.push("The file is empty.".to_owned()),
        Some(lines) if start > 0 || end < lines => {
            notes.push(format!("These are lines {}–{end} of {lines}.", start + 1));
        }
        _ => {}
    }
    if text.is_crlf() {
        notes.push("Its lines end in CRLF, which edits keep.".to_owned());
    }
    if text.has_bom() {
        notes.push("It has a byte order mark, which edits keep.".to_owned());
    }
    notes
}

/// Returns the type of a picture that models can look at.
fn picture(path: &str) -> Option<&'static str> {
    let (_, extension) = path::split(path).1.rsplit_once('.')?;
    match extension.to_ascii_lowercase().as_str() {
        "png" => Some("image/png"),
        "jpg" | "jpeg" => Some("image/jpeg"),
        "gif" => Some("image/gif"),
        "webp" => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::tests::Sandbox;

    fn texts(sandbox: &Sandbox, params: serde_json::Value) -> Result<Vec<String>, String> {
        let params = serde_json::from_value(params).unwrap();
        let output = read(&sandbox.workspace(), &params).map_err(|it| it.to_string())?;
        let text = |content: &Content| match content {
            Content::Text(text) => text.clone(),
            other => format!("{other:?}"),
        };
        Ok(output.content().iter().map(text).collect())
    }

    #[test]
    fn a_part_of_a_file_is_read_as_asked_for() {
        let sandbox = Sandbox::with(&[("a", "1\n2\n3\n4\n"), ("empty", "")]);
        let check =
            |params, expected: &[&str]| assert_eq!(texts(&sandbox, params).unwrap(), expected);
        use serde_json::json;
        check(json!({ "path": "a" }), &["1\n2\n3\n4\n"]);
        check(
            json!({ "path": "a", "offset": 2, "limit": 2 }),
            &["2\n3\n", "These are lines 2–3 of 4."],
        );
        check(
            json!({ "path": "a", "offset": -1 }),
            &["4\n", "These are lines 4–4 of 4."],
        );
        check(json!({ "path": "a", "offset": -9 }), &["1\n2\n3\n4\n"]);
        let numbered = json!({ "path": "a", "offset": 4, "line_numbers": true });
        check(numbered, &["4\t4\n", "These are lines 4–4 of 4."]);
        check(json!({ "path": "empty" }), &["", "The file is empty."]);
        let beyond = texts(&sandbox, json!({ "path": "a", "offset": 5 }));
        assert_eq!(beyond, Err("`a` has only 4 lines.".to_owned()));
    }

    #[test]
    fn the_text_is_shown_as_edits_expect_it() {
        let sandbox = Sandbox::with(&[("a", "\u{feff}1\r\n")]);
        let notes =
            "Its lines end in CRLF, which edits keep. It has a byte order mark, which edits keep.";
        assert_eq!(
            texts(&sandbox, serde_json::json!({ "path": "a" })).unwrap(),
            ["1\n", notes]
        );
    }

    #[test]
    fn a_long_file_is_cut_with_a_note() {
        let sandbox = Sandbox::with(&[("a", &"x\n".repeat(MAX_TEXT))]);
        let read = |params| texts(&sandbox, params).unwrap();
        let cut = read(serde_json::json!({ "path": "a", "limit": 100_000 }));
        assert_eq!(cut[1], "These are lines 1–20000 of 40000.");
        sandbox
            .workspace()
            .write("b", "y".repeat(MAX_TEXT + 1).as_bytes())
            .unwrap();
        let whole = read(serde_json::json!({ "path": "b" }));
        assert_eq!(whole[0].len(), MAX_TEXT + 1);
    }

    #[test]
    fn a_huge_file_is_read_in_parts() {
        let sandbox = Sandbox::with(&[("a", &"12345678\n".repeat(2 << 20))]);
        let read = texts(
            &sandbox,
            serde_json::json!({ "path": "a", "offset": 1_000_000, "limit": 1 }),
        );
        let expected = [
            "12345678\n",
            "These are lines 1000000–1000000 of a large file.",
        ];
        assert_eq!(read.unwrap(), expected);
        let read = texts(
            &sandbox,
            serde_json::json!({ "path": "a", "limit": 100_000 }),
        );
        let expected = "These are lines 1–4444 of a large file.";
        assert_eq!(read.unwrap()[1], expected);
    }

    #[test]
    fn a_file_without_text_is_refused_unless_it_is_a_picture() {
        let sandbox = Sandbox::with(&[("a.png", "png")]);
        sandbox.workspace().write("b", b"a\0").unwrap();
        let read = texts(&sandbox, serde_json::json!({ "path": "a.png" })).unwrap();
        assert!(read[0].contains("image/png"));
        let refused = texts(&sandbox, serde_json::json!({ "path": "b" }));
        assert_eq!(refused, Err("`b` is a binary file.".to_owned()));
    }
}
