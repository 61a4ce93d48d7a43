//! `airlock serve`.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use airlock_desk::configuration::{Decide, Given, Grant, GrantWord, Http};
use airlock_desk::session::SessionChoice;
use airlock_desk::store::StoreOptions;
use airlock_serve::http::HttpSettings;
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum, ValueHint};
use clap_complete::ArgValueCompleter;

use super::completing::Plugins;
use super::configured;
use super::examples::SERVE_EXAMPLES;
use super::shared::{CallArgs, StoreArgs};
use super::values::{RehearseWhen, age, seconds};
use crate::commands::serve::{OverHttp, Request};
use crate::failure::Failure;

/// Serve tools to clients of the Model Context Protocol (MCP), over standard streams or HTTP
///
/// Tools only preview, and are listed as read-only. Their actions stay pending until the tool
/// `resolve` applies them, after a decision.
///
/// On SIGHUP (on Unix) it reads plugins and rules again, and notifies clients if the list of tools
/// has changed. A plugin that can't be loaded stays as it was.
#[derive(Debug, Args)]
#[command(after_help = SERVE_EXAMPLES)]
pub struct ServeArgs {
    /// Components' files, or names of bundled and installed plugins [default: all that are bundled]
    #[arg(value_name = "PLUGIN", add = ArgValueCompleter::new(Plugins))]
    pub plugins: Vec<OsString>,

    /// Who decides when a model wants to apply an action [default: person]
    #[arg(long, value_name = "WHO")]
    pub decide: Option<DecideWho>,

    /// The workspace: the directory that the tools may read, and change when applied [default: .]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub workspace: Option<PathBuf>,

    /// The session's name, so that a later server continues with the same pending actions [default:
    /// a new session]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new(), conflicts_with = "http")]
    pub session: Option<String>,

    #[command(flatten)]
    pub call: CallArgs,

    /// Discard actions that are not resolved within AGE, such as 12h or 30d [default: never]
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub expires: Option<Duration>,

    /// When to rehearse an action on a layer over the workspace, before the decision [default:
    /// auto]
    #[arg(long, value_name = "WHEN")]
    pub rehearse: Option<RehearseWhen>,

    /// What all plugins may do, in place of the configured grants (repeatable): read=PATH,
    /// change=PATH, environment=NAME, real-time, fresh-randomness. See `airlock help run`
    #[arg(long = "grant", value_name = "GRANT")]
    pub grants: Vec<GrantWord>,

    /// How long a call waits for the user's answer, which still counts afterwards; keep it below
    /// the client's own time limit [default: 50]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub answer_within: Option<Duration>,

    /// Skip calls of other tools while a preview is pending, and ask the model to resolve it first
    #[arg(long)]
    pub skip_while_pending: bool,

    #[command(flatten)]
    pub store: StoreArgs,

    // Last, because options that are flattened after it would get its heading.
    #[command(flatten)]
    pub http: HttpArgs,
}

/// Serving over HTTP.
#[derive(Debug, Args)]
#[command(next_help_heading = "Over HTTP")]
pub struct HttpArgs {
    /// Listen on this address and port, such as 127.0.0.1:8420, for clients with a token. There is
    /// no encryption: if others can reach the address, put a proxy with TLS in front
    #[arg(long, value_name = "ADDR")]
    pub http: Option<SocketAddr>,

    /// File of tokens, readable by your user alone, with a line for each principal: NAME:TOKEN,
    /// NAME:TOKEN:read-only (can't decide) or NAME:TOKEN:metrics (reads /metrics) [default: made at
    /// the first start, for the principal `owner`, in the user's state folder]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "http")]
    pub token_file: Option<PathBuf>,

    /// Host name, with or without a port, that clients may use in addition to loopback's; may be
    /// given more than once
    #[arg(long = "allow-host", value_name = "HOST", requires = "http")]
    pub hosts: Vec<String>,

    /// Origin of web pages that may call it, such as `https://app.example.com:443`; may be given
    /// more than once
    #[arg(long = "allow-origin", value_name = "ORIGIN", requires = "http")]
    pub origins: Vec<String>,
}

/// Who decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DecideWho {
    /// A person: the client asks its user if it can, otherwise at a terminal. The answer is
    /// recorded as the client's word
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
    /// Returns the request, with the defaults of the configuration.
    ///
    /// # Errors
    /// If the configuration is invalid.
    pub fn request(self) -> Result<Request, Failure> {
        let args = self;
        let store = StoreOptions::from(args.store);
        let grant = Grant::of_words(args.grants);
        let settings = configured::settings(
            &store.config,
            &Given {
                workspace: args.workspace,
                plugins: args.plugins.clone(),
                decide: args.decide.map(Into::into),
                timeout: args.call.timeout,
                max_memory: args.call.memory_bytes(),
                expires: args.expires,
                rehearse: args.rehearse.map(Into::into),
                grant: grant.clone(),
            },
        )?;
        Ok(Request {
            limits: settings.limits(),
            rehearse: settings.said_rehearse(),
            plugins: settings.plugins.value,
            given_plugins: args.plugins,
            decides: settings.decide.value,
            session: SessionChoice {
                workspace: settings.workspace.value,
                session: args.session,
            },
            expires: settings.expires.value.map(|age| age.0),
            grants: settings.grants.value,
            locks: settings.locks,
            given_grant: grant,
            answer_within: args.answer_within,
            skip_while_pending: args.skip_while_pending,
            store,
            http: args.http.request(settings.http, settings.token_file),
        })
    }
}

impl HttpArgs {
    /// Returns the options for HTTP, with the defaults of the configuration. Returns `None` without
    /// `--http`.
    fn request(self, said: Http, token_file: Option<PathBuf>) -> Option<OverHttp> {
        let address = self.http?;
        let mut settings = HttpSettings::default();
        settings.hosts = listed(self.hosts, said.hosts);
        settings.origins = listed(self.origins, said.origins);
        if let Some(most) = said.max_connections {
            settings.max_connections = most.get() as usize;
        }
        if let Some(most) = said.max_conversations {
            settings.max_conversations = most.get() as usize;
        }
        if let Some(rate) = said.requests_per_second {
            settings.requests_per_second = rate;
        }
        if let Some(size) = said.max_body {
            settings.max_body = usize::try_from(size.0).unwrap_or(usize::MAX);
        }
        Some(OverHttp {
            address,
            token_file: self.token_file.or(token_file),
            settings,
            guest_memory: said
                .guest_memory
                .map(|size| usize::try_from(size.0).unwrap_or(usize::MAX)),
        })
    }
}

/// Returns the values of the command line, or else those of the configuration.
fn listed(given: Vec<String>, said: Option<Vec<String>>) -> Vec<String> {
    if given.is_empty() {
        said.unwrap_or_default()
    } else {
        given
    }
}
