//! The commands for pending and resolved actions.

use airlock_desk::part::Patterns;
use airlock_desk::store::StoreOptions;
use airlock_desk::target;
use airlock_host::pending::Decision;
use airlock_rules::Pattern;
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use clap_complete::ArgValueCompleter;

use super::completing::{Ids, PendingIds};
use super::examples::{
    EXIT_CODES, PENDING_EXAMPLES, REFRESH_EXAMPLES, RESOLVE_EXAMPLES, SHOW_EXAMPLES,
};
use super::{CallArgs, SessionArgs, StoreArgs, configured};
use crate::commands::resolve::Scope;
use crate::commands::review::ReviewName;
use crate::commands::{pending, refresh, resolve};
use crate::failure::Failure;

/// List the actions that wait for a decision, the topmost first
///
/// Every command takes the end of an id, as it is listed here. If several actions have the same
/// label and tool, the list also shows their changes, or the params of their calls.
///
/// Without `--session`, the list has all actions of the workspace: first those of its own session,
/// where `airlock resolve` without an id looks, and then those of other sessions, such as the
/// conversations of `airlock serve`.
#[derive(Debug, Args)]
#[command(after_help = PENDING_EXAMPLES)]
pub struct PendingArgs {
    #[command(flatten)]
    pub session: SessionArgs,

    /// List those of all sessions
    #[arg(long, conflicts_with_all = ["session", "workspace"])]
    pub all: bool,

    #[command(flatten)]
    pub store: StoreArgs,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

impl PendingArgs {
    /// Returns the request, with or without the previews.
    ///
    /// # Errors
    /// If the configuration is invalid.
    pub fn request(self, verbose: bool) -> Result<pending::Request, Failure> {
        let args = self;
        let store = StoreOptions::from(args.store);
        let session = configured::session_unless(args.all, &store.config, args.session)?;
        Ok(pending::Request {
            session,
            store,
            verbose,
        })
    }
}

/// Show all that is known about an action, pending or resolved, with its preview
///
/// On a terminal it is shown in a pager: AIRLOCK_PAGER, else PAGER, else less.
#[derive(Debug, Args)]
#[command(after_help = SHOW_EXAMPLES)]
pub struct ShowArgs {
    /// The action's id, in any session, or at least 4 of its first or last characters
    #[arg(value_parser = NonEmptyStringValueParser::new(), add = ArgValueCompleter::new(Ids))]
    pub id: String,

    /// Print only the changes, as a patch for `git apply`; fails if contents are missing in it
    #[arg(long, conflicts_with = "json")]
    pub patch: bool,

    #[command(flatten)]
    pub store: StoreArgs,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// What is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Action {
    /// Make the previewed changes
    Apply,
    /// Drop the previewed changes
    Discard,
}

impl From<Action> for Decision {
    fn from(action: Action) -> Self {
        match action {
            Action::Apply => Decision::Apply,
            Action::Discard => Decision::Discard,
        }
    }
}

/// Apply or discard a pending action, with the plugin and in the workspace that it was previewed
/// with
#[derive(Debug, Args)]
#[command(
    after_help = RESOLVE_EXAMPLES,
    after_long_help = format!("{RESOLVE_EXAMPLES}\n\n{EXIT_CODES}")
)]
pub struct ResolveArgs {
    /// The decision
    pub action: Action,

    #[command(flatten)]
    pub decision: DecisionArgs,
}

/// About what, and why.
#[derive(Debug, Args)]
pub struct DecisionArgs {
    /// The action, of any session, by its id, or at least 4 of its first or last characters
    /// [default: the session's topmost]
    #[arg(value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    #[arg(add = ArgValueCompleter::new(PendingIds), conflicts_with = "id")]
    pub action_id: Option<String>,

    /// The reason; passed to the tool and kept in the log [default: asked for on the terminal]
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,

    /// The same as ID
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    #[arg(add = ArgValueCompleter::new(PendingIds))]
    pub id: Option<String>,

    /// The review that you decide about, from `airlock show`, or its first 32 digits; fails if the
    /// action's effects have changed since [default: the review of the preview]
    #[arg(long, value_name = "DIGEST", conflicts_with_all = ["all", "everywhere", "stale"])]
    pub review: Option<ReviewName>,

    /// Apply only the changes of matching paths, and what they need: a name such as '*.md', a
    /// directory such as docs/, or a path; can be repeated
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    #[arg(conflicts_with_all = ["all", "everywhere", "stale"])]
    pub only: Vec<Pattern>,

    /// Leave out the changes of matching paths, and what needs them; can be repeated
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    #[arg(conflicts_with_all = ["all", "everywhere", "stale"])]
    pub except: Vec<Pattern>,

