//! Params of the protocol's methods that do not fit their method.

use rmcp::model::{
    CallToolRequestParams, DiscoverRequestParams, ErrorData, GetTaskParams,
    InitializeRequestParams, UpdateTaskParams,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The params that a method takes.
struct Takes {
    fields: &'static [Field],
    /// A function that explains misfits that the fields don't cover.
    unread: fn(&Value) -> Option<String>,
}

struct Field {
    name: &'static str,
    kind: Kind,
    required: bool,
}

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Object,
}

const META: Field = optional("_meta", Kind::Object);

/// Returns why these params don't fit the method. Returns `None` if they fit, or if the method is
/// unknown.
pub fn misfit(method: &str, params: Option<&Value>) -> Option<ErrorData> {
    let takes = takes(method);
    let message = match (params, takes) {
        (None | Some(Value::Null), Some(_)) => "`params` is missing".to_owned(),
        (None | Some(Value::Null), None) => return None,
        (Some(params @ Value::Object(fields)), Some(takes)) => {
            takes.misfit(fields).or_else(|| (takes.unread)(params))?
        }
        (Some(Value::Object(_)), None) => return None,
        (Some(other), _) => format!("`params` is {}; expected an object", kind(other)),
    };
    let method: String = method.chars().take(100).collect();
    Some(ErrorData::invalid_params(
        format!("`{method}`: {message}"),
        None,
    ))
}

fn takes(method: &str) -> Option<&'static Takes> {
    match method {
        "initialize" => Some(&INITIALIZE),
        "server/discover" => Some(&DISCOVER),
        "tools/call" => Some(&CALL),
        "tasks/get" | "tasks/cancel" => Some(&TASK),
        "tasks/update" => Some(&UPDATE),
        _ => None,
    }
}

static INITIALIZE: Takes = Takes {
    fields: &[
        required("protocolVersion", Kind::Text),
        required("capabilities", Kind::Object),
        required("clientInfo", Kind::Object),
        META,
    ],
    unread: unread::<InitializeRequestParams>,
};

static DISCOVER: Takes = Takes {
    fields: &[required("_meta", Kind::Object)],
    unread: unread::<DiscoverRequestParams>,
};

static CALL: Takes = Takes {
    fields: &[
        required("name", Kind::Text),
        optional("arguments", Kind::Object),
        optional("inputResponses", Kind::Object),
        optional("requestState", Kind::Text),
        META,
    ],
    unread: unread::<CallToolRequestParams>,
};

static TASK: Takes = Takes {
    fields: &[required("taskId", Kind::Text), META],
    unread: unread::<GetTaskParams>,
};

static UPDATE: Takes = Takes {
    fields: &[
        required("taskId", Kind::Text),
        required("inputResponses", Kind::Object),
        META,
    ],
    unread: unread::<UpdateTaskParams>,
};

impl Takes {
    fn misfit(&self, params: &Map<String, Value>) -> Option<String> {
        self.fields.iter().find_map(|field| {
            let Field {
                name,
                kind: expected,
                required,
            } = field;
            let expected = expected.noun();
            match (params.get(*name), field.kind) {
                (None, _) if *required => {
                    Some(format!("`params.{name}` is missing; expected {expected}"))
                }
                (None, _) => None,
                (Some(Value::Null), _) if !required => None,
                (Some(Value::String(_)), Kind::Text) | (Some(Value::Object(_)), Kind::Object) => {
                    None
                }
                (Some(other), _) => Some(format!(
                    "`params.{name}` is {}; expected {expected}",
                    kind(other)
                )),
            }
        })
    }
}

impl Kind {
    fn noun(self) -> &'static str {
        match self {
            Kind::Text => "a string",
            Kind::Object => "an object",
        }
    }
}

const fn required(name: &'static str, kind: Kind) -> Field {
    Field {
        name,
        kind,
        required: true,
    }
}

const fn optional(name: &'static str, kind: Kind) -> Field {
    Field {
        name,
        kind,
        required: false,
    }
}

fn unread<T: DeserializeOwned>(params: &Value) -> Option<String> {
    let problem = T::deserialize(params).err()?;
    Some(format!("`params` can't be read: {problem}"))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
