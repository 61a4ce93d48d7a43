//! `airlock new`.

use std::path::PathBuf;

use airlock_author::new::NewLanguage as Language;
use clap::{Args, ValueEnum, ValueHint};

use super::examples::NEW_EXAMPLES;
use crate::commands::author::new::{NewProject, Request};

/// Create a project for a tool: one that works, with a test, a README and a CI file
#[derive(Debug, Args)]
#[command(after_help = NEW_EXAMPLES)]
pub struct NewArgs {
    /// The project's name: lowercase letters, digits, and single dashes or underscores, beginning
    /// with a letter [default: asked for, on a terminal]
    pub name: Option<String>,

    /// The language that the tool is written in [default: asked for, on a terminal]
    #[arg(long, value_name = "LANGUAGE")]
    pub lang: Option<NewLanguage>,

    /// The folder to create [default: NAME]; with --update-sdk, the project's [default: this one]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub path: Option<PathBuf>,

    /// A folder to begin with, in place of the tool that comes with this program
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub template: Option<PathBuf>,

    /// Replace the SDK in an existing project by this program's
    #[arg(long, conflicts_with_all = ["name", "lang", "template", "sdk"])]
    pub update_sdk: bool,

    /// A clone of Airlock whose SDK the project uses by path, to work on the SDK itself [default:
    /// AIRLOCK_SDK]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub sdk: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// The languages that there are templates for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NewLanguage {
    Rust,
    #[value(name = "ts", alias = "typescript")]
    TypeScript,
    #[value(name = "js", alias = "javascript")]
    JavaScript,
    Python,
    Go,
    C,
}

impl From<NewArgs> for Request {
    fn from(args: NewArgs) -> Self {
        if args.update_sdk {
            return Request::UpdateSdk(args.path);
        }
        Request::Create(NewProject {
            name: args.name,
            language: args.lang.map(Language::from),
            template: args.template,
            folder: args.path,
            sdk: args.sdk,
        })
    }
}

impl From<NewLanguage> for Language {
    fn from(language: NewLanguage) -> Self {
        match language {
            NewLanguage::Rust => Self::Rust,
            NewLanguage::TypeScript => Self::TypeScript,
            NewLanguage::JavaScript => Self::JavaScript,
            NewLanguage::Python => Self::Python,
            NewLanguage::Go => Self::Go,
            NewLanguage::C => Self::C,
        }
    }
}
