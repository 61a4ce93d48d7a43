//! `airlock log`: decisions and denials.

mod entry;
mod filter;
mod undoable;

use airlock_desk::session::{SessionChoice, real_path};
use airlock_desk::store::{self, Store, StoreOptions, WhenMissing};
use airlock_host::effects::Effects;
use airlock_host::pending::SessionId;
use airlock_host::store::{ActionRecord, DeniedAction, ResolvedQuery};
use airlock_render::{Block, Line, Role};

use entry::Entry;
pub use filter::{Filter, State};
use undoable::{Undo, Undos};

use crate::commands::context::chosen;
use crate::documents::log::Log;
use crate::failure::{Exit, Failure};
use crate::terminal::output::Output;

/// The arguments of the command.
pub struct Request {
    /// The session, or `None` for all.
    pub session: Option<SessionChoice>,
    /// The most entries to show, latest first.
    pub limit: usize,
    /// The filter of entries.
    pub filter: Filter,
    pub store: StoreOptions,
}

/// The most paths that an entry names.
const PATHS: usize = 3;

pub async fn list(request: &Request, out: &mut Output) -> Result<Exit, Failure> {
    let store = store::open(&request.store, WhenMissing::Refuse).await?;
    let mut choice = request.session.clone();
    let mut found = Found::read(choice.as_ref(), request, &store).await?;
    if let (Some(named), true) = (&choice, found.entries.is_empty()) {
        choice = Some(chosen(named, &store).await?);
        found = Found::read(choice.as_ref(), request, &store).await?;
    }
    let entries = &found.entries;
    out.json(&Log {
        log: (entries.iter()).map(|it| it.entry.json(&it.undo)).collect(),
    });
    if entries.is_empty() {
        tell_of_none(choice.as_ref(), request, &store, out);
        return Ok(Exit::Done);
    }
    let own = choice.as_ref().map(|choice| choice.id(&store));
    let mut block = entries.iter().fold(Block::new(), |block, shown| {
        block.block(shown.block(own.as_ref()))
    });
    if found.are_more {
        let are_decisions = (entries.iter()).all(|shown| matches!(shown.entry, Entry::Decision(_)));
        let latest = match (entries.len(), are_decisions) {
            (1, true) => " this is the latest decision; ".to_owned(),
            (count, true) => format!(" these are the latest {count} decisions; "),
            (1, false) => " this is the latest entry; ".to_owned(),
            (count, false) => format!(" these are the latest {count} entries; "),
        };
        let more = Line::new()
            .with_role(Role::Note, "note:")
            .with(latest)
            .with_role(Role::Command, "`--limit N`")
            .with(" shows more");
        block = block.line(more.hanging(2));
    }
    out.page(&block);
    Ok(Exit::Done)
}

/// An entry, with the changes of its action if those are known.
struct Shown {
    entry: Entry,
    effects: Option<Effects>,
    undo: Undo,
}

/// Entries, latest first.
struct Found {
    entries: Vec<Shown>,
    /// True if there are more beyond the limit.
    are_more: bool,
}

impl Found {
    /// Reads more and more entries, until enough pass the filter.
    async fn read(
        choice: Option<&SessionChoice>,
        request: &Request,
        store: &Store,
    ) -> Result<Self, Failure> {
        let mut query = query(choice, store);
        query.limit = request.limit.saturating_add(1);
        loop {
            let (decisions, denials) = latest(&query, &request.filter, store).await?;
            let is_all = decisions.len() < query.limit && denials.len() < query.limit;
            let merged = Entry::merged(decisions, denials).into_iter();
            let mut entries = Vec::new();
            // Beyond the limit, entries of one kind may be missing.
            for entry in merged.take(query.limit) {
                let record = entry.record();
                if entries.len() > request.limit || !is_here(record, choice) {
                    continue;
                }
                if !request.filter.takes(&entry) {
                    continue;
                }
                let effects = store.effects(record).await?;
                if request.filter.takes_paths(effects.as_ref()) {
                    entries.push(Shown {
                        entry,
                        effects,
                        undo: Undo::default(),
                    });
                }
            }
            if is_all || entries.len() > request.limit {
                let are_more = entries.len() > request.limit;
                entries.truncate(request.limit);
                let mut undos = Undos::default();
                for shown in &mut entries {
                    shown.undo = undos.of(&shown.entry, store).await?;
                }
                return Ok(Self { entries, are_more });
            }
            query.limit = query.limit.saturating_mul(4);
        }
    }
}

