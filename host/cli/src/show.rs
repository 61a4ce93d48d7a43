//! `airlock show`: all that is known about an action.

use airlock_desk::record::Record;
use airlock_desk::store::{self, WhenMissing};
use airlock_render::Block;

use crate::args::ShowArgs;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::time;

pub async fn show(args: &ShowArgs, out: &mut Output) -> Result<Exit, Failure> {
    let store = store::open(args.store.named(), WhenMissing::Refuse).await?;
    let record = store.find(&args.id).await?;
    out.json(&Record::new(&record));
    out.show(&Block::record(&record, time::moment));
    Ok(Exit::Done)
}
