//! Reloading plugins and rules on SIGHUP.

use airlock_host::Session;
use airlock_host::cancel::CancellationToken;
use airlock_serve::ServeError;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use super::setup::Setup;
use super::{failure, tell_of_rejected};
use crate::terminal::hangup::{Hangup, Hangups};
use crate::terminal::output::on_stderr;

/// Reloads whenever the operator asks for it. `rebind` applies that to all open conversations and
/// returns whether the list of tools has changed; afterwards, `listed` is a session with these
/// tools. Returns when the terminal is gone. Dropping the future cancels a reload that is under
/// way.
pub async fn on_hangup(
    mut hangups: Hangups,
    setup: &Setup,
    listed: &Session,
    rebind: impl Fn() -> Result<bool, ServeError> + Clone + Send + 'static,
) {
    while hangups.next().await == Hangup::Sent {
        let stop = CancellationToken::new();
        let _given_up = stop.clone().drop_guard();
        let (setup, listed, rebind) = (setup.clone(), listed.clone(), rebind.clone());
        // Loading and checking a component blocks a thread, and there are few serving threads.
        let reloading = spawn_blocking(move || {
            let reloading = reload(&setup, &listed, rebind);
            Handle::current().block_on(stop.run_until_cancelled(reloading))
        });
        match reloading.await {
            Ok(_) => {}
            Err(error) => tracing::error!("reloading failed: {error}"),
        }
    }
}

/// Reloads, and reports the result on standard error.
async fn reload(setup: &Setup, listed: &Session, rebind: impl Fn() -> Result<bool, ServeError>) {
    let count = match setup.read_anew().await {
        Ok(count) => count,
        Err(failure) => {
            failure.report_on_stderr();
            on_stderr("nothing was reloaded: everything stays as it was");
            return;
        }
    };
    let list = match rebind() {
        Ok(true) => "the list of tools has changed",
        Ok(false) => "the list of tools is the same",
        Err(error) => {
            failure(error).report_on_stderr();
            on_stderr("the plugins of open conversations were not reloaded");
            return;
        }
    };
    tell_of_rejected(listed);
    let plugins = match count {
        1 => "1 plugin".to_owned(),
        count => format!("{count} plugins"),
    };
    on_stderr(format!("reloaded: {plugins}, and the rules; {list}"));
}
