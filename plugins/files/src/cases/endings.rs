//! Line endings, byte order marks and newlines at the end of a file that were lost.

use super::{edited, patch, patched};
use crate::change;
use crate::plan::carry_out;
use crate::workspace::tests::Sandbox;

/// Returns the file `a` after `write_file`.
fn written(file: &str, content: &str) -> String {
    let sandbox = Sandbox::with(&[("a", file)]);
    let preview = change::write(&sandbox.workspace(), "a", content).unwrap();
    for action in preview.actions() {
        carry_out(&sandbox.workspace(), action.plan(), 1).unwrap();
    }
    sandbox.read("a")
}

// anthropics/claude-code#164
#[test]
fn a_text_of_several_lines_is_found_in_a_file_with_crlf() {
    assert_eq!(
        edited("a\r\nb\r\nc\r\n", "a\nb", "a\nx\nb").unwrap(),
        "a\r\nx\r\nb\r\nc\r\n"
    );
}

// anthropics/claude-code#28831
#[test]
fn tabs_and_crlf_go_together() {
    let file = "\t\tFILE* fp = f();\r\n\t\tif (!fp) {\r\n\t\t\tthrow E(\r\n";
    let old = "\t\tFILE* fp = f();\n\t\tif (!fp) {";
    let new = "\t\tif (!f()) {";
    assert_eq!(
        edited(file, old, new).unwrap(),
        "\t\tif (!f()) {\r\n\t\t\tthrow E(\r\n"
    );
}

// google-gemini/gemini-cli#6835
#[test]
fn a_text_with_crlf_is_found_in_a_file_without() {
    assert_eq!(edited("a\nb\n", "a\r\nb\r\n", "c\r\n").unwrap(), "c\n");
}

// esengine/DeepSeek-Reasonix#2918
#[test]
fn a_file_with_both_endings_keeps_them_where_it_is_not_edited() {
    assert_eq!(
        edited("a\r\nb\nc\r\nd\n", "c", "x\ny").unwrap(),
        "a\r\nb\nx\r\ny\r\nd\n".replace("x\r\ny", "x\ny")
    );
    assert_eq!(
        edited("a\r\nb\r\nc\n", "a", "x\ny").unwrap(),
        "x\r\ny\r\nb\r\nc\n"
    );
}

// google-gemini/gemini-cli#2154
#[test]
fn an_edit_of_a_file_with_crlf_can_be_repeated() {
    let once = edited("a\r\nb\r\n", "a\nb", "c\nd").unwrap();
    assert_eq!(edited(&once, "c\nd", "e\nf").unwrap(), "e\r\nf\r\n");
}

// Aider-AI/aider#3737
#[test]
fn a_last_line_without_newline_is_found_with_one() {
    assert_eq!(edited("a\nhello", "hello\n", "bye\n").unwrap(), "a\nbye");
    assert_eq!(edited("hello", "hello\n", "").unwrap(), "");
}

// MoonshotAI/kimi-code#3825
#[test]
fn an_edit_keeps_the_byte_order_mark() {
    assert_eq!(
        edited("\u{feff}hello\n中文\n", "hello", "hello2").unwrap(),
        "\u{feff}hello2\n中文\n"
    );
}

// github/copilot-cli#3389
#[test]
fn an_edit_adds_no_byte_order_mark() {
    assert_eq!(
        edited("one\r\ntwo\r\n", "two", "2").unwrap(),
        "one\r\n2\r\n"
    );
}

// Gitlawb/zero#967, MoonshotAI/kimi-code#3946
#[test]
fn a_file_that_is_overwritten_keeps_its_line_endings_and_mark() {
    assert_eq!(
        written("\u{feff}a\r\nb\r\n", "a\nc\n"),
        "\u{feff}a\r\nc\r\n"
    );
    assert_eq!(written("a\nb\n", "a\r\n"), "a\r\n");
}

// can1357/oh-my-pi#7744
#[test]
fn a_file_is_written_exactly_to_its_end() {
    for content in ["a", "a\n", "a\n\n", "", "\n"] {
        assert_eq!(written("old", content), content);
    }
}

// anomalyco/opencode#23797
#[test]
fn a_patch_keeps_the_byte_order_mark() {
    assert_eq!(
        patched("\u{feff}a\nb\n", "@@\n-a\n+c").unwrap(),
        "\u{feff}c\nb\n"
    );
}

// openai/codex#4003, openai/codex#25048, openai/codex#35789
#[test]
fn a_patch_keeps_crlf() {
    let new = patched("a\r\nb\r\nc\r\n", "@@\n a\n-b\n+x\n+y\n c").unwrap();
    assert_eq!(new, "a\r\nx\r\ny\r\nc\r\n");
}

// openclaw/openclaw#115943
#[test]
fn lines_around_a_change_keep_their_endings() {
    let new = patched("a\r\nb\r\nc\n", "@@\n a\n-b\n+x\n c").unwrap();
    assert_eq!(new, "a\r\nx\r\nc\n");
}

// openai/codex#15035
#[test]
fn a_patch_with_crlf_fits_a_file_without() {
    let sandbox = Sandbox::with(&[("a", "1\n2\n")]);
    let text = "*** Begin Patch\r\n*** Update File: a\r\n@@\r\n-1\r\n+x\r\n 2\r\n*** End Patch\r\n";
    patch(&sandbox, text).unwrap();
    assert_eq!(sandbox.read("a"), "x\n2\n");
}

// openai/codex#7640
#[test]
fn a_patch_adds_no_newline_at_the_end() {
    assert_eq!(
        patched("{\n  a\n}", "@@\n {\n-  a\n+  b\n }").unwrap(),
        "{\n  b\n}"
    );
    assert_eq!(patched("a\nb", "@@\n a\n-b\n+c").unwrap(), "a\nc");
    assert_eq!(patched("a\nb", "@@\n a\n-b").unwrap(), "a");
    assert_eq!(patched("a", "@@\n a\n+b").unwrap(), "a\nb");
}

// openai/codex#21121
#[test]
fn a_patch_keeps_blank_lines_at_the_end() {
    assert_eq!(
        patched("a\nb\n\n\n", "@@\n-a\n+x\n b").unwrap(),
        "x\nb\n\n\n"
    );
}
