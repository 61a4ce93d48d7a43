//! A tool: what the host presents, and the functions behind it.

use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::entry::{Apply, Definition, Entry, Execute, Functions, Reject, Resolve};
use crate::staging::Sealed;
use crate::wire::ToolTraits;
use crate::{Call, Error, Output, Preview, Resolution, envelope, params, schema};

/// A tool that is being built.
///
/// It starts with a name and a description. Add one of these:
///
/// - [`answer`](Tool::answer), for a tool that never changes anything;
/// - [`preview`](Tool::preview) and then [`apply`](Tool::apply), optionally with
///   [`reject`](Tool::reject);
/// - [`preview_volatile`](Tool::preview_volatile), for actions that are closures.
///
/// `Stage` is the stage of the build. Only a complete tool goes into [`Tools`](crate::Tools), so a
/// missing `apply` does not compile:
///
/// ```compile_fail
/// # use airlock_tool::{Call, Error, Preview, Tool, Tools};
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Params {}
/// fn preview(_: Params, _: &Call) -> Result<Preview<String>, Error> {
///     Ok(Preview::new("Would do something."))
/// }
/// let tools = Tools::new().with(Tool::new("greet", "Greets.").preview(preview)); // where is `apply`?
/// ```
#[must_use = "a tool does nothing until it is part of `Tools`"]
pub struct Tool<Stage = Named> {
    definition: Definition,
    stage: Stage,
}

/// The stage of a tool that has no function yet.
#[derive(Debug)]
pub struct Named {
    _private: (),
}

/// The stage of a tool that can stage plans but lacks the function that applies them.
pub struct Previewing<Plan> {
    parameters: fn() -> String,
    execute: Execute,
    plan: PhantomData<fn(Plan)>,
}

/// The stage of a complete tool that stages plans and applies them.
pub struct Staging<Plan> {
    functions: Functions,
    plan: PhantomData<fn(Plan)>,
}

/// The plan of a tool whose actions are closures. It has no values.
#[derive(Debug)]
pub enum Volatile {}

/// The stage of a complete tool that only answers.
pub struct Answering {
    functions: Functions,
}

impl Tool {
    /// Returns a tool with this name and description.
    ///
    /// The name is 1 to 64 of the characters `A-Z a-z 0-9 _ . -`, and unique in a session. A model
    /// decides from the description when to call the tool.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        let definition = Definition {
            name: name.into(),
            label: None,
            description: description.into(),
            output: None,
            traits: ToolTraits::empty(),
        };
        Self {
            definition,
            stage: Named { _private: () },
        }
    }

    /// Sets the function of a tool that reads but never changes anything. This makes the tool
    /// read-only.
    ///
    /// The schema of the tool's parameters comes from `Params`, which must be a struct. Use `struct
    /// Params {}` if there are none.
    pub fn answer<Params, F>(self, answer: F) -> Tool<Answering>
    where
        Params: DeserializeOwned + JsonSchema,
        F: Fn(Params, &Call) -> Result<Output, Error> + 'static,
    {
        let functions = staging_nothing(answer);
        self.at(Answering { functions })
            .having(ToolTraits::READ_ONLY)
    }

    /// Sets the function that finds out what the tool would do, and stages it as a `Plan`.
    ///
    /// The schema of the tool's parameters comes from `Params`, which must be a struct. Use `struct
    /// Params {}` if there are none.
    pub fn preview<Params, Plan, F>(self, preview: F) -> Tool<Previewing<Plan>>
    where
        Params: DeserializeOwned + JsonSchema,
        Plan: Serialize + DeserializeOwned,
        F: Fn(Params, &Call) -> Result<Preview<Plan>, Error> + 'static,
    {
        let tool = self.definition.name.clone();
        let execute: Execute = Box::new(move |json, call| {
            let Preview { output, actions } = preview(params::read(json)?, call)?;
            let sealed = actions.into_iter().map(|action| {
                let state = envelope::seal(&tool, &action.plan)?;
                Ok(Sealed {
                    label: action.label,
                    details: action.details,
                    state,
                    made: action.made,
                })
            });
            Ok((output, sealed.collect::<Result<_, Error>>()?))
        });
        self.at(Previewing {
            parameters: schema::of_input::<Params>,
            execute,
            plan: PhantomData,
        })
        .having(ToolTraits::DEFERRABLE)
    }

    /// Sets the function of a tool that pushes [`VolatileAction`](crate::VolatileAction)s itself.
    ///
    /// The schema of the tool's parameters comes from `Params`, which must be a struct. Use `struct
    /// Params {}` if there are none.
    pub fn preview_volatile<Params, F>(self, preview: F) -> Tool<Staging<Volatile>>
    where
        Params: DeserializeOwned + JsonSchema,
        F: Fn(Params, &Call) -> Result<Output, Error> + 'static,
    {
        let functions = staging_nothing(preview);
        let plan = PhantomData;
        self.at(Staging { functions, plan })
            .having(ToolTraits::DEFERRABLE)
    }
}

