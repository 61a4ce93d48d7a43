//! From a layer to the folder, in one step that a crash leaves undone or done.

mod attributes;
mod check;
mod displaced;
mod files;
mod inherited;
mod made;
mod plan;
mod private;
mod recover;
mod run;
mod staging;
mod touched;
mod transaction;
#[allow(unsafe_code, reason = "no safe library asks for a lease")]
mod writers;

use std::io;

use rustix::io::Errno;

use crate::change::{ChangeSet, Compared, compare};
use crate::error::{CommitError, Doing, Failed, RecoverError};
use crate::lock::with_lock;
use crate::lower::Kind;
use crate::path::PRIVATE;
use crate::tree::{ROOT, Tree};
use crate::view::{Place, State, View};
use crate::workspace::{Opened, Workspace};

use check::check_unchanged;
pub(crate) use files::{entries, open_or_make_file, remove_file};
#[cfg(test)]
pub(crate) use inherited::DEFAULT_ACL;
pub(crate) use private::Private;
use recover::recover;
use transaction::commit;

/// The longest id, in bytes.
const MAX_ID: usize = 128;

/// What a commit is known by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    /// One of letters, digits, `-` and `_`, 128 at most. No two commits of a workspace have the
    /// same: the second is refused.
    pub id: String,
    /// Kept with the workspace from the very moment of the commit on, until it is
    /// [taken](Workspace::take_outcome): for whoever must know of it after a crash.
    pub note: String,
}

/// What was committed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Committed {
    /// What was changed. Where this is empty, nothing was written at all, and neither id nor note
    /// is kept.
    pub changes: ChangeSet,
    /// Why what is left of the commit could not be cleaned up. It is, by whoever commits or
    /// recovers next; what was committed is in its place.
    pub not_cleaned_up: Option<RecoverError>,
    /// Files that this commit replaced or removed, and that another program wrote to while it did:
    /// where they are kept, below the folder. Nobody else removes them.
    pub kept: Vec<String>,
}

/// A committed id whose note nobody has taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The id.
    pub id: String,
    /// The note.
    pub note: String,
}

/// What a recovery has found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovered {
    /// Ids of commits that were cut off, and are finished now.
    pub finished: Vec<String>,
    /// How many had not happened: nothing is left of them.
    pub dropped: usize,
    /// What is in the private folder and is not from this user, or not for this workspace. It is
    /// left alone. Paths below the workspace.
    pub not_ours: Vec<String>,
    /// As of [`Committed::kept`].
    pub kept: Vec<String>,
}

impl View {
    /// Puts everything that the layer changes into the folder, all of it or nothing, whatever
    /// crashes meanwhile. The layer ends with it; where this fails, it stays open as it was.
    ///
    /// Other programs can see the folder while files are put in their places, each by one rename.
    ///
    /// # Errors
    /// [`CommitError`]; the folder is as it was then.
    pub fn commit(&self, workspace: &Workspace, ticket: &Ticket) -> Result<Committed, CommitError> {
        self.commit_if(workspace, ticket, |_| Ok(()))
    }

    /// The same, if `check` agrees to what is about to be changed. It is asked under the
    /// workspace's lock, after everything was compared with the folder.
    ///
    /// # Errors
    /// [`CommitError`], or the error of `check`.
    pub fn commit_if<E: From<CommitError>>(
        &self,
        workspace: &Workspace,
        ticket: &Ticket,
        check: impl FnOnce(&ChangeSet) -> Result<(), E>,
    ) -> Result<Committed, E> {
        check_id(&ticket.id)?;
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

/// Under the lock.
fn commit_held<E: From<CommitError>>(
    opened: &Opened,
    state: &State,
    ticket: &Ticket,
    check: impl FnOnce(&ChangeSet) -> Result<(), E>,
) -> Result<Committed, E> {
    recover(opened).map_err(CommitError::from)?;
    let is_committed = is_committed(opened, &ticket.id).map_err(CommitError::from)?;
    if is_committed {
        return Err(CommitError::AlreadyCommitted(ticket.id.clone()).into());
    }
    check_unchanged(&state.tree, &opened.lower)?;
    let Compared { changes, rewritten } =
        compare(&state.tree, &opened.lower, state.compare_until())
            .doing(|| "compare the changes with the files".to_owned())
            .map_err(CommitError::from)?;
    check(&changes)?;
    let finished = match changes.is_empty() {
        true => Ok(Vec::new()),
        false => commit(opened, &state.tree, &rewritten, ticket)?,
    };
    let (kept, not_cleaned_up) = match finished {
        Ok(kept) => (kept, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    Ok(Committed {
        changes,
        not_cleaned_up,
        kept,
    })
}

impl Workspace {
    /// Finds out whether a commit could be kept here, as far as that shows without changing
    /// anything: whether this process may write to the folder, and what is in the private folder's
    /// place.
    ///
    /// # Errors
    /// Why a commit would fail.
    pub fn check_commits(&self) -> io::Result<()> {
        let lower = &self.inner.lower;
        lower.may_write("", Kind::Directory)?;
        match Private::open(&self.inner)? {
            Some(_) => lower.may_write(PRIVATE, Kind::Directory),
            None => Ok(()),
        }
    }

    /// Finishes what was committed and cut off, and drops what was not. Every commit does so first;
    /// who opens a workspace does it to have the files as they must be.
    ///
    /// # Errors
    /// [`RecoverError`].
    pub fn recover(&self) -> Result<Recovered, RecoverError> {
        // Where nothing is under way there is nothing to recover, and nobody to wait for.
        let under_way = match private(&self.inner)? {
            Some(private) => !private.transactions().doing(reading)?.is_empty(),
            None => false,
        };
        if !under_way {
            return Ok(Recovered::default());
        }
        self.recovered(|recovered| recovered)
    }

    /// Recovers, and runs something with the result before the lock is given back.
    fn recovered<T>(&self, run: impl FnOnce(Recovered) -> T) -> Result<T, RecoverError> {
        let held = with_lock(&self.inner, || recover(&self.inner).map(run));
        let held = held.doing(|| "lock the folder".to_owned())?;
        held.ok_or(RecoverError::Locked)?
    }

    /// Whether an id was committed. It waits for a commit that is under way, and what was cut off
    /// is [recovered](Self::recover) before.
    ///
    /// # Errors
    /// [`RecoverError`].
    pub fn is_committed(&self, id: &str) -> Result<bool, RecoverError> {
        Ok(self.locked(|| is_committed(&self.inner, id))??)
    }

    /// What was committed and has a note that nobody has taken. What was cut off is
    /// [recovered](Self::recover) before.
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

    /// Forgets an id's note: who must know of it does. That it was committed stays known.
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

    /// Runs something while no other program commits to this workspace, nor to one that it lies in
    /// or that lies in it; what was cut off is [recovered](Self::recover) before.
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

/// Whether a layer was made above this very folder.
fn is_of(tree: &Tree, workspace: &Opened) -> Result<bool, Failed> {
    let now = workspace.lower.stamp("");
    let now = now.doing(|| "look at the folder".to_owned())?;
    let seen = tree.node(ROOT).origin.as_ref();
    Ok(matches!((seen, now), (Some(seen), Some(now)) if seen.stamp.is_same_object(&now)))
}

fn check_id(id: &str) -> Result<(), CommitError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    match !id.is_empty() && id.len() <= MAX_ID && id.bytes().all(allowed) {
        true => Ok(()),
        false => Err(CommitError::Unsupported {
            path: id.to_owned(),
            reason: "an id has letters, digits, - and _, and at most 128 of them",
        }),
    }
}
