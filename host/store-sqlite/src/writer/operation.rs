//! Operations of a commit: the work, the caller that waits, and the undo operation in case no
//! caller does.

use std::path::Path;

use airlock_model::store::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::problem::Problem;

/// Undoes an operation whose result no caller received.
pub type Undo = Box<dyn FnMut(&Connection) -> Result<(), Problem> + Send>;

/// The result of an operation, with its undo operation.
pub type Ended<T, U> = (Result<T, StoreError>, U);

/// Work to run in a transaction, with the caller that waits for it.
pub trait Operation: Send {
    /// Runs the work. Returns whether it succeeded; if not, it must be rolled back.
    fn run(&mut self, connection: &Connection) -> bool;

    /// Returns whether its commit may reach the disk together with the next one.
    fn may_be_late(&self) -> bool;

    /// Records that the transaction could not be committed.
    fn fail(&mut self, problem: Problem);

    /// Sends the result to the caller. Returns the undo operation if no caller received it.
    fn answer(self: Box<Self>, path: &Path) -> Option<Box<dyn Operation>>;
}

pub struct Work<T, F, U> {
    work: F,
    done: Option<Result<T, Problem>>,
    may_be_late: bool,
    reply: Option<(oneshot::Sender<Ended<T, U>>, U)>,
}

impl<T, F, U> Work<T, F, U> {
    pub fn new(work: F, reply: oneshot::Sender<Ended<T, U>>, undo: U) -> Self {
        Self {
            work,
            done: None,
            may_be_late: false,
            reply: Some((reply, undo)),
        }
    }

    /// Returns the same work with delayed durability: it may reach the disk together with the next
    /// commit.
    pub fn late(self) -> Self {
        Self {
            may_be_late: true,
            ..self
        }
    }

    /// Takes the result, if the operation ran.
    pub fn take_done(&mut self) -> Option<Result<T, Problem>> {
        self.done.take()
    }
}

impl<T: Send, F, U> Operation for Work<T, F, U>
where
    F: FnMut(&Connection) -> Result<T, Problem> + Send,
    U: FnOnce(T) -> Option<Undo> + Send,
{
    fn run(&mut self, connection: &Connection) -> bool {
        let done = (self.work)(connection);
        let is_done = done.is_ok();
        self.done = Some(done);
        is_done
    }

    fn may_be_late(&self) -> bool {
        self.may_be_late
    }

    fn fail(&mut self, problem: Problem) {
        // The error of the work itself is more precise than that of the failed commit.
        if !matches!(self.done, Some(Err(_))) {
            self.done = Some(Err(problem));
        }
    }

    fn answer(self: Box<Self>, path: &Path) -> Option<Box<dyn Operation>> {
        let done = self.done?.map_err(|problem| problem.at(path));
        let Some((reply, undo)) = self.reply else {
            if let Err(error) = done {
                tracing::warn!("what nobody waits for could not be written: {error}");
            }
            return None;
        };
        let (done, undo) = reply.send((done, undo)).err()?;
        Some(Box::new(detached(undo(done.ok()?)?)))
    }
}

/// Creates an operation without a waiting caller.
pub fn detached<F: FnMut(&Connection) -> Result<(), Problem>>(
    work: F,
) -> Work<(), F, fn(()) -> Option<Undo>> {
    Work {
        work,
        done: None,
        may_be_late: false,
        reply: None,
    }
}
