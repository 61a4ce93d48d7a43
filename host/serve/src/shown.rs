//! The part of an action's effects that a question shows: the riskiest changes first, and counts of
//! the rest.

use std::cmp::Reverse;

use airlock_host::effects::{Change, ChangeKind, Effects};
use airlock_render::{Block, Line, Renderer};
use airlock_rules::ControlFiles;

/// Returns the rows for effects: a summary, at most `most` rows of changes, and a row that says how
/// much is left out. All changes are named before any diff gets room. `show` is the command that
/// shows everything.
///
/// Deletions come first, then control files, permissions, links, renamed, modified and created
/// files, because the guest chooses the order of its changes.
pub fn rows(effects: &Effects, most: usize, show: &str) -> Vec<String> {
    let mut rows = vec![rendered(&Block::effects_summary(Some(&effects.summary())))];
    let ordered = ordered(&effects.changes);
    let named: Vec<_> = ordered.iter().map(|it| ShownChange::of(it)).collect();
    let fits = |room: &mut usize, named: &ShownChange| {
        let is_room = named.head <= *room;
        *room = if is_room { *room - named.head } else { 0 };
        is_room
    };
    let mut room = most;
    let shown = named.iter().take_while(|it| fits(&mut room, it)).count();
    let mut cut = 0;
    for named in &named[..shown] {
        let all = named.rows.len() - named.head;
        let kept = all.min(room);
        room -= kept;
        cut += all - kept;
        rows.extend(named.rows[..named.head + kept].iter().cloned());
    }
    rows.extend(left_out(&ordered[shown..], cut, show));
    rows
}

/// Counts the changes that are not shown, and the rows that are missing from others.
fn left_out(changes: &[&Change], rows: usize, show: &str) -> Option<String> {
    let changes: Vec<_> = changes.iter().map(|it| (*it).clone()).collect();
    let counts = Effects::verified(changes).counts();
    let rows = match rows {
        0 => None,
        1 => Some("1 row of contents".to_owned()),
        rows => Some(format!("{rows} rows of contents")),
    };
    let changes = (counts.total() > 0).then(|| counts.to_string());
    let left_out: Vec<_> = changes.into_iter().chain(rows).collect();
    let left_out = (!left_out.is_empty()).then(|| left_out.join(", "))?;
    let line = format!("… left out here: {left_out}. All of it: {show}");
    Some(rendered(&Block::from(Line::from(line))))
}

/// A change, as rows.
struct ShownChange {
    rows: Vec<String>,
    /// The rows with its name and side effects. The others are its diff.
    head: usize,
}

impl ShownChange {
    fn of(change: &Change) -> Self {
        let block = Block::effects(&Effects::verified(vec![change.clone()]));
        let rows = rendered(&block);
        Self {
            // The first row is the summary.
            rows: rows.lines().skip(1).map(str::to_owned).collect(),
            head: 1 + change.side_effects.sentences().len(),
        }
    }
}

fn rendered(block: &Block) -> String {
    Renderer::plain().render(block)
}

/// Sorts changes by risk, and otherwise keeps their order.
fn ordered(changes: &[Change]) -> Vec<&Change> {
    let control = ControlFiles::new(&[], []);
    let is_control = |change: &Change| {
        let paths = [Some(&change.path), change.from.as_ref()];
        let mut paths = paths.into_iter().flatten();
        paths.any(|path| control.name_of("", path).is_some())
    };
    let mut ordered: Vec<_> = changes.iter().collect();
    ordered.sort_by_cached_key(|change| {
        let is_control = is_control(change);
        let kind = match change.kind {
            ChangeKind::Deleted => 0,
            _ if is_control => 1,
            ChangeKind::Mode => 2,
            ChangeKind::Link => 3,
            ChangeKind::Renamed => 4,
            ChangeKind::Modified => 5,
            _ => 6,
        };
        (kind, Reverse(is_control))
    });
    ordered
}

#[cfg(test)]
mod tests {
    use airlock_host::effects::OwnerChange;

    use super::*;

    fn check(changes: Vec<Change>, most: usize, expected: &[&str]) {
        let effects = Effects::verified(changes);
        let rows = rows(&effects, most, "airlock show 1");
        assert_eq!(rows, expected);
    }

    fn created(path: &str) -> Change {
        let mut created = Change::new(ChangeKind::Created, path);
        created.diff = Some("+one\n+two\n".to_owned());
        created
    }

    #[test]
    fn what_is_deleted_is_shown_however_much_is_created() {
        let mut changes: Vec<_> = (0..1500).map(|at| created(&format!("a{at:04}"))).collect();
        changes.push(Change::new(ChangeKind::Deleted, "z/keep.txt"));
        let expected = [
            "Verified by the host: 1500 created, 1 deleted",
            "  │ deleted z/keep.txt",
            "  │ created a0000",
            "  │ created a0001",
            "… left out here: 1498 created, 4 rows of contents. All of it: airlock show 1",
        ];
        check(changes, 3, &expected);
    }

    #[test]
    fn each_change_is_named_before_any_file_is_shown() {
        let mut renamed = Change::new(ChangeKind::Renamed, "b");
        renamed.from = Some("a".to_owned());
        let mut mode = Change::new(ChangeKind::Mode, "script");
        mode.side_effects.owner = Some(Box::new(OwnerChange::new("alice", "bob")));
        let changes = vec![
            created("c"),
            renamed,
            mode,
            created(".git/hooks/pre-commit"),
            Change::new(ChangeKind::Deleted, "d"),
            Change::new(ChangeKind::Deleted, ".git/config"),
        ];
        let expected = [
            "Verified by the host: 2 created, 2 deleted, 1 renamed, 1 with other permissions",
            "  │ deleted .git/config",
            "  │ deleted d",
            "  │ created .git/hooks/pre-commit",
            "    │ +one",
            "  │ mode script",
            "    its owner changes from alice to bob",
            "  │ renamed a -> b",
            "  │ created c",
            "… left out here: 3 rows of contents. All of it: airlock show 1",
        ];
        check(changes, 8, &expected);
    }

    #[test]
    fn nothing_is_said_to_be_left_out_where_nothing_is() {
        let expected = [
            "Verified by the host: 1 created",
            "  │ created a",
            "    │ +one",
            "    │ +two",
        ];
        check(vec![created("a")], 3, &expected);
        check(Vec::new(), 3, &["Verified by the host: nothing"]);
    }
}
