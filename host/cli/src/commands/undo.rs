//! `airlock undo`: calls the tool `undo`, and resolves the action that it pushes.

use crate::commands::run;
use crate::failure::{Exit, Failure};
use crate::load;
use crate::terminal::interrupt::Interrupt;
use crate::terminal::output::Output;
use crate::terminal::progress::Progress;

pub async fn undo(request: &run::Request, verbose: u8, out: &mut Output) -> Result<Exit, Failure> {
    let (interrupt, progress) = (Interrupt::watch(), Progress::new(verbose));
    let limits = request.settings.limits();
    let loaded = load::load(
        &request.plugin,
        &request.settings.locks,
        limits,
        &interrupt,
        &progress,
    )
    .await?;
    run::run(request, loaded, verbose, out).await
}
