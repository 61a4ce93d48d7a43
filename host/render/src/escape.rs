//! Makes arbitrary text safe for a terminal.
//!
//! A control character could move the cursor, change the window title or hide earlier output. A
//! character that changes the writing direction could make a file name read as another, and
//! invisible characters make different names look alike. Each of them is shown as an escape, such
//! as `\u{1b}`. Characters that scripts and emoji need are kept in the places that need them.

use std::borrow::Cow;
use std::ops::Range;

use airlock_model::visible::is_invisible;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The maximum number of characters of a grapheme cluster: more than any script uses, and fewer
/// than it takes to draw over other lines.
const MAX_CLUSTER_CHARS: usize = 16;

/// Returns the text as one line that can't control a terminal or mislead its reader. Line breaks
/// and tabs are escaped too.
///
/// Use it for text printed outside of a [`Block`](super::Block), which escapes by itself. Escaping
/// twice has no further effect.
pub fn escape_line(text: &str) -> Cow<'_, str> {
    let pieces = pieces(text, Tabs::Escaped);
    match pieces.as_slice() {
        [] => Cow::Borrowed(""),
        [Piece::Kept(text)] => Cow::Borrowed(text),
        pieces => Cow::Owned(pieces.iter().map(Piece::text).collect()),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tabs {
    Kept,
    Escaped,
}

/// Part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Shown unchanged.
    Kept(&'a str),
    /// Shown as an escape.
    Escaped(char),
}

impl Piece<'_> {
    fn text(&self) -> Cow<'_, str> {
        match self {
            Piece::Kept(text) => Cow::Borrowed(text),
            Piece::Escaped(c) => Cow::Owned(c.escape_default().to_string()),
        }
    }
}

/// Splits the text at the characters to escape, in order.
pub(super) fn pieces(text: &str, tabs: Tabs) -> Vec<Piece<'_>> {
    let mut cutter = Cutter {
        text,
        pieces: Vec::new(),
        kept: 0..0,
    };
    // Most text is printable ASCII.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        cutter.kept = 0..text.len();
        return cutter.finish();
    }
    for (start, cluster) in text.grapheme_indices(true) {
        let end = start + cluster.len();
        if (cluster == "\t" && tabs == Tabs::Kept) || is_harmless(cluster) {
            cutter.keep(start..end);
            continue;
        }
        let after = text[end..].chars().next();
        judge(cluster, after, |at, c, harmless| {
            if harmless {
                cutter.keep(start + at..start + at + c.len_utf8())
            } else {
                cutter.escape(c)
            }
        });
    }
    cutter.finish()
}

struct Cutter<'a> {
    text: &'a str,
    pieces: Vec<Piece<'a>>,
    /// The range kept since the last escape.
    kept: Range<usize>,
}

impl<'a> Cutter<'a> {
    fn keep(&mut self, range: Range<usize>) {
        if self.kept.is_empty() {
            self.kept.start = range.start;
        }
        self.kept.end = range.end;
    }

    fn escape(&mut self, c: char) {
        self.flush();
        self.pieces.push(Piece::Escaped(c));
    }

    fn flush(&mut self) {
        if !self.kept.is_empty() {
            self.pieces.push(Piece::Kept(&self.text[self.kept.clone()]));
            self.kept = 0..0;
        }
    }

    fn finish(mut self) -> Vec<Piece<'a>> {
        self.flush();
        self.pieces
    }
}

/// Returns true if no character of a cluster needs a closer look.
fn is_harmless(cluster: &str) -> bool {
    let harmless = |c: char| !c.is_control() && !is_invisible(c);
    cluster.chars().all(harmless)
        && cluster.chars().take(MAX_CLUSTER_CHARS + 1).count() <= MAX_CLUSTER_CHARS
        && cluster.width() > 0
}

/// Calls `judged` for each character of a cluster with its place and whether it can stay.
fn judge(cluster: &str, after: Option<char>, mut judged: impl FnMut(usize, char, bool)) {
    let is_flag = cluster.starts_with('\u{1f3f4}');
    let mut before = None;
    let mut chars = cluster.char_indices().enumerate().peekable();
    while let Some((count, (at, c))) = chars.next() {
        let next = chars.peek().map(|(_, (_, next))| *next);
        let stays = match before {
            _ if count >= MAX_CLUSTER_CHARS || c.is_control() => false,
            // A mark without a letter would combine with the preceding output.
            None => !is_invisible(c) && columns(c) > 0,
            Some(before) => {
                !is_invisible(c) || has_effect(c, before, next, after) || (is_flag && is_tag(c))
            }
        };
        judged(at, c, stays);
        before = stays.then_some(c);
    }
}

