//! `airlock pending`: lists the actions that wait for a decision.

mod all;
mod lookalikes;

use std::collections::HashMap;

use airlock_desk::discard;
use airlock_desk::marks::Marks;
use airlock_desk::session::SessionChoice;
use airlock_desk::store::{self, Store, StoreOptions, WhenMissing};
use airlock_host::PendingAction;
use airlock_host::pending::{CallId, CallRecord, SessionId};
use airlock_host::reads::StaleFile;
use airlock_host::store::{ActionRecord, UnreadableAction};
use airlock_render::{Block, Line, Role};

use self::lookalikes::Lookalikes;
use crate::commands::context::chosen;
use crate::commands::recovered;
use crate::documents::actions::{Entry, PendingList, PendingRest, Unreadable};
use crate::failure::{Exit, Failure};
use crate::terminal::output::{Output, on_stderr, show_on_stderr};
use crate::terminal::time;

/// The arguments of the command.
pub struct Request {
    /// The session, or `None` for all.
    pub session: Option<SessionChoice>,
    pub store: StoreOptions,
    /// True to include the previews.
    pub verbose: bool,
}

pub async fn list(request: &Request, out: &mut Output) -> Result<Exit, Failure> {
    let store = store::open(&request.store, WhenMissing::Refuse).await?;
    let Some(choice) = &request.session else {
        return all::list(&store, request.verbose, out).await;
    };
    let choice = chosen(choice, &store).await?;
    let session = choice.id(&store);
    let read = async || Ok(choice.open_actions(&store).await?);
    let listing = Listing::read(&store, request.verbose, read).await?;
    tell_of_expired(listing.expired);
    let unreadable = store.unreadable(Some(&session)).await?;
    out.json(&PendingList {
        pending: listing.entries().collect(),
        rest: PendingRest {
            error: None,
            unreadable: unreadable.iter().map(Unreadable::new).collect(),
        },
    });
    if out.is_json() {
        return Ok(Exit::Done);
    }
    let listing = listing.with_lookalikes(&store).await?;
    let block = listing.block(Some(&session), &store);
    match request.verbose {
        _ if block.is_empty() => show_that_there_is_none(out, &session, &store).await?,
        true => out.page(&block),
        false => out.show(&block),
    }
    warn_of(&unreadable);
    Ok(Exit::Done)
}

/// The open actions, with everything that the list shows.
struct Listing {
    open: Vec<ActionRecord>,
    calls: Calls,
    marks: Marks,
    lookalikes: Lookalikes,
    /// The number of actions that have expired and were discarded.
    expired: usize,
}

impl Listing {
    async fn read(
        store: &Store,
        verbose: bool,
        read: impl AsyncFn() -> Result<Vec<ActionRecord>, Failure>,
    ) -> Result<Self, Failure> {
        let mut open = read().await?;
        if recovered::recover(store, &open).await? {
            open = read().await?;
        }
        let expired = discard::discard_expired(store, &open).await?;
        if expired > 0 {
            open = read().await?;
        }
        let calls = if verbose {
            Calls::read(store, &open).await?
        } else {
            Calls::default()
        };
        let marks = Marks::of(&open, store, |action| calls.of(action)).await?;
        Ok(Self {
            open,
            calls,
            marks,
            lookalikes: Lookalikes::default(),
            expired,
        })
    }

    /// Reads the details that distinguish lookalikes, for people.
    async fn with_lookalikes(mut self, store: &Store) -> Result<Self, Failure> {
        self.lookalikes = Lookalikes::read(store, &self.open).await?;
        Ok(self)
    }

    /// Returns the entries for programs.
    fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.open.iter().map(|record| {
            let entry = Entry::new(record).with_marks(&self.marks, &record.action);
            entry.with_call(self.calls.of(&record.action))
        })
    }

    /// Returns the list for people, by session. The chosen session is not named.
    fn block(&self, chosen: Option<&SessionId>, store: &Store) -> Block {
        let sessions = self.open.chunk_by(|one, next| one.session == next.session);
        let mut block = Block::new();
        for (index, records) in sessions.enumerate() {
            if index > 0 {
                block = block.line("");
            }
            if chosen != Some(&records[0].session) {
                let session = format!("In the session {}:", records[0].session);
                block = block.line(Line::new().with_role(Role::Faint, session).hanging(2));
            }
            block = block.block(self.actions(records, store));
        }
        block
    }

    /// Returns the actions. Those of one call are grouped above its preview.
    fn actions(&self, open: &[ActionRecord], store: &Store) -> Block {
        let mut block = Block::new();
        for of_one_call in open
            .chunk_by(|one, next| one.action.call.is_some() && one.action.call == next.action.call)
        {
            for record in of_one_call {
                block = block.block(Block::open(record, time::ago));
                let lines = self.lookalikes.lines(&record.action).iter();
                block = lines.fold(block, |block, line| block.line(line.clone()));
                for mark in told_of(&record.action, &self.marks, store) {
                    let mark = Line::new().with_role(Role::Note, mark);
                    block = block.line(mark.indented(2).hanging(2));
                }
                block = block.block(elsewhere(&record.action));
            }
            if let Some(call) = self.calls.of(&of_one_call[0].action) {
                block = block.block(Block::call_record(call)).line("");
            }
        }
        block
    }
}

