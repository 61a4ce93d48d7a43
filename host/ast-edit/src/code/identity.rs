//! An identity rewrite changes no token, in any language.

use std::sync::Arc;
use std::time::Duration;

use airlock_host::native::Stop;
use proptest::prelude::*;
use proptest::sample::select;

use super::Op;
use super::compare::has_code;
use super::document::{Document, visit};
use super::grammar::Grammar;
use super::language::{self, Language};
use super::pattern::Ops;
use super::rewrite::{MemoryBudget, find, replace};
use kits::{KITS, Kit};

mod kits;

/// Returns the tokens. The whitespace between them has no meaning.
fn tokens(source: &str, language: Language) -> Vec<String> {
    let document = Document::parse(source, Grammar::new(language, &stop())).unwrap();
    let mut found = Vec::new();
    let root = document.tree().root_node();
    visit(&root, document.steps(), |cursor, _| {
        let node = cursor.node();
        if node.child_count() == 0 && has_code(&document, &node) {
            let text = source[node.byte_range()].trim();
            if node.kind() == "line_continuation" {
                return std::ops::ControlFlow::Continue(());
            }
            // Line breaks in text have no meaning, and a block scalar's indentation is relative.
            found.push(match node.kind() {
                "jsx_text" | "text" | "block_scalar" => {
                    text.split_whitespace().collect::<Vec<_>>().join(" ")
                }
                _ => text.to_owned(),
            });
        }
        std::ops::ControlFlow::Continue(())
    });
    found
}

fn stop() -> Arc<Stop> {
    Arc::new(Stop::after(Duration::from_secs(3600)))
}

/// Returns items at one indentation, in the language's frame.
fn source(kit: &Kit, items: &[&str], indent: &str) -> String {
    let items: Vec<String> = items.iter().map(|item| format!("{indent}{item}")).collect();
    format!("{}{}{}", kit.frame.0, items.join("\n"), kit.frame.1)
}

proptest! {
    #[test]
    fn an_identity_rewrite_changes_no_token(
        language in 0..language::COUNT,
        chosen in proptest::collection::vec(0..4_usize, 1..5),
        indent in select(vec!["", "  ", "    ", "\t", "\t\t"]),
        pattern in 0..3_usize,
        is_windows in any::<bool>(),
    ) {
        let kit = &KITS[language];
        // YAML forbids tabs, and Python's function needs some indentation.
        let indent = match (kit.language, indent) {
            ("yaml", "\t" | "\t\t") => "  ",
            ("python", "") => " ",
            _ => indent,
        };
        let items: Vec<&str> = chosen.iter().map(|at| kit.items[at % kit.items.len()]).collect();
        let mut source = source(kit, &items, indent);
        if is_windows {
            source = source.replace('\n', "\r\n");
        }
        let pat = kit.patterns[pattern % kit.patterns.len()];
        let language = Language::named(kit.language).unwrap();
        let op = Op { pat: pat.to_owned(), out: pat.to_owned(), selector: None, context: None };
        let ops = Ops::read(&[op], language, &stop());
        prop_assert!(ops.refused.is_empty(), "{}: {pat}: {:?}", kit.language, ops.refused);
        let room = MemoryBudget::new(1 << 30);
        let found = find(&source, &ops, &room, true, &stop()).unwrap();
        let new = replace(&source, &found.edits);
        prop_assert_eq!(tokens(&source, language), tokens(&new, language), "{}: {}\n{}", kit.language, &source, &new);
    }
}

#[test]
fn each_pattern_matches_an_item() {
    assert_eq!(KITS.len(), language::COUNT);
    let mut wrong: Vec<String> = Vec::new();
    for kit in KITS {
        let language = Language::named(kit.language).unwrap();
        let indent = if kit.language == "python" { " " } else { "" };
        let source = source(kit, kit.items, indent);
        for pat in kit.patterns {
            let op = Op {
                pat: (*pat).to_owned(),
                out: (*pat).to_owned(),
                selector: None,
                context: None,
            };
            let ops = Ops::read(&[op], language, &stop());
            let room = MemoryBudget::new(1 << 30);
            wrong.extend(
                ops.refused
                    .iter()
                    .map(|(_, why)| format!("{}: {pat}: {why:?}", kit.language)),
            );
            let found = find(&source, &ops, &room, true, &stop()).unwrap();
            wrong.extend(
                found
                    .errors
                    .map(|errors| format!("{}: {errors:?}\n{source}", kit.language)),
            );
            let matches = found.matches.get(&0).copied().unwrap_or_default();
            wrong.extend((matches == 0).then(|| format!("{}: {pat}", kit.language)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
