//! The streams through which programs read a session's events.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use airlock_model::event::{Event, EventSource};
use airlock_model::pending::SessionId;
use futures_util::future::BoxFuture;
use futures_util::{Stream, StreamExt};

/// The number of unread events that a stream keeps, and the bytes of their texts.
const UNREAD: usize = 1024;
const UNREAD_BYTES: usize = 16 << 20;

tokio::task_local! {
    /// The stream of the operation that this task carries out, if it has one.
    static OPERATION: Option<Arc<Queue>>;
}

/// An event with its source, see [`EventSource`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SessionEvent {
    /// The session.
    pub session: SessionId,
    /// The plugin's name.
    pub plugin: String,
    /// The tool that is being called or resolved.
    pub tool: String,
    /// The call's number in the session, if the event belongs to one.
    pub call: Option<u64>,
    /// The event.
    pub event: Event,
    /// The number of events that came between the previous one of the stream and this one, and were
    /// dropped because the reader was too slow.
    pub missed: u64,
}

/// A stream of events, from [`Session::events`](crate::Session::events) or
/// [`Cancellable::events`](crate::cancel::Cancellable::events).
///
/// A guest never waits for a reader. A stream keeps the newest unread events, at most 1,024 of them
/// with 16 MiB of text, and drops older ones. The next event has their number in
/// [`missed`](SessionEvent::missed).
#[derive(Debug)]
pub struct EventStream(Arc<Queue>);

impl EventStream {
    /// Waits for the next event. Returns `None` when all events are read and there will be no more.
    pub async fn recv(&mut self) -> Option<SessionEvent> {
        self.next().await
    }
}

