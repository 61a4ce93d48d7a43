//! The pending actions of all sessions, however many there are, read and printed session by
//! session.

use airlock_desk::store::Store;
use airlock_host::pending::SessionId;
use airlock_host::store::Scope;
use airlock_render::Block;

use super::{Listing, tell_of_expired, warn_of};
use crate::documents::actions::{PendingRest, Unreadable};
use crate::failure::{Exit, Failure};
use crate::terminal::output::Output;

/// The number of session ids that are read at a time.
const SESSIONS: usize = 1000;

/// The most actions with previews that are shown in a pager, which needs all of them at once.
const PAGED: usize = 1000;

pub async fn list(store: &Store, verbose: bool, out: &mut Output) -> Result<Exit, Failure> {
    let first = store.durable().open_sessions(None, SESSIONS).await?;
    out.begin_json_list("pending");
    let mut pages = Pages::new(verbose);
    let told = each(store, first, &mut pages, out).await;
    pages.end(out);
    tell_of_expired(pages.expired);
    if out.has_failed() {
        return Ok(Exit::Done);
    }
    let unreadable = match told {
        Ok(()) => store.unreadable(None).await.map_err(Failure::from),
        Err(failure) => Err(failure),
    };
    let unreadable = match unreadable {
        Ok(unreadable) => unreadable,
        // The entries that were already printed must still form a complete object.
        Err(failure) if out.is_json() => {
            out.end_json_list(&PendingRest {
                error: Some(failure.object()),
                unreadable: Vec::new(),
            });
            return Ok(failure.exit());
        }
        Err(failure) => return Err(failure),
    };
    out.end_json_list(&PendingRest {
        error: None,
        unreadable: unreadable.iter().map(Unreadable::new).collect(),
    });
    if pages.actions == 0 {
        out.line("Nothing is pending.");
    }
    if !out.is_json() {
        warn_of(&unreadable);
    }
    Ok(Exit::Done)
}

async fn each(
    store: &Store,
    first: Vec<SessionId>,
    pages: &mut Pages,
    out: &mut Output,
) -> Result<(), Failure> {
    let mut sessions = first;
    while let Some(last) = sessions.last().cloned() {
        for session in &sessions {
            let open = Scope::Session(session);
            let read = async || Ok(store.durable().open_actions(open).await?);
            let listing = Listing::read(store, pages.verbose, read).await?;
            pages.expired += listing.expired;
            for entry in listing.entries() {
                out.json_item(&entry);
            }
            pages.add(listing, store, out).await?;
            // The reader may stop early, as `head` does.
            if out.has_failed() {
                return Ok(());
            }
        }
        let next = store.durable().open_sessions(Some(&last), SESSIONS);
        sessions = next.await?;
    }
    Ok(())
}

/// The output for people.
struct Pages {
    verbose: bool,
    /// The contents for the pager.
    block: Block,
    /// The number of listed actions.
    actions: usize,
    expired: usize,
}

impl Pages {
    fn new(verbose: bool) -> Self {
        Self {
            verbose,
            block: Block::new(),
            actions: 0,
            expired: 0,
        }
    }

    async fn add(
        &mut self,
        listing: Listing,
        store: &Store,
        out: &mut Output,
    ) -> Result<(), Failure> {
        let is_first = self.actions == 0;
        self.actions += listing.open.len();
        if listing.open.is_empty() || out.is_json() {
            return Ok(());
        }
        let listing = listing.with_lookalikes(store).await?;
        let mut block = std::mem::take(&mut self.block);
        if !is_first {
            block = block.line("");
        }
        block = block.block(listing.block(None, store));
        if self.verbose && self.actions <= PAGED {
            self.block = block
        } else {
            out.show(&block)
        }
        Ok(())
    }

    fn end(&self, out: &mut Output) {
        if !self.block.is_empty() {
            out.page(&self.block);
        }
    }
}
