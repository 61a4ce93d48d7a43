//! The single write connection of this process. Operations that wait while a commit reaches the
//! disk share the next commit.
//!
//! If no other operation is waiting and the disk is fast, an operation is committed immediately on
//! the calling thread: waking another thread and being woken by it takes about as long as such a
//! commit. All other operations go to a writer thread.

mod commit;
mod operation;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use airlock_model::store::{BackendErrorKind, StoreError};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::connection::read;
use super::log;
use super::problem::{Problem, unfit};
pub(super) use operation::Undo;
use operation::{Ended, Operation, Work, detached};

/// Maximum number of operations in one commit.
const TOGETHER: usize = 256;

/// After a commit that took longer than this, operations go to the writer thread until a commit is
/// faster.
const QUICK: Duration = Duration::from_millis(3);

/// After a commit of several operations, this many of the next ones go to the writer thread, so
/// that they are batched again.
const CROWDED: u32 = 64;

/// Sends operations to the connection. On drop, it waits until the accepted ones are done.
#[derive(Debug)]
pub(super) struct Writer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    connection: Mutex<Connection>,
    /// The time that the connection waits for another process's commit.
    patience: Duration,
    path: PathBuf,
    queue: Mutex<Queue>,
    queued: Condvar,
    is_slow: AtomicBool,
    /// True if a commit may not have reached the disk yet.
    is_behind: AtomicBool,
    /// The number of upcoming operations that go to the writer thread.
    crowded: AtomicU32,
    /// True if a caller has found the connection in use.
    is_contended: AtomicBool,
}

#[derive(Default)]
struct Queue {
    operations: VecDeque<Box<dyn Operation>>,
    closed: bool,
}

impl Writer {
    /// Starts the writer. `patience` is how long the connection waits for another process's
    /// commit.
    pub fn start(
        connection: Connection,
        path: PathBuf,
        patience: Duration,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            connection: Mutex::new(connection),
            patience,
            path,
            queue: Mutex::default(),
            queued: Condvar::new(),
            is_slow: AtomicBool::new(false),
            is_behind: AtomicBool::new(false),
            crowded: AtomicU32::new(0),
            is_contended: AtomicBool::new(false),
        });
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("airlock-store".to_owned())
            .spawn(move || of_thread.run())?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Runs `work` in a transaction and returns when it is on disk. `work` may run again after a
    /// rollback.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&Connection) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.write_or_undo(work, |_| None).await
    }

    /// Writes like [`write`](Self::write). If the caller is gone by then, runs the operation that
    /// `undo` returns.
    pub async fn write_or_undo<T: Send + 'static>(
        &self,
        work: impl FnMut(&Connection) -> Result<T, Problem> + Send + 'static,
        undo: impl FnOnce(T) -> Option<Undo> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, received) = oneshot::channel();
        self.carry_out(Work::new(work, reply, undo), received).await
    }

    /// Runs `work` in a transaction and returns when others can see it. It reaches the disk with
    /// the next commit, or when the writer is dropped.
    pub async fn write_late<T: Send + 'static>(
        &self,
        work: impl FnMut(&Connection) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, received) = oneshot::channel();
        let work = Work::new(work, reply, |_| None);
        self.carry_out(work.late(), received).await
    }

    /// Runs `query` on this connection, which saves opening a read connection and has the latest
    /// pages in its cache. Once a caller has found the connection in use, it is reserved for
    /// writing, and the query is returned.
    pub fn read_unless_contended<T, Q>(&self, query: Q) -> Result<Result<T, Problem>, Q>
    where
        Q: FnOnce(&Connection) -> Result<T, Problem>,
    {
        let shared = &self.shared;
        if shared.is_contended.load(Ordering::Relaxed) {
            return Err(query);
        }
        match shared.free_connection() {
            // The next commit rolls back a transaction that a panic left open.
            Some(connection) if connection.is_autocommit() => {
                let waits = connection.busy_timeout(shared.patience);
                let waits = waits.map_err(Problem::from);
                Ok(waits.and_then(|()| read(&connection, query)))
            }
            _ => Err(query),
        }
    }

    async fn carry_out<T, F, U>(
        &self,
        work: Work<T, F, U>,
        received: oneshot::Receiver<Ended<T, U>>,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&Connection) -> Result<T, Problem> + Send + 'static,
        U: FnOnce(T) -> Option<Undo> + Send + 'static,
    {
        let mut answer = Answer {
            shared: &self.shared,
            received,
        };
        let mut operation = Box::new(work);
        // The future can't be dropped in between, so the caller gets the answer.
        if self.shared.commit_at_once(&mut *operation)
            && let Some(done) = operation.take_done()
        {
            return done.map_err(|problem| problem.at(&self.shared.path));
        }
        self.shared.enqueue(operation);
        match (&mut answer.received).await {
            Ok((done, _)) => done,
            Err(_) => {
                let problem = "is no longer written to: its thread has ended";
                Err(unfit(&self.shared.path, BackendErrorKind::Other, problem))
            }
        }
    }

    /// Queues an operation without waiting for it.
    pub fn write_later(
        &self,
        work: impl FnMut(&Connection) -> Result<(), Problem> + Send + 'static,
    ) {
        self.shared.enqueue(Box::new(detached(work)));
    }
}

