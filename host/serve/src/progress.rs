//! Progress of a call, for the client that asked for it.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use airlock_host::event::{Event, EventSource};
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

/// The most reports that may wait. If a tool reports faster than its client reads, the rest is
/// dropped.
const WAITING: usize = 16;

/// The interval at which a client gets a report of a call even if its tool reports nothing. Some
/// clients give up after 60 s without one.
const BEAT: Duration = Duration::from_secs(5);

tokio::task_local! {
    static LISTENER: Listener;
}

/// The listeners of calls.
#[derive(Clone, Default)]
pub struct Listeners(Arc<Inner>);

#[derive(Default)]
struct Inner {
    by_call: Mutex<HashMap<u64, Listener>>,
    next: AtomicU64,
}

#[derive(Clone)]
struct Listener {
    number: u64,
    reports: mpsc::Sender<Report>,
}

struct Report {
    message: String,
    progress: Option<f64>,
    total: Option<f64>,
}

impl Report {
    fn still_under_way() -> Self {
        Self {
            message: "still under way".to_owned(),
            progress: None,
            total: None,
        }
    }
}

impl Listeners {
    /// Passes an event to its call's listener. The session's observer calls it.
    pub fn observe(&self, source: EventSource<'_>, event: &Event) {
        let Some(call) = source.call else {
            return;
        };
        match event {
            // This event is sent within the call's future, unlike the reports of its guest.
            Event::Began { .. } => {
                if let Ok(listener) = LISTENER.try_with(Clone::clone) {
                    self.change(|by_call| by_call.insert(call, listener));
                }
            }
            Event::Ended { .. } => {
                self.change(|by_call| by_call.remove(&call));
            }
            Event::Progress {
                message,
                progress,
                total,
            } => {
                let listener = self.change(|by_call| by_call.get(&call).cloned());
                if let Some(listener) = listener {
                    let _ = listener.reports.try_send(Report {
                        message: message.clone(),
                        progress: *progress,
                        total: *total,
                    });
                }
            }
            _ => {}
        }
    }

    /// Runs a call and reports its progress to the client.
    pub async fn report_while<T>(
        &self,
        peer: &Peer<RoleServer>,
        token: Option<ProgressToken>,
        call: impl Future<Output = T>,
    ) -> T {
        let Some(token) = token else {
            return call.await;
        };
        let (reports, waiting) = mpsc::channel(WAITING);
        let beats = reports.clone();
        let number = self.0.next.fetch_add(1, Ordering::Relaxed);
        let forgotten_at_the_end = Forgotten {
            listeners: self,
            number,
        };
        let teller = Teller {
            peer,
            token,
            last: None,
        };
        let mut call = Box::pin(LISTENER.scope(Listener { number, reports }, call));
        let mut telling = pin!(teller.tell_all(waiting));
        let mut told_all = false;
        let mut beat = interval_at(Instant::now() + BEAT, BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // A client that doesn't read delays its reports, but not the call.
        let done = loop {
            tokio::select! {
                done = &mut call => break done,
                () = &mut telling, if !told_all => told_all = true,
                // Some clients time out calls that report no progress.
                _ = beat.tick() => {
                    let _ = beats.try_send(Report::still_under_way());
                }
            }
        };
        // No reports can arrive any more, and none may follow the call's answer.
        drop((call, beats, forgotten_at_the_end));
        if !told_all {
            telling.await;
        }
        done
    }

    fn change<T>(&self, change: impl FnOnce(&mut HashMap<u64, Listener>) -> T) -> T {
        let by_call = self.0.by_call.lock();
        change(&mut by_call.unwrap_or_else(PoisonError::into_inner))
    }
}

/// A guard for calls whose future is dropped: they never report an end.
struct Forgotten<'a> {
    listeners: &'a Listeners,
    number: u64,
}

impl Drop for Forgotten<'_> {
    fn drop(&mut self) {
        let number = self.number;
        self.listeners
            .change(|by_call| by_call.retain(|_, listener| listener.number != number));
    }
}

struct Teller<'a> {
    peer: &'a Peer<RoleServer>,
    token: ProgressToken,
    last: Option<f64>,
}

impl Teller<'_> {
    /// Sends reports until their last sender is dropped.
    async fn tell_all(mut self, mut waiting: mpsc::Receiver<Report>) {
        while let Some(report) = waiting.recv().await {
            self.tell(report).await;
        }
    }

    async fn tell(&mut self, report: Report) {
        let progress = increasing(self.last, report.progress);
        self.last = Some(progress);
        let mut told = ProgressNotificationParam::new(self.token.clone(), progress);
        if let Some(total) = report.total.filter(|total| total.is_finite()) {
            told = told.with_total(total);
        }
        if !report.message.is_empty() {
            told = told.with_message(report.message);
        }
        // A client that is gone gets no reports.
        let _ = self.peer.notify_progress(told).await;
    }
}

/// Returns the number of the next report. The protocol requires increasing numbers, whatever a tool
/// reports.
fn increasing(last: Option<f64>, said: Option<f64>) -> f64 {
    let said = said.filter(|said| said.is_finite());
    match (last, said) {
        (None, said) => said.unwrap_or_default(),
        (Some(last), Some(said)) if said > last => said,
        (Some(last), Some(_)) => last.next_up(),
        (Some(last), None) => last + 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_increases_whatever_a_tool_says() {
        let said = [
            Some(1.0),
            Some(1.0),
            Some(0.5),
            None,
            Some(f64::NAN),
            Some(9.0),
        ];
        let mut last = None;
        for said in said {
            let next = increasing(last, said);
            assert!(last.is_none_or(|last| next > last), "{last:?} {next}");
            last = Some(next);
        }
        assert_eq!(last, Some(9.0));
    }
}
