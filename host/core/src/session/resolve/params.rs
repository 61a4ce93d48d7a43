//! What the tool `resolve` is called with.

use std::sync::LazyLock;

use airlock_model::error::{Error, Violation};
use airlock_model::json;
use airlock_model::limits::Limits;
use airlock_model::pending::{ActionId, Resolution};
use airlock_model::tool::resolve_tool;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::plugin::{Checks, ParamsSchema};

/// What the tool is called.
pub(in crate::session) const NAME: &str = "resolve";

/// Reads the tool's params.
pub(in crate::session) async fn parse(
    params: &Value,
    limits: &Limits,
    cancel: Option<&CancellationToken>,
) -> Result<Resolution, Error> {
    static SCHEMA: LazyLock<ParamsSchema> =
        LazyLock::new(|| ParamsSchema::new(resolve_tool().parameters, &Checks::new()));
    SCHEMA.check(NAME, params, limits, cancel).await?;
    let text = |key| params.get(key).and_then(Value::as_str);
    let reason = text("reason").unwrap_or_default();
    let mut resolution = match text("action") {
        Some("apply") => Resolution::apply(reason),
        _ => Resolution::discard(reason),
    };
    resolution.extra = params.get("extra").and_then(Value::as_object).cloned();
    resolution.id = text("id").map(ActionId::from);
    Ok(resolution)
}

/// Refuses what comes with a decision where it is nested too deep for code that calls itself.
pub(super) fn with_flat_extra(mut resolution: Resolution) -> Result<Resolution, Error> {
    let Some(extra) = resolution.extra.take().map(Value::Object) else {
        return Ok(resolution);
    };
    let depth = json::check_depth(&extra);
    match (extra, depth) {
        (Value::Object(extra), Ok(())) => Ok(resolution.with_extra(extra)),
        (extra, depth) => {
            json::take_apart(extra);
            let message = depth.err().map(|it| it.to_string());
            Err(Error::InvalidParams {
                tool: NAME.to_owned(),
                violations: vec![Violation {
                    path: "/extra".to_owned(),
                    message: message.unwrap_or_default(),
                }],
            })
        }
    }
}
