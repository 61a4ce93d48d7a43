//! Metrics of a server for its operator.
//!
//! All label values are listed here. Clients, models and plugins can't add any, so the metrics
//! always take the same memory.

mod text;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use airlock_host::Error;
use airlock_host::event::{Event, ToolFunction};
use airlock_host::limits::LimitKind;
use airlock_host::pending::Decision;
use hyper::{Method, StatusCode};

pub use text::CONTENT_TYPE;

/// The metrics. Cheap to clone; clones share the counters.
#[derive(Clone, Default)]
pub struct Metrics(Arc<Numbers>);

#[derive(Default)]
struct Numbers {
    requests: [[AtomicU64; CLASSES.len()]; METHODS.len()],
    calls: [AtomicU64; CALLS.len()],
    call_times: Histogram,
    pushed: AtomicU64,
    decisions: [AtomicU64; DECISIONS.len()],
    questions: Arc<AtomicU64>,
    connections: Arc<AtomicU64>,
}

/// The HTTP methods that are counted. The last one stands for all others.
const METHODS: [&str; 4] = ["GET", "POST", "DELETE", "other"];

/// The classes of HTTP statuses.
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// The end of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallEnd {
    Ok,
    Error,
    TimedOut,
    Cancelled,
}

const CALLS: [(CallEnd, &str); 4] = [
    (CallEnd::Ok, "ok"),
    (CallEnd::Error, "error"),
    (CallEnd::TimedOut, "timed_out"),
    (CallEnd::Cancelled, "cancelled"),
];

impl CallEnd {
    fn of<T>(called: &Result<T, Error>) -> Self {
        match called {
            Ok(_) => CallEnd::Ok,
            Err(Error::Cancelled) => CallEnd::Cancelled,
            Err(Error::Limit {
                kind: LimitKind::CallTime,
                ..
            }) => CallEnd::TimedOut,
            Err(_) => CallEnd::Error,
        }
    }
}

/// The outcome of a requested decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DecisionEnd {
    Applied,
    ApplyFailed,
    ApplyRefused,
    ApplyDeclined,
    Discarded,
}

/// The outcomes of decisions, with their `operation` and `outcome` labels.
const DECISIONS: [(DecisionEnd, &str, &str); 5] = [
    (DecisionEnd::Applied, "apply", "applied"),
    (DecisionEnd::ApplyFailed, "apply", "failed"),
    (DecisionEnd::ApplyRefused, "apply", "refused"),
    (DecisionEnd::ApplyDeclined, "apply", "declined"),
    (DecisionEnd::Discarded, "discard", "discarded"),
];

impl DecisionEnd {
    fn of(event: &Event) -> Option<Self> {
        Some(match event {
            Event::Decided {
                decision: Decision::Apply,
                ..
            } => DecisionEnd::Applied,
            Event::Decided {
                decision: Decision::Discard,
                ..
            } => DecisionEnd::Discarded,
            Event::Denied { denial, .. } => match denial.denied_by.person() {
                Some(_) => DecisionEnd::ApplyDeclined,
                None => DecisionEnd::ApplyRefused,
            },
            // An apply that is refused before its commit is counted as a denial.
            Event::Ended {
                function: ToolFunction::Apply,
                failure: Some(kind),
                ..
            } if *kind != "refused" => DecisionEnd::ApplyFailed,
            _ => return None,
        })
    }
}

/// The upper bounds of a call's time, in seconds. A call may take a minute by default.
const BOUNDS: [f64; 13] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
];

/// The durations of calls.
#[derive(Default)]
struct Histogram {
    /// The number of calls in each bucket: no longer than its bound and longer than the previous
    /// bound. The last bucket has no bound.
    counts: [AtomicU64; BOUNDS.len() + 1],
    micros: AtomicU64,
}

impl Histogram {
    fn add(&self, time: Duration) {
        let seconds = time.as_secs_f64();
        let at = BOUNDS.iter().position(|bound| seconds <= *bound);
        count(&self.counts[at.unwrap_or(BOUNDS.len())]);
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }
}

/// A guard that counts in a gauge until it is dropped.
pub struct Open(Arc<AtomicU64>);