    /// Keep the changes that are left out (`--only`, `--except`, or `p` at the prompt) as a new
    /// pending action
    #[arg(long, conflicts_with_all = ["all", "everywhere", "stale"])]
    pub keep_rest: bool,

    /// Decide about all actions of the session; an apply is one step, oldest first, if they don't
    /// conflict, and otherwise one by one, until one fails
    #[arg(long, conflicts_with_all = ["id", "action_id"])]
    pub all: bool,

    /// The same for all actions of the workspace, of all conversations
    #[arg(long, conflicts_with_all = ["id", "action_id", "all", "session"])]
    pub everywhere: bool,

    /// Discard the stale actions of the workspace: their files have changed since
    #[arg(long, conflicts_with_all = ["id", "action_id", "all", "everywhere", "session"])]
    pub stale: bool,

    /// Skip the question (implied by an ID with `--reason`, and without a terminal)
    #[arg(short, long)]
    pub yes: bool,

    /// An object for the tool: JSON, `@FILE`, or `-` for standard input
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    pub extra: Option<String>,

    /// Show changes that no rehearsal has shown, and ask again before they reach the workspace
    #[arg(long)]
    pub confirm_effects: bool,

    /// Discard an interrupted action even if its outcome is unknown
    #[arg(long)]
    pub abandon: bool,

    /// The workspace is the one that was previewed, even if it was moved, copied or restored
    #[arg(long)]
    pub same_workspace: bool,

    #[command(flatten)]
    pub session: SessionArgs,

    #[command(flatten)]
    pub call: CallArgs,

    #[command(flatten)]
    pub store: StoreArgs,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

impl ResolveArgs {
    /// Returns the request, with the defaults of the configuration.
    ///
    /// # Errors
    /// Those of [`DecisionArgs::request`].
    pub fn request(self) -> Result<resolve::Request, Failure> {
        self.decision.request(self.action.into())
    }
}

impl DecisionArgs {
    /// Returns the request, with the defaults of the configuration.
    ///
    /// # Errors
    /// If the configuration is invalid, or if `--stale` is used to apply.
    pub fn request(self, decision: Decision) -> Result<resolve::Request, Failure> {
        let args = self;
        let scope = match (args.all, args.everywhere, args.stale) {
            (true, ..) => Scope::Session,
            (_, true, _) => Scope::Workspace,
            (.., true) => Scope::Stale,
            _ => Scope::One,
        };
        if decision == Decision::Apply && scope == Scope::Stale {
            let failure = Failure::usage("stale actions can't be applied");
            return Err(failure.with_hint("`airlock refresh ID` previews one of them again"));
        }
        let part = Patterns {
            only: args.only,
            except: args.except,
        };
        if decision == Decision::Discard && (!part.is_empty() || args.keep_rest) {
            let failure = Failure::usage("a discard drops all changes of the action");
            return Err(failure.with_hint("`airlock apply --except PATTERN` leaves out some"));
        }
        let id = args.action_id.or(args.id);
        let store = StoreOptions::from(args.store);
        // A named action is applied in its own workspace.
        let session = match &id {
            Some(_) => args.session.into(),
            None => configured::session(&store.config, args.session)?,
        };
        Ok(resolve::Request {
            limits: configured::limits(&store.config, &args.call)?,
            target: target::ResolveRequest {
                decision,
                id,
                session,
                same_workspace: args.same_workspace,
            },
            scope,
            yes: args.yes,
            reason: args.reason,
            extra: args.extra,
            part,
            keep_rest: args.keep_rest,
            review: args.review,
            abandon: args.abandon,
            confirm_effects: args.confirm_effects,
            store,
        })
    }
}

/// Run a stale action's tool again and replace its preview
#[derive(Debug, Args)]
#[command(after_help = REFRESH_EXAMPLES)]
pub struct RefreshArgs {
    /// The action's id, in any session, or at least 4 of its first or last characters
    #[arg(value_parser = NonEmptyStringValueParser::new(), add = ArgValueCompleter::new(PendingIds))]
    pub id: String,

    #[command(flatten)]
    pub call: CallArgs,

    #[command(flatten)]
    pub store: StoreArgs,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

impl RefreshArgs {
    /// Returns the request, with the defaults of the configuration.
    ///
    /// # Errors
    /// If the configuration is invalid.
    pub fn request(self) -> Result<refresh::Request, Failure> {
        let args = self;
        let store = StoreOptions::from(args.store);
        Ok(refresh::Request {
            limits: configured::limits(&store.config, &args.call)?,
            id: args.id,
            store,
        })
    }
}

pub(super) fn pattern(text: &str) -> Result<Pattern, String> {
    Pattern::new(text)
}
