//! The metrics in Prometheus's text format, version 0.0.4.

use std::fmt::{Display, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};

use super::{BOUNDS, CALLS, CLASSES, DECISIONS, Histogram, METHODS, Metrics, Now};

/// The value of the `Content-Type` header.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

impl Metrics {
    /// Returns all metrics as text.
    pub fn text(&self, now: Now) -> String {
        let numbers = &*self.0;
        let mut page = Page::default();
        page.family("airlock_build_info", "gauge", "The version that runs.");
        let version = [("version", env!("CARGO_PKG_VERSION"))];
        page.sample("airlock_build_info", &version, 1);
        let name = "airlock_http_requests_total";
        page.family(
            name,
            "counter",
            "Requests answered, but for /healthz and /metrics.",
        );
        for (method, counts) in METHODS.iter().zip(&numbers.requests) {
            for (class, count) in CLASSES.iter().zip(counts) {
                page.sample(name, &[("method", method), ("status", class)], read(count));
            }
        }
        let name = "airlock_tool_calls_total";
        page.family(name, "counter", "Calls of tools other than resolve.");
        for ((_, outcome), count) in CALLS.iter().zip(&numbers.calls) {
            page.sample(name, &[("outcome", outcome)], read(count));
        }
        page.histogram(
            "airlock_tool_call_duration_seconds",
            "How long calls of tools other than resolve took.",
            &numbers.call_times,
        );
        let name = "airlock_actions_pushed_total";
        page.family(name, "counter", "Pending actions pushed by previews.");
        page.sample(name, &[], read(&numbers.pushed));
        let name = "airlock_decisions_total";
        page.family(
            name,
            "counter",
            "Requested decisions by operation and outcome.",
        );
        for ((_, operation, outcome), count) in DECISIONS.iter().zip(&numbers.decisions) {
            let labels = [("operation", *operation), ("outcome", outcome)];
            page.sample(name, &labels, read(count));
        }
        let gauges = [
            (
                "airlock_questions_open",
                "Calls and tasks that wait for a person's decision.",
                Some(read(&numbers.questions)),
            ),
            (
                "airlock_connections_open",
                "Connections that are open.",
                Some(read(&numbers.connections)),
            ),
            (
                "airlock_conversations_open",
                "Conversations that are open.",
                Some(now.conversations as u64),
            ),
            (
                "airlock_plugin_instances_live",
                "Live instances of plugins.",
                now.instances.map(|count| count as u64),
            ),
        ];
        for (name, help, value) in gauges {
            if let Some(value) = value {
                page.family(name, "gauge", help);
                page.sample(name, &[], value);
            }
        }
        page.0
    }
}

/// A text that grows by lines.
#[derive(Default)]
struct Page(String);

impl Page {
    /// Begins the samples of a metric.
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.line(format_args!("# HELP {name} {help}"));
        self.line(format_args!("# TYPE {name} {kind}"));
    }

    /// Adds a sample. Label values come from this crate and need no escaping.
    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> = labels
            .iter()
            .map(|(label, of)| format!("{label}=\"{of}\""))
            .collect();
        if labels.is_empty() {
            self.line(format_args!("{name} {value}"))
        } else {
            self.line(format_args!("{name}{{{}}} {value}", labels.join(",")))
        }
    }

    /// Adds a histogram. Its buckets are cumulative.
    fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram) {
        self.family(name, "histogram", help);
        let (bucket, mut total) = (format!("{name}_bucket"), 0);
        let bounds = BOUNDS.iter().map(f64::to_string);
        let bounds = bounds.chain(["+Inf".to_owned()]);
        for (bound, count) in bounds.zip(&histogram.counts) {
            total += read(count);
            self.sample(&bucket, &[("le", &bound)], total);
        }
        let seconds = read(&histogram.micros) as f64 / 1e6;
        self.sample(&format!("{name}_sum"), &[], seconds);
        self.sample(&format!("{name}_count"), &[], total);
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string never fails.
        let _ = self.0.write_fmt(line);
        self.0.push('\n');
    }
}

fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}