/// Returns the latest entries of each kind that the filter selects.
async fn latest(
    query: &ResolvedQuery,
    filter: &Filter,
    store: &Store,
) -> Result<(Vec<ActionRecord>, Vec<DeniedAction>), Failure> {
    let decisions = if filter.state.is_none_or(State::is_decision) {
        store.durable().resolved_actions(query).await?
    } else {
        Vec::new()
    };
    let denials = if filter.state.is_none_or(|state| !state.is_decision()) {
        store.durable().denied_actions(query).await?
    } else {
        Vec::new()
    };
    Ok((decisions, denials))
}

/// Returns a query for a named session, or for a workspace in any session.
fn query(choice: Option<&SessionChoice>, store: &Store) -> ResolvedQuery {
    let named = choice.filter(|choice| choice.session.is_some());
    let workspace = choice.filter(|choice| choice.session.is_none());
    ResolvedQuery {
        session: named.map(|choice| choice.id(store)),
        workspace: workspace.map(|choice| real_path(choice.workspace())),
        limit: 0,
    }
}

/// Returns whether an action's workspace is on this machine: machines that share a store may have
/// different workspaces at the same path.
fn is_here(record: &ActionRecord, choice: Option<&SessionChoice>) -> bool {
    let means_workspace = choice.is_some_and(|choice| choice.session.is_none());
    match &record.action.workspace_identity {
        Some(place) if means_workspace => place.machine.is_this(),
        _ => true,
    }
}

fn tell_of_none(
    choice: Option<&SessionChoice>,
    request: &Request,
    store: &Store,
    out: &mut Output,
) {
    let such = if request.filter.is_empty() {
        "Nothing has been decided yet"
    } else {
        "Nothing of the kind has been decided"
    };
    let Some(choice) = choice else {
        return out.line(format!("{such}."));
    };
    let place = match &choice.session {
        Some(session) => format!("in the session {session}"),
        None => format!("in {}", real_path(choice.workspace()).display()),
    };
    let all = store.command(&["log", "--all"]);
    out.line(
        Line::from(format!("{such} "))
            .with_quoted(Role::Plain, place)
            .with("; ")
            .with_role(Role::Command, format!("`{all}`"))
            .with(" shows the decisions of all.")
            .hanging(2),
    );
}

impl Shown {
    /// Returns the entry for people, without its session if that is `own`.
    fn block(&self, own: Option<&SessionId>) -> Block {
        let (record, mut block) = (self.entry.record(), self.entry.block());
        let changes = self.effects.as_ref().map_or(&[][..], |it| &it.changes);
        for change in changes.iter().take(PATHS) {
            let line = Line::new().with_quoted(Role::Plain, change.to_string());
            block = block.line(line.indented(2).hanging(2));
        }
        if changes.len() > PATHS {
            let more = format!("and {} more", changes.len() - PATHS);
            block = block.line(Line::new().with_role(Role::Faint, more).indented(2));
        }
        if own != Some(&record.session) {
            let session = format!("session {}", record.session);
            let session = Line::new().with_role(Role::Faint, session);
            block = block.line(session.indented(2).hanging(2));
        }
        let undo = match &self.undo {
            Undo::Unknown => return block,
            Undo::Possible => format!("can be undone: airlock undo {}", record.action.id.short()),
            Undo::By(by) => format!("undone by {}", by.short()),
        };
        let undo = Line::new().with_role(Role::Faint, undo);
        block.line(undo.indented(2).hanging(2))
    }
}
