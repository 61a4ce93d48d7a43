//! The formats in which model providers take tools and tool choices. This module builds values and
//! sends nothing.

use serde_json::{Value, json};

use crate::steering::{ToolChoice, TurnSettings};
use crate::tool::ToolDefinition;

/// The API of a model provider, as far as its requests differ from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Provider {
    /// Anthropic's Messages API.
    AnthropicMessages,
    /// OpenAI's Responses API.
    OpenAiResponses,
    /// OpenAI's Chat Completions API, and the APIs that copy it.
    OpenAiChatCompletions,
    /// Google's Gemini API, `generateContent`.
    Gemini,
}

impl Provider {
    /// The list of all values.
    pub const ALL: [Self; 4] = [
        Self::AnthropicMessages,
        Self::OpenAiResponses,
        Self::OpenAiChatCompletions,
        Self::Gemini,
    ];

    /// Returns the name of the request's field for [`tool_choice`](Provider::tool_choice).
    pub fn tool_choice_field(self) -> &'static str {
        match self {
            Provider::Gemini => "toolConfig",
            _ => "tool_choice",
        }
    }

    /// Returns the value of the request's field for the tool choice.
    pub fn tool_choice(self, choice: ToolChoice) -> Value {
        match (self, choice.tool()) {
            (Provider::AnthropicMessages, None) => json!({"type": "auto"}),
            (Provider::AnthropicMessages, Some(name)) => {
                json!({"type": "tool", "name": name})
            }
            (Provider::OpenAiResponses | Provider::OpenAiChatCompletions, None) => {
                json!("auto")
            }
            (Provider::OpenAiResponses, Some(name)) => {
                json!({"type": "function", "name": name})
            }
            (Provider::OpenAiChatCompletions, Some(name)) => {
                json!({"type": "function", "function": {"name": name}})
            }
            (Provider::Gemini, None) => {
                json!({"functionCallingConfig": {"mode": "AUTO"}})
            }
            (Provider::Gemini, Some(name)) => {
                json!({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [name]}})
            }
        }
    }

    /// Returns the value of the request's field `tools`: `tools` in their order, then `resolve`.
    /// The value doesn't depend on what is pending, so that a provider's prompt cache stays valid.
    pub fn tools(self, tools: &[ToolDefinition]) -> Value {
        let resolve = crate::tool::resolve_tool();
        let listed = tools.iter().chain([&resolve]);
        let listed: Vec<Value> = listed.map(|tool| self.tool(tool)).collect();
        match self {
            Provider::Gemini => json!([{"functionDeclarations": listed}]),
            _ => Value::Array(listed),
        }
    }

    fn tool(self, tool: &ToolDefinition) -> Value {
        let ToolDefinition {
            name,
            description,
            parameters,
            ..
        } = tool;
        match self {
            Provider::AnthropicMessages => {
                json!({"name": name, "description": description, "input_schema": parameters})
            }
            Provider::OpenAiResponses => json!({
                "type": "function", "name": name, "description": description,
                "parameters": parameters, "strict": false,
            }),
            Provider::OpenAiChatCompletions => json!({
                "type": "function",
                "function": {"name": name, "description": description, "parameters": parameters},
            }),
            Provider::Gemini => json!({
                "name": name, "description": description, "parametersJsonSchema": parameters,
            }),
        }
    }

    /// Returns the settings of a turn that offers `resolve` with this provider. Anthropic's API
    /// refuses a forced tool together with extended thinking.
    pub fn turn(self, extended_thinking: bool) -> TurnSettings {
        TurnSettings {
            can_force: !(extended_thinking && self == Provider::AnthropicMessages),
            extended_thinking,
            ..TurnSettings::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the providers' own references, with `resolve` for the tool's name.
    #[test]
    fn a_tool_choice_has_the_published_shape() {
        let check = |provider: Provider, auto: Value, resolve: Value| {
            assert_eq!(provider.tool_choice(ToolChoice::Auto), auto, "{provider:?}");
            assert_eq!(
                provider.tool_choice(ToolChoice::Resolve),
                resolve,
                "{provider:?}"
            );
        };
        check(
            Provider::AnthropicMessages,
            json!({"type": "auto"}),
            json!({"type": "tool", "name": "resolve"}),
        );
        check(
            Provider::OpenAiResponses,
            json!("auto"),
            json!({"type": "function", "name": "resolve"}),
        );
        check(
            Provider::OpenAiChatCompletions,
            json!("auto"),
            json!({"type": "function", "function": {"name": "resolve"}}),
        );
        check(
            Provider::Gemini,
            json!({"functionCallingConfig": {"mode": "AUTO"}}),
            json!({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["resolve"]}}),
        );
    }

    #[test]
    fn tools_have_the_published_shape_and_resolve_is_always_the_last() {
        let resolve = crate::tool::resolve_tool();
        for provider in Provider::ALL {
            let tools = provider.tools(std::slice::from_ref(&resolve));
            let listed = match provider {
                Provider::Gemini => &tools[0]["functionDeclarations"],
                _ => &tools,
            };
            assert_eq!(listed.as_array().map(Vec::len), Some(2), "{provider:?}");
            let last = &listed[1];
            let (function, schema) = match provider {
                Provider::AnthropicMessages => (last, "input_schema"),
                Provider::OpenAiResponses => (last, "parameters"),
                Provider::OpenAiChatCompletions => (&last["function"], "parameters"),
                Provider::Gemini => (last, "parametersJsonSchema"),
            };
            assert_eq!(function["name"], "resolve", "{provider:?}");
            assert_eq!(resolve.parameters, function[schema], "{provider:?}");
            assert!(function["description"].is_string());
        }
    }

    #[test]
    fn only_anthropics_can_not_force_while_thinking() {
        for provider in Provider::ALL {
            assert!(provider.turn(false).can_force);
            let can = provider != Provider::AnthropicMessages;
            assert_eq!(provider.turn(true).can_force, can, "{provider:?}");
        }
    }
}
