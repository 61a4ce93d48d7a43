//! A progress line on the terminal, for work that takes longer than a second.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use airlock_host::event::{Event, Refusal};
use airlock_render::{Line, Role, cut};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::terminal::output::on_stderr;
use crate::terminal::style;

/// The time that work may take before the line is shown.
const SHOW_AFTER: Duration = Duration::from_secs(1);

/// The columns of the spinner and the space after it.
const SPINNER: usize = 3;

/// The progress line. Clones share it.
#[derive(Clone)]
pub struct Progress {
    bar: ProgressBar,
    shown: bool,
    #[cfg(feature = "author")]
    verbose: bool,
    /// True while a prompt is shown on the same terminal.
    paused: Arc<AtomicBool>,
}

impl Progress {
    /// Creates the line. It is not shown if the log is on the terminal, because they would
    /// overwrite each other.
    pub fn new(verbose: u8) -> Self {
        let style = ProgressStyle::with_template("{spinner} {wide_msg}");
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        Self {
            bar: bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner())),
            shown: verbose == 0 && io::stderr().is_terminal(),
            #[cfg(feature = "author")]
            verbose: verbose > 0,
            paused: Arc::default(),
        }
    }

    /// Returns whether the log is on the terminal.
    #[cfg(feature = "author")]
    pub fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// Runs `work`. After a second, shows `what` until it is done.
    pub async fn during<T>(&self, what: String, work: impl IntoFuture<Output = T>) -> T {
        let _shown = self.begin(&what);
        work.await
    }

    /// Shows `what` after a second, until the guard is dropped.
    pub fn begin(&self, what: &str) -> ProgressGuard {
        self.bar.reset();
        self.show(what);
        let shown = ProgressGuard {
            bar: self.bar.clone(),
            is_over: Arc::default(),
        };
        if self.shown {
            let (bar, is_over) = (shown.bar.clone(), Arc::clone(&shown.is_over));
            let paused = Arc::clone(&self.paused);
            tokio::spawn(async move {
                tokio::time::sleep(SHOW_AFTER).await;
                let is_over = lock(&is_over);
                if !*is_over && !paused.load(Ordering::SeqCst) {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                    bar.enable_steady_tick(Duration::from_millis(100));
                }
            });
        }
        shown
    }

    /// Hides the line for a prompt, until the guard is dropped.
    pub fn pause(&self) -> PausedProgress {
        self.paused.store(true, Ordering::SeqCst);
        self.bar.disable_steady_tick();
        self.bar.finish_and_clear();
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
        PausedProgress(self.clone())
    }

    /// Updates the message if the line is shown.
    pub fn say(&self, what: &str) {
        self.show(what);
    }

    /// Shows a guest's progress, and notes how many names were left out of its listings.
    pub fn observe(&self, event: &Event) {
        match event {
            Event::Progress {
                message,
                progress,
                total,
            } => self.show(&describe(message, *progress, *total)),
            Event::NamesLeftOut { names, .. } => self.bar.suspend(|| {
                let note = match names {
                    1 => " 1 name that is not UTF-8 was left out of the tool's listings".to_owned(),
                    names => format!(
                        " {names} names that are not UTF-8 were left out of the tool's listings"
                    ),
                };
                on_stderr(Line::new().with_role(Role::Note, "note:").with(note));
            }),
            Event::Refused(Refusal::Path(refusal)) => self.bar.suspend(|| {
                let text = refusal.to_string();
                let note = Line::new()
                    .with_role(Role::Note, "note:")
                    .with(" the tool ");
                on_stderr(note.with_quoted(Role::Plain, text).hanging(2));
            }),
            _ => {}
        }
    }

    /// Shows a message in one row. A second row would stay on the screen.
    fn show(&self, message: &str) {
        let columns = style::columns_of_stderr().saturating_sub(SPINNER);
        self.bar.set_message(cut(message, columns));
    }
}

/// The guard for work that the line shows. If the work is interrupted, dropping it removes the
/// line.
pub struct ProgressGuard {
    bar: ProgressBar,
    is_over: Arc<Mutex<bool>>,
}

impl Drop for ProgressGuard {
    fn drop(&mut self) {
        *lock(&self.is_over) = true;
        self.bar.finish_and_clear();
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
    }
}

/// A guard that hides the line while work continues.
pub struct PausedProgress(Progress);

impl Drop for PausedProgress {
    fn drop(&mut self) {
        self.0.paused.store(false, Ordering::SeqCst);
        if self.0.shown {
            self.0.bar.reset();
            self.0.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.0.bar.enable_steady_tick(Duration::from_millis(100));
        }
    }
}

fn lock(is_over: &Mutex<bool>) -> MutexGuard<'_, bool> {
    is_over.lock().unwrap_or_else(PoisonError::into_inner)
}

fn describe(message: &str, progress: Option<f64>, total: Option<f64>) -> String {
    match (progress, total) {
        (Some(progress), Some(total)) => format!("{message} ({progress} of {total})"),
        (Some(progress), None) => format!("{message} ({progress})"),
        (None, _) => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_described_as_far_as_it_is_known() {
        let check = |message, progress, total, expected| {
            assert_eq!(describe(message, progress, total), expected);
        };
        check(
            "Renaming",
            Some(300.0),
            Some(1000.0),
            "Renaming (300 of 1000)",
        );
        check("Reading", Some(0.5), None, "Reading (0.5)");
        check("Waiting", None, Some(3.0), "Waiting");
        check("Odd", Some(f64::NAN), None, "Odd (NaN)");
    }
}
