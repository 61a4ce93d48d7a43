//! A complete tool, without the types of its parameters and its plan.

use crate::staging::Sealed;
use crate::wire::{ToolDefinition, ToolTraits};
use crate::{Call, Error, Output, Resolution};

/// A complete tool.
pub struct Entry {
    pub(crate) definition: Definition,
    pub(crate) functions: Functions,
}

impl Entry {
    pub(crate) fn name(&self) -> &str {
        &self.definition.name
    }

    pub(crate) fn definition(&self) -> ToolDefinition {
        let Definition {
            name,
            label,
            description,
            output,
            traits,
        } = &self.definition;
        ToolDefinition {
            name: name.clone(),
            label: label.clone().unwrap_or_else(|| readable(name)),
            description: description.clone(),
            parameters: (self.functions.parameters)(),
            output: output.map(|schema| schema()),
            traits: *traits,
        }
    }

    pub(crate) fn execute(
        &self,
        params: &str,
        call: &Call,
    ) -> Result<(Output, Vec<Sealed>), Error> {
        (self.functions.execute)(params, call)
    }

    /// Returns the functions for the tool's actions, or `None` for a tool that only answers.
    pub(crate) fn resolve(&self) -> Option<&Resolve> {
        self.functions.resolve.as_ref()
    }
}

/// The properties of a tool that the host presents, except its parameters, which a function
/// returns.
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) label: Option<String>,
    pub(crate) description: String,
    pub(crate) output: Option<fn() -> String>,
    pub(crate) traits: ToolTraits,
}

/// A tool's functions, without the types of its parameters and its plan.
pub(crate) struct Functions {
    /// The schema of the parameters. It is a function because an instance that only executes needs
    /// no schema.
    pub(crate) parameters: fn() -> String,
    pub(crate) execute: Execute,
    pub(crate) resolve: Option<Resolve>,
}

pub(crate) struct Resolve {
    pub(crate) apply: Apply,
    pub(crate) reject: Option<Reject>,
}

pub(crate) type Execute = Box<dyn Fn(&str, &Call) -> Result<(Output, Vec<Sealed>), Error>>;
pub(crate) type Apply = Box<dyn Fn(&[u8], &Resolution) -> Result<Output, Error>>;
pub(crate) type Reject = Box<dyn Fn(&[u8], &Resolution) -> Result<Option<Output>, Error>>;

/// Turns a name into a label: `batch_rename` becomes `Batch rename`.
fn readable(name: &str) -> String {
    let mut label = name.replace(['_', '-', '.'], " ");
    if let Some(first) = label.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    label
}
