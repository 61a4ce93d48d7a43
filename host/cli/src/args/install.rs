//! `airlock install`, `update`, `uninstall`, `list` and `push`.

use std::path::PathBuf;

use airlock_desk::configuration::{GrantWord, OperatorFiles};
use airlock_desk::lock::InstalledName;
use airlock_registry::{OciReference, Reference};
use clap::{Args, ValueHint};
use clap_complete::ArgValueCompleter;

use super::completing::Installed;
use super::examples::{
    EXIT_CODES, INSTALL_EXAMPLES, LIST_EXAMPLES, PUSH_EXAMPLES, REFERENCES, UNINSTALL_EXAMPLES,
    UPDATE_EXAMPLES,
};
use crate::commands::install::{Consent, Request};
use crate::commands::{push, update};
use crate::failure::Failure;

/// Install a plugin: show its wants, ask which to grant, and pin it in airlock.lock
///
/// Then it has a name for `run`, `serve` and the configuration. Without a reference, fetches the
/// components that airlock.lock lists and that are not on this machine.
#[derive(Debug, Args)]
#[command(after_help = INSTALL_EXAMPLES, after_long_help = format!("{INSTALL_EXAMPLES}\n\n{REFERENCES}\n\n{EXIT_CODES}"))]
pub struct InstallArgs {
    /// The component's place: a reference to a registry, an https:// address, a file or a folder.
    /// See `airlock help install`
    #[arg(value_hint = ValueHint::FilePath)]
    pub reference: Option<Reference>,

    /// The plugin's name [default: the last part of the reference]
    #[arg(long = "as", value_name = "NAME", requires = "reference")]
    pub name: Option<InstalledName>,

    /// Grant this and nothing else, without asking (repeatable): read=PATH, change=PATH,
    /// environment=NAME, real-time, fresh-randomness. For an installed plugin, replaces its grants
    #[arg(long = "grant", value_name = "GRANT", requires = "reference")]
    pub grants: Vec<GrantWord>,

    /// Install it and grant all its wants, without asking. If it is installed, update it
    /// without granting more
    #[arg(short, long, requires = "reference", conflicts_with = "grants")]
    pub yes: bool,

    #[command(flatten)]
    pub lock: LockArgs,
}

/// Update installed plugins: show the changes in authority and prompts, and ask
///
/// Looks at each plugin's reference again, so a plugin from a tag such as `1` can have another
/// version. To change the tag, use `airlock install`. Prompts are the names, descriptions and
/// schemas of tools, because models read them. Without an answer, the old version stays.
#[derive(Debug, Args)]
#[command(after_help = UPDATE_EXAMPLES, after_long_help = format!("{UPDATE_EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct UpdateArgs {
    /// The plugins [default: all that are installed]
    #[arg(add = ArgValueCompleter::new(Installed))]
    pub names: Vec<InstalledName>,

    /// Grant this in addition, and update without asking (repeatable). See
    /// `airlock help run`
    #[arg(long = "grant", value_name = "GRANT", requires = "names")]
    pub grants: Vec<GrantWord>,

    /// Update without asking, and grant nothing that is not granted yet
    #[arg(short, long, conflicts_with = "grants")]
    pub yes: bool,

    #[command(flatten)]
    pub lock: LockArgs,
}

/// Remove installed plugins and their components
///
/// Their pending actions stay, and can still be applied or discarded.
#[derive(Debug, Args)]
#[command(after_help = UNINSTALL_EXAMPLES)]
pub struct UninstallArgs {
    /// The plugins
    #[arg(required = true, add = ArgValueCompleter::new(Installed))]
    pub names: Vec<InstalledName>,

    #[command(flatten)]
    pub lock: LockArgs,
}

/// List installed plugins with their references and permissions
#[derive(Debug, Args)]
#[command(after_help = LIST_EXAMPLES)]
pub struct ListArgs {
    #[command(flatten)]
    pub lock: LockArgs,
}

/// Publish a component in an OCI registry
///
/// Credentials are docker's: `docker login HOST` writes them. The same component always gets the
/// same digest.
#[derive(Debug, Args)]
#[command(after_help = PUSH_EXAMPLES, after_long_help = format!("{PUSH_EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct PushArgs {
    /// Where to: HOST/REPOSITORY:TAG
    pub reference: Reference,

    /// The component's file, a tools file, or a folder with one component, there or in its folder
    /// build
    #[arg(default_value = ".", value_hint = ValueHint::AnyPath)]
    pub component: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Which lock, and how to print.
#[derive(Debug, Args)]
pub struct LockArgs {
    /// The operator's configuration file, instead of the user's; airlock.lock is next to it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, display_order = 91)]
    pub config: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

impl LockArgs {
    pub fn files(self) -> OperatorFiles {
        OperatorFiles::new(self.config)
    }
}

fn consent(yes: bool, grants: Vec<GrantWord>, of: fn(Vec<GrantWord>) -> Consent) -> Consent {
    if yes {
        Consent::Given
    } else if grants.is_empty() {
        Consent::Ask
    } else {
        of(grants)
    }
}

impl From<InstallArgs> for Request {
    fn from(args: InstallArgs) -> Self {
        Self {
            reference: args.reference,
            name: args.name,
            consent: consent(args.yes, args.grants, Consent::Exactly),
            files: args.lock.files(),
        }
    }
}

impl From<UpdateArgs> for update::Request {
    fn from(args: UpdateArgs) -> Self {
        Self {
            names: args.names,
            consent: consent(args.yes, args.grants, Consent::Also),
            files: args.lock.files(),
        }
    }
}

impl TryFrom<PushArgs> for push::Request {
    type Error = Failure;

    fn try_from(args: PushArgs) -> Result<Self, Self::Error> {
        let reference: OciReference = match args.reference {
            Reference::Oci(reference) => reference,
            other => {
                let message = format!("{other} is not a reference to a registry");
                return Err(Failure::usage(message).with_hint("write it as HOST/REPOSITORY:TAG"));
            }
        };
        Ok(Self {
            reference,
            component: args.component,
        })
    }
}
