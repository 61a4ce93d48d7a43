//! The thread that makes running guests yield periodically, so that a deadline can end them.

use std::io;
use std::thread;
use std::time::Duration;

/// Interval at which guests yield. A deadline is noticed at most this much late.
const TICK: Duration = Duration::from_millis(10);

/// Starts the thread. It holds the engine weakly, and ends at the first tick without one.
pub(super) fn start(engine: &wasmtime::Engine) -> io::Result<()> {
    let engine = engine.weak();
    thread::Builder::new()
        .name("airlock-epoch".to_owned())
        .spawn(move || {
            loop {
                thread::sleep(TICK);
                match engine.upgrade() {
                    Some(engine) => engine.increment_epoch(),
                    None => break,
                }
            }
        })
        .map(drop)
}
