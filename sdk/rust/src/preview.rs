//! What a tool shows before anything happens.

use std::panic::Location;

use serde::Serialize;

use crate::Output;
use crate::details::Details;

/// What a tool shows before anything happens, and the actions that it proposes.
///
/// With no action staged it is a plain answer, for example that there is nothing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview<Plan> {
    pub(crate) output: Output,
    pub(crate) actions: Vec<Action<Plan>>,
}

impl<Plan> Preview<Plan> {
    /// A preview that reads `output` and proposes nothing yet.
    pub fn new(output: impl Into<Output>) -> Self {
        Self {
            output: output.into(),
            actions: Vec::new(),
        }
    }

    /// Proposes an action. Of several, the last one lies on top, and is resolved first.
    #[must_use]
    pub fn stage(mut self, action: Action<Plan>) -> Self {
        self.actions.push(action);
        self
    }

    /// What the caller reads.
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// The proposed actions, in the order in which they were staged.
    pub fn actions(&self) -> &[Action<Plan>] {
        &self.actions
    }
}

impl<Plan> From<Output> for Preview<Plan> {
    fn from(output: Output) -> Self {
        Self::new(output)
    }
}

/// One thing that a tool would do, waiting for somebody to decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action<Plan> {
    pub(crate) label: String,
    pub(crate) plan: Plan,
    pub(crate) details: Details,
    pub(crate) made: Made,
}

/// Where an action was made, for what the host has against it. It is no part of what the action is:
/// all places are equal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made(pub(crate) &'static Location<'static>);

impl PartialEq for Made {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for Made {}

impl<Plan> Action<Plan> {
    /// An action with a `label` for the person who decides (one line, such as
    /// `Batch rename: 12 files`) and the `plan` that `apply` gets.
    ///
    /// The plan is kept as JSON, and may be applied in another process and on another day: it holds
    /// everything that `apply` needs, and what the workspace looked like where that matters.
    ///
    /// Where the host finds it invalid, for example for a label of two lines, the caller reads the
    /// place of this call.
    #[track_caller]
    pub fn new(label: impl Into<String>, plan: Plan) -> Self {
        Self {
            label: label.into(),
            plan,
            details: Details::default(),
            made: Made(Location::caller()),
        }
    }

    /// Sets details for reviewers: a value for programs, which is not part of what `apply` gives
    /// back.
    ///
    /// A value that has no JSON form makes the call fail.
    #[must_use]
    pub fn details(mut self, details: impl Serialize) -> Self {
        self.details = Details::of(&details);
        self
    }

    /// What would happen, in one line.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// What `apply` would be given.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}
