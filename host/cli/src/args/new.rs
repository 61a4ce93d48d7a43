//! `airlock new`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::examples::NEW_EXAMPLES;
use crate::commands::author::new::Request;

/// Create a project for a tool: one that works, with a test, a README and a CI file
#[derive(Debug, Args)]
#[command(after_help = NEW_EXAMPLES)]
pub struct NewArgs {
    /// The project's name: lowercase letters, digits and dashes, beginning with a letter
    pub name: String,

    /// The language that the tool is written in
    #[arg(long, value_name = "LANGUAGE")]
    pub lang: NewLanguage,

    /// The folder to create [default: NAME]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub path: Option<PathBuf>,

    /// A clone of Airlock whose SDKs the project uses, in place of published ones [default:
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
        Self {
            name: args.name,
            language: args.lang.into(),
            folder: args.path,
            sdk: args.sdk,
        }
    }
}

impl From<NewLanguage> for airlock_author::new::NewLanguage {
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
