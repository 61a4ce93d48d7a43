//! What goes into a commit: the work, who waits for its end, and what undoes it where nobody does.

use std::path::Path;

use airlock_model::store::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::problem::Problem;

/// Undoes an operation whose answer nobody received.
pub type Undo = Box<dyn FnMut(&Connection) -> Result<(), Problem> + Send>;

/// How an operation ended, and what undoes it.
pub type Ended<T, U> = (Result<T, StoreError>, U);

/// Something to be done in a transaction, and somebody who waits for it.
pub trait Operation: Send {
    /// Whether it was done; where not, it is to be rolled back.
    fn run(&mut self, connection: &Connection) -> bool;

    /// Whether its commit may reach the disk together with the next one only.
    fn may_be_late(&self) -> bool;

    /// The transaction could not be committed.
    fn fail(&mut self, problem: Problem);

    /// Tells how it ended, and gives what is to be done where nobody heard.
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

    /// The same work, which may reach the disk together with the next commit only.
    pub fn late(self) -> Self {
        Self {
            may_be_late: true,
            ..self
        }
    }

    /// How it ended, if it was run.
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
        // What the work itself ran into tells more than that the commit failed with it.
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

/// An operation whose end nobody waits for.
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
