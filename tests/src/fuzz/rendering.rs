//! What people read.

use airlock_render::{Block, Line, Renderer, Role, escape_line, width};

/// Any text in any kind of block, on screens of any width.
pub fn rendering(bytes: &[u8]) {
    let columns = usize::from(bytes.first().copied().unwrap_or(80));
    let text = String::from_utf8_lossy(bytes);
    let line = escape_line(&text);
    check(&line);
    assert!(!line.contains('\n'));
    assert!(width(&line) >= line.chars().count() / 8);
    let block = Block::new()
        .text(&text)
        .named(Role::Error, "error:", &text, 2)
        .fact(columns % 12, "fact", &text)
        .line(Line::from(&*text).indented(columns % 7).hanging(2))
        .block(Block::new().text(&text).indented(columns % 60));
    check(&Renderer::plain().render(&block));
    check(&Renderer::plain().width(columns).render(&block));
    let coloured = Renderer::ansi().width(columns).render(&block);
    check(&without_colours(&coloured));
}

/// Nothing that could drive a terminal, turn the direction of text, or pass for another line.
pub fn check(shown: &str) {
    let bad = shown.chars().find(|c| {
        (c.is_control() && *c != '\n')
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    });
    assert_eq!(bad, None, "{shown:?}");
}

/// Without what a theme adds itself: SGR sequences.
fn without_colours(text: &str) -> String {
    let mut left = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        left.push_str(before);
        let end = after.find(|c: char| !c.is_ascii_digit() && c != ';');
        let end = end.expect("a sequence has an end");
        assert!(after[end..].starts_with('m'), "{text:?}");
        rest = &after[end + 1..];
    }
    left + rest
}

pub fn seeds() -> Vec<Vec<u8>> {
    [
        "plain",
        "\u{1b}]0;title\u{7}\u{9b}31m\r\n\ttab\u{202e}\u{200b}\u{2028}",
        "--- a/file\n+++ b/file\n@@ -1,2 +1,2 @@\n-old\n+new\n context\n",
        "e\u{301}\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}漢字",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}