/// Returns the functions of a tool that stages nothing through the SDK: it changes nothing, or
/// pushes closures itself.
fn staging_nothing<Params, F>(function: F) -> Functions
where
    Params: DeserializeOwned + JsonSchema,
    F: Fn(Params, &Call) -> Result<Output, Error> + 'static,
{
    Functions {
        parameters: schema::of_input::<Params>,
        execute: Box::new(move |json, call| Ok((function(params::read(json)?, call)?, Vec::new()))),
        resolve: None,
    }
}

impl<Plan: DeserializeOwned + 'static> Tool<Previewing<Plan>> {
    /// Sets the function that carries out the plan. The workspace is writable only while it runs.
    ///
    /// After an error the action is pending again, and this function may be called again with the
    /// same plan. On an error it must therefore either have done nothing, or be able to detect what
    /// it already did. See [`Resolution::attempt`].
    pub fn apply<F>(self, apply: F) -> Tool<Staging<Plan>>
    where
        F: Fn(Plan, &Resolution) -> Result<Output, Error> + 'static,
    {
        let Self {
            definition,
            stage:
                Previewing {
                    parameters,
                    execute,
                    plan,
                },
        } = self;
        let apply: Apply =
            Box::new(move |state, resolution| apply(envelope::open(state)?, resolution));
        let functions = Functions {
            parameters,
            execute,
            resolve: Some(Resolve {
                apply,
                reject: None,
            }),
        };
        Tool {
            definition,
            stage: Staging { functions, plan },
        }
    }
}

impl<Plan: DeserializeOwned + 'static> Tool<Staging<Plan>> {
    /// Sets a function that cleans up after a discarded action, or returns a message about it.
    /// Without one, or if it returns `None`, the caller reads `Discarded: <label>. Reason:
    /// <reason>`.
    ///
    /// The action is gone whatever this function returns, even an error.
    pub fn reject<F>(mut self, reject: F) -> Self
    where
        F: Fn(Plan, &Resolution) -> Result<Option<Output>, Error> + 'static,
    {
        let reject: Reject =
            Box::new(move |state, resolution| reject(envelope::open(state)?, resolution));
        if let Some(resolve) = &mut self.stage.functions.resolve {
            resolve.reject = Some(reject);
        }
        self
    }
}

impl<Plan> Tool<Staging<Plan>> {
    /// Marks the tool as destructive: calling it again can't undo what its actions do.
    pub fn destructive(self) -> Self {
        self.having(ToolTraits::DESTRUCTIVE)
    }

    /// Marks the tool as idempotent: applying the same action twice has the effect of applying it
    /// once.
    pub fn idempotent(self) -> Self {
        self.having(ToolTraits::IDEMPOTENT)
    }
}

impl<Stage> Tool<Stage> {
    /// Sets the tool's name in lists, in one line. The default is the name, with spaces instead of
    /// punctuation and a capital first letter.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.definition.label = Some(label.into());
        self
    }

    /// Promises that the details of every [`Output`] of this tool, if it has any, are a `Details`.
    pub fn output<Details: JsonSchema>(mut self) -> Self {
        self.definition.output = Some(schema::of_output::<Details>);
        self
    }

    /// Leaves the tool out of listings. It can still be called by its name.
    pub fn hidden(self) -> Self {
        self.having(ToolTraits::HIDDEN)
    }

    /// Marks the tool as open-world: it reaches beyond the workspace, for example over the network.
    pub fn open_world(self) -> Self {
        self.having(ToolTraits::OPEN_WORLD)
    }

    fn having(mut self, traits: ToolTraits) -> Self {
        self.definition.traits |= traits;
        self
    }

    fn at<Next>(self, stage: Next) -> Tool<Next> {
        Tool {
            definition: self.definition,
            stage,
        }
    }
}

/// A [`Tool`] that has all its functions.
#[diagnostic::on_unimplemented(
    message = "this tool is not complete",
    label = "has no `answer`, or a `preview` without an `apply`",
    note = "give it `.answer(f)`, `.preview(f).apply(g)`, or `.preview_volatile(f)`"
)]
pub trait Complete: sealed::Sealed {}

impl<Plan> Complete for Tool<Staging<Plan>> {}
impl Complete for Tool<Answering> {}

pub(crate) mod sealed {
    pub trait Sealed {
        #[doc(hidden)]
        fn into_entry(self) -> crate::entry::Entry;
    }
}

impl<Plan> sealed::Sealed for Tool<Staging<Plan>> {
    fn into_entry(self) -> Entry {
        Entry {
            definition: self.definition,
            functions: self.stage.functions,
        }
    }
}

impl sealed::Sealed for Tool<Answering> {
    fn into_entry(self) -> Entry {
        Entry {
            definition: self.definition,
            functions: self.stage.functions,
        }
    }
}
