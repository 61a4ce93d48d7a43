//! Asking about each change and each hunk, with the keys of `git add -p`.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;

use airlock_host::digest::Digest;
use airlock_host::effects::{Change, Choice, Effects, Hunk, Needs, Selection, needs};
use airlock_host::regular::read_regular_file;
use airlock_render::{Block, Line, Role};

use super::editing;
use super::hunks::{Chosen, Group, choice, sections};
use super::keys::{self, Key};
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::{on_stderr, show_on_stderr};

/// The maximum size of a file with a hunk to edit, in bytes.
const MAX_EDITED: u64 = 1 << 20;

/// Asks about each change. Returns `None` at the end of the input, and after Ctrl-C.
pub async fn pick(
    effects: &Effects,
    workspace: Option<&Path>,
    interrupt: &Interrupt,
) -> Option<Selection> {
    let mut picking = Picking {
        effects,
        workspace,
        interrupt,
        needs: needs(effects),
        selection: Selection::new(),
    };
    let count = effects.changes.len();
    for at in 0..count {
        if picking.selection.choice(at).is_some() {
            continue;
        }
        let end = picking.ask(at).await?;
        if end == End::Quit {
            picking.leave_out(
                (at + 1..count)
                    .filter(|other| picking.selection.choice(*other).is_none())
                    .collect(),
            );
            break;
        }
    }
    Some(picking.selection)
}

#[derive(PartialEq, Eq)]
enum End {
    Next,
    Quit,
}

struct Picking<'a> {
    effects: &'a Effects,
    workspace: Option<&'a Path>,
    interrupt: &'a Interrupt,
    needs: Needs,
    selection: Selection,
}

impl Picking<'_> {
    async fn ask(&mut self, at: usize) -> Option<End> {
        let change = &self.effects.changes[at];
        let place = format!("({}/{}) ", at + 1, self.effects.changes.len());
        let line = Line::from(place).with_quoted(Role::Title, change.to_string());
        on_stderr("");
        show_on_stderr(&Block::from(line.hanging(2)));
        let hunks = match change.after {
            Some(_) => change.hunks(),
            None => Vec::new(),
        };
        // A new file is one hunk.
        let is_split = change.before.is_some() && !hunks.is_empty();
        if is_split {
            return self.ask_hunks(at, &hunks).await;
        }
        if let Some(diff) = &change.diff {
            show_on_stderr(&Block::new().text(diff));
        }
        let key = read_key("Apply this change", &['y', 'n', 'q'], self.interrupt).await?;
        if matches!(key, Key::No | Key::Quit) {
            self.leave_out(BTreeSet::from([at]));
        }
        Some(if key == Key::Quit {
            End::Quit
        } else {
            End::Next
        })
    }

    async fn ask_hunks(&mut self, at: usize, hunks: &[Hunk]) -> Option<End> {
        let change = &self.effects.changes[at];
        let names = change.diff.as_deref().unwrap_or_default();
        let names: String = names.split_inclusive('\n').take(2).collect();
        let before = self.before(change);
        let mut left: VecDeque<Group> = sections(hunks).into();
        let mut chosen: Vec<(Group, Chosen)> = Vec::new();
        let mut end = End::Next;
        while let Some(group) = left.pop_front() {
            let diff = format!("{names}{}", group.text(hunks));
            show_on_stderr(&Block::new().text(&diff));
            let keys = possible_keys(&group, before.is_some());
            match read_key("Apply this hunk", &keys, self.interrupt).await? {
                Key::Yes => chosen.push((group, Chosen::Taken)),
                Key::No => chosen.push((group, Chosen::Left)),
                Key::All => {
                    chosen.push((group, Chosen::Taken));
                    chosen.extend(left.drain(..).map(|group| (group, Chosen::Taken)));
                }
                key @ (Key::Done | Key::Quit) => {
                    if key == Key::Quit {
                        end = End::Quit;
                    }
                    chosen.push((group, Chosen::Left));
                    chosen.extend(left.drain(..).map(|group| (group, Chosen::Left)));
                }
                Key::Split => group
                    .split()
                    .into_iter()
                    .rev()
                    .for_each(|it| left.push_front(it)),
                Key::Edit => match editing::edit(&group, hunks) {
                    Ok(Some(lines)) => chosen.push((group, Chosen::Edited(lines))),
                    Ok(None) => left.push_front(group),
                    Err(error) => {
                        on_stderr(format!("This edit can't be applied: {error}."));
                        left.push_front(group);
                    }
                },
            }
        }
        let is_moved = change.from.is_some();
        match choice(hunks, &chosen, before.as_deref()) {
            None => {}
            // A renamed file stays renamed without its hunks, if the person says so.
            Some(Choice::LeaveOut) if is_moved && self.keeps_rename(change).await? => {
                self.selection.choose(at, Choice::Hunks(BTreeSet::new()));
            }
            Some(Choice::LeaveOut) => self.leave_out(BTreeSet::from([at])),
            Some(choice) => self.selection.choose(at, choice),
        }
        Some(end)
    }

    async fn keeps_rename(&self, change: &Change) -> Option<bool> {
        let from = change.from.as_deref().unwrap_or_default();
        let line = Line::from("None of its hunks is applied. It would still be renamed from ");
        show_on_stderr(&Block::from(
            line.with_quoted(Role::Plain, from).with(".").hanging(2),
        ));
        let key = read_key("Apply the renaming", &['y', 'n'], self.interrupt).await?;
        Some(key == Key::Yes)
    }

    /// Returns the file before the change, if it is still that version.
    fn before(&self, change: &Change) -> Option<String> {
        let path = change.from.as_deref().unwrap_or(&change.path);
        let path = self.workspace?.join(path);
        let text = String::from_utf8(read_regular_file(path, MAX_EDITED).ok()?).ok()?;
        let expected = change.before.as_ref()?.digest.as_deref()?;
        (Digest::of(text.as_bytes()).to_hex() == expected).then_some(text)
    }

    /// Leaves out changes, and those that need them.
    fn leave_out(&mut self, changes: BTreeSet<usize>) {
        let all = self.needs.with_dependent(changes.iter().copied());
        for at in all.difference(&changes) {
            let line = Line::from("Left out, too, since it needs that: ");
            let line = line.with_quoted(Role::Plain, self.effects.changes[*at].to_string());
            show_on_stderr(&Block::from(line.hanging(2)));
        }
        self.selection.leave_out(all);
    }
}

