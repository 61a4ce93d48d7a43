//! Commits a layer to the folder in one step that a crash leaves either undone or done.

mod attributes;
mod check;
mod deltas;
mod displaced;
mod files;
mod inherited;
mod made;
mod originals;
mod outcomes;
mod plan;
mod private;
mod recover;
mod run;
mod sealed;
mod staging;
mod step;
mod touched;
mod transaction;
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "no safe library asks for a lease")]
mod writers;
#[cfg(not(target_os = "linux"))]
mod writers {
    /// Only Linux can tell, by a lease.
    pub(super) fn has_writers(_: &std::fs::File) -> std::io::Result<bool> {
        Ok(false)
    }
}

use std::io;

use rustix::io::Errno;

use crate::change::{Compared, compare};
use crate::error::{CommitError, Doing, Failed, RecoverError};
use crate::facts::Change;
use crate::lock::with_lock;
use crate::lower::Kind;
use crate::path::PRIVATE;
use crate::system;
use crate::ticket::{Committed, Outcome, Recovered, Retention, Ticket};
use crate::tree::{ROOT, Tree};
use crate::view::{Place, State, View};
use crate::workspace::{Opened, Workspace};

use check::check_unchanged;
pub(crate) use files::{entries, open_or_make_file, remove_file};
#[cfg(test)]
pub(crate) use inherited::DEFAULT_ACL;
pub(crate) use originals::{Record, recorded};
pub(crate) use private::Private;
use recover::recover;
use transaction::commit;

/// Maximum length of an id, in bytes.
const MAX_ID: usize = 128;

impl View {
    /// Commits all changes of the layer to the folder atomically, even across a crash, and ends
    /// the layer. If the commit fails, the layer stays open.
    ///
    /// Other programs can see the folder while files are put in place, each by one rename.
    ///
    /// # Errors
    /// [`CommitError`]; the folder is then unchanged.
    pub fn commit(&self, workspace: &Workspace, ticket: &Ticket) -> Result<Committed, CommitError> {
        self.commit_if(workspace, ticket, |_| Ok(()))
    }

    /// Commits like [`commit`](Self::commit) if `check` accepts the changes. `check` runs under
    /// the workspace's lock, after the layer was compared with the folder.
    ///
    /// # Errors
    /// [`CommitError`], or the error of `check`.
    pub fn commit_if<E: From<CommitError>>(
        &self,
        workspace: &Workspace,
        ticket: &Ticket,
        check: impl FnOnce(&[Change]) -> Result<(), E>,
    ) -> Result<Committed, E> {
        for id in ticket.ids() {
            check_id(id)?;
        }
        let opened = &*workspace.inner;
        let mut state = self.inner.state();
        let Ok(_) = state.layer() else {
            return Err(CommitError::from(Failed {
                doing: "commit".to_owned(),
                source: Errno::ROFS.into(),
            })
            .into());
        };
        if !is_of(&state.tree, opened).map_err(CommitError::from)? {
            return Err(CommitError::OtherFolder.into());
        }
        let held = with_lock(opened, || commit_held(opened, &state, ticket, check));
        let held = held.doing(|| "lock the folder".to_owned());
        let committed = held.map_err(CommitError::from)?;
        let committed = committed.ok_or(CommitError::Locked)??;
        state.layer = None;
        self.inner.end_layer(&mut state, &Place::after_commit);
        Ok(committed)
    }
}