impl Stream for EventStream {
    type Item = SessionEvent;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<SessionEvent>> {
        let mut unread = self.0.lock();
        match unread.pop() {
            Some(mut event) => {
                event.missed = std::mem::take(&mut unread.missed);
                Poll::Ready(Some(event))
            }
            None if unread.has_ended => Poll::Ready(None),
            None => {
                unread.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

#[derive(Debug, Default)]
struct Queue(Mutex<Unread>);

#[derive(Debug, Default)]
struct Unread {
    events: VecDeque<SessionEvent>,
    bytes: usize,
    /// The number of dropped events, all of them older than those in `events`.
    missed: u64,
    has_ended: bool,
    waker: Option<Waker>,
}

impl Unread {
    fn pop(&mut self) -> Option<SessionEvent> {
        let event = self.events.pop_front()?;
        self.bytes -= text_bytes(&event.event);
        Some(event)
    }

    fn push(&mut self, event: SessionEvent) {
        let bytes = text_bytes(&event.event);
        while (self.events.len() == UNREAD || self.bytes + bytes > UNREAD_BYTES)
            && self.pop().is_some()
        {
            self.missed += 1;
        }
        self.bytes += bytes;
        self.events.push_back(event);
    }
}

/// Returns the size of what a guest can make large.
fn text_bytes(event: &Event) -> usize {
    match event {
        Event::Log { message, .. } | Event::Progress { message, .. } => message.len(),
        Event::Staged { action } | Event::Pushed { action } => {
            let details = action.details.as_ref();
            action.label.len() + details.map_or(0, |details| details.as_str().len())
        }
        _ => 0,
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Unread> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, event: SessionEvent) {
        let mut unread = self.lock();
        unread.push(event);
        wake(unread);
    }

    fn end(&self) {
        let mut unread = self.lock();
        unread.has_ended = true;
        wake(unread);
    }
}

/// Wakes the reader after the lock is released.
fn wake(mut unread: MutexGuard<'_, Unread>) {
    let waker = unread.waker.take();
    drop(unread);
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// The streams of a session's events.
#[derive(Default)]
pub(crate) struct Listeners {
    /// The number of `streams`, to be read without their lock.
    count: AtomicUsize,
    streams: Mutex<Vec<Listener>>,
}

struct Listener {
    /// The call to listen to; `None` for all.
    call: Option<u64>,
    queue: Weak<Queue>,
}

impl Listeners {
    /// Returns a stream of all events from now on.
    pub fn listen(&self) -> EventStream {
        let queue = Arc::default();
        self.add(None, &queue);
        EventStream(queue)
    }

    /// Adds the events of a call to the stream of the operation that this task carries out.
    pub fn listen_to(&self, call: u64) {
        if let Ok(Some(queue)) = OPERATION.try_with(Clone::clone) {
            self.add(Some(call), &queue);
        }
    }

    fn add(&self, call: Option<u64>, queue: &Arc<Queue>) {
        let queue = Arc::downgrade(queue);
        let mut streams = self.lock();
        streams.push(Listener { call, queue });
        self.count.store(streams.len(), Ordering::SeqCst);
    }

    pub fn is_empty(&self) -> bool {
        self.count.load(Ordering::SeqCst) == 0
    }

    pub fn send(&self, session: &SessionId, source: EventSource<'_>, event: &Event) {
        if self.is_empty() {
            return;
        }
        let mut streams = self.lock();
        streams.retain(|listener| {
            // The reader or the operation may be gone.
            let queue = listener.queue.upgrade().filter(|it| !it.lock().has_ended);
            let Some(queue) = queue else {
                return false;
            };
            if listener.call.is_none() || listener.call == source.call {
                queue.push(SessionEvent {
                    session: session.clone(),
                    plugin: source.plugin.to_owned(),
                    tool: source.tool.to_owned(),
                    call: source.call,
                    event: event.clone(),
                    missed: 0,
                });
            }
            true
        });
        self.count.store(streams.len(), Ordering::SeqCst);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Listener>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Listeners {
    fn drop(&mut self) {
        for listener in self.lock().drain(..) {
            if let Some(queue) = listener.queue.upgrade() {
                queue.end();
            }
        }
    }
}

/// The stream of one operation. It ends when this is dropped.
#[derive(Default)]
pub(crate) struct OperationEvents(Arc<Queue>);

impl OperationEvents {
    pub fn stream(&self) -> EventStream {
        EventStream(Arc::clone(&self.0))
    }
}

impl Drop for OperationEvents {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Carries out an operation and adds the events of its calls to the stream, if it has one.
pub(crate) fn listening<'a, T: 'a>(
    events: Option<OperationEvents>,
    operation: BoxFuture<'a, T>,
) -> BoxFuture<'a, T> {
    // The operation may be a part of another one, which has a stream.
    let is_inner = matches!(OPERATION.try_with(Option::is_some), Ok(true));
    if events.is_none() && !is_inner {
        return operation;
    }
    let queue = events.as_ref().map(|events| Arc::clone(&events.0));
    let operation = OPERATION.scope(queue, operation);
    Box::pin(async move {
        // Ends after the operation, or with it if it is dropped.
        let _events = events;
        operation.await
    })
}

#[cfg(test)]
mod tests {
    use airlock_model::event::LogLevel;
    use futures_util::FutureExt;

    use super::*;

    fn send(listeners: &Listeners, call: u64, message: String) {
        let (level, session) = (LogLevel::Info, "one".into());
        let source = EventSource::new(Some(&session), "plugin", "tool").in_call(call);
        listeners.send(&session, source, &Event::Log { level, message });
    }

    fn next(events: &mut EventStream) -> Option<SessionEvent> {
        events.recv().now_or_never().flatten()
    }

    #[test]
    fn large_events_are_kept_up_to_their_bytes_and_the_newest_whatever_its_size() {
        for (bytes, kept) in [(UNREAD_BYTES / 4, 4), (UNREAD_BYTES * 2, 1), (1, 5)] {
            let listeners = Listeners::default();
            let mut events = listeners.listen();
            for _ in 0..5 {
                send(&listeners, 1, "x".repeat(bytes));
            }
            assert_eq!(next(&mut events).unwrap().missed, 5 - kept);
            let rest = std::iter::from_fn(|| next(&mut events));
            assert_eq!(rest.count() as u64, kept - 1);
            assert_eq!(events.0.lock().bytes, 0);
        }
    }

    #[tokio::test]
    async fn nobody_is_listening_after_the_reader_or_the_operation_is_gone() {
        let listeners = Listeners::default();
        drop(listeners.listen());
        send(&listeners, 1, String::new());
        assert!(listeners.is_empty());

        let operation = OperationEvents::default();
        let mut events = operation.stream();
        let calling = async {
            listeners.listen_to(2);
            // One within it, such as an approver's.
            let inner: BoxFuture<'_, ()> = Box::pin(async { listeners.listen_to(3) });
            listening(None, inner).await;
            for call in 1..=3 {
                send(&listeners, call, String::new());
            }
        };
        listening(Some(operation), Box::pin(calling)).await;
        send(&listeners, 2, String::new());
        assert!(listeners.is_empty());
        assert_eq!(events.recv().await.unwrap().call, Some(2));
        assert_eq!(events.recv().await, None);
    }
}