fn tell_of_expired(count: usize) {
    let told = match count {
        0 => return,
        1 => " 1 action has expired, and was discarded".to_owned(),
        _ => format!(" {count} actions have expired, and were discarded"),
    };
    on_stderr(Line::new().with_role(Role::Note, "note:").with(told));
}

fn warn_of(unreadable: &[UnreadableAction]) {
    for action in unreadable {
        let text = format!("action {} is left out: {}", action.id, action.problem);
        show_on_stderr(&Block::new().own_named(Role::Error, "warning:", &text, 2));
    }
}

async fn show_that_there_is_none(
    out: &mut Output,
    session: &SessionId,
    store: &Store,
) -> Result<(), Failure> {
    let none = format!("Nothing is pending in the session {session}.");
    out.line(Line::from(none).hanging(2));
    let stats = store.durable().stats().await?;
    let told = match stats.pending + stats.resolving {
        0 => return Ok(()),
        1 => "1 more action is pending in another session: ".to_owned(),
        count => format!("{count} more actions are pending in other sessions: "),
    };
    let all = store.command(&["pending", "--all"]);
    let told = Line::from(told).with_role(Role::Command, format!("`{all}`"));
    out.line(told.hanging(2));
    Ok(())
}

/// The calls that pushed the listed actions, each once.
#[derive(Default)]
struct Calls(HashMap<CallId, CallRecord>);

impl Calls {
    async fn read(store: &Store, open: &[ActionRecord]) -> Result<Self, Failure> {
        let mut calls = HashMap::new();
        for record in open {
            if let Some(id) = &record.action.call
                && !calls.contains_key(id)
                && let Some(call) = store.call_record(record).await?
            {
                calls.insert(id.clone(), call);
            }
        }
        Ok(Self(calls))
    }

    fn of(&self, action: &PendingAction) -> Option<&CallRecord> {
        self.0.get(action.call.as_ref()?)
    }
}

/// Returns the notes on an action in the list: changed files, lookalikes, and newer applies.
fn told_of(action: &PendingAction, marks: &Marks, store: &Store) -> Vec<String> {
    let same = marks.same_as(action).map(|same| {
        if same.by_call {
            format!("the same preview as {}", same.id.short())
        } else {
            format!(
                "the same plugin, tool, label and details as {}: perhaps the same preview twice",
                same.id.short()
            )
        }
    });
    let since = marks.applied_since(action).map(|latest| {
        format!(
            "previewed before {} was applied to the same workspace: preview it again if that touched the same files",
            latest.short()
        )
    });
    let stale = match marks.stale(action) {
        [] => None,
        files => Some(format!(
            "stale, and can't be applied: {}; `{}` previews it again",
            file_names(files),
            store.command(&["refresh", action.id.short()])
        )),
    };
    stale.into_iter().chain(same).chain(since).collect()
}

/// The most files that a mark names.
const NAMED: usize = 3;

fn file_names(files: &[StaleFile]) -> String {
    let mut named: Vec<_> = files.iter().take(NAMED).map(StaleFile::to_string).collect();
    if files.len() > NAMED {
        named.push(format!("and {} more", files.len() - NAMED));
    }
    named.join(", ")
}

/// Names the machine of the preview, if it is another one.
fn elsewhere(action: &PendingAction) -> Block {
    let place = action.workspace_identity.as_deref();
    let Some(place) = place.filter(|place| !place.machine.is_this()) else {
        return Block::new();
    };
    let name = &place.machine.name;
    let told = format!("previewed on the machine {name}, and applied there");
    let told = Line::new().with_role(Role::Faint, told);
    Block::from(told.indented(2).hanging(2))
}
