//! The one thread of this process that writes: whatever waits while a commit reaches the disk goes into the next one together.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::problem::Problem;
use crate::store::{BackendErrorKind, StoreError};

/// The most operations of one commit.
const TOGETHER: usize = 256;

/// What takes back an operation whose answer nobody heard.
pub(super) type Undo = Box<dyn FnMut(&Connection) -> Result<(), Problem> + Send>;

type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

/// Takes operations to the thread. Dropped, it waits until those that it took are done.
#[derive(Debug)]
pub(super) struct Writer {
    operations: Option<Sender<Box<dyn Operation>>>,
    thread: Option<JoinHandle<()>>,
    path: PathBuf,
}

impl Writer {
    pub fn start(connection: Connection, path: PathBuf) -> std::io::Result<Self> {
        let (sender, receiver) = mpsc::channel();
        let at = path.clone();
        let thread = thread::Builder::new()
            .name("airlock-store".to_owned())
            .spawn(move || run(&connection, &receiver, &at))?;
        Ok(Self {
            operations: Some(sender),
            thread: Some(thread),
            path,
        })
    }

    /// Runs `work` in a transaction, and answers when that is on disk. It may be run more than once, after a rollback.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&Connection) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.write_or_undo(work, |_| None).await
    }

    /// The same, and where nobody waits for the answer any more, does what `undo` makes of it.
    pub async fn write_or_undo<T: Send + 'static>(
        &self,
        work: impl FnMut(&Connection) -> Result<T, Problem> + Send + 'static,
        undo: impl FnOnce(T) -> Option<Undo> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.enqueue(work, Some((reply, undo)));
        answer.await.unwrap_or_else(|_| {
            let problem = "is no longer written to: its thread has ended";
            let path = self.path.display().to_string();
            Err(StoreError::backend(BackendErrorKind::Other, path, problem))
        })
    }

    /// The same, without waiting for the end of it.
    pub fn write_later(
        &self,
        work: impl FnMut(&Connection) -> Result<(), Problem> + Send + 'static,
    ) {
        self.enqueue::<_, fn(()) -> Option<Undo>>(work, None);
    }

    fn enqueue<T: Send + 'static, U: FnOnce(T) -> Option<Undo> + Send + 'static>(
        &self,
        work: impl FnMut(&Connection) -> Result<T, Problem> + Send + 'static,
        reply: Option<(Reply<T>, U)>,
    ) {
        let operation = Work {
            work,
            done: None,
            reply,
        };
        if let Some(operations) = &self.operations {
            // Without a thread the reply is dropped, and whoever waits hears of that.
            let _ = operations.send(Box::new(operation));
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.operations = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(connection: &Connection, operations: &Receiver<Box<dyn Operation>>, path: &Path) {
    let mut together = Vec::new();
    loop {
        if together.is_empty() {
            match operations.recv() {
                Ok(first) => together.push(first),
                Err(_) => return,
            }
        }
        together.extend(operations.try_iter().take(TOGETHER - 1));
        if together.len() == 1 || commit(connection, &mut together).is_err() {
            // One of them may have spoilt it for the others.
            for operation in &mut together {
                if let Err(problem) = commit(connection, std::slice::from_mut(operation)) {
                    operation.fail(problem);
                }
            }
        }
        let undo: Vec<_> = together
            .drain(..)
            .filter_map(|it| it.answer(path))
            .collect();
        together.extend(undo);
    }
}

/// Runs all in one transaction. After an error nothing of it was done.
fn commit(connection: &Connection, operations: &mut [Box<dyn Operation>]) -> Result<(), Problem> {
    execute(connection, "BEGIN IMMEDIATE")?;
    let committed = run_all(connection, operations).and_then(|()| execute(connection, "COMMIT"));
    if committed.is_err() && !connection.is_autocommit() {
        execute(connection, "ROLLBACK")?;
    }
    committed
}

fn run_all(connection: &Connection, operations: &mut [Box<dyn Operation>]) -> Result<(), Problem> {
    for operation in operations {
        execute(connection, "SAVEPOINT operation")?;
        if !operation.run(connection) {
            // Some errors end the whole transaction; then this one fails, and with it what came before.
            execute(connection, "ROLLBACK TO operation")?;
        }
        execute(connection, "RELEASE operation")?;
    }
    Ok(())
}

fn execute(connection: &Connection, statement: &str) -> Result<(), Problem> {
    connection.prepare_cached(statement)?.execute([])?;
    Ok(())
}

/// Something to be done in a transaction, and somebody who waits for it.
trait Operation: Send {
    /// Whether it was done; where not, it is to be rolled back.
    fn run(&mut self, connection: &Connection) -> bool;

    /// The transaction could not be committed.
    fn fail(&mut self, problem: Problem);

    /// Tells how it ended, and gives what is to be done where nobody heard.
    fn answer(self: Box<Self>, path: &Path) -> Option<Box<dyn Operation>>;
}

struct Work<T, F, U> {
    work: F,
    done: Option<Result<T, Problem>>,
    reply: Option<(Reply<T>, U)>,
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

    fn fail(&mut self, problem: Problem) {
        // What the work itself ran into tells more than that the commit failed with it.
        if !matches!(self.done, Some(Err(_))) {
            self.done = Some(Err(problem));
        }
    }

    fn answer(self: Box<Self>, path: &Path) -> Option<Box<dyn Operation>> {
        let done = self.done?.map_err(|problem| problem.at(path));
        let unheard = match self.reply {
            Some((reply, undo)) => reply.send(done).err()?.ok().and_then(undo)?,
            None => {
                if let Err(error) = done {
                    tracing::warn!("a claim could not be given back: {error}");
                }
                return None;
            }
        };
        Some(Box::new(Work::<(), _, fn(()) -> Option<Undo>> {
            work: unheard,
            done: None,
            reply: None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started() -> Writer {
        let connection = Connection::open_in_memory().unwrap();
        let table = "CREATE TABLE numbers (number INTEGER PRIMARY KEY) STRICT";
        connection.execute_batch(table).unwrap();
        Writer::start(connection, PathBuf::from("test.db")).unwrap()
    }

    async fn insert(writer: &Writer, number: i64) -> Result<(), StoreError> {
        let insert = "INSERT INTO numbers (number) VALUES (?)";
        let work =
            move |connection: &Connection| Ok(connection.execute(insert, [number]).map(|_| ())?);
        writer.write(work).await
    }

    async fn numbers(writer: &Writer) -> Vec<i64> {
        let read = |connection: &Connection| {
            let mut select = connection.prepare("SELECT number FROM numbers ORDER BY number")?;
            let numbers = select.query_map([], |row| row.get(0))?;
            Ok(numbers.collect::<Result<_, _>>()?)
        };
        writer.write(read).await.unwrap()
    }

    /// Keeps the thread busy until told, so that what is written meanwhile goes into one commit.
    fn hold(writer: &Writer) -> std::sync::mpsc::Sender<()> {
        let (release, held) = mpsc::channel();
        // Where it came into one commit with what follows, it may be run a second time.
        let mut held = Some(held);
        writer.write_later(move |_| {
            let _ = held.take().map(|held| held.recv());
            Ok(())
        });
        release
    }

    #[tokio::test]
    async fn one_that_fails_takes_nothing_from_the_others_of_its_commit() {
        let writer = started();
        insert(&writer, 2).await.unwrap();
        let release = hold(&writer);
        let together =
            async { tokio::join!(insert(&writer, 1), insert(&writer, 2), insert(&writer, 3)) };
        let (together, ()) = tokio::join!(together, async { release.send(()).unwrap() });
        assert!(together.0.is_ok() && together.1.is_err() && together.2.is_ok());
        assert_eq!(numbers(&writer).await, [1, 2, 3]);
    }

    #[tokio::test]
    async fn one_that_ends_the_transaction_takes_nothing_from_the_others_either() {
        let writer = started();
        let release = hold(&writer);
        let spoil = writer.write(|connection: &Connection| {
            // As SQLite does of itself on a full disk.
            connection.execute_batch("ROLLBACK")?;
            Err::<(), _>(Problem::BadRow("spoilt".to_owned()))
        });
        let together = async { tokio::join!(insert(&writer, 1), spoil, insert(&writer, 3)) };
        let (together, ()) = tokio::join!(together, async { release.send(()).unwrap() });
        assert!(together.0.is_ok() && together.2.is_ok());
        let error = together.1.unwrap_err().to_string();
        assert!(error.ends_with("test.db is damaged: spoilt"), "{error}");
        assert_eq!(numbers(&writer).await, [1, 3]);
    }

    #[tokio::test]
    async fn an_answer_that_nobody_hears_is_undone() {
        let writer = started();
        let release = hold(&writer);
        {
            let insert = |connection: &Connection| {
                connection.execute_batch("INSERT INTO numbers (number) VALUES (7)")?;
                Ok(7)
            };
            let undo = |number: i64| {
                let delete = "DELETE FROM numbers WHERE number = ?";
                Some(Box::new(move |connection: &Connection| {
                    Ok(connection.execute(delete, [number]).map(|_| ())?)
                }) as Undo)
            };
            let writing = writer.write_or_undo(insert, undo);
            tokio::pin!(writing);
            assert!(
                std::future::poll_fn(|context| {
                    std::task::Poll::Ready(writing.as_mut().poll(context).is_pending())
                })
                .await
            );
        }
        release.send(()).unwrap();
        insert(&writer, 8).await.unwrap();
        assert_eq!(numbers(&writer).await, [8]);
    }
}
