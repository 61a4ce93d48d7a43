//! Previews, and the actions that they propose.

use std::panic::Location;

use serde::Serialize;

use crate::Output;
use crate::details::Details;

/// A tool's description of what it would do, and the actions that it proposes.
///
/// A preview without actions is a plain answer, for example that there is nothing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview<Plan> {
    pub(crate) output: Output,
    pub(crate) actions: Vec<Action<Plan>>,
}

impl<Plan> Preview<Plan> {
    /// Returns a preview with this `output` and no actions yet.
    pub fn new(output: impl Into<Output>) -> Self {
        Self {
            output: output.into(),
            actions: Vec::new(),
        }
    }

    /// Adds an action. If there are several, the last one is on top and is resolved first.
    #[must_use]
    pub fn stage(mut self, action: Action<Plan>) -> Self {
        self.actions.push(action);
        self
    }

    /// Returns the output for the caller.
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// Returns the proposed actions, in the order in which they were staged.
    pub fn actions(&self) -> &[Action<Plan>] {
        &self.actions
    }
}

impl<Plan> From<Output> for Preview<Plan> {
    fn from(output: Output) -> Self {
        Self::new(output)
    }
}

/// A change that a tool proposes, and that waits for a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action<Plan> {
    pub(crate) label: String,
    pub(crate) plan: Plan,
    pub(crate) details: Details,
    pub(crate) made: Made,
}

/// The source location of an action, for the host's objections to it. It doesn't identify an
/// action: all locations are equal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made(pub(crate) &'static Location<'static>);

impl PartialEq for Made {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for Made {}

impl<Plan> Action<Plan> {
    /// Returns an action with a `label` for the person who decides (one line, such as `Batch
    /// rename: 12 files`) and the `plan` for `apply`.
    ///
    /// The plan is kept as JSON, and may be applied in another process and on another day. It must
    /// contain everything that `apply` needs, including the state of the workspace if that matters.
    ///
    /// If the host rejects the action, for example because its label has two lines, the caller
    /// reads the source location of this call.
    #[track_caller]
    pub fn new(label: impl Into<String>, plan: Plan) -> Self {
        Self {
            label: label.into(),
            plan,
            details: Details::default(),
            made: Made(Location::caller()),
        }
    }

    /// Sets details for reviewers: a value for programs, which is not part of the output of
    /// `apply`.
    ///
    /// The call fails if the value has no JSON form.
    #[must_use]
    pub fn details(mut self, details: impl Serialize) -> Self {
        self.details = Details::of(&details);
        self
    }

    /// Returns the label: one line about the proposed change.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns the plan for `apply`.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}
