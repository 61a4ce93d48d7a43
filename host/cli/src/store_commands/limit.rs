//! `airlock store limit`: how much the store may keep.

use airlock_desk::store::{self, WhenMissing};
use serde_json::json;

use crate::args::{ByteLimit, LimitArgs};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::size;

pub async fn show_or_set(args: &LimitArgs, out: &mut Output) -> Result<Exit, Failure> {
    let missing = match args.limit {
        Some(_) => WhenMissing::Make,
        None => WhenMissing::Refuse,
    };
    let store = store::open(args.store.named(), missing).await?;
    if let Some(limit) = args.limit {
        let limit = match limit {
            ByteLimit::None => None,
            ByteLimit::Bytes(bytes) => Some(bytes),
        };
        store.durable().set_byte_limit(limit).await?;
    }
    let limit = store.durable().byte_limit().await?;
    out.json(&json!({ "limit": limit }));
    out.line(match limit {
        Some(bytes) => format!("The store may keep {}.", size::human(bytes)),
        None => "The store may keep as much as there is room for.".to_owned(),
    });
    Ok(Exit::Done)
}
