//! What a row of the list does not show: that it looks like another, such as `é` in NFC and in NFD,
//! or that a file is hidden under its new name.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::form::{self, Form};
use crate::name::shown;
use crate::plan::Rename;
use crate::workspace::split;

/// What is to be said of the renames, by their index. `exists` tells whether a path is there and
/// stays.
pub(crate) fn notes(renames: &[Rename], exists: impl Fn(&str) -> bool) -> HashMap<usize, String> {
    let mut old_looks = HashMap::<_, usize>::new();
    let mut new_looks = HashMap::<_, usize>::new();
    let mut folded_names = HashMap::<_, usize>::new();
    for Rename { from, to } in renames {
        *old_looks.entry(look(from)).or_default() += 1;
        *new_looks.entry(look(to)).or_default() += 1;
        *folded_names.entry(form::folded(to)).or_default() += 1;
    }
    let mut notes = HashMap::new();
    for (index, Rename { from, to }) in renames.iter().enumerate() {
        let mut said = Vec::new();
        if look(from) == look(to) {
            said.push(format!("looks the same, but is {} then", form(to)));
        } else {
            if old_looks[&look(from)] > 1 {
                said.push(format!("old name {}", form(from)));
            }
            if new_looks[&look(to)] > 1 {
                said.push(format!("new name {}", form(to)));
            }
        }
        if folded_names[&form::folded(to)] > new_looks[&look(to)] {
            said.push("another new name differs only in case".to_owned());
        }
        let others = [Form::Nfc, Form::Nfd].map(|form| form.write(to));
        let other = (others.iter()).find(|it| *it != to && *it != from && exists(it));
        if let Some(other) = other {
            said.push(format!("another file looks the same, {}", form(other)));
        }
        if split(to).1.starts_with('.') && !split(from).1.starts_with('.') {
            said.push("hidden under the new name".to_owned());
        }
        let ends_badly = |path: &str| path.ends_with([' ', '.']);
        if ends_badly(to) && !ends_badly(from) {
            said.push("ends in a space or a dot, which Windows drops".to_owned());
        }
        if !said.is_empty() {
            notes.insert(index, said.join("; "));
        }
    }
    notes
}

/// A path as it is seen.
fn look(path: &str) -> Cow<'_, str> {
    match path.is_ascii() && !path.contains(char::is_control) {
        true => Cow::Borrowed(path),
        false => Cow::Owned(form::composed(&shown(path)).into_owned()),
    }
}

/// What tells a path from others that look the same.
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
            let notes = notes(&renames(text), |path| path == there);
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
