//! What holds for every block, whatever is in it.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use airlock_model::error::Error;
use airlock_model::json::Json;
use airlock_model::pending::StackedAction;
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::*;
use crate::{Decided, escape_line};

/// Text in which each word begins with a letter that no word of the host's does.
fn marked_text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "\n",
        "\r\n",
        "\t",
        " ",
        "    ",
        "Q",
        "QQQ",
        "Q: Q",
        "日Q",
        "\u{1b}",
        "\u{202e}",
        "\u{200b}",
        "\n\n",
        "QQQQQQQQQQQQQQQQQQQQQQQQQQ",
    ]);
    prop::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat())
}

/// Text with more than its share of what is hard to get right.
fn text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "\n",
        "\r\n",
        "\r",
        "\t",
        " ",
        "  ",
        "word",
        "longer-word",
        ": ",
        "日本",
        "한",
        "e\u{301}",
        "\u{301}",
        "\u{1112}\u{1161}",
        "🇩🇪",
        "🇩",
        "👩‍👩‍👧",
        "❤\u{fe0f}",
        "👍🏽👍🏽👍🏽👍🏽👍🏽",
        "🏽",
        "🇩🇪🇫🇷🇪🇸🇮🇹🇵🇱",
        "1\u{fe0f}\u{20e3}",
        "привет, γειά",
        "─│█",
        "\u{17d8}",
        "a\u{302}\u{323}\u{1ab0}",
        "\u{200d}",
        "\u{200b}",
        "\u{200c}",
        "\u{202e}",
        "\u{2066}",
        "\u{feff}",
        "\u{ad}",
        "می\u{200c}خواهم",
        "שלום",
        "श्री",
        "\u{fdfd}",
        "\u{1b}[31m",
        "\u{1b}]8;;x\u{7}",
        "\u{9b}",
        "\u{85}",
        "\u{7f}",
        "\0",
        "\u{2028}",
        "↪",
        "…",
        "--- a/x\n",
        "+++ b/x\n",
        "@@ -1 +1 @@\n",
        "@@ -1,2 +1,2 @@\n",
        "-old\n",
        "+new\n",
        " same\n",
        "\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-\told 日本語 line\n+new\u{1b}\r\n same\n",
    ]);
    let piece = prop_oneof![
        8 => pieces.prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => "[a-z ]{0,30}",
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn content<S: Strategy<Value = String>>(text: fn() -> S) -> impl Strategy<Value = Content> {
    prop_oneof![
        4 => text().prop_map(Content::text),
        1 => text().prop_map(|mime_type| Content::Image { data: vec![0; 9], mime_type }),
        1 => (text(), text(), prop::option::of(text()))
            .prop_map(|(uri, name, mime_type)| Content::ResourceLink { uri, name, mime_type }),
    ]
}

/// A block of any kind, with the same texts in all its places.
fn block<S: Strategy<Value = String>>(text: fn() -> S) -> impl Strategy<Value = Block> {
    let content = prop::collection::vec(content(text), 0..3);
    let decision = prop::sample::select(vec![Decision::Apply, Decision::Discard]);
    let state = prop::sample::select(ActionState::ALL.to_vec());
    (0..9, text(), text(), content, decision, state).prop_map(
        |(kind, one, other, content, decision, state)| {
            let error = Error::Failed {
                message: other.clone(),
            };
            let mut action = action(&one, &other);
            action.details = Some(Json::of_own(&json!({ &one: other })));
            let call = call(content.clone(), &[action.clone(), action.clone()]);
            let mut record = record(action.clone(), state);
            record.session = other.as_str().into();
            record.last_error = Some(other.clone());
            record.lease = Some(lease(&one));
            record.resolved = Some(resolved(decision, &other, Some(&one)));
            let decided = |outcome| Decided {
                label: Some(&one),
                preview: &content,
                outcome,
                ..Decided::new(decision, &other)
            };
            match kind {
                0 => Block::call(&call),
                1 => Block::decision(&decided(Some(Ok(&call.content)))),
                2 => Block::decision(&decided(Some(Err(&error)))),
                3 => Block::tool_call(&one, &json!({ "a": other }), Some(Ok(&call))),
                4 => Block::open(&record, when),
                5 => Block::record(&record, when).block(Block::details(&record.action)),
                6 => Block::audit(&record, when),
                7 => {
                    let params = json!({"action": "apply", "reason": other});
                    Block::tool_call("resolve", &params, Some(Ok(&call)))
                }
                _ => {
                    let mut stacked = StackedAction::new(action, state);
                    stacked.attempts = 1;
                    stacked.last_error = Some(one);
                    Block::stacked(&stacked, when)
                }
            }
        },
    )
}

/// The text without SGR sequences, in which no other control character but a line break is left.
fn without_styles(text: &str) -> String {
    let mut stripped = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        stripped.push_str(before);
        let (codes, after) = after.split_once('m').expect("a style ends");
        assert!(
            codes
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b';'),
            "{codes:?}"
        );
        rest = after;
    }
    stripped + rest
}

