//! `airlock undo`.

use airlock_desk::configuration::Given;
use airlock_desk::session::SessionChoice;
use airlock_desk::store::StoreOptions;
use airlock_host::native::UNDO;
use airlock_host::pending::Decision;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use clap_complete::ArgValueCompleter;
use serde_json::json;

use super::completing::Ids;
use super::examples::{EXIT_CODES, UNDO_EXAMPLES};
use super::{CallArgs, SessionArgs, StoreArgs, configured};
use crate::commands::run;
use crate::failure::Failure;

/// Undo an action that was applied: show the changes back, and ask
///
/// Contents, names, permissions and links become as they were, all or nothing. Texts that were
/// edited since are merged with the undo, line by line. If something else has changed a file so
/// that it can't be merged, nothing is undone, and the file is named. An undo can be undone, too.
///
/// An apply keeps the files that it replaces and removes in the workspace's folder .airlock, for 7
/// days and up to 1 GiB.
#[derive(Debug, Args)]
#[command(after_help = UNDO_EXAMPLES, after_long_help = format!("{UNDO_EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct UndoArgs {
    /// The applied action's id, or at least 4 of its first or last characters [default: the last
    /// one that was applied in the workspace]
    #[arg(value_parser = NonEmptyStringValueParser::new(), add = ArgValueCompleter::new(Ids))]
    pub id: Option<String>,

    /// Leave the files as they are that have changed since and can't be merged, and undo the rest
    #[arg(long)]
    pub skip_changed: bool,

    /// Leave the undo pending, to be decided later
    #[arg(long, conflicts_with_all = ["yes", "reason"])]
    pub stage: bool,

    /// Undo it without asking
    #[arg(short, long)]
    pub yes: bool,

    /// The reason; kept in the log
    #[arg(long, value_name = "TEXT", requires = "yes")]
    pub reason: Option<String>,

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

impl UndoArgs {
    /// Returns the call of the tool `undo`, with the defaults of the configuration.
    ///
    /// # Errors
    /// If the configuration is invalid.
    pub fn request(self) -> Result<run::Request, Failure> {
        let args = self;
        let given = Given {
            workspace: args.session.workspace.clone(),
            timeout: args.call.timeout,
            max_memory: args.call.memory_bytes(),
            ..Given::default()
        };
        let store = StoreOptions::from(args.store);
        let settings = configured::settings(&store.config, &given)?;
        let mut params = json!({});
        if let Some(id) = &args.id {
            params["action"] = json!(id);
        }
        if args.skip_changed {
            params["skip_changed"] = json!(true);
        }
        let reason = args.reason.unwrap_or_default();
        Ok(run::Request {
            plugin: UNDO.into(),
            tool: Some(UNDO.to_owned()),
            params: Some(params.to_string()),
            given: Vec::new(),
            session: SessionChoice {
                workspace: settings.workspace.value.clone(),
                session: args.session.session,
            },
            settings,
            decision: args.yes.then_some((Decision::Apply, reason)),
            stage: args.stage,
            extra: None,
            confirm_effects: false,
            notify: None,
            store,
        })
    }
}
