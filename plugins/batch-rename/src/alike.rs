//! Notes for rows of the list, about something that they don't show: a name that looks like
//! another, such as `é` in NFC and in NFD, or a file that is hidden under its new name.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::Hash;

use crate::form::{self, Form};
use crate::name::shown;
use crate::plan::Rename;
use crate::workspace::split;

/// Returns the notes on the renames, by their index. `stays` checks if the directory of a rename
/// has a file with another name that is not renamed.
pub(crate) fn notes(
    renames: &[Rename],
    stays: impl Fn(usize, &str) -> bool,
) -> HashMap<usize, String> {
    let old_looks: Vec<_> = renames.iter().map(|it| look(&it.from)).collect();
    let new_looks: Vec<_> = renames.iter().map(|it| look(&it.to)).collect();
    let folded: Vec<_> = renames.iter().map(|it| form::folded(&it.to)).collect();
    let (old_counts, new_counts) = (counts(&old_looks), counts(&new_looks));
    let folded_counts = counts(&folded);
    let mut notes = HashMap::new();
    for (index, Rename { from, to }) in renames.iter().enumerate() {
        let mut said = Vec::new();
        if old_looks[index] == new_looks[index] {
            said.push(format!("looks the same, but is {} then", form(to)));
        } else {
            if old_counts[&old_looks[index]] > 1 {
                said.push(format!("old name {}", form(from)));
            }
            if new_counts[&new_looks[index]] > 1 {
                said.push(format!("new name {}", form(to)));
            }
        }
        if folded_counts[&folded[index]] > new_counts[&new_looks[index]] {
            said.push("another new name differs only in case".to_owned());
        }
        let (old, new) = (split(from).1, split(to).1);
        let forms = [Form::Nfc, Form::Nfd].map(|form| form.write(new));
        let other = (forms.iter()).find(|it| *it != new && stays(index, it));
        if let Some(other) = other {
            said.push(format!("another file looks the same, {}", form(other)));
        }
        if new.starts_with('.') && !old.starts_with('.') {
            said.push("hidden under the new name".to_owned());
        }
        let ends_badly = |name: &str| name.ends_with([' ', '.']);
        if ends_badly(new) && !ends_badly(old) {
            said.push("ends in a space or a dot, which Windows drops".to_owned());
        }
        if !said.is_empty() {
            notes.insert(index, said.join("; "));
        }
    }
    notes
}

fn counts<T: Eq + Hash>(all: &[T]) -> HashMap<&T, usize> {
    let mut counts = HashMap::new();
    for one in all {
        *counts.entry(one).or_default() += 1;
    }
    counts
}

/// Returns a path as it looks on a screen.
fn look(path: &str) -> Cow<'_, str> {
    match path.is_ascii() && !path.contains(char::is_control) {
        true => Cow::Borrowed(path),
        false => Cow::Owned(form::composed(&shown(path)).into_owned()),
    }
}

/// Returns the property that distinguishes a path from others that look the same.
fn form(path: &str) -> &'static str {
    match path.find(char::is_control) {
        Some(_) => "with a control character",
        None => form::name(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::renames;

    #[test]
    fn what_looks_the_same_is_told_apart() {
        let check = |text, there: &str, expected: &[(usize, &str)]| {
            let notes = notes(&renames(text), |_, name| name == there);
            let mut notes: Vec<_> = notes.iter().map(|(at, it)| (*at, it.as_str())).collect();
            notes.sort_unstable();
            assert_eq!(notes, expected, "{text}");
        };
        check("a>b \u{e9}>e", "", &[]);
        check(
            "e\u{301}>\u{e9}",
            "",
            &[(0, "looks the same, but is in NFC then")],
        );
        check(
            "e\u{301}>a \u{e9}>b",
            "",
            &[(0, "old name in NFD"), (1, "old name in NFC")],
        );
        check(
            "a>e\u{301} b>\u{e9} c>d",
            "",
            &[(0, "new name in NFD"), (1, "new name in NFC")],
        );
        check(
            "a>\u{e9}",
            "e\u{301}",
            &[(0, "another file looks the same, in NFD")],
        );
        check(
            "a\x01>b a\\u{1}>c",
            "",
            &[
                (0, "old name with a control character"),
                (1, "old name in plain letters"),
            ],
        );
        let case = "another new name differs only in case";
        check("b>A c>a d>e", "", &[(0, case), (1, case)]);
        check("a>.a .b>.c", "", &[(0, "hidden under the new name")]);
        let end = "ends in a space or a dot, which Windows drops";
        check("a>a. b.>c.", "", &[(0, end)]);
    }
}
