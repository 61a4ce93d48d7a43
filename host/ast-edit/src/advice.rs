//! Advice about ops whose pattern probably does not mean what the caller intended.

use crate::code::Op;
use crate::code::language::Language;
use crate::code::template::used_in;
use crate::search::{Results, Search};

/// The most languages that are named for an op without matches.
const LANGUAGES_NAMED: usize = 3;

/// Returns one line of advice for each op that needs it.
pub(crate) fn on(search: &Search<'_>, results: &Results) -> Vec<String> {
    let mut advice = Vec::new();
    for (index, op) in search.params.ops.iter().enumerate() {
        if let Some(name) = with_two_dollars(op) {
            advice.push(format!(
                "Op {index}: `$${name}` stands for one node, with a name in the grammar or without, such as an operator; for any number of them write `$$${name}`."
            ));
        }
        if let Some((language, name)) = results.own_variables.get(&index) {
            advice.push(format!(
                "Op {index}: there are {} variables `${name}`, and `${name}` in `pat` stands for any code; write `\\${name}` for the variable.",
                language.name()
            ));
        }
        if results.matches.get(index) == Some(&0) {
            advice.push(on_nothing(index, op, search, results));
        } else {
            advice.extend(on_unread(index, search, results));
        }
    }
    advice
}

fn with_two_dollars(op: &Op) -> Option<&str> {
    let mut used = used_in(&op.pat);
    used.find_map(|(dollars, name)| (dollars == 2).then_some(name))
}

/// Names the files in which an op was not searched for, although it matched in others: its pattern
/// can't be parsed in their language. Data files don't count, because patterns are rarely meant for
/// them.
fn on_unread(index: usize, search: &Search<'_>, results: &Results) -> Option<String> {
    let is_unread = |language: Language| {
        let ops = search.outline(language).ok()?;
        ops.refusal(index)
    };
    let unread = results.languages.iter().filter_map(|(language, files)| {
        let refusal = is_unread(*language).filter(|_| !language.is_data())?;
        Some((*language, *files, refusal))
    });
    let unread: Vec<_> = unread.take(LANGUAGES_NAMED).collect();
    let (language, _, refusal) = unread.first()?;
    let files: Vec<_> = (unread.iter())
        .map(|(language, files, _)| format!("{files} in {}", language.name()))
        .collect();
    Some(format!(
        "Op {index} is not searched for in some files ({}); for {}, {} says: {}",
        files.join(", "),
        language.name(),
        refusal.field,
        refusal.message
    ))
}

/// Explains how the pattern of an op without matches was parsed.
fn on_nothing(index: usize, op: &Op, search: &Search<'_>, results: &Results) -> String {
    let mut readings = Vec::new();
    let mut as_label = false;
    for (language, files) in results.languages.iter().take(LANGUAGES_NAMED) {
        let Ok(ops) = search.outline(*language) else {
            continue;
        };
        let files = crate::plan::counted(usize::try_from(*files).unwrap_or(usize::MAX), "file");
        let kinds: Vec<String> = ops
            .kinds(index)
            .iter()
            .map(|kind| format!("`{kind}`"))
            .collect();
        let kinds = kinds.join(" or ");
        as_label |= kinds.contains("labeled_statement");
        readings.push(match ops.refusal(index) {
            Some(refusal) => format!(
                "{} ({files}), where {} says: {}",
                language.name(),
                refusal.field,
                refusal.message
            ),
            None if kinds.is_empty() => {
                format!("{} ({files}), in scripts and styles", language.name())
            }
            None => format!("{} ({files}), as {kinds}", language.name()),
        });
    }
    let mut advice = format!("Op {index} matches nothing in {}.", readings.join("; "));
    if as_label {
        advice.push_str(&format!(
            " For a member of an object say where it stands: \"context\": {:?}.",
            format!("({{ {} }})", op.pat.trim())
        ));
    }
    advice
}