/// Returns true if an invisible character has its intended effect on its neighbours.
fn has_effect(c: char, before: char, next: Option<char>, after: Option<char>) -> bool {
    let joins = || is_joining(before) && next.or(after).is_some_and(is_joining);
    match c {
        // Within a cluster, it joins two pictures or letters.
        '\u{200d}' => next.is_some_and(|next| columns(next) > 0) || joins(),
        '\u{200c}' => joins(),
        '\u{fe00}'..='\u{fe0f}' => {
            let is_keycap = next == Some('\u{20e3}');
            let has_variants = !before.is_ascii()
                && (!before.is_alphabetic() || columns(before) == 2 || is_joining(before));
            is_keycap || (has_variants && !is_invisible(before))
        }
        '\u{180b}'..='\u{180d}' | '\u{180f}' => matches!(before, '\u{1820}'..='\u{18aa}'),
        '\u{e0100}'..='\u{e01ef}' => columns(before) == 2,
        _ => false,
    }
}

/// Returns true for letters of scripts in which joiners change their shape: the joined scripts of
/// Asia and Africa.
fn is_joining(c: char) -> bool {
    let of_such_a_script = matches!(c, '\u{600}'..='\u{109f}' | '\u{1780}'..='\u{1c4f}' | '\u{a800}'..='\u{abff}'
        | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10a00}'..='\u{11fff}' | '\u{1e900}'..='\u{1e95f}');
    // In the scripts of India, a mark joins the letters.
    let is_virama = matches!(
        c,
        '\u{94d}'
            | '\u{9cd}'
            | '\u{a4d}'
            | '\u{acd}'
            | '\u{b4d}'
            | '\u{bcd}'
            | '\u{c4d}'
            | '\u{ccd}'
            | '\u{d4d}'
            | '\u{dca}'
    );
    of_such_a_script && (c.is_alphanumeric() || is_virama)
}

/// Returns true for the tag characters of a regional flag.
fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0020}'..='\u{e007f}')
}

fn columns(c: char) -> usize {
    c.width().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_drives_a_terminal_or_misleads_is_left() {
        let check = |text, expected| {
            assert_eq!(escape_line(text), expected, "{text:?}");
            assert_eq!(escape_line(expected), expected, "a second time");
        };
        check("", "");
        check("plain", "plain");
        check("a\r\n\tb", r"a\r\n\tb");
        check("secret\rpublic", r"secret\rpublic");
        check("\x1b[2J\x1b]0;title\x07", r"\u{1b}[2J\u{1b}]0;title\u{7}");
        check("a\x08\x7f\0", r"a\u{8}\u{7f}\u{0}");
        // C1, where 0x9b alone begins a control sequence.
        check("\u{9b}2J\u{85}", r"\u{9b}2J\u{85}");
        check("txt.\u{202e}exe", r"txt.\u{202e}exe");
        check("\u{2066}a\u{2069}\u{200f}", r"\u{2066}a\u{2069}\u{200f}");
        check("a\u{2028}b", r"a\u{2028}b");
        // Unseen, between letters that need none of it.
        check("pay\u{200b}pal", r"pay\u{200b}pal");
        check("pay\u{200d}pal", r"pay\u{200d}pal");
        check("pay\u{200c}pal", r"pay\u{200c}pal");
        check("pay\u{ad}pal\u{feff}", r"pay\u{ad}pal\u{feff}");
        check("pay\u{fe0f}pal", r"pay\u{fe0f}pal");
        check("é\u{fe0f}", r"é\u{fe0f}");
        check("a\u{e0061}", r"a\u{e0061}");
        check("\u{3164}", r"\u{3164}");
        check("a\u{2800}b", r"a\u{2800}b");
        check(
            "\u{1d159}\u{13441}\u{16fe4}",
            r"\u{1d159}\u{13441}\u{16fe4}",
        );
        check("\u{e000}\u{10fffd}", r"\u{e000}\u{10fffd}");
        check("❤\u{fe0f}\u{fe0f}", "❤\u{fe0f}\\u{fe0f}");
        check("👩\u{200d}", "👩\\u{200d}");
        check("نام\u{200c}.txt", "نام\\u{200c}.txt");
        // A mark that would go onto what stands before.
        check("\u{301}a", r"\u{301}a");
        check("a\u{34f}\u{301}", r"a\u{34f}\u{301}");
    }

    #[test]
    fn what_scripts_and_emoji_need_stays() {
        for text in [
            "Grüße, e\u{301}, 日本語, שלום, اسم الملف",
            "\u{1112}\u{1161}\u{11ab}",
            "👩‍👩‍👧 👍🏽 🇩🇪 ❤️ 1️⃣ 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "می\u{200c}خواهم",
            "क्\u{200d}ष श्रीमान्\u{200c}को",
            "葛\u{e0100}",
        ] {
            assert_eq!(escape_line(text), text, "{}", text.escape_unicode());
        }
    }

    #[test]
    fn marks_do_not_pile_up() {
        let piled = format!("a{}", "\u{301}".repeat(100));
        let expected = format!("a{}{}", "\u{301}".repeat(15), r"\u{301}".repeat(85));
        assert_eq!(escape_line(&piled), expected);
    }
}
