//! Parsing of a configuration file, with all its problems.

use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::file::File;
use super::problem::Problem;

/// The maximum number of problems reported for a file.
const MAX_PROBLEMS: usize = 20;

/// Parses the text of a file.
///
/// # Errors
/// Returns the problems, up to a maximum: invalid TOML, or else, key by key, wrong names and
/// values.
pub fn read(path: &Path, text: &str, of_workspace: bool) -> Result<File, Vec<Problem>> {
    let (table, mut errors) = DeTable::parse_recoverable(text);
    let mut problems = Vec::new();
    if errors.is_empty() {
        if of_workspace {
            problems.extend(operators_own(path, text, table.get_ref()));
        }
        let parts = parts(table.get_ref(), table.span()).into_iter();
        errors.extend(parts.filter_map(|part| File::deserialize(part.into_deserializer()).err()));
        if errors.is_empty() && problems.is_empty() {
            match File::deserialize(table.clone().into_deserializer()) {
                Ok(file) => return Ok(file),
                Err(error) => errors.push(error),
            }
        }
    }
    // Finding a line takes a pass over the text, so it is done for a few errors only.
    errors.sort_by_key(|error| error.span().map(|span| span.start));
    let told = errors.into_iter().take(MAX_PROBLEMS).map(|error| {
        let message = clause(error.message());
        let span = error
            .span()
            .map(|span| item(table.get_ref(), span, &message));
        Problem::at(path, text, span, message)
    });
    problems.extend(told);
    problems.sort_by_key(|it| it.place.as_ref().map(|it| (it.line, it.column)));
    problems.truncate(MAX_PROBLEMS);
    Err(problems)
}

/// Returns a problem for each key that a file in the workspace can't have.
fn operators_own(path: &Path, text: &str, table: &DeTable<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (key, why) in File::OPERATORS_OWN {
        if let Some((at, _)) = table.iter().find(|(it, _)| it.get_ref() == key) {
            let message = format!(
                "`{key}` {why}, which a file in the workspace can't: only the operator's own configuration has it"
            );
            problems.push(Problem::at(path, text, Some(at.span()), message));
        }
    }
    problems
}

/// Returns the span of the wrong item in an array of texts, for which the parser reports the span
/// of the whole array.
fn item(table: &DeTable<'_>, span: Range<usize>, message: &str) -> Range<usize> {
    for (_, value) in table.iter() {
        match value.get_ref() {
            DeValue::Array(items) if value.span() == span => {
                let is_named = |it: &DeValue<'_>| {
                    let text = it.as_str().filter(|text| !text.is_empty());
                    text.is_some_and(|text| message.contains(&format!("{text:?}")))
                };
                let named = items.iter().find(|it| is_named(it.get_ref()));
                return named.map_or(span, |it| it.span());
            }
            DeValue::Array(items) => {
                let tables = items.iter().filter_map(|it| it.get_ref().as_table());
                for inner in tables {
                    let found = item(inner, span.clone(), message);
                    if found != span {
                        return found;
                    }
                }
            }
            DeValue::Table(inner) => {
                let found = item(inner, span.clone(), message);
                if found != span {
                    return found;
                }
            }
            _ => {}
        }
    }
    span
}

/// Splits a file into a part for each key, so that an error ends the reading of that part only.
fn parts<'t>(table: &DeTable<'t>, span: Range<usize>) -> Vec<Spanned<DeTable<'t>>> {
    let mut parts = Vec::new();
    for (key, value) in table.iter() {
        let at = value.span();
        let mut push = |value: DeValue<'t>, at: Range<usize>| {
            let mut part = DeTable::new();
            part.insert(key.clone(), Spanned::new(at, value));
            parts.push(Spanned::new(span.clone(), part));
        };
        match value.get_ref() {
            DeValue::Table(inner) if !inner.is_empty() => {
                for (name, value) in inner.iter() {
                    let mut part = DeTable::new();
                    part.insert(name.clone(), value.clone());
                    push(DeValue::Table(part), at.clone());
                }
            }
            DeValue::Array(items) if key.get_ref() == "rule" && !items.is_empty() => {
                for item in items.iter() {
                    let mut one = DeArray::new();
                    one.push(item.clone());
                    push(DeValue::Array(one), at.clone());
                }
            }
            value => push(value.clone(), at),
        }
    }
    parts
}

