//! What `serve` is asked for.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use airlock_desk::configuration::{Decide, Given};
use airlock_desk::session::SessionChoice;
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum, ValueHint};
use clap_complete::ArgValueCompleter;

use super::completing::Plugins;
use super::configured;
use super::examples::SERVE_EXAMPLES;
use super::shared::{CallArgs, StoreArgs};
use super::values::{GrantName, RehearseWhen, age};
use crate::commands::serve::Request;
use crate::failure::Failure;

/// Serve tools to a client of the Model Context Protocol (MCP), over standard input and output
///
/// Every tool only previews, and is listed as read-only. What it would do stays pending until the
/// tool `resolve` applies it, once whoever decides has decided.
#[derive(Debug, Args)]
#[command(after_help = SERVE_EXAMPLES)]
pub struct ServeArgs {
    /// Components' files, or names of bundled plugins [default: all that are bundled]
    #[arg(value_name = "PLUGIN", add = ArgValueCompleter::new(Plugins))]
    pub plugins: Vec<OsString>,

    /// Who decides about what a model wants applied [default: person]
    #[arg(long, value_name = "WHO")]
    pub decide: Option<DecideWho>,

    /// The workspace: the directory that the tools may read, and change when applied [default: .]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub workspace: Option<PathBuf>,

    /// The session's name, where several servers, one after the other, are to have one stack
    /// [default: a new session, with a stack of its own]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub session: Option<String>,

    #[command(flatten)]
    pub call: CallArgs,

    /// How long what stays pending can be applied, such as 12h or 30d; then it is discarded
    /// [default: for ever]
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub expires: Option<Duration>,

    /// Whether the host tries out what would happen, above the workspace, before anybody decides
    /// [default: auto]
    #[arg(long, value_name = "WHEN")]
    pub rehearse: Option<RehearseWhen>,

    /// What all plugins may do beside the default; may be given more than once. What an apply does
    /// may be something else then than was shown, which is refused, and decided about again
    #[arg(long = "grant", value_name = "GRANT")]
    pub grants: Vec<GrantName>,

    #[command(flatten)]
    pub store: StoreArgs,
}

/// Who decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DecideWho {
    /// A person: whom the client asks, where it says that it can, and else at a terminal. What the
    /// client answers is its own word
    Person,
    /// A person at a terminal, with `airlock resolve`
    Terminal,
    /// The model itself
    Model,
}

impl From<DecideWho> for Decide {
    fn from(who: DecideWho) -> Self {
        match who {
            DecideWho::Person => Decide::Person,
            DecideWho::Terminal => Decide::Terminal,
            DecideWho::Model => Decide::Model,
        }
    }
}

impl ServeArgs {
    /// What is asked for here and in the configuration.
    ///
    /// # Errors
    /// Where something is wrong in the configuration.
    pub fn request(self) -> Result<Request, Failure> {
        let args = self;
        let settings = configured::settings(
            args.store.config.as_deref(),
            &Given {
                workspace: args.workspace,
                plugins: args.plugins,
                decide: args.decide.map(Into::into),
                timeout: args.call.timeout,
                max_memory: args.call.memory_bytes(),
                expires: args.expires,
                rehearse: args.rehearse.map(Into::into),
                grants: args.grants.into_iter().map(Into::into).collect(),
            },
        )?;
        Ok(Request {
            limits: settings.limits(),
            rehearse: settings.said_rehearse(),
            plugins: settings.plugins.value,
            decides: settings.decide.value,
            session: SessionChoice {
                workspace: settings.workspace.value,
                session: args.session,
            },
            expires: settings.expires.value.map(|age| age.0),
            grants: settings.grants.value,
            store: args.store.into(),
        })
    }
}
