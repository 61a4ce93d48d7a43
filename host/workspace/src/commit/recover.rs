//! Finishes or undoes interrupted commits.

use std::fs::File;
use std::io;

use super::displaced::keep_written;
use super::files::{remove_file, sync_now};
use super::private::{JOURNAL, Journal, Private};
use super::run::{Runner, Stuck};
use super::staging::sync_directories;
use super::touched::{Direction, touched};
use super::{private, reading};
use crate::error::{Doing, Failed, RecoverError};
use crate::lower::Lower;
use crate::path::PRIVATE;
use crate::ticket::Recovered;
use crate::workspace::Opened;

/// Makes a commit durable and cleans up after everything is in place. Returns the kept files.
pub(super) fn finish(
    private: &Private<'_>,
    name: &str,
    folder: &File,
    lower: &Lower,
    journal: &Journal,
) -> Result<Vec<String>, RecoverError> {
    let directories = touched(&journal.steps, Direction::Forward);
    let settling = || format!("note in {PRIVATE} what was committed");
    // Sync before the id is recorded: recovery stops when it finds the id.
    sync_directories(lower, directories.iter())?;
    for (at, other) in journal.others.iter().enumerate() {
        private.settle(folder, at + 1, other).doing(settling)?;
    }
    // Last, because a recovery takes the commit as done if it finds this id.
    private.settle(folder, 0, &journal.id).doing(settling)?;
    let keeping = || format!("keep in {PRIVATE} what another program wrote");
    let kept = keep_written(private, folder, journal).doing(keeping)?;
    if let Some(originals) = &journal.originals {
        match private.keep_originals(name, originals) {
            Ok(true) => return Ok(kept),
            Ok(false) => {}
            Err(error) => tracing::warn!("{} can't be undone: {error}", journal.id),
        }
    }
    // Not synced: if a power failure restores it, its id is known as committed.
    remove_file(folder, JOURNAL).doing(settling)?;
    let removing = || format!("remove {PRIVATE}/{name}");
    private.remove_transaction(name).doing(removing)?;
    Ok(kept)
}

/// Recovers while holding the lock.
pub(super) fn recover(workspace: &Opened) -> Result<Recovered, RecoverError> {
    let mut recovered = Recovered::default();
    let Some(private) = private(workspace)? else {
        return Ok(recovered);
    };
    for name in private.transactions().doing(reading)? {
        recover_one(workspace, &private, &name, &mut recovered)?;
    }
    Ok(recovered)
}

fn recover_one(
    workspace: &Opened,
    private: &Private<'_>,
    name: &str,
    recovered: &mut Recovered,
) -> Result<(), RecoverError> {
    let lower = &*workspace.lower;
    let not_ours = |recovered: &mut Recovered| {
        recovered.not_ours.push(format!("{PRIVATE}/{name}"));
        Ok(())
    };
    if !private.is_ours(name) {
        return not_ours(recovered);
    }
    let Ok(folder) = private.open_transaction(name) else {
        return not_ours(recovered);
    };
    let journal = match private.journal(&folder) {
        Ok(Some(journal)) => journal,
        Ok(None) => {
            match private.remove_transaction(name) {
                Ok(()) => recovered.dropped += 1,
                // Other programs' files stay.
                Err(error) => tracing::warn!("could not remove {PRIVATE}/{name}: {error}"),
            }
            return Ok(());
        }
        Err(error) if error.kind() == io::ErrorKind::InvalidData => return not_ours(recovered),
        Err(error) => {
            return Err(Failed {
                doing: reading(),
                source: error,
            }
            .into());
        }
    };
    // Its writer may have been killed before the name was on disk.
    sync_now(&folder).doing(reading)?;
    // The id is recorded once all steps are done. So either only the cleanup was interrupted, or a
    // backup has restored the journal: other programs may have changed the files since.
    let is_committed = private.is_committed(&journal.id).doing(reading)?;
    let runner = Runner::new(lower, &folder);
    if !is_committed && let Err(stuck) = runner.forward(&journal.steps) {
        // The commit was not reported as done, because then everything would be in place. So it
        // may be rolled back if nothing blocks that.
        if runner.backward(&journal.steps).is_err() {
            return Err(blocked(&journal, stuck));
        }
        let directories = touched(&journal.steps, Direction::Backward);
        sync_directories(lower, directories.iter())?;
        let removing = || format!("remove {PRIVATE}/{name}");
        private.remove_journal(&folder).doing(removing)?;
        private.remove_transaction(name).doing(removing)?;
        recovered.dropped += 1;
        return Ok(());
    }
    let kept = finish(private, name, &folder, lower, &journal)?;
    recovered.kept.extend(kept);
    recovered.finished.push(journal.id);
    recovered.finished.extend(journal.others);
    Ok(())
}

pub(super) fn blocked(journal: &Journal, stuck: Stuck) -> RecoverError {
    match stuck {
        Stuck::Changed(path) => RecoverError::Blocked {
            id: journal.id.clone(),
            path,
        },
        Stuck::Io(path, source) => RecoverError::Io {
            doing: format!("put {path} in its place"),
            source,
        },
    }
}