/// Commits while holding the lock.
fn commit_held<E: From<CommitError>>(
    opened: &Opened,
    state: &State,
    ticket: &Ticket,
    check: impl FnOnce(&[Change]) -> Result<(), E>,
) -> Result<Committed, E> {
    recover(opened).map_err(CommitError::from)?;
    for id in ticket.ids() {
        if is_committed(opened, id).map_err(CommitError::from)? {
            return Err(CommitError::AlreadyCommitted(id.to_owned()).into());
        }
    }
    check_unchanged(&state.tree, &opened.lower)?;
    let Compared { changes, rewritten } =
        compare(&state.tree, &opened.lower, state.compare_until())
            .doing(|| "compare the changes with the files".to_owned())
            .map_err(CommitError::from)?;
    check(&changes)?;
    let finished = if changes.is_empty() {
        Ok(Vec::new())
    } else {
        commit(opened, &state.tree, &rewritten, &changes, ticket)?
    };
    let (kept, not_cleaned_up) = match finished {
        Ok(kept) => (kept, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    originals::prune(opened, ticket.originals.unwrap_or(Retention::NONE));
    Ok(Committed {
        changes,
        not_cleaned_up,
        kept,
    })
}

impl Workspace {
    /// Checks whether a commit is possible without changing anything: this process must have write
    /// access to the folder, and the path of the private folder must be usable.
    ///
    /// # Errors
    /// The reason why a commit would fail.
    pub fn check_commits(&self) -> io::Result<()> {
        Self::check_system()?;
        let lower = &self.inner.lower;
        lower.may_write("", Kind::Directory)?;
        match Private::open(&self.inner)? {
            Some(_) => lower.may_write(PRIVATE, Kind::Directory),
            None => Ok(()),
        }
    }

    /// Checks whether this system has what commits need. Only Linux has; elsewhere, commits,
    /// recoveries and locks fail with this error.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`].
    pub fn check_system() -> io::Result<()> {
        system::check_commits()
    }

    /// Finishes interrupted commits that took effect and drops the others. Every commit does this
    /// first. Call it after opening a workspace to get consistent files.
    ///
    /// # Errors
    /// [`RecoverError`].
    pub fn recover(&self) -> Result<Recovered, RecoverError> {
        // With no transaction in progress, there is nothing to recover or to wait for.
        let under_way = match private(&self.inner)? {
            Some(private) => !private.transactions().doing(reading)?.is_empty(),
            None => false,
        };
        if !under_way {
            return Ok(Recovered::default());
        }
        self.recovered(|recovered| recovered)
    }

    /// Recovers interrupted commits, then runs `run` with the result before releasing the lock.
    fn recovered<T>(&self, run: impl FnOnce(Recovered) -> T) -> Result<T, RecoverError> {
        let held = with_lock(&self.inner, || recover(&self.inner).map(run));
        let held = held.doing(|| "lock the folder".to_owned())?;
        held.ok_or(RecoverError::Locked)?
    }

    /// Returns whether an id was committed. Waits for a commit in progress, and
    /// [recovers](Self::recover) interrupted ones first.
    ///
    /// # Errors
    /// [`RecoverError`].
    pub fn is_committed(&self, id: &str) -> Result<bool, RecoverError> {
        Ok(self.locked(|| is_committed(&self.inner, id))??)
    }

    /// Returns the id that was committed last.
    ///
    /// # Errors
    /// [`RecoverError`].
    pub fn last_committed(&self) -> Result<Option<String>, RecoverError> {
        match private(&self.inner)? {
            Some(private) => Ok(private.last_committed().doing(reading)?),
            None => Ok(None),
        }
    }

    /// Returns the commits whose notes were not taken yet. [Recovers](Self::recover) interrupted
    /// commits first.
    ///
    /// # Errors
    /// [`RecoverError`].
    pub fn outcomes(&self) -> Result<Vec<Outcome>, RecoverError> {
        self.recover()?;
        let Some(private) = private(&self.inner)? else {
            return Ok(Vec::new());
        };
        let waiting = private.waiting().doing(reading)?;
        let outcomes = waiting.into_iter();
        Ok(outcomes.map(|(id, note)| Outcome { id, note }).collect())
    }

    /// Deletes an id's note, once the caller has stored the outcome. The id still counts as
    /// committed.
    ///
    /// # Errors
    /// [`RecoverError`].
    pub fn take_outcome(&self, id: &str) -> Result<(), RecoverError> {
        if let Some(private) = private(&self.inner)?
            && check_id(id).is_ok()
        {
            let taken = private.take_outcome(id);
            taken.doing(|| format!("remove a record from {PRIVATE}"))?;
        }
        Ok(())
    }

    /// Runs `run` while no other program commits to this workspace, or to one inside or around it.
    /// [Recovers](Self::recover) interrupted commits first.
    ///
    /// # Errors
    /// [`RecoverError`].
    pub fn locked<T>(&self, run: impl FnOnce() -> T) -> Result<T, RecoverError> {
        self.recovered(|_| run())
    }
}

fn reading() -> String {
    format!("read {PRIVATE} in the workspace")
}

fn private(workspace: &Opened) -> Result<Option<Private<'_>>, Failed> {
    Private::open(workspace).doing(reading)
}

fn is_committed(workspace: &Opened, id: &str) -> Result<bool, Failed> {
    match private(workspace)? {
        Some(private) => private.is_committed(id).doing(reading),
        None => Ok(false),
    }
}

/// Returns whether a layer was created on top of this folder.
fn is_of(tree: &Tree, workspace: &Opened) -> Result<bool, Failed> {
    let now = workspace.lower.stamp("");
    let now = now.doing(|| "look at the folder".to_owned())?;
    let seen = tree.node(ROOT).origin.as_ref();
    Ok(matches!((seen, now), (Some(seen), Some(now)) if seen.stamp.is_same_object(&now)))
}

fn check_id(id: &str) -> Result<(), CommitError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if !id.is_empty() && id.len() <= MAX_ID && id.bytes().all(allowed) {
        Ok(())
    } else {
        Err(CommitError::Unsupported {
            path: id.to_owned(),
            reason: "an id has letters, digits, - and _, and at most 128 of them",
        })
    }
}
