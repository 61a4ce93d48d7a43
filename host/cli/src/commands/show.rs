//! `airlock show`: all that is known about an action.

use std::ffi::OsStr;

use airlock_desk::record::Record;
use airlock_desk::store::{self, WhenMissing};
use airlock_render::Block;

use crate::failure::{Exit, Failure};
use crate::terminal::output::Output;
use crate::terminal::time;

pub async fn show(id: &str, store: Option<&OsStr>, out: &mut Output) -> Result<Exit, Failure> {
    let store = store::open(store, WhenMissing::Refuse).await?;
    let record = store.find(id).await?;
    let call = store.call_record(&record).await?;
    out.json(&Record::new(&record).with_call(call.as_ref()));
    let block = Block::record(&record, time::moment);
    out.page(&match &call {
        Some(call) => block.block(Block::call_record(call)),
        None => block,
    });
    Ok(Exit::Done)
}
