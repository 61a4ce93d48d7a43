//! Asks, once a tool has been applied, whether what it changed is put into the workspace.

use std::io::{self, IsTerminal};

use airlock_host::approval::{Approval, ApprovalRequest, Approver, ConfirmRequest, Confirmation};
use airlock_render::Block;
use async_trait::async_trait;

use super::interrupt::Interrupt;
use super::output::say;
use super::progress::Progress;
use super::prompt;
use crate::failure::Failure;

/// Whoever sits at the terminal.
pub struct AsksAtTerminal {
    pub interrupt: Interrupt,
    pub progress: Progress,
}

impl AsksAtTerminal {
    /// # Errors
    /// Where nobody can be asked.
    pub fn check(wanted: bool, is_json: bool) -> Result<(), Failure> {
        let at_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
        if !wanted || (at_terminal && !is_json) {
            return Ok(());
        }
        let failure = Failure::usage("`--confirm-effects` asks on a terminal, and there is none");
        Err(failure.with_hint("`--rehearse always` applies only what the host has seen before"))
    }
}

#[async_trait]
impl Approver for AsksAtTerminal {
    /// The decision is a person's already.
    async fn approve(&self, _: &ApprovalRequest<'_>) -> Approval {
        Approval::Allow
    }

    async fn confirm(&self, request: &ConfirmRequest<'_>) -> Confirmation {
        let _paused = self.progress.pause();
        let block = Block::new().line("It was applied, and would change the workspace so:");
        say(&block.block(Block::effects(request.effects).indented(2)));
        let question = "Put this into the workspace? [y/N] ";
        match prompt::confirm(question, &self.interrupt).await {
            true => Confirmation::Commit,
            false => Confirmation::Drop {
                reason: "what it changed was not confirmed".to_owned(),
            },
        }
    }
}
