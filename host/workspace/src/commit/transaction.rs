//! A single commit: it is staged, written to a journal, and then put in place or rolled back.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;

use super::deltas::deltas;
use super::displaced::{refuse_open_files, written_to};
use super::files::{Durable, sync, sync_together};
use super::made::note_made;
use super::originals::Record;
use super::plan::{Plan, plan};
use super::private::{Journal, Private};
use super::recover::{blocked, finish};
use super::run::{Runner, Stuck};
use super::staging::{Staging, sync_directories};
use super::touched::{Direction, touched};
use crate::error::{CommitError, Conflict, ConflictKind, Doing, Failed, RecoverError};
use crate::facts::Change;
use crate::kept::Kept;
use crate::lower::Lower;
use crate::path::PRIVATE;
use crate::ticket::Ticket;
use crate::tree::{NodeId, Tree};
use crate::workspace::Opened;

/// Stages the changes, writes the journal, which commits them, and puts everything in place. The
/// inner result is that of the cleanup, with the kept files.
pub(super) fn commit(
    workspace: &Opened,
    tree: &Tree,
    rewritten: &HashMap<NodeId, Option<Kept>>,
    changes: &[Change],
    ticket: &Ticket,
) -> Result<Result<Vec<String>, RecoverError>, CommitError> {
    let lower = &*workspace.lower;
    let making = || format!("make {PRIVATE} in the workspace");
    let (private, _) = Private::open_or_make(workspace).doing(making)?;
    let (name, folder) = private.begin().doing(making)?;
    let layer = ToCommit {
        tree,
        rewritten,
        changes,
    };
    let prepared = prepare(&private, &folder, lower, &layer, ticket);
    let journal = match prepared {
        Ok(journal) => journal,
        Err(error) => {
            drop_transaction(&private, &name);
            return Err(error);
        }
    };
    let placed = Runner::new(lower, &folder).all(&journal.steps);
    let placed = placed.and_then(|()| match written_to(&journal, &folder) {
        Ok(None) => Ok(()),
        Ok(Some(path)) => Err((journal.steps.len(), Stuck::Changed(path))),
        Err(error) => Err((journal.steps.len(), Stuck::Io(PRIVATE.to_owned(), error))),
    });
    if let Err((done, stuck)) = placed {
        return Err(roll_back(
            &private, &name, &folder, lower, &journal, done, stuck,
        ));
    }
    Ok(finish(&private, &name, &folder, lower, &journal))
}

/// A layer, compared with the folder.
struct ToCommit<'a> {
    tree: &'a Tree,
    rewritten: &'a HashMap<NodeId, Option<Kept>>,
    changes: &'a [Change],
}

fn prepare(
    private: &Private<'_>,
    folder: &File,
    lower: &Lower,
    layer: &ToCommit<'_>,
    ticket: &Ticket,
) -> Result<Journal, CommitError> {
    let mut staging = Staging::new(folder, lower);
    if ticket.originals.is_some() {
        staging.note_made();
    }
    let Plan {
        mut steps,
        originals,
    } = plan(layer.tree, layer.rewritten, &mut staging)?;
    refuse_open_files(&steps, lower)?;
    let durable = staging.durable(&steps);
    let others: Vec<String> = ticket.others.iter().map(|it| it.id.clone()).collect();
    let originals = match &ticket.originals {
        Some(retention) => {
            let recording = || "record the originals for an undo".to_owned();
            let made = staging.take_made();
            let record = Record {
                title: Cow::Borrowed(&ticket.title),
                changes: Cow::Borrowed(layer.changes),
                slots: originals,
                left: made.states,
                deltas: deltas(layer.changes, &made.texts, lower),
            };
            let name = private
                .write_originals(folder, &ticket.id, &record, retention, durable)
                .doing(recording)?;
            if name.is_some() && !others.is_empty() {
                private
                    .write_others(folder, &ticket.id, &others, durable)
                    .doing(recording)?;
            }
            name
        }
        None => None,
    };
    let first = (&*ticket.id, &*ticket.note);
    let all = ticket.others.iter().map(|it| (&*it.id, &*it.note));
    for (at, outcome) in std::iter::once(first).chain(all).enumerate() {
        private
            .write_outcome(folder, at, outcome, durable)
            .doing(|| "write the outcome".to_owned())?;
    }
    let syncing = || "sync what was staged".to_owned();
    staging.sync(durable).doing(syncing)?;
    note_made(&mut steps, folder).doing(|| "look at what was staged".to_owned())?;
    let journal = Journal {
        id: ticket.id.clone(),
        others,
        steps,
        originals,
    };
    private
        .write_journal(folder, &journal, durable)
        .doing(|| "write the journal".to_owned())?;
    match durable {
        Durable::Each => sync(&private.folder, durable),
        Durable::Together => sync_together(folder),
    }
    .doing(syncing)?;
    match private.commit(folder) {
        Ok(()) => Ok(journal),
        Err(source) => {
            // The rename may have taken effect, so it must be undone.
            let doing = || "take back the journal".to_owned();
            private.remove_journal(folder).doing(doing)?;
            Err(CommitError::from(Failed {
                doing: "write the journal".to_owned(),
                source,
            }))
        }
    }
}

/// Removes a transaction without a journal, which had no effect.
fn drop_transaction(private: &Private<'_>, name: &str) {
    if let Err(error) = private.remove_transaction(name) {
        tracing::warn!("could not remove {PRIVATE}/{name}: {error}");
    }
}

/// Rolls everything back after a rename failed.
fn roll_back(
    private: &Private<'_>,
    name: &str,
    folder: &File,
    lower: &Lower,
    journal: &Journal,
    done: usize,
    stuck: Stuck,
) -> CommitError {
    let undone = Runner::new(lower, folder).backward(&journal.steps[..done]);
    if let Err(stuck) = undone {
        return CommitError::Unrecovered(blocked(journal, stuck));
    }
    let directories = touched(&journal.steps, Direction::Backward);
    let removed = sync_directories(lower, directories.iter()).and_then(|()| {
        let removing = || "remove the journal".to_owned();
        private.remove_journal(folder).doing(removing)
    });
    if let Err(error) = removed {
        return error.into();
    }
    drop_transaction(private, name);
    match stuck {
        Stuck::Changed(path) => CommitError::Conflict(vec![Conflict {
            path,
            what: ConflictKind::Changed,
        }]),
        Stuck::Io(path, source) => CommitError::Io {
            doing: format!("put {path} in its place"),
            source,
        },
    }
}
