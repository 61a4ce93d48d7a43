//! `airlock show`: all that is known about an action.

use airlock_host::{ActionId, ActionRecord, Error};
use airlock_render::Block;

use crate::args::ShowArgs;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::record::Record;
use crate::store::{self, Store, WhenMissing};
use crate::time;

pub async fn show(args: &ShowArgs, out: &mut Output) -> Result<Exit, Failure> {
    let store = store::open(&args.store, WhenMissing::Refuse).await?;
    let record = find(&store, &args.id).await?;
    out.json(&Record::new(&record));
    out.show(&Block::record(&record, time::moment));
    Ok(Exit::Done)
}

/// The action of this id, of whichever session.
pub async fn find(store: &Store, id: &str) -> Result<ActionRecord, Failure> {
    let id = ActionId::from(id);
    match store.durable().find(&id).await? {
        Some(record) => Ok(record),
        None => {
            let kind = Error::UnknownAction(id.clone()).kind();
            let message = format!("there is no action {id} in the store {}", store.location());
            let all = store.command(&["pending", "--all"]);
            let log = store.command(&["log", "--all"]);
            let hint = format!("`{all}` lists those that are pending, and `{log}` those that were");
            Err(Failure::new(Exit::Failed, kind, message).with_hint(hint))
        }
    }
}