impl Open {
    fn new(gauge: &Arc<AtomicU64>) -> Self {
        count(gauge);
        Self(Arc::clone(gauge))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The numbers that are read along with the metrics, instead of being counted.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    /// The number of open conversations.
    pub conversations: usize,
    /// The number of live plugin instances, or `None` if unknown.
    pub instances: Option<usize>,
}

impl Metrics {
    /// Counts a request that was answered.
    pub fn answered(&self, method: &Method, status: StatusCode) {
        let known = METHODS.iter().position(|it| *it == method.as_str());
        let class = usize::from(status.as_u16() / 100).saturating_sub(1);
        let of_method = &self.0.requests[known.unwrap_or(METHODS.len() - 1)];
        count(&of_method[class.min(CLASSES.len() - 1)]);
    }

    /// Counts a connection while it is open.
    pub fn connected(&self) -> Open {
        Open::new(&self.0.connections)
    }
}

/// The counter of a server's events, which starts once it has metrics. Clones share state.
#[derive(Clone, Default)]
pub struct Meter(Arc<OnceLock<Metrics>>);

impl Meter {
    /// Counts in these metrics from now on. A second call changes nothing.
    pub fn count_in(&self, metrics: &Metrics) {
        let _ = self.0.set(metrics.clone());
    }

    /// Counts an event of the session. The session's observer calls it.
    pub fn observe(&self, event: &Event) {
        let Some(Metrics(numbers)) = self.0.get() else {
            return;
        };
        if let Event::Pushed { .. } = event {
            count(&numbers.pushed);
        }
        let end = DecisionEnd::of(event);
        let at = DECISIONS.iter().position(|(it, ..)| Some(*it) == end);
        if let Some(at) = at {
            count(&numbers.decisions[at]);
        }
    }

    /// Counts a tool call.
    pub fn called<T>(&self, called: &Result<T, Error>, time: Duration) {
        let Some(Metrics(numbers)) = self.0.get() else {
            return;
        };
        let end = CallEnd::of(called);
        if let Some(at) = CALLS.iter().position(|(it, _)| *it == end) {
            count(&numbers.calls[at]);
        }
        numbers.call_times.add(time);
    }

    /// Counts a question while it is open.
    pub fn asking(&self) -> Option<Open> {
        let Metrics(numbers) = self.0.get()?;
        Some(Open::new(&numbers.questions))
    }
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_client_sends_has_a_place() {
        let metrics = Metrics::default();
        let methods = ["GET", "PATCH", "get", "ANYTHING"];
        for method in methods {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            for status in [100, 200, 404, 599, 999] {
                metrics.answered(&method, StatusCode::from_u16(status).unwrap());
            }
        }
        let of = |method: usize| {
            let counts = metrics.0.requests[method].each_ref();
            counts.map(|it| it.load(Ordering::Relaxed))
        };
        assert_eq!(of(0), [1, 1, 0, 1, 2]);
        assert_eq!(of(3), [3, 3, 0, 3, 6]);
    }

    #[test]
    fn a_time_is_counted_below_the_first_bound_that_it_reaches() {
        let histogram = Histogram::default();
        for millis in [0, 5, 6, 60_000, 60_001] {
            histogram.add(Duration::from_millis(millis));
        }
        let counts = histogram.counts.each_ref();
        let counts = counts.map(|it| it.load(Ordering::Relaxed));
        assert_eq!(counts[..2], [2, 1]);
        assert_eq!(counts[BOUNDS.len() - 1..], [1, 1]);
        assert_eq!(histogram.micros.load(Ordering::Relaxed), 120_012_000);
    }

    #[test]
    fn a_question_is_open_until_it_is_dropped() {
        let (meter, metrics) = (Meter::default(), Metrics::default());
        assert!(meter.asking().is_none());
        meter.count_in(&metrics);
        let open = || metrics.0.questions.load(Ordering::Relaxed);
        let (one, other) = (meter.asking(), meter.asking());
        assert_eq!(open(), 2);
        drop((one, other));
        assert_eq!(open(), 0);
    }
}
