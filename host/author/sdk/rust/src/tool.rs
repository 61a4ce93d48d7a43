//! One tool: what the host presents, and the functions behind it.

use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::entry::{Apply, Definition, Entry, Execute, Functions, Reject, Resolve};
use crate::staging::Sealed;
use crate::wire::ToolTraits;
use crate::{Call, Error, Output, Preview, Resolution, envelope, params, schema};

/// One tool, while it is being put together.
///
/// It starts with a name and gets either [`answer`](Tool::answer), for a tool that never changes
/// anything, or [`preview`](Tool::preview) and then [`apply`](Tool::apply), optionally
/// [`reject`](Tool::reject) too, or [`preview_volatile`](Tool::preview_volatile) for actions that
/// are closures. `Stage` tells how far it is; only a complete tool goes into
/// [`Tools`](crate::Tools), so an `apply` that was forgotten does not compile:
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

/// A tool that has no function yet.
#[derive(Debug)]
pub struct Named {
    _private: (),
}

/// A tool that can stage plans, and still lacks the function that applies them.
pub struct Previewing<Plan> {
    parameters: fn() -> String,
    execute: Execute,
    plan: PhantomData<fn(Plan)>,
}

/// A complete tool that stages plans and applies them.
pub struct Staging<Plan> {
    functions: Functions,
    plan: PhantomData<fn(Plan)>,
}

/// The plan of a tool whose actions are closures: there is none.
#[derive(Debug)]
pub enum Volatile {}

/// A complete tool that only answers.
pub struct Answering {
    functions: Functions,
}

impl Tool {
    /// A tool with the name that it is called by (1 to 64 of the characters `A-Z a-z 0-9 _ . -`;
    /// unique in a session) and the description by which a model decides whether to call it.
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

    /// Sets the function of a tool that looks but never changes anything. That makes it a read-only
    /// tool.
    ///
    /// The schema of its parameters comes from `Params`, which is a struct: `struct Params {}`
    /// where there are none.
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
    /// The schema of its parameters comes from `Params`, which is a struct: `struct Params {}`
    /// where there are none.
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
    /// The schema of its parameters comes from `Params`, which is a struct: `struct Params {}`
    /// where there are none.
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

/// Of a tool whose function leaves nothing for the SDK to stage: it changes nothing, or pushes
/// closures itself.
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
    /// Sets the function that does what was planned. Only while it runs may the workspace be
    /// written.
    ///
    /// After an error the action is pending again, and this function may be called once more with
    /// the same plan: it either did nothing then, or can tell what it already did. See
    /// [`Resolution::attempt`].
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
    /// Sets a function that cleans up after a discarded action, or says something about it. Without
    /// one, or where it returns `None`, the caller reads `Discarded: <label>. Reason: <reason>`.
    ///
    /// The action is gone whatever this function returns, an error too.
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
    /// What the tool's actions do can't be undone by calling it again.
    pub fn destructive(self) -> Self {
        self.having(ToolTraits::DESTRUCTIVE)
    }

    /// Applying the same action twice has the effect of applying it once.
    pub fn idempotent(self) -> Self {
        self.having(ToolTraits::IDEMPOTENT)
    }
}

impl<Stage> Tool<Stage> {
    /// Sets what a person reads in a list, in one line. Without it that is the name, with spaces
    /// for its punctuation and a capital at the front.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.definition.label = Some(label.into());
        self
    }

    /// Promises that the details of every [`Output`] of this tool, where it has any, are a
    /// `Details`.
    pub fn output<Details: JsonSchema>(mut self) -> Self {
        self.definition.output = Some(schema::of_output::<Details>);
        self
    }

    /// Leaves the tool out of listings. It can still be called by its name.
    pub fn hidden(self) -> Self {
        self.having(ToolTraits::HIDDEN)
    }

    /// The tool reaches beyond the workspace, for example over the network.
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
