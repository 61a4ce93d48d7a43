//! On SIGHUP, plugins and rules are read anew.

use airlock_host::Session;
use airlock_host::cancel::CancellationToken;
use airlock_serve::ServeError;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use super::setup::Setup;
use super::{failure, tell_of_rejected};
use crate::terminal::hangup::{Hangup, Hangups};
use crate::terminal::output::on_stderr;

/// Reads anew whenever the operator says so, and has `rebind` give it to whatever is open, which
/// says whether the list of tools has changed; `listed` is a session that has these tools then.
/// Returns when the terminal has gone. What is under way when this is dropped is given up.
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
        // Reading and checking a component keeps a thread busy, and those that serve are few.
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

/// Standard error tells what came of it.
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
