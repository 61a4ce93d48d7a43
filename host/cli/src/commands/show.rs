//! `airlock show`: shows everything that is known about an action.

mod patch;

use airlock_desk::store::{self, Store, StoreOptions, WhenMissing};
use airlock_host::effects::Effects;
use airlock_host::pending::CallRecord;
use airlock_host::reads::StaleFile;
use airlock_host::store::ActionRecord;
use airlock_render::{Block, Line, Role};

use crate::commands::{recovered, rehearsed, review};
use crate::documents::actions::Record;
use crate::failure::{Exit, Failure};
use crate::terminal::output::Output;
use crate::terminal::time;

pub use patch::patch;

pub async fn show(
    id: &str,
    store: &StoreOptions,
    verbose: u8,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let store = store::open(store, WhenMissing::Refuse).await?;
    let record = recovered::find(&store, id).await?;
    let call = store.call_record(&record).await?;
    let effects = rehearsed::effects(&store, &record, verbose).await?;
    let stale = rehearsed::stale(&store, &record).await;
    let denials = store.denials(&record).await?;
    let json = Record::new(&record)
        .with_call(call.as_ref())
        .with_denials(&denials);
    out.json(&json.with_effects(effects.as_ref()).with_stale(&stale));
    let shown = block(&record, call.as_ref(), effects.as_ref());
    let shown = shown.block(told_stale(&stale, &record, &store));
    out.page(&shown.block(Block::denials(&denials, time::moment)));
    Ok(Exit::Done)
}

/// Lists the files of an action that have changed since the preview, and what to do about it.
pub fn told_stale(stale: &[StaleFile], record: &ActionRecord, store: &Store) -> Block {
    let block = Block::new();
    if stale.is_empty() {
        return block;
    }
    let refresh = store.command(&["refresh", record.action.id.short()]);
    let block = block.line(
        Line::new()
            .with_role(Role::Error, "Stale,")
            .with(" and can't be applied; ")
            .with_role(Role::Command, format!("`{refresh}`"))
            .with(" previews it again:"),
    );
    let files = stale.iter().map(|file| Line::from(file.to_string()));
    files.fold(block, |block, file| block.line(file.indented(2)))
}

/// Returns the action, its call with the preview, the effects that the host saw, and the action's
/// details.
pub fn block(record: &ActionRecord, call: Option<&CallRecord>, effects: Option<&Effects>) -> Block {
    let block = Block::record(record, time::moment);
    let block = match call {
        Some(call) => block.block(Block::call_record(call)),
        None => block,
    };
    let block = match effects {
        Some(effects) => {
            let preview = call.map_or(&[][..], |call| &call.content);
            let block = block.block(Block::effects_below(effects, preview).indented(2));
            if record.resolved.is_none() && effects.verified {
                let block = block.block(Block::answer(effects, preview).indented(2));
                block.line(format!("  Review: {}", review::short(&effects.digest())))
            } else {
                block
            }
        }
        None if record.resolved.is_some() => block,
        None => block.block(Block::effects_summary(None).indented(2)),
    };
    // Last, because they are for programs and may be long.
    block.block(Block::details(&record.action))
}