/// Returns the keys of a question about a group.
fn possible_keys(group: &Group, can_edit: bool) -> Vec<char> {
    let mut keys = vec!['y', 'n', 'a', 'd', 'q'];
    if group.hunks.len() > 1 {
        keys.push('s');
    }
    if can_edit {
        keys.push('e');
    }
    keys
}

/// The meanings of the keys.
const MEANINGS: [(char, &str); 7] = [
    ('y', "apply this"),
    ('n', "leave it out"),
    ('a', "apply this and the rest of the file"),
    ('d', "leave out this and the rest of the file"),
    ('s', "split it into smaller hunks"),
    ('e', "edit it"),
    ('q', "quit: leave out this and all that follows"),
];

/// Asks until one of the keys is the answer.
async fn read_key(question: &str, keys: &[char], interrupt: &Interrupt) -> Option<Key> {
    let meanings = MEANINGS.iter().copied();
    let meanings: Vec<_> = meanings.filter(|(key, _)| keys.contains(key)).collect();
    keys::read_key(question, keys, &meanings, interrupt).await
}

#[cfg(test)]
mod tests {
    use super::super::keys::key_of;
    use super::*;

    #[test]
    fn a_key_counts_only_where_it_is_offered() {
        let check =
            |line, keys: &[char], expected| assert_eq!(key_of(line, keys), expected, "{line}");
        check("y", &['y', 'n'], Some(Key::Yes));
        check(" Y ", &['y', 'n'], Some(Key::Yes));
        check("s", &['y', 'n'], None);
        check("yes", &['y', 'n'], None);
        check("", &['y', 'n'], None);
        check(
            "s",
            &possible_keys(&Group { hunks: 0..2 }, false),
            Some(Key::Split),
        );
        check("s", &possible_keys(&Group { hunks: 0..1 }, true), None);
        check(
            "e",
            &possible_keys(&Group { hunks: 0..1 }, true),
            Some(Key::Edit),
        );
        check("e", &possible_keys(&Group { hunks: 0..1 }, false), None);
    }
}