/// The caller's end of an operation. If the caller stops waiting, a result that it did not receive
/// is undone.
struct Answer<'a, T: Send + 'static, U: FnOnce(T) -> Option<Undo>> {
    shared: &'a Shared,
    received: oneshot::Receiver<Ended<T, U>>,
}

impl<T: Send + 'static, U: FnOnce(T) -> Option<Undo>> Drop for Answer<'_, T, U> {
    fn drop(&mut self) {
        // From here on, the writer thread notices that the caller is gone.
        self.received.close();
        if let Ok((Ok(done), undo)) = self.received.try_recv()
            && let Some(undo) = undo(done)
        {
            self.shared.enqueue(Box::new(detached(undo)));
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        lock(&self.shared.queue).closed = true;
        self.shared.queued.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if self.shared.is_behind.load(Ordering::Relaxed)
            && let Err(error) = log::sync(&self.shared.path)
        {
            tracing::warn!("what was kept last may not be on the disk: {error}");
        }
        log::leave_if_small(&lock(&self.shared.connection), &self.shared.path);
    }
}

impl Shared {
    /// Queues an operation. If the queue is closed, the operation is dropped, which tells the
    /// caller.
    fn enqueue(&self, operation: Box<dyn Operation>) {
        let mut queue = lock(&self.queue);
        if !queue.closed {
            queue.operations.push_back(operation);
            self.queued.notify_one();
        }
    }

    /// Commits on this thread, unless the connection is in use, other operations wait for it, or
    /// the commit might be slow. Returns whether it did.
    fn commit_at_once(&self, operation: &mut dyn Operation) -> bool {
        let crowded = self.crowded.load(Ordering::Relaxed);
        if crowded > 0 {
            self.crowded.store(crowded - 1, Ordering::Relaxed);
            return false;
        }
        if self.is_slow.load(Ordering::Relaxed) {
            return false;
        }
        let Some(connection) = self.free_connection() else {
            return false;
        };
        if !lock(&self.queue).operations.is_empty() {
            return false;
        }
        // Don't wait for another process's commit here.
        if connection.busy_timeout(Duration::ZERO).is_err() {
            return false;
        }
        let began = Instant::now();
        let committed = self.commit_one(&connection, operation);
        self.note_time(began);
        let is_busy = committed.as_ref().is_err_and(Problem::is_busy);
        if let Err(problem) = committed {
            operation.fail(problem);
        }
        !is_busy
    }

    /// Returns the connection if it is free.
    fn free_connection(&self) -> Option<MutexGuard<'_, Connection>> {
        let free = self.connection.try_lock().ok();
        if free.is_none() {
            self.is_contended.store(true, Ordering::Relaxed);
        }
        free
    }

    fn run(&self) {
        let _close = CloseGuard(self);
        while let Some(mut together) = self.wait() {
            let free = self.free_connection();
            let connection = free.unwrap_or_else(|| lock(&self.connection));
            let _ = connection.busy_timeout(self.patience);
            // Operations that arrived while the connection was in use.
            let room = TOGETHER.saturating_sub(together.len());
            let mut queue = lock(&self.queue);
            let more = queue.operations.len().min(room);
            together.extend(queue.operations.drain(..more));
            drop(queue);
            if together.len() > 1 {
                self.crowded.store(CROWDED, Ordering::Relaxed);
            }
            while !together.is_empty() {
                let began = Instant::now();
                self.commit_together(&connection, &mut together);
                self.note_time(began);
                // The undo operations of results that no caller received come next.
                let answered = together.drain(..);
                together = answered
                    .filter_map(|operation| operation.answer(&self.path))
                    .collect();
            }
        }
    }

