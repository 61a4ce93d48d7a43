//! `airlock:tool@0.1`: its bindings, generated from `wit/0.1.0`, and their translation.

use std::marker::PhantomData;

use airlock_model::content::Content;
use airlock_model::error::Error;
use airlock_model::event::LogLevel;
use airlock_model::tool::ToolTraits;
use wasmtime::Store;
use wasmtime::component::{HasData, Linker};

use super::{DecidedAction, Definition, Host, Returned};
use crate::pushing::{Details, PushError, PushRequest};
use airlock::tool::{host, pending_actions, types};
use exports::airlock::tool::resolver::Resolution;

wasmtime::component::bindgen!({
    path: "wit/0.1.0",
    world: "custom-tool",
    imports: {
        "airlock:tool/pending-actions.push-pending-action": async,
    },
    exports: { default: async },
    // Arguments are borrowed: the guest gets a copy in its own memory anyway.
    ownership: Borrowing { duplicate_if_necessary: true },
});

/// Adds the imports of components of this version.
pub(super) fn add_to_linker<T: Host + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    CustomTool::add_to_linker::<T, HasHost<T>>(linker, |host| Answers(host))
}

struct HasHost<T>(PhantomData<T>);

impl<T: Host + 'static> HasData for HasHost<T> {
    type Data<'a> = Answers<'a, T>;
}

/// Answers in the terms of this version.
struct Answers<'a, T>(&'a mut T);

impl<T: Host> types::Host for Answers<'_, T> {}

impl<T: Host> pending_actions::Host for Answers<'_, T> {
    async fn push_pending_action(
        &mut self,
        action: pending_actions::PendingAction,
    ) -> Result<String, pending_actions::PushError> {
        let pushed = PushRequest {
            label: action.label,
            source_tool_name: action.source_tool_name,
            details: action.details.map_or(Details::None, Details::Text),
            has_reject: action.has_reject,
            state: action.state,
        };
        match self.0.push(pushed).await {
            Ok(id) => Ok(id.as_str().to_owned()),
            Err(PushError::StoreUnavailable(message)) => {
                Err(pending_actions::PushError::StoreUnavailable(message))
            }
            Err(PushError::LimitExceeded(message)) => {
                Err(pending_actions::PushError::LimitExceeded(message))
            }
            Err(PushError::Invalid(message)) => Err(pending_actions::PushError::Invalid(message)),
        }
    }
}

impl<T: Host> host::Host for Answers<'_, T> {
    fn log(&mut self, level: host::Level, message: String) {
        let level = match level {
            host::Level::Trace => LogLevel::Trace,
            host::Level::Debug => LogLevel::Debug,
            host::Level::Info => LogLevel::Info,
            host::Level::Warn => LogLevel::Warn,
            host::Level::Error => LogLevel::Error,
        };
        self.0.log(level, message);
    }

    fn report_progress(&mut self, message: String, progress: Option<f64>, total: Option<f64>) {
        self.0.report_progress(message, progress, total);
    }

    fn is_cancelled(&mut self) -> bool {
        self.0.is_cancelled()
    }

    fn session(&mut self) -> Option<host::SessionInfo> {
        let session = self.0.session()?;
        Some(host::SessionInfo {
            id: session.id,
            workspace: session.workspace,
            has_pending_store: session.has_pending_store,
        })
    }
}

pub(super) async fn definitions<T: Send>(
    guest: &CustomTool,
    store: &mut Store<T>,
) -> wasmtime::Result<Vec<Definition>> {
    let definitions = guest.airlock_tool_tool().call_definitions(store).await?;
    Ok(definitions.into_iter().map(definition).collect())
}

pub(super) async fn execute<T: Send>(
    guest: &CustomTool,
    store: &mut Store<T>,
    call_id: &str,
    tool: &str,
    params: &str,
) -> wasmtime::Result<Result<Returned, Error>> {
    let exports = guest.airlock_tool_tool();
    let result = exports.call_execute(store, call_id, tool, params).await?;
    Ok(result.map(returned).map_err(complaint))
}

pub(super) async fn apply<T: Send>(
    guest: &CustomTool,
    store: &mut Store<T>,
    decided: &DecidedAction<'_>,
) -> wasmtime::Result<Result<Returned, Error>> {
    let exports = guest.airlock_tool_resolver();
    let result = exports.call_apply(store, resolution(decided)).await?;
    Ok(result.map(returned).map_err(complaint))
}

pub(super) async fn reject<T: Send>(
    guest: &CustomTool,
    store: &mut Store<T>,
    decided: &DecidedAction<'_>,
) -> wasmtime::Result<Result<Option<Returned>, Error>> {
    let exports = guest.airlock_tool_resolver();
    let result = exports.call_reject(store, resolution(decided)).await?;
    Ok(result.map(|result| result.map(returned)).map_err(complaint))
}

fn definition(definition: types::ToolDefinition) -> Definition {
    let said = definition.traits;
    let mut traits = ToolTraits::default();
    traits.hidden = said.contains(types::ToolTraits::HIDDEN);
    traits.deferrable = said.contains(types::ToolTraits::DEFERRABLE);
    traits.read_only = said.contains(types::ToolTraits::READ_ONLY);
    traits.destructive = said.contains(types::ToolTraits::DESTRUCTIVE);
    traits.idempotent = said.contains(types::ToolTraits::IDEMPOTENT);
    traits.open_world = said.contains(types::ToolTraits::OPEN_WORLD);
    Definition {
        name: definition.name,
        label: definition.label,
        description: definition.description,
        parameters: definition.parameters,
        output: definition.output,
        traits,
    }
}

fn resolution<'a>(decided: &DecidedAction<'a>) -> Resolution<'a> {
    Resolution {
        action_id: decided.action_id,
        label: decided.label,
        source_tool_name: decided.source_tool_name,
        state: decided.state,
        reason: decided.reason,
        extra: decided.extra,
        attempt: decided.attempt,
    }
}

fn complaint(error: types::ToolError) -> Error {
    match error {
        types::ToolError::Tool(message) => Error::Tool { message },
        types::ToolError::Failed(message) => Error::Failed { message },
        types::ToolError::Cancelled => Error::Cancelled,
    }
}

fn returned(result: types::ToolResult) -> Returned {
    Returned {
        content: result.content.into_iter().map(content).collect(),
        details: result.details,
    }
}

fn content(content: types::Content) -> Content {
    match content {
        types::Content::Text(text) => Content::Text { text },
        types::Content::Image(blob) => Content::Image {
            data: blob.data,
            mime_type: blob.mime_type,
        },
        types::Content::ResourceLink(link) => Content::ResourceLink {
            uri: link.uri,
            name: link.name,
            mime_type: link.mime_type,
        },
    }
}