/// The ranges of characters with a wide, full or ambiguous East Asian width in Unicode 14, without
/// combining marks. They come from Python's `unicodedata`, independent of the crate
/// `unicode-width`.
static WIDE: LazyLock<Vec<RangeInclusive<char>>> = LazyLock::new(|| {
    let ranges = include_str!("wide.txt").split_whitespace().map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let char_of = |hex| char::from_u32(u32::from_str_radix(hex, 16).unwrap()).unwrap();
        char_of(first)..=char_of(last)
    });
    ranges.collect()
});

/// Returns the columns of a row on the worst terminal: it knows no emoji sequences, and draws
/// ambiguous characters wide.
fn most(row: &str) -> usize {
    let most_of = |c: char| {
        let range = WIDE.partition_point(|range| *range.end() < c);
        let is_wide = WIDE.get(range).is_some_and(|range| range.contains(&c));
        let is_of_flag = matches!(c, '\u{1f1e6}'..='\u{1f1ff}');
        if is_wide || is_of_flag { 2 } else { 1 }
    };
    row.chars().map(most_of).sum()
}

fn width(row: &str) -> usize {
    row.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// What is left when what wrapping adds and takes is gone.
fn unwrapped(text: &str) -> String {
    text.replace([' ', '\n', '↪', '│'], "")
}

/// No character takes more columns than the layout counts for it.
#[test]
fn every_character_is_counted_for_the_most_that_a_terminal_draws() {
    for c in '\0'..=char::MAX {
        let shown = escape_line(c.encode_utf8(&mut [0; 4])).into_owned();
        let counted = crate::layout::most_columns(&shown);
        assert!(
            counted >= most(&shown).max(width(&shown)),
            "{}",
            c.escape_unicode()
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn any_block_fits_and_drives_nothing(block in block(text), columns in 0usize..200) {
        let plain = Renderer::plain().render(&block);
        let fitted = Renderer::plain().width(columns).render(&block);
        let colored = Renderer::ansi().width(columns).render(&block);
        for text in [&plain, &fitted] {
            let harmful = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            prop_assert_eq!(text.find(harmful), None, "{:?}", text);
        }
        prop_assert_eq!(without_styles(&colored), &*fitted);
        prop_assert_eq!(without_styles(&Renderer::ansi().render(&block)), &*plain);
        prop_assert_eq!(unwrapped(&fitted), unwrapped(&plain));
        for row in fitted.split('\n') {
            let (_, said) = row.split_once("│ ").unwrap_or(("", row));
            // A margin and one wide character need 6 columns.
            let is_narrow = columns < 6 && said.chars().count() <= 1;
            prop_assert!(most(row) <= columns || is_narrow, "{} columns: {row:?}", columns);
            prop_assert!(row.width() <= columns || is_narrow, "{} columns: {row:?}", columns);
        }
        for row in colored.split('\n') {
            // Each row stands for itself, as pagers show it.
            prop_assert!(!row.contains('\u{1b}') || row.matches("\u{1b}[0m").count() > 0, "{row:?}");
        }
        // Nothing to panic about.
        Renderer::ansi().width(columns).max_rows(columns % 5).render(&block);
    }

    /// What a guest, a model or another host says may look like anything: here, like nothing that
    /// the host says.
    #[test]
    fn a_row_that_begins_with_what_is_not_the_hosts_own_has_the_margin(block in block(marked_text), columns in 0usize..120) {
        let renderer = Renderer::plain();
        for text in [renderer.render(&block), renderer.width(columns).render(&block), renderer.width(columns).max_rows(2).render(&block)] {
            for row in text.split('\n') {
                let begins_quoted = row.trim_start_matches([' ', '↪']).starts_with(['Q', '日', '\\', '{', '"', '[']);
                prop_assert!(!begins_quoted, "{columns} columns: {row:?} of {text}");
            }
        }
    }

    #[test]
    fn what_is_escaped_stays_as_it_is(text in text()) {
        let escaped = escape_line(&text);
        prop_assert_eq!(escape_line(&escaped), &*escaped);
        prop_assert_eq!(escaped.find(char::is_control), None);
        prop_assert_eq!(width(&escaped), crate::width(&text));
    }
}