    /// Waits for at least one operation. Returns `None` when the queue is closed and empty.
    fn wait(&self) -> Option<Vec<Box<dyn Operation>>> {
        let mut queue = lock(&self.queue);
        while queue.operations.is_empty() {
            if queue.closed {
                return None;
            }
            queue = self
                .queued
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let count = queue.operations.len().min(TOGETHER);
        Some(queue.operations.drain(..count).collect())
    }

    fn commit_together(&self, connection: &Connection, operations: &mut [Box<dyn Operation>]) {
        if operations.len() > 1 {
            let before = connection.total_changes();
            if commit::all(connection, operations).is_ok() {
                self.note_changes(connection, before, false);
                return;
            }
        }
        // One operation may have made the others fail.
        for operation in operations {
            if let Err(problem) = self.commit_one(connection, &mut **operation) {
                operation.fail(problem);
            }
        }
    }

    fn commit_one(
        &self,
        connection: &Connection,
        operation: &mut dyn Operation,
    ) -> Result<(), Problem> {
        let before = connection.total_changes();
        let is_late = operation.may_be_late();
        if commit::one(connection, operation, is_late)? {
            self.note_changes(connection, before, is_late);
        }
        Ok(())
    }

    fn note_time(&self, began: Instant) {
        self.is_slow
            .store(began.elapsed() > QUICK, Ordering::Relaxed);
    }

    /// Tracks whether changes are not on disk yet. A commit also flushes the earlier ones, but a
    /// commit without changes writes nothing.
    fn note_changes(&self, connection: &Connection, before: u64, is_late: bool) {
        if connection.total_changes() != before {
            self.is_behind.store(is_late, Ordering::Relaxed);
        }
    }
}

/// Closes the queue when the thread ends, even by a panic, so that no caller waits forever.
struct CloseGuard<'a>(&'a Shared);

impl Drop for CloseGuard<'_> {
    fn drop(&mut self) {
        let mut queue = lock(&self.0.queue);
        queue.closed = true;
        queue.operations.clear();
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// Ignores poisoning: at worst, a panic left the connection in a transaction, which is rolled back
/// before the next one.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn started() -> Writer {
        let connection = Connection::open_in_memory().unwrap();
        let table = "CREATE TABLE numbers (number INTEGER PRIMARY KEY) STRICT";
        connection.execute_batch(table).unwrap();
        Writer::start(connection, PathBuf::from("test.db"), Duration::ZERO).unwrap()
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
    async fn queries_are_answered_here_until_the_connection_was_found_in_use() {
        let writer = started();
        insert(&writer, 1).await.unwrap();
        let count = |connection: &Connection| {
            let count = "SELECT count(*) FROM numbers";
            Ok(connection.query_row(count, [], |row| row.get::<_, i64>(0))?)
        };
        let answered = || writer.read_unless_contended(count).ok();
        assert_eq!(answered().unwrap().unwrap(), 1);
        let writes = |connection: &Connection| {
            connection.execute_batch("INSERT INTO numbers (number) VALUES (2)")?;
            count(connection)
        };
        let wrote = writer.read_unless_contended(writes).ok();
        assert_eq!(wrote.unwrap().unwrap(), 2);
        assert_eq!(answered().unwrap().unwrap(), 1, "it was rolled back");

        let (begun, is_begun) = mpsc::channel();
        let (release, held) = mpsc::channel::<()>();
        writer.write_later(move |_| {
            begun.send(()).unwrap();
            held.recv().unwrap();
            Ok(())
        });
        is_begun.recv().unwrap();
        assert!(answered().is_none());
        release.send(()).unwrap();
        insert(&writer, 3).await.unwrap();
        assert!(answered().is_none(), "there are others who read");
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
    async fn after_a_panic_whoever_waits_is_told() {
        let writer = started();
        let release = hold(&writer);
        let panics =
            writer.write(|_: &Connection| -> Result<(), Problem> { panic!("a fault of ours") });
        let (panicked, later, ()) = tokio::join!(panics, insert(&writer, 1), async {
            release.send(()).unwrap()
        });
        for error in [panicked.unwrap_err(), later.unwrap_err()] {
            assert!(
                error.to_string().contains("no longer written to"),
                "{error}"
            );
        }
    }

    #[tokio::test]
    async fn an_answer_that_nobody_hears_is_undone() {
        for committed_before in [false, true] {
            undoes(committed_before).await;
        }
    }

    /// Whoever waits goes away before the commit, or between the commit and their next poll.
    async fn undoes(committed_before: bool) {
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
            if committed_before {
                release.send(()).unwrap();
                assert_eq!(numbers(&writer).await, [7]);
            }
        }
        let _ = release.send(());
        insert(&writer, 8).await.unwrap();
        assert_eq!(numbers(&writer).await, [8]);
    }
}
