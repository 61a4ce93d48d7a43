//! `airlock store retention`, `limit` and `prune`: how long decisions are kept, how much is kept,
//! and removing old ones.

use std::time::Duration;

use airlock_desk::store::{self, StoreOptions, WhenMissing};
use airlock_render::{Line, Role};

use crate::documents::store::{StoreForget, StoreLimit, StorePrune, StoreRetention};
use crate::failure::{Exit, Failure};
use crate::terminal::output::Output;
use crate::terminal::{size, time};

pub async fn retention(
    kept: Option<Option<Duration>>,
    store: &StoreOptions,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let missing = match kept {
        Some(_) => WhenMissing::Make,
        None => WhenMissing::Refuse,
    };
    let store = store::open(store, missing).await?;
    if let Some(kept) = kept {
        store.durable().set_retention(kept).await?;
    }
    let kept = store.durable().retention().await?;
    out.json(&StoreRetention {
        retention: word(kept),
        seconds: kept.map(|kept| kept.as_secs()),
    });
    out.line(match kept {
        Some(kept) => format!("Decisions are kept for {}.", time::option(kept)),
        None => "Decisions are kept forever.".to_owned(),
    });
    Ok(Exit::Done)
}

pub async fn forget(id: &str, store: &StoreOptions, out: &mut Output) -> Result<Exit, Failure> {
    let store = store::open(store, WhenMissing::Refuse).await?;
    let record = store.find(id).await?;
    let id = &record.action.id;
    // Another process may have been faster.
    let is_gone = store.durable().forget(id).await? || store.durable().find(id).await?.is_none();
    if !is_gone {
        let discard = store.command(&["resolve", "discard", "--reason", "…", "--id", id.short()]);
        let failure = Failure::usage(format!("the action {id} is not resolved yet"));
        return Err(failure.with_hint(format!("`{discard}` drops it first")));
    }
    out.json(&StoreForget {
        forgotten: id.as_str(),
    });
    let label = Line::from("Forgotten: ").with_quoted(Role::Plain, &*record.action.label);
    out.line(label);
    Ok(Exit::Done)
}

/// Formats a retention as the command accepts it.
pub fn word(retention: Option<Duration>) -> String {
    match retention {
        Some(kept) => time::option(kept),
        None => "forever".to_owned(),
    }
}

pub async fn limit(
    limit: Option<Option<u64>>,
    store: &StoreOptions,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let missing = match limit {
        Some(_) => WhenMissing::Make,
        None => WhenMissing::Refuse,
    };
    let store = store::open(store, missing).await?;
    if let Some(limit) = limit {
        store.durable().set_byte_limit(limit).await?;
    }
    let limit = store.durable().byte_limit().await?;
    out.json(&StoreLimit { limit });
    out.line(match limit {
        Some(bytes) => format!("The store may hold {}.", size::human(bytes)),
        None => "The size of the store is not limited.".to_owned(),
    });
    Ok(Exit::Done)
}

pub async fn prune(
    older_than: Option<Duration>,
    store: &StoreOptions,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let store = store::open(store, WhenMissing::Refuse).await?;
    let age = match older_than {
        Some(age) => age,
        None => store.durable().retention().await?.ok_or_else(|| {
            Failure::usage("this store keeps decisions forever, so an age is needed").with_hint(
                "for example: `--older-than 30d`; `airlock store retention 30d` sets it for good",
            )
        })?,
    };
    let pruned = store.durable().prune(age).await?;
    out.json(&StorePrune {
        actions: pruned.actions,
        older_than: time::option(age),
        plugins: pruned.plugins,
    });
    out.line(format_args!(
        "Forgot {} older than {}, and {}.",
        size::counted(pruned.actions, "decision"),
        time::option(age),
        size::counted(pruned.plugins, "plugin"),
    ));
    Ok(Exit::Done)
}
