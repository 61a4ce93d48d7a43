//! `airlock show`: all that is known about an action.

use std::ffi::OsStr;

use airlock_desk::record::Record;
use airlock_desk::store::{self, WhenMissing};
use airlock_host::pending::CallRecord;
use airlock_host::store::ActionRecord;
use airlock_render::Block;

use crate::failure::{Exit, Failure};
use crate::terminal::output::Output;
use crate::terminal::time;

pub async fn show(id: &str, store: Option<&OsStr>, out: &mut Output) -> Result<Exit, Failure> {
    let store = store::open(store, WhenMissing::Refuse).await?;
    let record = store.find(id).await?;
    let call = store.call_record(&record).await?;
    out.json(&Record::new(&record).with_call(call.as_ref()));
    out.page(&block(&record, call.as_ref()));
    Ok(Exit::Done)
}

/// The action, and the call that pushed it, with the preview.
pub fn block(record: &ActionRecord, call: Option<&CallRecord>) -> Block {
    let block = Block::record(record, time::moment);
    match call {
        Some(call) => block.block(Block::call_record(call)),
        None => block,
    }
}