/// Returns the parser's message in one line, with the nearest of the names that it lists.
fn clause(message: &str) -> String {
    let message = message.trim().replace('\n', ", ");
    let mut names = message.split('`').skip(1).step_by(2);
    let is_about_name = message.starts_with("unknown ");
    let wrong = names.next().filter(|_| is_about_name);
    let near = wrong.and_then(|wrong| {
        let near = names.map(|name| (distance(wrong, name), name));
        near.filter(|(distance, name)| *distance <= name.len() / 3)
            .min()
    });
    match near {
        Some((_, name)) => format!("{message}: did you mean `{name}`?"),
        None => message,
    }
}

/// Returns the number of letters to change, add or remove, or the maximum for long words.
fn distance(one: &str, other: &str) -> usize {
    const MAX_COMPARED_CHARS: usize = 40;
    if one.len() > MAX_COMPARED_CHARS || other.len() > MAX_COMPARED_CHARS {
        return usize::MAX;
    }
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, known) in other.iter().enumerate() {
            let same = diagonal + usize::from(*known != letter);
            diagonal = row[column + 1];
            row[column + 1] = same.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str, of_workspace: bool) -> Vec<String> {
        let read = read(Path::new("f"), text, of_workspace);
        let problems = read.err().unwrap_or_default();
        problems
            .iter()
            .map(|it| it.to_string().lines().next().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn each_wrong_key_and_value_is_told_with_its_line() {
        let text = "plugin = []\ndecide = 'nobody'\nexpires = '3 days'\n[limits]\ntimeout = 0\nmax-memory = '1TiB'\n[[rule]]\nname = 'a'\n[[rule]]\nname = 'b'\nthen = 'ask'\npaths = ['a[']\n[budget]\nfiles = 'x'\n";
        let told = problems(text, false);
        let starts = [
            "f:1:1: unknown field `plugin`",
            "f:2:10: unknown variant `nobody`",
            "f:3:11: expected a number and s, m, h, d or w",
            "f:5:11: expected a number of seconds above 0",
            "f:6:14: expected 1MiB to 4GiB",
            "f:7:1: missing field `then`",
            "f:12:10: ",
            "f:14:9: invalid type",
        ];
        assert_eq!(told.len(), starts.len(), "{told:#?}");
        for (told, start) in told.iter().zip(starts) {
            assert!(told.starts_with(start), "{told} and not {start}");
        }
        assert!(told[0].ends_with("did you mean `plugins`?"), "{}", told[0]);
    }

    #[test]
    fn of_an_array_over_several_lines_the_item_is_pointed_at() {
        let text = "[[rule]]\nname = 'a'\nthen = 'ask'\npaths = [\n  'a',\n  'b[',\n]\n";
        let told = problems(text, false);
        assert!(
            told.len() == 1 && told[0].starts_with("f:6:3: "),
            "{told:?}"
        );
        let told = problems("plugins = [\n'a',\n'~/b']", false);
        assert!(
            told.len() == 1 && told[0].starts_with("f:3:1: "),
            "{told:?}"
        );
    }

    #[test]
    fn what_is_no_toml_is_told_with_its_line() {
        let told = problems("a = 1\nb = [1,\n= 3\n", false);
        assert!(!told.is_empty() && told[0].starts_with("f:"), "{told:?}");
        assert!(problems("store = 'a'\nstore = 'b'", false)[0].starts_with("f:2:1: "));
    }

    #[test]
    fn a_workspace_can_not_say_what_is_the_operators() {
        let own =
            "plugins = ['x.wasm']\nworkspace = '/'\nstore = 's'\n[[grant]]\nreal-time = true\n";
        assert_eq!(problems(own, false), [""; 0]);
        let told = problems(own, true);
        assert_eq!(told.len(), 4, "{told:?}");
        assert!(told[2].starts_with("f:3:1: `store` "), "{told:?}");
    }

    #[test]
    fn hostile_texts_end_with_an_error_and_soon() {
        for text in [
            format!("a = {}", "[".repeat(500_000)),
            format!("a = {}", "{a=".repeat(300_000)),
            format!("{} = 1", "a.".repeat(500_000)),
            format!("[{}", "a.".repeat(500_000)),
            "=\n".repeat(500_000),
            (0..50_000).map(|it| format!("a{it} = 1\n")).collect(),
            "[[rule]]\n".repeat(100_000),
            "\0".repeat(1000),
        ] {
            let told = problems(&text, true);
            assert!((1..=MAX_PROBLEMS).contains(&told.len()), "{}", told.len());
            assert!(told.iter().all(|it| it.len() < 2000));
        }
    }

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        assert_eq!(distance("timout", "timeout"), 1);
        assert_eq!(distance("", "abc"), 3);
        let listed = "unknown field `wrong`, expected `store` or `decide`";
        assert_eq!(clause(listed), listed);
    }
}
