//! Whatever stands around a replacement stays as it is, to the byte.

use proptest::prelude::*;
use serde_json::json;

use crate::tree::Tree;

/// A line of a generated source, and what must become of it.
#[derive(Debug, Clone)]
struct Line {
    before: String,
    after: String,
}

fn line() -> impl Strategy<Value = Line> {
    let same = |text: String| Line {
        before: text.clone(),
        after: text,
    };
    let argument = prop_oneof![
        "[a-z][a-z0-9]{0,5}".prop_map(String::from),
        "'[ a-zéß日🦀$]{0,6}'".prop_map(String::from),
        "[0-9]{1,4}".prop_map(String::from),
    ]
    .prop_filter("no keyword", |text| {
        ![
            "if", "do", "in", "of", "for", "let", "new", "old", "var", "try",
        ]
        .contains(&text.as_str())
    });
    prop_oneof![
        3 => "[ \\t]{0,4}// [ -~éß日🦀]{0,20}".prop_map(same),
        2 => "[ \\t]{0,6}".prop_map(same),
        2 => "[ \\t]{0,4}other\\([0-9]{0,3}\\) ?;".prop_map(same),
        2 => "let [a-z]{2}x = `[ a-z()é]{0,12}`;".prop_map(same),
        4 => ("[ \\t]{0,4}", argument.clone(), argument, "[ ]{0,2};[ ]{0,3}").prop_map(|(indent, one, two, end)| Line {
            before: format!("{indent}old( {one},{two} ){end}"),
            after: format!("{indent}renewed({two}, {one}){end}"),
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn every_byte_outside_of_the_replacements_stays(
        lines in prop::collection::vec((line(), prop::sample::select(vec!["\n", "\r\n", "\n\n"])), 0..30),
        mark in any::<bool>(),
        ends in any::<bool>(),
    ) {
        let join = |side: fn(&Line) -> &str| {
            let mut text = String::from(if mark { "\u{feff}" } else { "" });
            for (index, (line, end)) in lines.iter().enumerate() {
                text.push_str(side(line));
                if ends || index + 1 < lines.len() {
                    text.push_str(end);
                }
            }
            text
        };
        let (before, after) = (join(|line| &line.before), join(|line| &line.after));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let tree = Tree::with(&[("a.js", &before), ("b.txt", &before)]);
            let ops = json!([{"pat": "old($A, $B)", "out": "renewed($B, $A)"}]);
            tree.call(json!({"ops": ops})).await.unwrap();
            if before != after {
                tree.apply().await.unwrap();
            }
            assert_eq!(tree.read("a.js"), after);
            assert_eq!(tree.read("b.txt"), before);
            assert_eq!(tree.pending().await, 0);
        });
    }
}
